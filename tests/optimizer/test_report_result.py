"""What the report says of the search's choice, on many and few examples, with and without a test split."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from journalled import made_from, row
from pieces import Model, Reply, candidate, cell, example, failure
from scipy import stats

from adapters.answer import TracedAnswer
from adapters.candidate import Candidate
from adapters.clients.client import Request
from adapters.example import Example
from adapters.prompt import PromptAdapter
from adapters.split import SealedTest
from optimizer.budget import Ledger
from optimizer.cli.reading import read_run
from optimizer.config import BudgetConfig, ObjectivesConfig
from optimizer.desk import Desk
from optimizer.evaluate import Evaluator, TaskModel
from optimizer.journal import Journal
from optimizer.loop import Found
from optimizer.order import Order
from optimizer.policy import Objectives
from optimizer.report.decision import floors
from optimizer.report.ground import ENOUGH, FRESH, OPTIMISTIC, ground
from optimizer.report.result import Report
from optimizer.report.terminal import headline
from optimizer.run import _own_best
from optimizer.rundir import RESULT, write_json
from optimizer.schedule import Rules
from optimizer.table import Table
from scoring.improvement import Difference, paired_difference
from scoring.score import Score
from scoring.suite import Suite

SEED, BEST = candidate("seed"), candidate("best")
Scores = Mapping[str, Sequence[float | None]]
"""Candidate's text → what it has on each example; None: the call fails."""


class Spoken:
    """The scorer: the answer is the score of every dimension."""

    version = "1"

    def __init__(self, dimensions: Sequence[str]) -> None:
        self.name, self.dimensions = "spoken", tuple(dimensions)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        return Score(dict(zip(self.dimensions, map(float, answer.text.split()), strict=True)))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.write(tmp_path)) as journal:
        yield journal


def items(n: int, groups: int | None = None) -> list[Example]:
    return [Example(f"e{k}", {"text": str(k)}, None, group=None if groups is None else f"g{k % groups}") for k in range(n)]


async def report(
    journal: Journal,
    scores: Mapping[str, Sequence[object]],
    *,
    groups: int | None = None,
    sealed: bool = True,
    met: Mapping[str, Sequence[int]] | None = None,
    best: Candidate = BEST,
    wanted: Mapping[str, object] | None = None,
    rollouts: int = 1000,
) -> dict[str, Any]:
    """`scores`: candidate's text → by example, its scores as the model says them, or None where the call fails. `met`: the examples where
    the search has run them."""
    examples = items(len(scores["seed"]), groups)
    config = ObjectivesConfig.model_validate(wanted or {})
    suite = Suite([Spoken(list(config.dimensions or ["right"]))])
    objectives = Objectives(["small"], suite.dimensions or (), config)

    def says(request: Request) -> Reply:
        said = scores[request.messages[0].content][int(request.messages[1].content)]
        return failure() if said is None else str(said)

    adapter = PromptAdapter(system="{instructions}", user="{text}", inputs=["text"])
    evaluator = Evaluator(adapter, [TaskModel("small", Model(says))], suite, Desk(journal), journal, 0, lambda _: None)
    table = Table([*examples, example("t")], objectives)
    for text, where in (met or {}).items():
        for k in where:
            values = dict(zip(suite.dimensions or (), map(float, str(scores[text][k]).split()), strict=True))
            table.add([cell(examples[k], values, who=candidate(text).id)])
    found = Found(SEED, best, {"small": best}, {"small": (best, 0.5, 0.5)}, [(SEED, {})], None, table, "rollouts", {"small": 1})
    rules = Rules(Order(1), 0, 1.0, priced=False, report_share=0.0)
    maker = Report(rules, evaluator, Ledger(BudgetConfig(rollouts=rollouts)), journal, lambda _: None)
    made = await maker.make(found, SealedTest(examples if sealed else ()), examples, met=set())
    json.dumps(made, allow_nan=False)
    return made


def won(n: int, wins: int) -> Scores:
    return {"seed": [0.0] * n, "best": [1.0] * wins + [0.0] * (n - wins)}


# --- few examples, and what they cannot say --------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "said"), [(3, "not distinguishable"), (5, "not distinguishable"), (8, "improved")])
async def test_eight_test_examples(journal: Journal, wins: int, said: str) -> None:
    made = await report(journal, won(8, wins))
    overall = made["overall"]
    assert (made["verdict"], overall["n"], overall["difference"], made["correction"]) == (said, 8, wins / 8, None)
    assert overall["p"] == pytest.approx(stats.binomtest(wins, wins).pvalue) and overall["p_error"] == 0
    assert made["objectives"]["small:right"]["p_holm"] == overall["p"], "a family of one"
    assert overall["p_holm"] is None
    assert made["best"]["id"] == BEST.id and made["refuted"] is None


