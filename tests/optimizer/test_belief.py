"""The belief against the same model written out with a column for every effect, and what has to hold of it whatever the numbers are."""

import math
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import candidate, cell, example

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer import posterior, shape
from optimizer.belief import Belief
from optimizer.config import ObjectivesConfig
from optimizer.effects import Effects
from optimizer.evaluate import Cell
from optimizer.policy import Array, Objectives
from optimizer.pool import SURE
from optimizer.posterior import Posterior
from optimizer.units import Unit, units
from optimizer.words import Words

VOCABULARY = ["red", "blue", "green", "round", "square", "heavy", "the", "Größe"]
LINES = [f"{a} {b}" for a, b in product(VOCABULARY[:6], VOCABULARY[5:])] + ["nothing of it", "- !"]


@dataclass(frozen=True)
class World:
    """`offered`: lines that no candidate has."""

    examples: Sequence[Example]
    candidates: Sequence[Candidate]
    offered: Sequence[Unit]
    objectives: Objectives
    cells: Sequence[Cell]

    def posterior(self, cells: Sequence[Cell] | None = None) -> Posterior:
        made = Belief(self.examples)
        for each in self.candidates:
            made.meet(each)
        for unit in self.offered:
            made.offer(unit)
        return made.posterior(self.cells if cells is None else cells, self.objectives)


def world(seed: int) -> World:
    """Anything that can come: few cells or none, failed ones, missing scores, constant ones, empty components, minimized dimensions."""
    rng = random.Random(seed)
    examples = [
        example(f"e{n}", first=" ".join(rng.choices(VOCABULARY, k=3)), second=rng.choice(VOCABULARY)) for n in range(rng.randint(1, 12))
    ]

    def text() -> str:
        return "\n".join(rng.sample(LINES, rng.randint(0, 5)))

    candidates = list({each.id: each for each in (Candidate({"a": text(), "b": text()}) for _ in range(rng.randint(1, 6)))}.values())
    models = ["x", "y", "z"][: rng.randint(1, 3)]
    dimensions = ["right", "toxic", "brief"][: rng.randint(1, 3)]
    aims = {name: {"direction": rng.choice(["minimize", "maximize"]), "weight": rng.choice([0, 1, 2.5])} for name in dimensions}
    aims[dimensions[0]]["weight"] = 1
    objectives = Objectives(models, dimensions, ObjectivesConfig.model_validate({"dimensions": aims}))
    constant, share = rng.random() < 0.2, rng.choice([0.0, 0.05, 0.6, 1.0])
    cells = []
    for who, item, model in product(candidates[: rng.randint(1, 6)], examples, models):
        if rng.random() < share:
            scores = {name: 0.5 if constant else rng.choice([0.0, 1.0, rng.random()]) for name in dimensions if rng.random() < 0.8}
            cells.append(cell(item, None if rng.random() < 0.1 else scores, who=who.id, model=model))
    return World(examples, candidates, [Unit("c", "red offer"), Unit("a", "- ?")], objectives, cells)


# --- the oracle -------------------------------------------------------------------------------------------------------


def relevant(line: str, examples: Sequence[Example]) -> list[float]:
    """One line, all examples."""

    def said(text: str) -> set[str]:
        return set("".join(c if c.isalnum() else " " for c in text.lower()).split())

    have = [said(f"{each.inputs['first']} {each.inputs['second']}") for each in examples]
    weight = {}
    for word in set().union(*have):
        n = sum(word in words for words in have)
        if 2 <= n <= len(examples) / 2:
            weight[word] = math.log(len(examples) / n)

    def heavy(words: set[str]) -> float:
        return math.fsum(weight.get(word, 0.0) for word in words)

    mine = said(line)
    return [heavy(mine & words) / (min(heavy(mine), heavy(words)) or 1.0) for words in have]


