"""What a run can show: told of its examples alone, and then of what the seed leaves to gain."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pieces import cell, example
from standin import write_project

from optimizer.build import Prepared, prepare
from optimizer.configfile import load_config
from optimizer.evaluate import Cell
from optimizer.events import Event, StageStarted, Warned
from optimizer.outlook import Lookout, Proof, Seen, is_open, minibatch, objectives_of, outlook, powered, proof, seen
from optimizer.plan import UNSEALED_PART
from optimizer.report.ground import ENOUGH
from optimizer.schedule import FIRST
from scoring.power import detectable, share_interval

SIZES = {"train": 30, "val": 20, "test": 20}


def project(folder: Path, *overrides: str, sizes: dict[str, int] = SIZES, groups: int = 0, **changes: Any) -> Prepared:
    """`groups`: what the test split is cut into."""
    config = write_project(folder, "http://127.0.0.1:1/v1", sizes=sizes, **{"budget": {"rollouts": 300}, **changes})
    if groups:
        data = folder / "parcels.jsonl"
        rows = [json.loads(line) for line in data.read_text().splitlines()]
        for index, row in enumerate(rows):
            row["group"] = f"{row['split']} {index % groups if row['split'] == 'test' else index}"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    loaded = load_config(config, overrides)
    return prepare(loaded.config, loaded.folder)


def of(n: int, *, groups: int | None = None, models: int = 1) -> Proof:
    pieces = n if groups is None else groups
    return Proof("test", n, pieces, pieces, models)


def shown(lost: int, n: int, mean: float | None = None) -> Seen:
    return Seen(n, lost, *share_interval(lost, n), 1 - lost / n if mean is None else mean)


def cells(prepared: Prepared, values: Sequence[Any], model: str = "a") -> list[Cell]:
    """The seed's, on examples of the search."""
    data = [*prepared.data.train, *prepared.data.val]
    return [cell(each, value, who=prepared.seed.id, model=model) for each, value in zip(data, values, strict=False)]


# --- the examples ----------------------------------------------------------------------------------------------------


def test_a_test_split_is_counted_and_stays_sealed(tmp_path: Path) -> None:
    prepared = project(tmp_path, models=("a", "b"))
    assert proof(prepared) == Proof("test", 20, 20, 20, 2)
    assert prepared.test.opened_for is None


def test_groups_are_worth_one_example_each(tmp_path: Path) -> None:
    assert proof(project(tmp_path, groups=7)) == Proof("test", 20, 7, 6, 1), "six groups of three and one of two"


def test_without_a_test_split_it_is_as_much_of_val_as_is_paid_for(tmp_path: Path) -> None:
    def on(n: int, rollouts: int) -> Proof:
        return proof(project(tmp_path, sizes={"train": 30, "val": n}, budget={"rollouts": rollouts}))

    new = 40 - FIRST // 2
    assert on(40, 10_000) == Proof("val", new, new, new, 1), "where the seed was not run at the beginning"
    assert on(40, 2 * UNSEALED_PART * 8) == Proof("val", 8, 8, 8, 1)
    most = FIRST // 2 + ENOUGH - 1
    assert on(most, 2 * UNSEALED_PART * 8) == Proof("val", most, most, most, 1), "too few that are new: all of it, which is known by then"


# --- the seed --------------------------------------------------------------------------------------------------------


def test_what_the_seed_has_shown(tmp_path: Path) -> None:
    prepared = project(tmp_path)
    found = seen(prepared, cells(prepared, [{"codes": value} for value in (1.0, 0.5, 0.0, 1.0)] + [None]))
    assert found is not None
    assert (found.n, found.lost, round(found.mean, 9)) == (4, 2, 0.625), "a failed cell is not a wrong answer"
    assert (found.low, found.high) == share_interval(2, 4)


def test_models_count_as_the_config_says(tmp_path: Path) -> None:
    prepared = project(tmp_path, models=("a", "b"), objectives={"models": {"a": 3}})
    both = cells(prepared, [{"codes": 1.0}] * 4) + cells(prepared, [{"codes": 0.0}] * 2, "b")
    found = seen(prepared, both)
    assert found is not None and found.mean == pytest.approx(0.75) and (found.n, found.lost) == (6, 2)


def test_nothing_is_known_without_a_score(tmp_path: Path) -> None:
    prepared = project(tmp_path)
    assert seen(prepared, []) is None and seen(prepared, cells(prepared, [None])) is None
    assert outlook(proof(prepared), None).run


def test_only_objectives_count(tmp_path: Path) -> None:
    prepared = project(tmp_path, objectives={"dimensions": {"codes": {}}})
    known = cells(prepared, [{"codes": 1.0, "other": 0.0}] * 3)
    found = seen(prepared, known)
    assert objectives_of(prepared, known).names == ["a:codes"]
    assert found is not None and (found.lost, found.mean) == (0, 1.0)


