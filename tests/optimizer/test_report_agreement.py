"""How far a judge agreed with itself, over a whole run."""

from collections.abc import Sequence
from dataclasses import replace

from pieces import cell, example

from optimizer.evaluate import Cell
from optimizer.policy import Objectives
from optimizer.report.agreement import KEY, agreement_line, judge_agreement
from optimizer.table import Table
from scoring.score import Score

E, F = example("e"), example("f")


def voted(before: Cell, votes: Sequence[float | None]) -> Cell:
    told = [None if vote is None else {"polite": vote} for vote in votes]
    return replace(before, score=Score({"polite": 1.0}, details={"traits": {"polite": {"votes": told}}}))


def table(*cells: Cell) -> Table:
    filled = Table([E, F], Objectives(["small"], ["polite"]))
    filled.add(cells)
    return filled


def test_an_answer_that_several_gave_counts_once() -> None:
    one = voted(cell(E, text="yes", who="one"), [1.0, 1.0])
    same = voted(cell(E, text="yes", who="two"), [1.0, 1.0])
    other = voted(cell(E, text="no", who="three"), [1.0, 0.0])
    elsewhere = voted(cell(F, text="yes", who="one"), [0.0, 1.0])
    assert judge_agreement([table(one, same, other), table(elsewhere)]) == {KEY: {"polite": {"share": 1 / 3, "answers": 3}}}


def test_without_two_valid_votes_nothing_is_told() -> None:
    result = judge_agreement([table(cell(E, {"polite": 1.0}), cell(F, None), voted(cell(F, who="x"), [1.0, None]))])
    assert result == {} and agreement_line(result) == []


def test_it_is_told_in_a_line() -> None:
    told = judge_agreement([table(voted(cell(E), [1.0, 1.0, 0.0]))])
    assert agreement_line(told) == ["votes of the judge that agree: polite 33.3% on 1 answer"]