async def test_scores_that_are_all_equal(journal: Journal) -> None:
    made = await report(journal, {"seed": [0.5] * 20, "best": [0.5] * 20})
    assert made["overall"] == {"seed": 0.5, "best": 0.5, **dict.fromkeys(("difference", "low", "high", "relative", "p_error"), 0.0),
                               "n": 20, "p": 1.0, "p_holm": None}  # fmt: skip
    assert made["verdict"] == "not distinguishable"
    assert made["best"]["id"] == SEED.id and made["refuted"] == {"id": BEST.id, "components": dict(BEST.components), "against": ["overall"]}
    assert headline(made).endswith("So the seed is kept, and best/ holds it.")


async def test_one_group_says_nothing_of_the_spread(journal: Journal) -> None:
    made = await report(journal, won(20, 15), groups=1)
    overall = made["overall"]
    assert (overall["low"], overall["high"], overall["p"], made["verdict"]) == (-1.0, 1.0, 1.0, "not distinguishable")
    assert "+75.0 points (95% interval -100.0 to +100.0) on 20 test examples" in headline(made)


async def test_cells_that_are_missing_on_one_side_make_no_pair(journal: Journal) -> None:
    best = [None if k % 3 == 0 else 1.0 for k in range(18)]
    made = await report(journal, {"seed": [0.0] * 18, "best": best})
    assert (made["overall"]["n"], made["overall"]["difference"], made["verdict"]) == (12, 1.0, "improved")
    assert made["failed_cells"] == {"timeout": 6}


async def test_where_one_side_has_no_cell_nothing_is_known(journal: Journal) -> None:
    best = [None] * 6
    made = await report(journal, {"seed": [0.0] * 6, "best": best}, wanted={"dimensions": {"right": {"floor": 0.1}}})
    assert {name: value for name, value in made["overall"].items() if value is not None} == {"n": 0}
    assert made["verdict"] == "not distinguishable" and made["refuted"] is None and made["best"]["id"] == BEST.id
    assert made["floors"] == {"small:right": {"floor": 0.1, "state": "not known"}}
    assert headline(made) == "Nothing is known: no test example has an answer of both the seed and the best."


# --- what stands, and what does not ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "kept"), [(-12, True), (-1, True), (1, False), (12, False)])
async def test_a_choice_that_gains_nothing_on_the_test_split_is_refuted(journal: Journal, wins: int, kept: bool) -> None:
    scores = won(20, abs(wins))
    made = await report(journal, scores if wins > 0 else {"seed": scores["best"], "best": scores["seed"]})
    assert made["verdict"] == {-12: "worse", 12: "improved"}.get(wins, "not distinguishable")
    assert (made["best"]["id"] == SEED.id, made["refuted"] is not None) == (kept, kept)
    assert made["overall"]["difference"] == wins / 20, "the numbers are those of what was chosen"


@pytest.mark.parametrize(("constraint", "against"), [(">= 0.9", []), (">= 0.2", ["overall"])])
async def test_who_meets_a_constraint_that_the_seed_does_not_need_not_gain_anything_else(
    journal: Journal, constraint: str, against: list[str]
) -> None:
    dimensions = {"right": {}, "safe": {"weight": 0, "constraint": constraint}}
    scores = {"seed": ["1 0.5"] * 12, "best": ["0.5 1"] * 12}
    made = await report(journal, scores, wanted={"dimensions": dimensions})
    assert made["verdict"] == "worse" and (made["refuted"] or {"against": []})["against"] == against
    assert headline(made).endswith("and the seed does not." if not against else "best/ holds it.")


async def test_the_seed_itself_is_never_refuted(journal: Journal) -> None:
    made = await report(journal, won(8, 3), best=SEED)
    assert made["refuted"] is None and made["best"]["id"] == SEED.id


async def test_a_refuted_best_for_each_model_leaves_no_folder_of_its_own(journal: Journal) -> None:
    made = await report(journal, {"seed": [1.0] * 12, "best": [0.0] * 12}, wanted={"best": "per_model"})
    assert made["refuted"] is not None and _own_best(made) == {}
    assert _own_best({**made, "refuted": None}) == {"small": dict(BEST.components)}


async def test_a_broken_floor_refutes_whatever_was_gained_elsewhere(journal: Journal) -> None:
    dimensions = {"right": {}, "safe": {"floor": 0.1}, "slow": {"direction": "minimize", "floor": 0.3}}
    scores = {"seed": ["0 1 0.2"] * 20, "best": ["1 1 0.4"] * 17 + ["1 0 0.4"] * 3}
    made = await report(journal, scores, wanted={"dimensions": dimensions})
    assert made["floors"] == {"small:safe": {"floor": 0.1, "state": "broken"}, "small:slow": {"floor": 0.3, "state": "held"}}
    assert made["verdict"] == "worse" and made["overall"]["low"] > 0
    assert made["refuted"]["against"] == ["small:safe"] and made["best"]["id"] == SEED.id
    assert "small:safe is 15.0 points worse than the seed, and its floor allows 10.0. So the seed is kept" in headline(made)


