"""Noise: how far scores are chance, told by cells that were filled more than once."""

import random
from collections import Counter
from dataclasses import replace
from statistics import fmean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import Model, cell, examples

from adapters.answer import TracedAnswer
from adapters.clients.client import Capabilities, ModelClient, Request
from adapters.example import Example
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell, Spot, TaskModel
from optimizer.noise import AUTO, NOISY, PART, PROBES, Noise, averaged, is_noisy, measured, most_probes, probes, repeatable
from optimizer.policy import Objectives
from optimizer.report.noise import noise, noise_line
from scoring.score import Score
from scoring.suite import Suite

EXAMPLES = examples(30)
ONE = Objectives(["m"], ["right"])


def filled(example: Example, *scores: float | None, who: str = "c", model: str = "m") -> list[Cell]:
    """One example's repeats; None: failed."""
    made = (cell(example, None if score is None else {"right": score}, who=who, model=model) for score in scores)
    return [replace(each, repeat=repeat) for repeat, each in enumerate(made)]


def drawn(rng: random.Random, chances: list[float], repeats: int) -> list[Cell]:
    rows = zip(examples(len(chances)), chances, strict=True)
    return [each for example, p in rows for each in filled(example, *(float(rng.random() < p) for _ in range(repeats)))]


# --- what is measured -------------------------------------------------------------------------------------------------

tables = st.lists(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0, None]), min_size=1, max_size=4), max_size=12)


@given(tables)
def test_the_share_is_the_pooled_variance_within_cells_in_all_variance(rows: list[list[float | None]]) -> None:
    cells = [each for example, row in zip(EXAMPLES, rows, strict=False) for each in filled(example, *row)]
    known = [[score for score in row if score is not None] for row in rows]
    several = [row for row in known if len(row) > 1]
    found = measured(cells, ONE)
    if not several:
        assert found == {}
        return
    within = sum((len(row) - 1) * variance(row) for row in several) / sum(len(row) - 1 for row in several)
    total = variance([score for row in known for score in row])
    assert found["m"].n == len(several)
    assert found["m"].share == pytest.approx(min(1.0, within / total) if total else 0.0)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_cells_does_not_matter(rows: list[list[float | None]], rng: random.Random) -> None:
    cells = [each for example, row in zip(EXAMPLES, rows, strict=False) for each in filled(example, *row)]
    shuffled = rng.sample(cells, len(cells))
    one, other = measured(cells, ONE), measured(shuffled, ONE)
    assert one.keys() == other.keys()
    assert all(one[m].n == other[m].n and one[m].share == pytest.approx(other[m].share) for m in one)


@pytest.mark.parametrize("low", [0.0, 0.1, 0.25])
def test_it_finds_the_share_that_is_there(low: float) -> None:
    """Half of the examples are right with one chance, half with the other: the truth is p(1 − p) in the variance of all."""
    chances = [low, 1 - low] * 15
    truth = fmean(p * (1 - p) for p in chances) / 0.25
    found = [measured(drawn(random.Random(seed), chances, 2), ONE)["m"].share for seed in range(300)]
    assert fmean(found) == pytest.approx(truth, abs=0.03)


def test_every_model_is_told_by_its_own_cells() -> None:
    cells = [*filled(EXAMPLES[0], 0.0, 1.0, model="m"), *filled(EXAMPLES[1], 0.0, 0.0, model="n"), *filled(EXAMPLES[2], 1.0, model="n")]
    cells += filled(EXAMPLES[3], 1.0, model="o")
    found = measured(cells, Objectives(["m", "n", "o"], ["right"]))
    assert found == {"m": Noise(1.0, 1), "n": Noise(0.0, 1)}


def test_a_dimension_counts_as_much_as_it_does_elsewhere() -> None:
    aims = {"right": {"weight": 3}, "brief": {"weight": 1}, "rare": {"weight": 1}, "idle": {"weight": 0}}
    wanted = Objectives(["m"], list(aims), ObjectivesConfig.model_validate({"dimensions": aims}))
    scores = [
        {"right": 1.0, "brief": 0.0, "idle": 0.0},
        {"right": 1.0, "brief": 1.0, "idle": 1.0},
        {"right": 0.0, "brief": 0.5, "rare": 1.0},
    ]
    cells = [cell(example, score, model="m", who="c") for example, score in zip([*EXAMPLES[:1] * 2, EXAMPLES[1]], scores, strict=True)]
    cells[1] = replace(cells[1], repeat=1)
    total = {"right": variance([1.0, 1.0, 0.0]), "brief": variance([0.0, 1.0, 0.5])}
    assert measured(cells, wanted)["m"].share == pytest.approx(0.5 / (3 * total["right"] + total["brief"]))