class Oracle:
    """One dimension: coefficients by name, one for every effect that there is, those of examples too."""

    def __init__(self, world: World, dimension: str) -> None:
        self.world = world
        rows = [each for each in world.cells if each.score is not None and dimension in each.score.values]
        aim = (world.objectives.config.dimensions or {})[dimension]
        scores = np.array([each.score.values[dimension] for each in rows if each.score is not None])
        scores = 1 - scores if aim.direction == "minimize" else scores
        self.scale = max(0.02, float(scores.std()) if len(scores) else 0.0) * 2
        self.lines = list(dict.fromkeys(unit for each in world.candidates for unit in units(each))) + list(world.offered)
        self.relevance = {unit: relevant(unit.text, world.examples) for unit in self.lines}
        self.prior: dict[object, tuple[float, float]] = {"level": (0.5, self.scale), "help": (0.2 * self.scale, 0.3 * self.scale)}
        for name, power in product({unit.component for unit in self.lines}, (1, 2)):
            self.prior["bend", name, power] = (0.0, 0.1 * self.scale)
        for unit in self.lines:
            beside = [any(self.relevance[other]) for other in self.lines if other.component == unit.component]
            idle = not any(self.relevance[unit]) and beside.count(True) >= len(beside) / 4
            self.prior["worth", unit] = (-0.03 * self.scale if idle else 0.0, 0.03 * self.scale)
            self.prior["force", unit] = (0.0, 0.3 * self.scale)
        models = world.objectives.models
        for who in world.candidates:
            self.prior["own", who.id] = (0.0, 0.05 * self.scale)
        if len(models) > 1:
            self.prior |= {("taste", unit, model): (0.0, 0.02 * self.scale) for unit in self.lines for model in models}
        for item, model in product(world.examples, models):
            self.prior["hard", item.id, model] = (0.0, 0.25 * self.scale)
        self.place = {name: index for index, name in enumerate(self.prior)}
        means, deviations = np.array(list(self.prior.values())).T
        known = {each.id: each for each in world.candidates}
        factors = np.array([self.row(known[each.candidate], each.example, each.model) for each in rows]).reshape(-1, len(means))
        noise = (0.4 * self.scale) ** 2
        self.covariance = np.linalg.inv(np.diag(deviations**-2) + factors.T @ factors / noise)
        self.mean = self.covariance @ (means / deviations**2 + factors.T @ scores / noise)

    def row(self, who: Candidate, item: Example, model: str) -> Array:
        own = units(who)
        at = self.world.examples.index(item)
        said = sum(self.relevance[unit][at] for unit in own)
        row = np.zeros(len(self.prior))

        def add(name: object, factor: float) -> None:
            if name in self.place:
                row[self.place[name]] += factor

        for name in ["level", ("own", who.id), ("hard", item.id, model)]:
            add(name, 1.0)
        for component in who.components:
            count = sum(unit.component == component for unit in own)
            add(("bend", component, 1), count / 10)
            add(("bend", component, 2), (count / 10) ** 2)
        for unit in own:
            share = self.relevance[unit][at] / max(1.0, said)
            add(("worth", unit), 1.0)
            add(("taste", unit, model), 1.0)
            add("help", share)
            add(("force", unit), share)
        return row

    def level(self, who: Candidate, model: str) -> Array:
        """As a row of factors."""
        level: Array = np.mean([self.row(who, item, model) for item in self.world.examples], axis=0)
        return level

    def names(self) -> list[object]:
        """In the order of the belief's coefficients."""
        components = sorted({unit.component for unit in self.lines})
        models = self.world.objectives.models if len(self.world.objectives.models) > 1 else []
        return [
            "level",
            *(("bend", name, 1) for name in components),
            *(("bend", name, 2) for name in components),
            "help",
            *(("worth", unit) for unit in self.lines),
            *(("force", unit) for unit in self.lines),
            *(("taste", unit, model) for unit in self.lines for model in models),
            *(("own", who.id) for who in self.world.candidates),
        ]


class OneHot:
    """Random numbers that are all 0 but one, to read from draws what each does."""

    def __init__(self, index: int) -> None:
        self._left = index

    def standard_normal(self, size: int) -> Array:
        luck: Array = (np.arange(size) == self._left).astype(np.float64)
        self._left -= size
        return luck


