"""Power: told of gains as large as the verdict really shows, and of none that it cannot show."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from scoring.improvement import overall_difference, paired_difference, verdict
from scoring.power import (
    MOST,
    POWER,
    chance_of_one,
    detectable,
    fewest,
    pieces_needed,
    pieces_of,
    power,
    share_interval,
    size_for_one,
    wins_needed,
)

Scores = NDArray[np.float64]
DRAWS = 1_000
FAR = 4 * (POWER * (1 - POWER) / DRAWS) ** 0.5
"""Four standard errors of a share of the draws."""


@cache
def improved(n: int, won: int, lost: int) -> bool:
    """What the report says of scores of 0 or 1."""
    seed = [0.0] * won + [1.0] * lost + [0.0] * (n - won - lost)
    best = [1.0] * won + [0.0] * (n - won)
    return verdict(paired_difference(seed, best, rng_seed=0)) == "improved"


def shown(n: int, seed: float, best: float, rng: np.random.Generator) -> float:
    """How often the report shows the gain of prompts that fail independently."""
    first, second = rng.random((DRAWS, n)) < seed, rng.random((DRAWS, n)) < best
    pairs = zip((second & ~first).sum(axis=1).tolist(), (first & ~second).sum(axis=1).tolist(), strict=True)
    return sum(improved(n, won, lost) for won, lost in pairs) / DRAWS


@given(st.integers(2, 60), st.data())
@settings(max_examples=60, deadline=None)
def test_enough_wins_are_those_that_the_verdict_asks_for(n: int, data: st.DataObject) -> None:
    differ = data.draw(st.integers(0, n))
    needed = wins_needed(differ)
    for won in {max(0, needed - 1), min(needed, differ), differ}:
        assert improved(n, won, differ - won) == (won >= needed), (won, needed)


def test_five_of_five_show_nothing_and_six_of_six_do() -> None:
    assert fewest() == 6
    assert not improved(5, 5, 0) and improved(6, 6, 0)


@given(st.integers(0, 14), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_power_is_that_of_all_outcomes_together(n: int, won: float, of_the_rest: float) -> None:
    lost = (1 - won) * of_the_rest
    outcomes = [(w, k) for w in range(n + 1) for k in range(n + 1 - w) if w and stats.binomtest(w, w + k, 0.5).pvalue <= 0.05 and w > k]
    chances = [stats.multinomial.pmf([w, k, n - w - k], n, [won, lost, max(0.0, 1 - won - lost)]) for w, k in outcomes]
    assert power(n, won, lost) == pytest.approx(sum(chances), abs=1e-9)


def test_power_of_many() -> None:
    normal = stats.norm.cdf((0.05 * 1500**0.5 - 1.96 * 0.25**0.5) / (0.25 - 0.05**2) ** 0.5)
    assert power(1500, 0.15, 0.10) == pytest.approx(normal, abs=0.02), "Connor's formula"
    assert power(10**6, 0.3, 0.2) == power(MOST, 0.3, 0.2), "no more are counted"
    assert power(100, 0.0, 0.5) == 0.0


@pytest.mark.parametrize(("n", "seed"), [(20, 0.2), (20, 0.5), (40, 0.5), (60, 0.7), (100, 0.9)])
def test_the_smallest_gain_is_shown_as_often_as_is_said(n: int, seed: float) -> None:
    gain = detectable(n, seed)
    assert gain is not None
    rng = np.random.default_rng(n)
    assert shown(n, seed, seed + gain, rng) == pytest.approx(POWER, abs=FAR)
    assert shown(n, seed, seed + gain / 2, rng) < POWER - FAR


@pytest.mark.parametrize("n", [12, 20, 40])
def test_where_the_seed_is_not_known_it_is_enough_for_all(n: int) -> None:
    gain = detectable(n)
    assert gain is not None
    for before in np.linspace(0, 1 - gain, 5).tolist():
        assert shown(n, before, before + gain, np.random.default_rng(n)) >= POWER - FAR


def test_what_no_report_can_show() -> None:
    assert detectable(5) is None and detectable(5, 0.0) is None and detectable(0) is None
    assert detectable(20, 0.9) is None, "two more right answers of twenty"
    assert detectable(20, 1.0) is None
    assert detectable(200, 0.9) is not None


@given(st.integers(6, 150), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_more_examples_show_no_less(n: int, seed: float) -> None:
    few, more = detectable(n, seed), detectable(4 * n, seed)
    assert few is None or (more is not None and more <= few)


def many(gain: float, seed: float, n: int, of: str, rng: np.random.Generator) -> bool:
    """Whether a report shows the gain, in another world than that of the formula."""
    groups = None
    models = 3 if of == "models" else 1
    luck = rng.random((2, n, models))
    if of == "alike":
        luck[1] = luck[0]
    if of == "groups":
        luck, groups = np.repeat(luck, 4, axis=1), [str(index // 4) for index in range(4 * n)]
    right = (luck < np.array([seed, seed + gain]).reshape(2, 1, 1)).astype(np.float64)
    if of == "graded":
        right = rng.beta(2 * np.array([seed, seed + gain]), 2 * (1 - np.array([seed, seed + gain])), (n, 2)).T.reshape(2, n, 1)
    return verdict(overall_difference(right[0], right[1], groups, rng_seed=0)) == "improved"


@pytest.mark.parametrize(
    ("of", "least", "most"), [("models", 0.88, 1.0), ("alike", 0.88, 1.0), ("graded", 0.88, 1.0), ("groups", 0.65, 0.95)]
)
def test_what_varies_less_is_shown_more_often(of: str, least: float, most: float) -> None:
    """Several models whose failures are not the same; prompts that fail on the same examples; graded scores. Groups whose examples are
    all alike are worth one example each."""
    n, seed = 30, 0.5
    gain = detectable(pieces_of([4] * n), seed)
    assert gain is not None
    rng = np.random.default_rng(1)
    assert least <= sum(many(gain, seed, n, of, rng) for _ in range(80)) / 80 <= most


@pytest.mark.parametrize("failing", [1.0, 0.5, 0.2, 0.03])
def test_how_many_show_a_best_that_is_always_right(failing: float) -> None:
    needed = pieces_needed(failing)
    assert needed is not None
    assert stats.binom.sf(5, needed, failing) >= POWER > stats.binom.sf(5, needed - 1, failing)
    gain = detectable(needed, 1 - failing)
    assert gain == pytest.approx(failing, abs=0.05)
    assert detectable(needed - 1, 1 - failing) is None


def test_too_many_are_not_counted() -> None:
    assert pieces_needed(0.0) is None and pieces_needed(1e-4) is None


@given(st.integers(1, 200), st.data())
def test_the_interval_of_a_share_is_wilsons(n: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, n))
    theirs = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert share_interval(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(st.floats(0.001, 1.0))
def test_so_many_hold_one_and_one_less_does_not(share: float) -> None:
    size = size_for_one(share)
    assert size is not None and size >= 1
    assert chance_of_one(share, size) >= 0.95 - 1e-9
    assert size == 1 or chance_of_one(share, size - 1) < 0.95


def test_none_holds_what_is_not_there() -> None:
    assert size_for_one(0.0) is None and chance_of_one(0.0, 50) == 0.0 and chance_of_one(1.0, 1) == 1.0


def test_groups_are_worth_less_the_more_they_differ_in_size() -> None:
    assert pieces_of([1] * 20) == 20 and pieces_of([4] * 5) == 5 and pieces_of([]) == 0
    assert pieces_of([19, 1]) == 1 and pieces_of([3, 1, 1, 1]) == 3
