"""Who is best at what, kept while values come in: the same as worked out at the end."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from optimizer.winners import Winners, worths
from scoring.pareto import winners

NAN = math.nan
KEYS = 3
value = st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])
values = st.lists(value, min_size=KEYS, max_size=KEYS)


@given(st.lists(st.tuples(st.integers(0, 6), values), max_size=25))
def test_kept_up_to_date_it_is_what_it_is_from_scratch(steps: list[tuple[int, list[float]]]) -> None:
    """Values rise, fall, appear and vanish; a candidate beyond the last one is a new one."""
    kept = Winners(KEYS)
    rows: list[list[float]] = []
    for wanted, line in steps:
        row = min(wanted, len(rows))
        rows[row : row + 1] = [line]
        kept.update(row, np.array(line))
        expected = winners(np.array(rows))
        assert np.array_equal(kept.values, np.array(rows), equal_nan=True)
        assert {key: np.flatnonzero(kept.wins[:, key]).tolist() for key in range(KEYS) if kept.wins[:, key].any()} == expected


def test_nobody_wins_nothing() -> None:
    assert Winners(2).wins.shape == (0, 2) and Winners(2).values.shape == (0, 2)


def worth(line: list[float], weights: list[float], asked: list[bool]) -> float:
    found: NDArray[np.float64] = worths(np.array(line), np.array(weights), np.array(asked))
    return float(found)


def test_a_worth_is_the_weighted_mean_over_what_is_asked() -> None:
    assert worth([1.0, 0.0, 0.5], [3.0, 1.0, 0.0], [True, True, True]) == 0.75
    assert worth([1.0, NAN, 0.5], [3.0, 1.0, 1.0], [True, False, True]) == pytest.approx(3.5 / 4)


def test_who_lacks_what_others_have_there_is_not_compared() -> None:
    assert math.isnan(worth([1.0, NAN], [1.0, 1.0], [True, True]))
    assert worth([1.0, NAN], [1.0, 0.0], [True, True]) == 1.0, "but for what counts nothing"
    assert math.isnan(worth([1.0, 1.0], [1.0, 0.0], [False, True])), "where nothing that counts is asked, there is none"


def test_sums_in_another_order_are_equal() -> None:
    assert sum([0.1, 0.2, 0.3]) != sum([0.3, 0.2, 0.1])
    assert worth([0.1, 0.2, 0.3], [1.0] * 3, [True] * 3) == worth([0.3, 0.2, 0.1], [1.0] * 3, [True] * 3)
