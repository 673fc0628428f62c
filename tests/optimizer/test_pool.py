"""The pool: members are compared through the seed, over the cells that both have."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import candidate, cell, examples

from adapters.candidate import Candidate
from optimizer.policy import Objectives
from optimizer.pool import Pool
from optimizer.table import Table

VAL = examples(10)
SEED, CHILD, OTHER = candidate("seed"), candidate("child"), candidate("other")


def pool(**rows: Sequence[float | None]) -> Pool:
    """A pool of one model and one dimension; None is a failed cell."""
    who = {"seed": SEED, "child": CHILD, "other": OTHER}
    table = Table(VAL, Objectives(["m"], ["template"]))
    for name, row in rows.items():
        for example, value in zip(VAL, row, strict=True):
            table.add([cell(example, None if value is None else {"template": value}, who=who[name].id, model="m")])
    made = Pool(SEED, table, VAL)
    for name in list(rows)[1:]:
        made.add(who[name])
    return made


def test_failing_on_the_hard_examples_is_no_gain() -> None:
    """On the eight cells that both have, the seed has all right and the child one wrong."""
    made = pool(seed=[1.0] * 8 + [0.0] * 2, child=[1.0] * 7 + [0.0] + [None] * 2)
    assert made.overall(SEED) == 0.8
    assert made.overall(CHILD) == pytest.approx(0.8 - 1 / 8)
    assert made.best() is SEED and made.frontier() == [SEED]


def test_without_failures_a_level_is_the_mean() -> None:
    made = pool(seed=[0.0] * 10, child=[1.0, 0.5] * 5)
    assert made.objectives(CHILD) == {"m:template": pytest.approx(0.75)}
    assert made.best() is CHILD


def test_of_equals_the_older_one_is_best() -> None:
    made = pool(seed=[0.5] * 10, child=[1.0] * 5 + [0.0] * 5, other=[1.0] * 10)
    assert made.best() is OTHER
    assert pool(seed=[0.5] * 10, child=[1.0] * 5 + [0.0] * 5).best() is SEED


def test_nothing_in_common_is_no_level() -> None:
    made = pool(seed=[1.0] * 5 + [None] * 5, child=[None] * 5 + [1.0] * 5)
    assert math.isnan(made.overall(CHILD)) and made.objectives(CHILD) == {}
    assert made.best() is SEED
    assert made.parent(np.random.default_rng(0)).candidate is SEED


@given(st.lists(st.booleans(), min_size=10, max_size=10), st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_failures_alone_move_no_level(failed: list[bool], scores: list[float]) -> None:
    """A child that is the seed in all but its failures stands where the seed stands."""
    child: list[float | None] = [None if gone else score for gone, score in zip(failed, scores, strict=True)]
    made = pool(seed=list(scores), child=child)
    if not all(failed):
        assert made.overall(CHILD) == pytest.approx(made.overall(SEED))


def test_members_remember_their_failed_children() -> None:
    made = pool(seed=[1.0] * 10)
    assert made.members[0].attempts == [] and isinstance(made.members[0].candidate, Candidate)


def test_what_the_others_did_on_a_batch() -> None:
    made = pool(seed=[1.0] * 10, child=[0.0] * 10, other=[0.5] * 10)
    seed, child, other = made.members
    batch = VAL[2:4]
    assert [each.candidate for each in made.others(child, batch)] == [SEED, OTHER]
    assert [found.example for each in made.others(child, batch) for found in each.cells] == [*batch, *batch]
    made.add(candidate("met nothing"))
    assert [each.candidate for each in made.others(seed, batch)] == [CHILD, OTHER]
    assert made.others(other, []) == []
