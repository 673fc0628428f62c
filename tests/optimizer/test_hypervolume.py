"""The hypervolume is exact: checked against moocore, against counted cubes, and against its own laws."""

import math

import moocore
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from optimizer.hypervolume import HypervolumeError, growth, hypervolume

Rows = NDArray[np.float64]


@st.composite
def tables(draw: st.DrawFn, most: int = 12) -> Rows:
    columns = draw(st.integers(1, 6))
    value = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1, allow_subnormal=False)
    return np.array(draw(st.lists(st.lists(value, min_size=columns, max_size=columns), min_size=1, max_size=most)))


def oracle(rows: Rows, reference: float = 0.0) -> float:
    return float(moocore.hypervolume(rows, ref=reference, maximise=True))


@given(tables())
def test_it_is_what_moocore_says(rows: Rows) -> None:
    assert hypervolume(rows) == pytest.approx(oracle(rows), abs=1e-9)


@given(tables(), st.sampled_from([-0.5, 0.1, 0.5, 2.0]))
def test_from_another_reference_point(rows: Rows, reference: float) -> None:
    assert hypervolume(rows, reference) == pytest.approx(oracle(rows, reference), abs=1e-9)


@pytest.mark.parametrize(("objectives", "number"), [(2, 500), (3, 60), (4, 40), (5, 25), (6, 20), (8, 15)])
def test_frontiers_without_a_dominated_row_are_what_moocore_says(objectives: int, number: int) -> None:
    rows = np.random.default_rng(0).random((number, objectives))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert hypervolume(rows) == pytest.approx(oracle(rows), abs=1e-9)


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=8))
def test_it_is_the_number_of_cubes_that_somebody_covers(corners: list[tuple[int, int, int]]) -> None:
    cubes = {(x, y, z) for a, b, c in corners for x in range(a) for y in range(b) for z in range(c)}
    assert hypervolume(np.array(corners, dtype=float)) == len(cubes)


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_objectives_makes_no_difference(rows: Rows, random: st.DataObject) -> None:
    rng = np.random.default_rng(random.randint(0, 2**32))  # type: ignore[attr-defined]
    mixed = rows[rng.permutation(len(rows))][:, rng.permutation(rows.shape[1])]
    assert hypervolume(mixed) == pytest.approx(hypervolume(rows), abs=1e-12)


@settings(deadline=None)
@given(tables())
def test_it_grows_as_candidates_come_in(rows: Rows) -> None:
    volumes = growth(rows)
    assert all(after >= before - 1e-12 for before, after in zip([0.0, *volumes], volumes, strict=False))
    assert volumes == pytest.approx([hypervolume(rows[: n + 1]) for n in range(len(rows))], abs=1e-9)


def test_what_is_unknown_spans_nothing() -> None:
    rows = np.array([[0.5, 0.5], [1.0, math.nan], [0.0, 1.0]])
    assert hypervolume(rows) == 0.25
    assert growth(rows) == [0.25, 0.25, 0.25]
    assert hypervolume(np.empty((0, 3))) == 0.0 and growth(np.empty((0, 3))) == []


def test_a_frontier_that_would_take_too_long_is_refused() -> None:
    rows = np.random.default_rng(0).random((51, 5))
    rows /= rows.sum(axis=1, keepdims=True)
    for measure in (hypervolume, growth):
        with pytest.raises(HypervolumeError, match="51 candidates on the frontier of 5 objectives takes too long; give at most 50"):
            measure(rows)
        with pytest.raises(HypervolumeError, match="9 objectives takes too long; give at most 8"):
            measure(np.ones((1, 9)))
    assert hypervolume(np.repeat(rows[:1], 60, axis=0)) == pytest.approx(rows[0].prod()), "rows that are equal count once"
