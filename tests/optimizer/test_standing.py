"""How candidates stand: kept up to date it is what it is from scratch, whatever comes in and in whatever order."""

import math
import time
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pieces import candidate, cell, examples

from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell
from optimizer.policy import Array, Objectives
from optimizer.standing import Standing
from optimizer.table import Table
from optimizer.winners import View, worths
from scoring.pareto import winners
from scoring.score import Score

VAL = examples(4)
TRAIN = examples(6)[4:]
WHO = [candidate(name) for name in ("seed", "b", "c", "d")]
CONFIG = ObjectivesConfig.model_validate(
    {"dimensions": {"right": {"weight": 2, "constraint": ">= 0.5"}, "long": {"direction": "minimize"}}}
)
WANTED = Objectives(["m", "n"], ["right", "long"], CONFIG)
VIEWS: tuple[View, ...] = ("objective", "instance", "hybrid", "cartesian")

score = st.fixed_dictionaries({}, optional={name: st.sampled_from([0.0, 0.25, 0.5, 1.0]) for name in WANTED.dimensions})


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    found = cell(
        draw(st.sampled_from([*VAL, *TRAIN])),
        draw(score.filter(bool) | st.none()),
        who=draw(st.sampled_from(WHO)).id,
        model=draw(st.sampled_from(WANTED.models)),
    )
    return replace(found, repeat=draw(st.integers(0, 1)))


class Scratch:
    """Everything worked out anew, in the plainest way."""

    def __init__(self, table: Table, count: int) -> None:
        self.values = np.array([table.values(who.id, VAL) for who in WHO[:count]])
        self.levels = np.array([[_level(self.values[0, :, j], own[:, j]) for j in range(own.shape[1])] for own in self.values])
        self.free = WANTED.frontier(self.levels)
        asked = ~np.isnan(self.values).all(axis=0)
        at = {"objective": self.levels, "instance": worths(self.values, WANTED.weights, asked), "cartesian": self.values.reshape(count, -1)}
        self.wins = {view: _mask(rows) for view, rows in at.items()}
        self.wins["hybrid"] = np.hstack([self.wins["objective"], self.wins["instance"]])


def _level(seed: Array, own: Array) -> float:
    """Of one objective: the seed's mean, and the mean difference to it where both are known."""
    before = [value for value in seed.tolist() if not math.isnan(value)]
    gains = [after - value for value, after in zip(seed.tolist(), own.tolist(), strict=True) if not math.isnan(after - value)]
    return sum(before) / len(before) + sum(gains) / len(gains) if gains else math.nan


def _mask(rows: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    mask = np.zeros(rows.shape, dtype=bool)
    for key, best in winners(rows).items():
        mask[best, key] = True
    return mask


@given(st.lists(st.lists(cells(), max_size=5) | st.just("join"), max_size=12))
def test_kept_up_to_date_it_is_what_it_is_from_scratch(steps: list[list[Cell] | str]) -> None:
    table = Table([*VAL, *TRAIN], WANTED)
    standing, count = Standing(table, VAL), 1
    standing.add(WHO[0].id)
    for step in steps:
        if isinstance(step, list):
            table.add(step)
        elif count < len(WHO):
            standing.add(WHO[count].id)
            count += 1
        expected = Scratch(table, count)
        assert np.array_equal(standing.levels(), expected.levels, equal_nan=True)
        assert standing.frontier().tolist() == expected.free.tolist()
        for view in VIEWS:
            assert standing.wins(view).tolist() == expected.wins[view].tolist(), view


@given(st.lists(cells(), max_size=40))
def test_the_views_are_consistent(given_cells: list[Cell]) -> None:
    table = Table([*VAL, *TRAIN], WANTED)
    table.add(given_cells)
    standing = Standing(table, VAL)
    for who in WHO:
        standing.add(who.id)
    masks = {view: standing.wins(view) for view in VIEWS}
    for view, mask in masks.items():
        assert mask.shape == (len(WHO), len(standing.keys(view)))
    assert masks["hybrid"].sum() == masks["objective"].sum() + masks["instance"].sum()
    known = ~np.isnan(standing.levels()).all(axis=0)
    assert masks["objective"].any(axis=0).tolist() == known.tolist(), "an objective is won where anybody has a level"


def test_the_keys_are_named() -> None:
    standing = Standing(Table(VAL[:2], Objectives(["m"], ["right", "long"])), VAL[:2])
    assert standing.keys("objective") == [(None, "m:right"), (None, "m:long")]
    assert standing.keys("instance") == [("e0", None), ("e1", None)]
    assert standing.keys("hybrid") == [*standing.keys("objective"), *standing.keys("instance")]
    assert standing.keys("cartesian") == [("e0", "m:right"), ("e0", "m:long"), ("e1", "m:right"), ("e1", "m:long")]


def test_a_winner_may_be_dominated_and_a_member_may_win_nothing() -> None:
    """a is the best on e0, but over all b is nowhere worse. c is a compromise between b and d."""
    rows = {"a": (1.0, 0.0, 0.0, 0.0), "b": (0.5, 0.5, 0.5, 0.1), "c": (0.375, 0.375, 0.4, 0.4), "d": (0.0, 0.0, 0.6, 0.6)}
    objectives = Objectives(["m"], ["x", "y"])
    table = Table(VAL[:2], objectives)
    standing = Standing(table, VAL[:2])
    for name, (x0, x1, y0, y1) in rows.items():
        table.add([cell(VAL[0], {"x": x0, "y": y0}, who=name, model="m"), cell(VAL[1], {"x": x1, "y": y1}, who=name, model="m")])
        standing.add(name)
    assert standing.frontier().tolist() == [False, True, True, True]
    assert standing.wins("cartesian").any(axis=1).tolist() == [True, True, False, True]
    assert standing.wins("objective").any(axis=1).tolist() == [True, True, False, True]
    assert standing.wins("instance").tolist() == [[True, False], [True, False], [False, True], [False, False]]


def test_nobody_has_no_standing() -> None:
    standing = Standing(Table(VAL, WANTED), VAL)
    assert standing.levels().shape == (0, 4) and standing.frontier().shape == (0,)
    assert standing.wins("cartesian").shape == (0, 16) and standing.wins("hybrid").shape == (0, 8)


def test_one_more_candidate_is_quick() -> None:
    """A coarse bound, of CPU time; tests/benchmarks/table_speed.py measures."""
    items, models = examples(300), ["m", "n"]
    table = Table(items, Objectives(models, ["x", "y"]))
    standing, rng, took = Standing(table, items), np.random.default_rng(0), math.inf
    scores = [Score({"x": x, "y": y}) for x, y in rng.random((50, 2)).tolist()]
    for index in range(60):
        row = [replace(cell(e, who=f"c{index}", model=m), score=scores[rng.integers(50)]) for e in items for m in models]
        started = time.process_time()
        table.add(row)
        standing.add(f"c{index}")
        standing.frontier()
        standing.wins("hybrid")
        standing.wins("cartesian")
        took = min(took, time.process_time() - started)
    assert took < 0.05
