"""Minibatches prefer what the parent is known to lose on, and keep room for the rest."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import cell, examples

from adapters.example import Example
from optimizer.minibatch import FAILURES, minibatch
from optimizer.policy import Objectives
from optimizer.table import Table

TRAIN = examples(40)


def table(**known: range) -> Table:
    """`right`, `wrong` and `failed`: the numbers of the examples that ended so for candidate c."""
    table = Table(TRAIN, Objectives(["small"], ["template"]))
    for name, value in (("right", 1.0), ("wrong", 0.5), ("failed", None)):
        table.add(cell(TRAIN[n], value) for n in known.get(name, ()))
    return table


def numbers(batch: list[Example]) -> list[int]:
    return [int(each.id[1:]) for each in batch]


def draw(table: Table, size: int = 10, seed: int = 0, train: list[Example] = TRAIN) -> list[int]:
    return numbers(minibatch("c", train, size, table, random.Random(seed)))


def test_known_failures_first_then_the_unknown() -> None:
    known = table(wrong=range(20), right=range(20, 30))
    for seed in range(20):
        batch = draw(known, seed=seed)
        assert all(n < 20 for n in batch[:7])
        assert all(n >= 30 for n in batch[7:])


def test_few_failures_are_all_taken_and_the_unknown_fill_up() -> None:
    batch = draw(table(wrong=range(3), right=range(3, 10)))
    assert sorted(batch[:3]) == [0, 1, 2]
    assert all(n >= 10 for n in batch[3:])


def test_with_nothing_unknown_more_failures_come_then_any() -> None:
    assert sorted(draw(table(wrong=range(9), right=range(9, 40)))[:9]) == list(range(9))
    everything = draw(table(right=range(40)))
    assert len(set(everything)) == 10


def test_what_failed_for_other_reasons_is_no_known_failure() -> None:
    """Nor unknown: it would fail again, or not, and shows nothing."""
    batch = draw(table(failed=range(20)))
    assert all(n >= 20 for n in batch)


def test_one_lost_objective_is_a_failure() -> None:
    table = Table(TRAIN, Objectives(["a", "b"], ["template", "brevity"]))
    for e in TRAIN:
        lost = 0.9 if e is TRAIN[5] else 1.0
        table.add([cell(e, {"template": 1.0}, model="a"), cell(e, {"template": 1.0, "brevity": lost}, model="b")])
    assert draw(table)[0] == 5


def test_another_candidates_failures_are_none() -> None:
    other = Table(TRAIN, Objectives(["small"], ["template"]))
    other.add(cell(e, 0.0, who="other") for e in TRAIN[:20])
    counts = Counter(n < 20 for seed in range(50) for n in draw(other, seed=seed))
    assert counts[False] > 150, "they are drawn like any unknown example"


@given(
    size=st.integers(1, 60),
    seed=st.integers(0, 1000),
    cut=st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)).map(sorted),
    most=st.integers(0, 40),
)
def test_a_batch_is_as_long_as_it_can_be_without_repeats(size: int, seed: int, cut: list[int], most: int) -> None:
    known = table(wrong=range(cut[0]), right=range(cut[0], cut[1]), failed=range(cut[1], cut[2]))
    batch = draw(known, size, seed, TRAIN[:most])
    assert len(batch) == len(set(batch)) == min(size, most)
    assert all(n < most for n in batch)
    failures = sum(n < cut[0] for n in batch)
    assert failures >= min(round(FAILURES * size), cut[0], most)
    assert draw(known, size, seed, TRAIN[:most]) == batch


@pytest.mark.parametrize("size", [1, 2, 5, 10])
def test_every_failure_has_its_turn(size: int) -> None:
    known = table(wrong=range(20), right=range(20, 40))
    met = Counter(n for seed in range(300) for n in draw(known, size, seed))
    assert set(range(20)) <= met.keys()
    assert max(met[n] for n in range(20)) < 4 * min(met[n] for n in range(20))