def test_a_minibatch_holds_a_failure_as_often_as_chance_has_it(tmp_path: Path) -> None:
    prepared = project(tmp_path)
    batch = minibatch(prepared, shown(2, 8))
    assert batch is not None and (batch.size, batch.enough) == (20, 11) and batch.holds == pytest.approx(1 - 0.75**20)
    small = minibatch(project(tmp_path / "b", sizes={"train": 5, "val": 5}), shown(0, 8))
    assert small is not None and (small.size, small.holds, small.enough) == (5, 0.0, None)
    nobody = project(tmp_path / "c", sizes=SIZES, proposers={"demos": {"max": 2}})
    assert minibatch(nobody, shown(2, 8)) is None


# --- what follows ----------------------------------------------------------------------------------------------------


def test_examples_alone_tell_what_can_be_shown() -> None:
    found = outlook(of(20))
    assert (found.run, found.advice, found.detectable, found.more) == (True, [], detectable(20), detectable(80))
    told, meant = powered(found)
    assert told == "can be shown by 20 test examples: gains from 48.7 points on, by 80 from 23.3 on"
    assert meant.startswith("which means: in 80% of runs, whatever the seed has, where scores are 0 or 1")
    assert ": in 80% of runs, if the seed has 50.0, where" in powered(outlook(of(20), shown(4, 8)))[1]
    assert " in 7 groups: gains from " in powered(outlook(of(20, groups=7)))[0]


def test_no_difference_comes_out_of_five() -> None:
    found = outlook(of(5))
    assert not found.run and found.detectable is None
    (advice,) = found.advice
    assert advice.startswith("do not run: the report is made on 5 independent test examples, and with fewer than 6 no difference")
    assert "no gain, not even the largest" in powered(found)[0]
    assert advice.endswith("Give the data a larger test split, of some dozens at best.")
    assert outlook(Proof("val", 3, 3, 3, 1)).advice[0].endswith("Give the data a test split, of some dozens at best.")
    assert "on 5 independent test groups" in outlook(of(40, groups=5)).advice[0]
    assert outlook(of(6)).run and not outlook(Proof("val", 0, 0, 0, 1)).run
    assert not is_open(of(5), shown(0, 8)), "what is known already is not looked into"


def test_a_seed_that_is_always_right_leaves_nothing() -> None:
    found = outlook(of(500), shown(0, 45))
    assert not found.run and "lost no point in 45 answers" in found.advice[0]
    assert is_open(of(500), shown(0, 8)), "eight tell little"


def test_more_than_is_left_cannot_be_shown() -> None:
    found = outlook(of(20), shown(1, 45))
    assert not found.run
    assert found.advice == [
        "do not run: the seed loses points in 1 of 45 answers, and 20 test examples hold too few such to show even a prompt that loses "
        "none: 355 examples would do, or harder ones."
    ]
    assert found.warnings[0].startswith("this run can show nothing: the seed loses points in 1 of 45 answers")
    assert outlook(of(400), shown(1, 45)).run
    assert "thousands of examples" in outlook(of(8), shown(1, 450)).advice[0]


def test_in_doubt_it_may_run() -> None:
    """The same share, but so few cells that it may be larger; other models may fail elsewhere; so may a group's other examples."""
    assert outlook(of(20), shown(1, 8)).run and is_open(of(20), shown(1, 8))
    assert outlook(of(20, models=9), shown(1, 45)).run
    assert outlook(of(120, groups=20), shown(1, 45)).run


def test_graded_scores_may_be_shown_though_their_mean_leaves_little() -> None:
    found = outlook(of(20), shown(45, 45, mean=0.9))
    assert found.run and found.detectable is None
    assert found.advice == [
        "the seed leaves 10.0 points to gain, and the test split of 20 may show none of that: 80 examples would show 9.9"
    ]


def test_advice_where_much_is_asked_for() -> None:
    found = outlook(of(20), shown(20, 40))
    told = "the seed leaves 50.0 points to gain, and the test split of 20 can only show gains above 43.1: 80 examples would show 22.7"
    assert found.advice == found.warnings == [told]
    assert outlook(of(80), shown(20, 40)).advice == []
    assert outlook(of(20), shown(40, 45, mean=0.98)).advice[0].endswith("many more examples would help")


# --- a run -----------------------------------------------------------------------------------------------------------


def test_a_run_is_warned_once_before_its_search(tmp_path: Path) -> None:
    prepared, told = project(tmp_path), list[Event]()
    lookout = Lookout(prepared, told.append)
    lookout(StageStarted("seed", 3))
    for each in cells(prepared, [{"codes": 1.0}] * 3):
        lookout.filled(each)
    lookout(StageStarted("search", None))
    lookout.filled(cell(example("later"), 0.0))
    lookout(StageStarted("report", 4))
    assert [type(event) for event in told] == [StageStarted, Warned, StageStarted, StageStarted]
    assert isinstance(told[1], Warned) and told[1].message.startswith("this run can show nothing: the seed lost no point in 3 answers")
