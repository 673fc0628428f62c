"""The frontier is Pareto's: checked against an independent library, and against its own laws where values are missing."""

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scoring.pareto import non_dominated, objective_winners, pareto_front, winners

Rows = NDArray[np.float64]
NAN = float("nan")


@st.composite
def tables(draw: st.DrawFn, missing: bool = False, most: int = 12) -> Rows:
    """Candidates × objectives; few different values, so that rows tie and are equal often."""
    columns = draw(st.integers(1, 4))
    value = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)
    if missing:
        value |= st.just(NAN)
    rows = draw(st.lists(st.lists(value, min_size=columns, max_size=columns), min_size=1, max_size=most))
    return np.array(rows)


def dominates(one: list[float], other: list[float]) -> bool:
    """The definition, number by number: over what the other has, which the one has to have too."""
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if not np.isnan(b)]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


@given(tables(most=30))
def test_it_is_what_moocore_says(values: Rows) -> None:
    """`keep_weakly`: equal rows stay together there too."""
    expected = moocore.is_nondominated(values, maximise=True, keep_weakly=True)
    assert non_dominated(values).tolist() == expected.tolist()


def test_many_random_rows_are_what_moocore_says() -> None:
    rng = np.random.default_rng(0)
    for objectives in (1, 2, 3, 5):
        values = rng.integers(0, 6, (300, objectives)) / 5
        expected = moocore.is_nondominated(values, maximise=True, keep_weakly=True)
        assert non_dominated(values).tolist() == expected.tolist()


def test_many_rows_with_missing_values_follow_the_definition() -> None:
    """More than are compared at a time."""
    rng = np.random.default_rng(1)
    for objectives in (2, 5):
        values = rng.integers(0, 5, (600, objectives)) / 4
        values[rng.random(values.shape) < 0.2] = NAN
        rows = values.tolist()
        expected = [not any(dominates(other, row) for other in rows) for row in rows]
        assert non_dominated(values).tolist() == expected


@given(tables(missing=True))
def test_missing_values_follow_the_definition(values: Rows) -> None:
    rows = values.tolist()
    expected = [not any(dominates(other, row) for other in rows) for row in rows]
    assert non_dominated(values).tolist() == expected


@given(tables(missing=True))
def test_somebody_is_always_left(values: Rows) -> None:
    assert non_dominated(values).any()


@given(tables(missing=True), st.randoms(use_true_random=False))
def test_the_order_of_candidates_and_objectives_makes_no_difference(values: Rows, shuffle: st.DataObject) -> None:
    rng = np.random.default_rng(shuffle.randint(0, 2**32))  # type: ignore[attr-defined]
    rows, columns = rng.permutation(len(values)), rng.permutation(values.shape[1])
    assert non_dominated(values[rows][:, columns]).tolist() == non_dominated(values)[rows].tolist()


@given(tables(missing=True))
def test_who_is_off_the_frontier_is_dominated_by_somebody_on_it(values: Rows) -> None:
    on = non_dominated(values)
    for row in values[~on].tolist():
        assert any(dominates(other, row) for other in values[on].tolist())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0.5]], [True]),
        ([[0.5], [0.5], [0.4]], [True, True, False]),
        ([[1, 0], [0, 1], [0.5, 0.5], [0.4, 0.5]], [True, True, True, False]),
        ([[1, 1], [1, 0.9]], [True, False]),
        ([[0.5, 1.0], [NAN, 0.9]], [True, False]),
        ([[0.5, 0.8], [NAN, 0.9]], [True, True]),
        ([[NAN, NAN], [1, 1]], [True, True]),
        ([[2, 1, NAN], [1, NAN, 2], [NAN, 2, 1]], [True, True, True]),
    ],
    ids=["alone", "equal rows stay", "trade-offs", "better somewhere", "dominated where known", "missing loses nothing", "unknown", "ring"],
)
def test_by_example(rows: list[list[float]], expected: list[bool]) -> None:
    assert non_dominated(np.array(rows, dtype=float)).tolist() == expected


def test_no_candidates_have_no_frontier() -> None:
    assert non_dominated(np.empty((0, 3))).tolist() == []


@given(tables(missing=True))
def test_winners_are_all_the_best_of_each_objective(values: Rows) -> None:
    found = winners(values)
    for index, column in enumerate(values.T.tolist()):
        known = [value for value in column if not np.isnan(value)]
        expected = [row for row, value in enumerate(column) if known and value == max(known)]
        assert found.get(index, []) == expected


def test_a_winner_may_be_off_the_frontier() -> None:
    """That is why the two views have names of their own."""
    values = np.array([[1.0, 0.2], [1.0, 0.9]])
    assert winners(values) == {0: [0, 1], 1: [1]}
    assert non_dominated(values).tolist() == [False, True]


PROMPTS = {
    "A": {"small": 0.65, "large": 0.70},
    "B": {"small": 0.70, "large": 0.60},
    "C": {"small": 0.60, "large": 0.75},
    "D": {"small": 0.68, "large": 0.72},
}


def test_a_good_compromise_is_on_the_frontier_and_wins_nothing() -> None:
    assert pareto_front(PROMPTS) == ["B", "C", "D"]
    assert objective_winners(PROMPTS) == {"small": ["B"], "large": ["C"]}


def test_objectives_that_a_candidate_lacks_are_missing_and_not_0() -> None:
    candidates = {"whole": {"x": 0.5, "y": -0.5}, "half": {"x": 0.4}, "other": {"z": 0.1}, "twin": {"y": -0.5, "x": 0.5}}
    assert pareto_front(candidates) == ["whole", "other", "twin"]
    assert objective_winners(candidates) == {"x": ["whole", "twin"], "y": ["whole", "twin"], "z": ["other"]}


def test_nobody_has_no_frontier() -> None:
    assert pareto_front({}) == []
    assert objective_winners({}) == {}
    assert pareto_front({"A": {}}) == ["A"]


@given(tables(missing=True), st.randoms(use_true_random=False))
def test_by_name_it_is_the_same(values: Rows, random: st.DataObject) -> None:
    """In whatever order each candidate has its objectives."""
    candidates = {}
    for row, line in enumerate(values.tolist()):
        known = [(f"o{index}", value) for index, value in enumerate(line) if not np.isnan(value)]
        random.shuffle(known)  # type: ignore[attr-defined]
        candidates[f"c{row}"] = dict(known)
    assert pareto_front(candidates) == [f"c{row}" for row in np.flatnonzero(non_dominated(values)).tolist()]
    assert objective_winners(candidates) == {f"o{column}": [f"c{row}" for row in best] for column, best in winners(values).items()}