@pytest.mark.parametrize(("losses", "floor", "state"), [(0, 0.0, "held"), (1, 0.05, "not shown"), (1, 0.04, "broken"), (1, 0.5, "held")])
@pytest.mark.parametrize("lower", [False, True])
def test_the_states_of_a_floor(losses: int, floor: float, state: str, lower: bool) -> None:
    """By 20 examples, of which so many get worse."""
    one, other = [1.0] * 20, [0.0] * losses + [1.0] * (20 - losses)
    found = paired_difference(one, other, rng_seed=0)
    direction = "minimize" if lower else "maximize"
    wanted = Objectives(["m"], ["d"], ObjectivesConfig.model_validate({"dimensions": {"d": {"direction": direction, "floor": floor}}}))
    if lower:
        assert found.difference is not None and found.low is not None and found.high is not None
        found = Difference(0.0, -found.difference, -found.difference, -found.high, -found.low, 0.0, 20)
    assert floors(wanted, {"m:d": found}) == {"m:d": {"floor": floor, "state": state}}


# --- without a test split --------------------------------------------------------------------------------------------


def test_the_ground_is_what_no_side_has_met_as_long_as_it_is_enough() -> None:
    val = items(ENOUGH + 4)
    table = Table(val, Objectives(["small"], ["right"]))
    table.add([cell(val[k], {"right": 1.0}, who=who.id) for who, k in ((SEED, 0), (SEED, 1), (BEST, 1), (BEST, 2))])
    assert ground(table, [SEED, BEST], val) == (val[3:], FRESH)
    table.add([cell(val[k], {"right": 1.0}, who=BEST.id) for k in (3, 4)])
    met = [val[k] for k in (1, 0, 2, 3, 4)]
    assert ground(table, [SEED, BEST], val) == ([*met, *val[5:]], OPTIMISTIC)


async def test_the_report_on_val_is_made_where_the_choice_was_not(journal: Journal) -> None:
    """The best was right wherever the search ran it, and is no better elsewhere."""
    scores = {"seed": [0.0, 1.0] * 15, "best": [1.0] * 10 + [0.0, 1.0] * 10}
    made = await report(journal, scores, sealed=False, met={"seed": range(5), "best": range(10)})
    assert (made["split"], made["correction"]) == ("val", "fresh")
    assert (made["overall"]["n"], made["overall"]["difference"], made["verdict"]) == (20, 0.0, "not distinguishable")
    assert made["refuted"] is None, "the search has seen more of val than the report is made on"
    assert made["spent"]["rollouts"] == 40


async def test_a_sure_loss_on_val_refutes(journal: Journal) -> None:
    scores = {"seed": [1.0] * 30, "best": [1.0] * 10 + [0.0] * 20}
    made = await report(journal, scores, sealed=False, met={"best": range(10)})
    assert (made["verdict"], made["refuted"]["against"], made["best"]["id"]) == ("worse", ["overall"], SEED.id)


async def test_where_the_search_has_met_nearly_all_of_val_the_report_is_called_optimistic(journal: Journal) -> None:
    made = await report(journal, won(30, 20), sealed=False, met={"best": range(25), "seed": range(25)})
    assert (made["split"], made["correction"], made["overall"]["n"]) == ("val", "optimistic", 30)
    assert "where the best was selected, which flatters it" in headline(made)
    assert made["spent"]["rollouts"] == 10, "what the search has paid for is not run again"


async def test_a_budget_that_ends_the_report_on_val_leaves_pairs(journal: Journal) -> None:
    made = await report(journal, won(30, 30), sealed=False, rollouts=24)
    assert (made["overall"]["n"], made["correction"], made["verdict"]) == (12, "fresh", "improved")


async def test_a_seed_that_is_kept_needs_no_correction(journal: Journal) -> None:
    made = await report(journal, won(30, 3), sealed=False, best=SEED)
    assert (made["split"], made["correction"], made["overall"]["difference"]) == ("val", None, 0.0)


async def test_the_best_of_a_run_is_what_its_report_has_left_standing(journal: Journal, tmp_path: Path) -> None:
    """The journal keeps what the search chose, `result.json` what became of it."""
    made_from(tmp_path, "small")
    journal.add_candidate(row("s"))
    journal.add_candidate(row("c", 1))
    journal.decide(0, "commit", {"candidate": "s"})
    journal.decide(1, "commit", {"candidate": "c"})
    journal.stand(1, {"best": "c", "frontier": ["c"], "levels": {}, "deviations": {}})
    assert [each.id for each in read_run(tmp_path).candidates if each.best] == ["c"]
    write_json(tmp_path / RESULT, {"best": {"id": "s"}, "spent": {}, "frontier": []})
    assert [each.id for each in read_run(tmp_path).candidates if each.best] == ["s"]