def test_models_are_noisy_together() -> None:
    assert not is_noisy({})
    assert not is_noisy({"m": Noise(0.0, 5)})
    assert is_noisy({"m": Noise(NOISY, 5)})
    assert is_noisy({"m": Noise(0.0, 5), "n": Noise(2 * NOISY, 5)}) and not is_noisy({"m": Noise(0.0, 6), "n": Noise(2 * NOISY, 4)})


@given(tables, tables)
def test_of_repeats_the_mean_stands_for_all(rows: list[list[float | None]], others: list[list[float | None]]) -> None:
    cells = [
        each
        for who, some in (("c", rows), ("d", others))
        for e, row in zip(EXAMPLES, some, strict=False)
        for each in filled(e, *row, who=who)
    ]
    found = {(one.candidate, one.example.id): values for one, values in averaged(cells)}
    expected = {
        (who, e.id): {"right": pytest.approx(fmean(known))}
        for who, some in (("c", rows), ("d", others))
        for e, row in zip(EXAMPLES, some, strict=False)
        if (known := [score for score in row if score is not None])
    }
    assert found == expected and len(averaged(cells)) == len(found)


def test_a_dimension_that_a_repeat_lacks_is_the_mean_of_the_others() -> None:
    scores: list[dict[str, float]] = [{"right": 1.0}, {"right": 0.0, "brief": 0.5}, {"brief": 1.0}]
    cells = [replace(cell(EXAMPLES[0], values), repeat=n) for n, values in enumerate(scores)]
    assert [values for _, values in averaged(cells)] == [{"right": 0.5, "brief": 0.75}]


# --- where it is measured ---------------------------------------------------------------------------------------------


class Exact(Model):
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(exact=True)


class Judged:
    """A scorer that asks a model."""

    name, dimensions, version = "judged", ("right",), "1"
    models = ("judge",)

    def __init__(self, judge: ModelClient) -> None:
        self._judge = judge

    def requests(self, example: Example) -> list[tuple[ModelClient, Request]]:
        return [(self._judge, Request(()))]

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        return Score({"right": 1.0})


class Plain:
    name, dimensions, version = "plain", ("right",), "1"

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        return Score({"right": 1.0})


def test_what_is_exact_is_never_repeated() -> None:
    """A judge that may vary makes every cell vary."""
    models = [TaskModel("m", Model()), TaskModel("n", Exact())]
    assert repeatable("auto", models, Suite([Plain()]), EXAMPLES) == {"m": AUTO, "n": 1}
    assert repeatable(5, models, Suite([Judged(Exact())]), EXAMPLES) == {"m": 5, "n": 1}
    assert repeatable(5, models, Suite([Judged(Model())]), EXAMPLES) == {"m": 5, "n": 5}


def test_once_is_once_and_asks_nothing() -> None:
    class Unasked(Model):
        @property
        def capabilities(self) -> Capabilities:
            raise AssertionError("to tell them, a client may have to load a library")

    assert repeatable(1, [TaskModel("m", Unasked())], Suite([Judged(Unasked())]), EXAMPLES) == {"m": 1}


@given(
    st.lists(st.sampled_from("mno"), max_size=60), st.dictionaries(st.sampled_from("mno"), st.integers(1, 3), max_size=3), st.integers(0, 9)
)
def test_probes_are_few_of_the_spots_and_fair_to_models(names: list[str], repeats: dict[str, int], seed: int) -> None:
    spots = [Spot(example, name) for example, name in zip(examples(len(names)), names, strict=True)]
    found = probes(spots, repeats)
    varying = [spot for spot in spots if repeats.get(spot.model, 1) > 1]
    assert all(spot.repeat == 1 and spot._replace(repeat=0) in varying for spot in found)
    assert len(found) == len({spot.example.id for spot in found})
    assert len(found) <= most_probes(len(spots), repeats) <= min(PROBES, len(spots) // PART)
    assert len(found) == min(most_probes(len(spots), repeats), len(varying))
    here, told = Counter(spot.model for spot in varying), Counter(spot.model for spot in found)
    assert all(abs(told[name] - len(found) * here[name] / len(varying)) <= 1 for name in here)


# --- how it is told ---------------------------------------------------------------------------------------------------


def test_it_is_told_only_where_it_was_measured() -> None:
    assert noise(filled(EXAMPLES[0], 1.0), ONE) == {} and noise_line({}) == []
    result = noise([*filled(EXAMPLES[0], 1.0, 0.0), *filled(EXAMPLES[1], 1.0, 1.0)], ONE)
    assert result == {"noise": {"m": {"share": pytest.approx(1.0), "n": 2}}}
    assert isinstance(result["noise"]["m"]["n"], int) and not isinstance(result["noise"]["m"]["share"], np.floating)
    (line,) = noise_line({"noise": {"m": {"share": 0.31, "n": 12}, "n": {"share": 0.0, "n": 1}}})
    assert "chance is 31% with m (12 cells filled again), 0% with n (1 cell filled again)" in line
