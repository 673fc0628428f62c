"""The frontier thinned out, its constraints, and its knee."""

import math

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from optimizer.frontier import frontier, knee
from scoring.pareto import non_dominated

Rows = NDArray[np.float64]
NAN = math.nan


@st.composite
def tables(draw: st.DrawFn, missing: bool = True) -> Rows:
    columns = draw(st.integers(1, 4))
    value = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
    if missing:
        value |= st.just(NAN)
    rows = draw(st.lists(st.lists(value, min_size=columns, max_size=columns), min_size=1, max_size=25))
    return np.array(rows)


def everybody(rows: Rows) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=bool)


def covers(one: Rows, other: Rows, epsilon: float) -> bool:
    """Whether one is nowhere more than epsilon below the other, number by number."""
    return all(math.isnan(b) or a >= b - epsilon for a, b in zip(one.tolist(), other.tolist(), strict=True))


@given(tables())
def test_without_an_epsilon_it_is_everybody_who_is_not_dominated(rows: Rows) -> None:
    assert frontier(rows, everybody(rows)).tolist() == non_dominated(rows).tolist()


@given(tables(), st.sampled_from([0.0, 0.01, 0.25, 1.0]))
def test_every_candidate_is_covered_by_some_member(rows: Rows, epsilon: float) -> None:
    free = frontier(rows, everybody(rows), epsilon)
    assert free.any() and not (free & ~non_dominated(rows)).any()
    for row in rows:
        assert any(covers(member, row, epsilon) for member in rows[free])


@given(tables(missing=False), st.sampled_from([0.01, 0.25]))
def test_moocore_finds_the_cover_within_epsilon(rows: Rows, epsilon: float) -> None:
    free = frontier(rows, everybody(rows), epsilon)
    assert moocore.epsilon_additive(rows[free], ref=rows, maximise=True) <= epsilon + 1e-12


@given(tables(), st.sampled_from([0.01, 0.25]))
def test_no_member_is_superfluous_beside_those_with_higher_sums(rows: Rows, epsilon: float) -> None:
    members = rows[frontier(rows, everybody(rows), epsilon)]
    order = members[np.argsort(-np.nansum(members, axis=1), kind="stable")]
    for index, member in enumerate(order):
        assert not any(covers(higher, member, epsilon) for higher in order[:index])


@given(tables(), st.data())
def test_it_is_among_those_that_meet_the_constraints(rows: Rows, data: st.DataObject) -> None:
    meets = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    free = frontier(rows, meets)
    assert free.any()
    assert free[meets].tolist() == non_dominated(rows[meets]).tolist() or not meets.any()
    assert not free[~meets].any() or not meets.any()


def test_an_epsilon_keeps_one_of_those_that_are_alike() -> None:
    rows = np.array([[0.50, 0.80], [0.51, 0.79], [0.9, 0.1], [0.505, 0.799]])
    assert frontier(rows, everybody(rows), 0.02).tolist() == [False, False, True, True]


@pytest.mark.parametrize("epsilon", [-0.1, NAN])
def test_a_negative_epsilon_makes_no_sense(epsilon: float) -> None:
    with pytest.raises(ValueError, match="give 0 or more"):
        frontier(np.ones((1, 1)), np.ones(1, dtype=bool), epsilon)


def test_the_knee_of_a_bent_frontier() -> None:
    rows = np.array([[0.0, 1.0], [0.2, 0.95], [0.8, 0.8], [0.95, 0.2], [1.0, 0.0]])
    assert knee(rows) == 2
    assert knee(rows * [1.0, 0.01] + [0.0, 0.5]) == 2, "the scale of an objective makes no difference"


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12, unique=True))
def test_with_two_objectives_it_is_the_farthest_from_the_line_through_the_extremes(points: list[tuple[float, float]]) -> None:
    rows = np.array(points)
    front = rows[non_dominated(rows)]
    span = np.ptp(front, axis=0)
    if len(front) < 2 or (span < 1e-6).any():
        return
    scaled = (front - front.min(axis=0)) / span
    (ax, ay), (bx, by) = scaled[np.argmax(scaled[:, 0])], scaled[np.argmax(scaled[:, 1])]
    away = [((by - ay) * (x - ax) - (bx - ax) * (y - ay)) / math.hypot(bx - ax, by - ay) for x, y in scaled.tolist()]
    found = knee(front)
    assert found is not None and away[found] == pytest.approx(max(away), abs=1e-9)


@given(tables())
def test_the_knee_is_on_the_front(rows: Rows) -> None:
    front = rows[non_dominated(rows)]
    found = knee(front)
    whole = [not any(map(math.isnan, row)) for row in front.tolist()]
    assert (found is None) == (not any(whole))
    assert found is None or whole[found]


def test_who_lacks_a_level_is_no_knee() -> None:
    assert knee(np.array([[1.0, NAN], [0.5, 0.5]])) == 1
    assert knee(np.array([[1.0, NAN]])) is None
    assert knee(np.empty((0, 2))) is None
    assert knee(np.array([[0.5, 0.5], [0.5, 0.5]])) == 0, "of equals, the first"