seeds = st.integers(0, 10**9)


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_the_posterior_is_the_one_with_a_column_for_every_effect(seed: int) -> None:
    given_ = world(seed)
    now = given_.posterior()
    levels = now.levels(now.means)
    for d, dimension in enumerate(given_.objectives.dimensions):
        oracle, fitted = Oracle(given_, dimension), now.dimensions[d]
        places = [oracle.place[name] for name in oracle.names()]
        assert len(fitted.mean) == len(places)
        np.testing.assert_allclose(fitted.mean, oracle.mean[places], atol=1e-8)
        for k, model in enumerate(given_.objectives.models):
            believed = [oracle.level(who, model) @ oracle.mean for who in given_.candidates]
            np.testing.assert_allclose(levels[:, k * len(given_.objectives.dimensions) + d], believed, atol=1e-8)
        drawn = [fitted.draw(cast(np.random.Generator, OneHot(n)), 2.0) - fitted.mean for n in range(len(places) + fitted.design.more)]
        covariance = oracle.covariance[np.ix_(places, places)]
        np.testing.assert_allclose(sum(np.outer(each, each) for each in drawn), 4 * covariance, atol=1e-8)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_sureness_is_the_difference_in_its_deviations(seed: int) -> None:
    """The examples' effects are the same for both, so they fall out of the difference."""
    given_ = world(seed)
    now, objectives = given_.posterior(), given_.objectives
    oracles = [Oracle(given_, dimension) for dimension in objectives.dimensions]
    weights = objectives.weights.reshape(len(objectives.models), -1) / objectives.weights.sum()
    for number, who in enumerate(given_.candidates):
        mean = variance = 0.0
        for d, oracle in enumerate(oracles):
            row = sum(
                weights[k, d] * (oracle.level(who, m) - oracle.level(given_.candidates[0], m)) for k, m in enumerate(objectives.models)
            )
            mean += float(row @ oracle.mean)
            variance += float(row @ oracle.covariance @ row)
        expected = mean / math.sqrt(variance) if number else 0.0
        assert now.sureness(number, objectives.weights) == pytest.approx(expected, abs=1e-7)
        assert now.sureness(number, 3 * objectives.weights) == pytest.approx(expected, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_deviations_are_those_of_levels_with_the_examples_effects(seed: int) -> None:
    given_ = world(seed)
    now, objectives = given_.posterior(), given_.objectives
    oracles = [Oracle(given_, dimension) for dimension in objectives.dimensions]
    names = list(product(range(len(objectives.models)), range(len(oracles))))
    weights = np.vstack([np.eye(len(names)), objectives.weights / objectives.weights.sum()])
    found = now.deviations(range(len(given_.candidates)), weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posterior, "AT_ONCE", 2 * now.shape.size * len(weights))
        np.testing.assert_allclose(now.deviations(range(len(given_.candidates)), weights), found, atol=1e-9)
    for number, who in enumerate(given_.candidates):
        for row, mix in enumerate(weights):
            variance = 0.0
            for d, oracle in enumerate(oracles):
                factors = sum(mix[k * len(oracles) + d] * oracle.level(who, model) for k, model in enumerate(objectives.models))
                variance += float(factors @ oracle.covariance @ factors)
            assert found[number, row] == pytest.approx(math.sqrt(variance), abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_the_cells_does_not_matter(seed: int, order: random.Random) -> None:
    given_ = world(seed)
    shuffled = list(given_.cells)
    order.shuffle(shuffled)
    for one, other in zip(given_.posterior().dimensions, given_.posterior(shuffled).dimensions, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)
        np.testing.assert_allclose(one.hard, other.hard, atol=1e-9)
        for n in range(len(one.mean)):
            factors = (np.arange(len(one.mean)) == n) + 0.1
            assert one.variance(factors) == pytest.approx(other.variance(factors), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_failed_cells_say_nothing(seed: int) -> None:
    given_ = world(seed)
    failed = [cell(item, None, who=given_.candidates[0].id, model="x") for item in given_.examples]
    for one, other in zip(given_.posterior().means, given_.posterior([*given_.cells, *failed]).means, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_a_repeat_that_says_the_same_makes_nothing_surer(seed: int) -> None:
    given_ = world(seed)
    again = [replace(each, repeat=1) for each in given_.cells]
    for one, other in zip(given_.posterior().dimensions, given_.posterior([*given_.cells, *again]).dimensions, strict=True):
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-12)
        factors = np.ones(len(one.mean))
        assert one.variance(factors) == pytest.approx(other.variance(factors))


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_what_is_imagined_is_the_level_but_for_what_is_the_candidates_own(seed: int) -> None:
    given_ = world(seed)
    made = Belief(given_.examples)
    for each in given_.candidates:
        made.meet(each)
    now = made.posterior(given_.cells, given_.objectives)
    bare = [each.copy() for each in now.means]
    for coefficients in bare:
        coefficients[now.shape.own :] = 0.0
    for number, who in enumerate(given_.candidates):
        np.testing.assert_allclose(now.imagined(made.lines(who), bare), now.levels(bare)[number], atol=1e-12)
        np.testing.assert_allclose(now.imagined(made.lines(who), now.means), now.levels(bare)[number], atol=1e-12)


# --- lines ------------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_a_flip_is_the_sum_made_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines, examples, components = int(rng.integers(1, 9)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
    relevance = rng.random((lines, examples)) * (rng.random((lines, examples)) < 0.6)
    owners = np.eye(components)[rng.integers(components, size=lines)]
    worth, force = rng.normal(size=(2, lines))
    slopes, curves = rng.normal(size=(2, components))
    made = Effects(worth, force, relevance, owners, slopes, curves)
    chosen = rng.random(lines) < 0.5

    def total(chosen: Sequence[int]) -> float:
        heard = 0.0
        for e in range(examples):
            said = sum(relevance[n, e] for n in chosen)
            heard += sum(force[n] * relevance[n, e] / max(said, 1.0) for n in chosen) / examples
        counts = [sum(owners[n, c] for n in chosen) / 10 for c in range(components)]
        bent = sum(slopes[c] * n + curves[c] * n * n for c, n in enumerate(counts))
        return float(heard + sum(worth[n] for n in chosen) + bent)

    assert made.total(chosen) == pytest.approx(total(np.flatnonzero(chosen).tolist()), abs=1e-12)
    for n, flipped in enumerate(made.flips(chosen).tolist()):
        other = chosen.copy()
        other[n] = not other[n]
        assert flipped == pytest.approx(total(np.flatnonzero(other).tolist()), abs=1e-12)
        assert flipped == pytest.approx(made.total(other), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_what_lines_add_up_to_is_the_merit_of_candidates_that_are_nothing_more(seed: int) -> None:
    """So a climb over lines climbs what candidates are believed to be worth."""
    given_ = world(seed)
    made = Belief(given_.examples)
    for each in given_.candidates:
        made.meet(each)
    objectives = given_.objectives
    now = made.posterior(given_.cells, objectives)
    lines = now.effects(now.means, objectives.weights)
    totals, imagined = [], []
    for who in given_.candidates:
        chosen = np.zeros(len(made.units), dtype=bool)
        chosen[list(made.lines(who))] = True
        totals.append(lines.total(chosen))
        imagined.append(objectives.overall(now.imagined(made.lines(who), now.means)))
    # They differ by what is the same for all.
    np.testing.assert_allclose(np.diff(totals), np.diff(imagined), atol=1e-12)


# --- words ------------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(seeds, st.lists(st.sampled_from([*VOCABULARY, "RED,", "other"]), max_size=6).map(" ".join))
def test_relevance_is_the_weight_of_the_rare_words_in_common(seed: int, line: str) -> None:
    examples = world(seed).examples
    found = Words([f"{each.inputs['first']}\n{each.inputs['second']}" for each in examples]).relevance(line)
    np.testing.assert_allclose(found, relevant(line, examples), atol=1e-12)
    assert ((found >= 0) & (found <= 1)).all()


def test_words_that_most_texts_have_or_only_one_say_nothing() -> None:
    words = Words(["the red lone", "the red", "the blue", "the blue", "a"])
    assert words.relevance("the lone").tolist() == [0, 0, 0, 0, 0]
    assert words.relevance("Red: the way").tolist() == [1, 1, 0, 0, 0]
    assert words.relevance("red or blue").tolist() == [1, 1, 1, 1, 0]


def test_no_texts_no_words() -> None:
    assert Words([]).relevance("anything").tolist() == []


def test_relevance_is_the_same_in_every_process() -> None:
    """To the last bit: a run that is resumed has to draw what it drew before, and sets come in another order in every process."""
    program = (
        "import random; from optimizer.words import Words; r = random.Random(0); "
        "texts = [' '.join(f'w{r.randrange(300)}' for _ in range(60)) for _ in range(40)]; "
        "print([Words(texts).relevance(text).tobytes().hex() for text in texts[:20]])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": number}, capture_output=True, check=True
        ).stdout
        for number in "012"
    }
    assert len(found) == 1 and len(found.pop()) > 1000


# --- what it is for ---------------------------------------------------------------------------------------------------


def simulated(
    effects: Sequence[float], places: Sequence[Sequence[int]], hard: Sequence[float], seed: int = 0
) -> tuple[list[float], Posterior]:
    """Candidates of no common line with these effects, run in these places; their believed levels."""
    rng = np.random.default_rng(seed)
    items = [example(f"e{n}") for n in range(len(hard))]
    whos = [candidate(f"Candidate {'abcdefgh'[n]}") for n in range(len(effects))]
    made = Belief(items)
    cells = []
    for who, effect, place in zip(whos, effects, places, strict=True):
        made.meet(who)
        right = [float(rng.random() < 0.5 + effect + hard[n]) for n in place]
        cells += [cell(items[n], value, who=who.id) for n, value in zip(place, right, strict=True)]
    now = made.posterior(cells, Objectives(["small"], ["template"]))
    return now.levels(now.means)[:, 0].tolist(), now


def test_the_better_candidate_gets_the_higher_level() -> None:
    levels, now = simulated([-0.2, 0.2, 0.0], [range(100)] * 3, [0.0] * 100)
    assert levels[0] < levels[2] < levels[1]
    assert now.sureness(1, np.ones(1)) > now.sureness(2, np.ones(1)) > now.sureness(0, np.ones(1)) == 0.0
    assert now.sureness(1, np.ones(1)) > SURE


def test_easy_examples_are_not_the_candidates_merit() -> None:
    """The second has met only what the first gets right everywhere: its mean is higher, and it is no better."""
    hard = [0.5] * 20 + [-0.5] * 20
    levels, now = simulated([0.0, 0.0], [range(40), range(20)], hard)
    assert levels[1] - levels[0] < 0.15, "their means differ by half a point"
    assert now.sureness(1, np.ones(1)) < SURE
    unfair, _ = simulated([0.0, 0.0], [range(20, 40), range(20)], hard)
    assert unfair[1] > unfair[0] + 0.15, "where nothing is in common, nobody can know"


def test_without_cells_all_is_the_prior() -> None:
    made = Belief([example("e0")])
    made.meet(candidate("one line"))
    now = made.posterior([], Objectives(["a", "b"], ["right"]))
    assert now.levels(now.means).tolist() == [pytest.approx([0.5] * 2)]
    assert now.sureness(0, np.ones(2)) == 0.0


def test_what_speaks_of_nothing_is_idle_where_other_lines_speak() -> None:
    made = Belief([example("e0", text="red"), example("e1", text="red"), example("e2", text="blue"), example("e3", text="blue")])
    for text in ("idle", "red\nidle", "red\nidle\n1\n2", "red\nidle\n1\n2\n3"):
        made.meet(candidate(text))
        now = made.posterior([], Objectives(["a"], ["right"]))
        speaks = 0 < made.relevance.any(axis=1).mean() >= shape.SPEAKING
        assert made.silent() == (set() if speaks else {"instructions"})
        assert now.shape.prior[0][now.shape.worth()].tolist() == [
            shape.IDLE if speaks and unit.text != "red" else 0.0 for unit in made.units
        ]
    assert not speaks, "of five lines one"


def test_without_dimensions_there_are_no_levels() -> None:
    """As before the seed is scored, when nobody knows what the scorers give."""
    made = Belief([example("e0")])
    made.meet(candidate("one line"))
    now = made.posterior([], Objectives(["a", "b"], []))
    assert now.levels(now.means).shape == (1, 0)
    assert now.imagined((0,), now.means).shape == (0,)
    assert now.sureness(0, np.ones(0)) == 0.0


def test_a_line_that_helped_helps_wherever_it_stands() -> None:
    items = [example(f"e{n}") for n in range(60)]
    made = Belief(items)
    plain, helped, other = candidate("Base."), candidate("Base.\nGood line."), candidate("Else.\nGood line.")
    for each in (plain, helped, other):
        made.meet(each)
    cells = [cell(item, value, who=who.id) for who, value in ((plain, 0.0), (helped, 1.0)) for item in items]
    now = made.posterior(cells, Objectives(["small"], ["template"]))
    levels = now.levels(now.means)[:, 0]
    assert levels[0] < levels[2] < levels[1]
    worth = {unit.text: now.means[0][now.shape.worth()][n] for n, unit in enumerate(now.shape.units)}
    assert worth["Good line."] > max(0.0, worth["Base."], worth["Else."])


def test_a_posterior_is_about_what_was_known_when_it_was_made() -> None:
    made = Belief([example("e0")])
    made.meet(candidate("one"))
    now = made.posterior([], Objectives(["small"], ["template"]))
    made.meet(candidate("two"))
    made.meet(candidate("two"))
    made.offer(Unit("instructions", "three"))
    assert len(now.levels(now.means)) == 1
    assert [unit.text for unit in made.units] == ["one", "two", "three"]


def test_of_many_examples_some_weigh_the_lines_spread_evenly() -> None:
    many = [example(f"e{n}", text=f"{VOCABULARY[n % 3]} {VOCABULARY[n % 2 + 3]}") for n in range(2 * posterior.SAMPLE + 7)]
    for some, rows in ((many[:-8], len(many) - 8), (many, posterior.SAMPLE + 4)):
        held = Belief(some)
        held.meet(candidate("red\nround"))
        now = held.posterior([], Objectives(["m"], ["d"]))
        found = now.effects(now.means, np.ones(1)).relevance
        assert found.shape == (2, rows)
        assert found.mean(axis=1) == pytest.approx(held.relevance.mean(axis=1), abs=0.01)
