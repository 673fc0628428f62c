"""Paired statistics, against scipy's bootstrap and t intervals."""

import json
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from scoring.improvement import Difference, _student, as_family, compute_improvement, overall_difference, paired_difference, verdict

NOTHING = Difference(None, None, None, None, None, None, 0)


@pytest.mark.parametrize(
    ("baseline", "optimized", "improvement"),
    [
        (0.6, 0.75, 0.25000000000000006),
        (0.0, 0.5, 0.5),
        (0.7, 0.6, -0.14285714285714282),
        (0.5, 0.5, 0.0),
        (0.0, 0.0, 0.0),
        (-0.0, 0.3, 0.3),
        (0.0, -0.2, -0.2),
        (-0.5, 0.5, 2.0),
        (-0.5, -0.25, 0.5),
        (1e-12, 1.0, 999999999999.0),
        (1.0, 0.0, -1.0),
    ],
)
def test_relative_improvement(baseline: float, optimized: float, improvement: float) -> None:
    assert compute_improvement(baseline, optimized) == improvement


def test_relative_improvement_of_nothing() -> None:
    with pytest.raises(TypeError):
        compute_improvement(None, 0.5)  # type: ignore[arg-type]
    assert math.isnan(compute_improvement(math.nan, 0.5))
    assert math.isnan(compute_improvement(0.5, math.nan))


def scores(seed: int, n: int, shape: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    if shape == "binary":
        return (rng.random(n) < 0.4).astype(float), (rng.random(n) < 0.6).astype(float)
    return rng.beta(4, 4, n), rng.beta(5, 3, n)


@pytest.mark.parametrize("shape", ["binary", "graded"])
@pytest.mark.parametrize("seed", range(5))
def test_with_many_examples_it_is_the_usual_interval(seed: int, shape: str) -> None:
    before, after = scores(seed, 400, shape)
    found = paired_difference(before, after, rng_seed=seed)
    assert found.low is not None
    assert found.high is not None
    t = stats.ttest_rel(after, before).confidence_interval(0.95)
    bootstrap = stats.bootstrap((after - before,), np.mean, rng=np.random.default_rng(seed)).confidence_interval
    width = t.high - t.low
    for usual in (t, bootstrap):
        assert abs(found.low - usual.low) < 0.06 * width
        assert abs(found.high - usual.high) < 0.06 * width
    assert found.difference == pytest.approx(np.mean(after - before))
    assert found.n == 400


def test_the_level_is_the_width() -> None:
    before, after = scores(0, 400, "graded")
    ends = [paired_difference(before, after, rng_seed=0, level=level) for level in (0.5, 0.9, 0.99)]
    for end, level in zip(ends, (0.5, 0.9, 0.99), strict=True):
        assert end.low is not None
        t = stats.ttest_rel(after, before).confidence_interval(level)
        assert abs(end.low - t.low) < 0.05 * (t.high - t.low)


def test_groups_count_as_one() -> None:
    """A hundred groups of four copies: the interval is that of a hundred examples, not of four hundred."""
    before, after = scores(1, 100, "graded")
    names = [f"g{index}" for index in range(100)]
    alone = paired_difference(before, after, rng_seed=0)
    grouped = paired_difference(np.repeat(before, 4), np.repeat(after, 4), np.repeat(names, 4).tolist(), rng_seed=0)
    assert (grouped.low, grouped.high) == pytest.approx((alone.low, alone.high), abs=1e-9)
    assert grouped.n == 400


def test_groups_of_different_sizes_agree_with_the_cluster_robust_t() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 8, 150)
    label = np.repeat(np.arange(150), sizes)
    differences = np.clip(rng.normal(0.05, 0.15, 150)[label] + rng.normal(0, 0.1, len(label)), -0.5, 0.5)
    before = np.full(len(label), 0.5)
    found = paired_difference(before, before + differences, [f"g{g}" for g in label], rng_seed=0)
    mean = differences.mean()
    residual = np.bincount(label, differences - mean)
    error = math.sqrt(150 / 149 * (residual**2).sum()) / len(label)
    half = stats.t.ppf(0.975, 149) * error
    assert found.low == pytest.approx(mean - half, abs=0.1 * half)
    assert found.high == pytest.approx(mean + half, abs=0.1 * half)


def test_examples_without_a_group_stand_alone() -> None:
    before, after = scores(2, 50, "binary")
    assert paired_difference(before, after, [None] * 50, rng_seed=0) == paired_difference(before, after, rng_seed=0)


def test_missing_scores_are_left_out_not_zero() -> None:
    before, after = scores(4, 60, "binary")
    missing = before.copy()
    missing[::3] = np.nan
    gone = after.copy()
    gone[1::3] = np.nan
    kept = np.arange(60) % 3 == 2
    assert paired_difference(missing, gone, rng_seed=0) == paired_difference(before[kept], after[kept], rng_seed=0)


@pytest.mark.parametrize(("before", "after"), [([], []), ([math.nan], [1.0]), ([1.0, math.nan], [math.nan, 1.0])])
def test_without_a_pair_nothing_is_known(before: list[float], after: list[float]) -> None:
    assert paired_difference(before, after, rng_seed=0) == NOTHING
    assert overall_difference(np.zeros((0, 2)), np.zeros((0, 2)), rng_seed=0) == NOTHING
    assert verdict(NOTHING) == "not distinguishable"


def test_one_example_or_one_group_says_nothing_of_the_spread() -> None:
    assert paired_difference([0.0], [1.0], rng_seed=0) == Difference(0.0, 1.0, 1.0, -1.0, 1.0, 1.0, 1, 1.0, 0.0)
    one = paired_difference([0.2] * 9, [0.4] * 9, ["g"] * 9, rng_seed=0)
    assert (one.low, one.high, one.n, verdict(one)) == (-1.0, 1.0, 9, "not distinguishable")


def test_no_difference_at_all() -> None:
    same = paired_difference([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], rng_seed=0)
    assert same == Difference(0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 3, 1.0, 0.0)
    assert verdict(same) == "not distinguishable"


@pytest.mark.parametrize("step", [1.0, 0.25])
@pytest.mark.parametrize(("n", "said"), [(2, "not distinguishable"), (5, "not distinguishable"), (6, "improved"), (40, "improved")])
def test_equal_wins_are_judged_as_by_the_sign_test(n: int, said: str, step: float) -> None:
    won = paired_difference([0.0] * n, [step] * n, rng_seed=0)
    assert verdict(won) == said
    assert bool(stats.binomtest(n, n).pvalue < 0.05) is (said == "improved")
    assert won.high == step
    lost = paired_difference([step] * n, [0.0] * n, rng_seed=0)
    assert verdict(lost) == said.replace("improved", "worse")


def test_more_equal_wins_are_surer() -> None:
    lows = [paired_difference([0.0] * n, [1.0] * n, rng_seed=0).low or 0.0 for n in (6, 10, 20, 60, 200)]
    assert lows == sorted(lows)
    assert lows[-1] > 0.95


unit = st.one_of(st.just(0.0), st.just(1.0), st.floats(0, 1), st.just(math.nan))
rows = st.lists(st.tuples(unit, unit, unit, unit, st.sampled_from(["a", "b", None])), min_size=1, max_size=12)


def test_a_seed_that_is_next_to_nothing_gives_no_infinite_gain() -> None:
    found = paired_difference([0.0, 1e-313], [0.0, 0.5], rng_seed=0)
    assert found.relative == found.best == 0.25


@given(rows, st.randoms())
@settings(max_examples=40, deadline=None)
def test_any_order_gives_the_same_plain_numbers(given_rows: list[Any], random: Any) -> None:
    def found(some: list[Any]) -> Difference:
        table = np.array([row[:4] for row in some])
        return overall_difference(table[:, :2], table[:, 2:], [row[4] for row in some], rng_seed=7)

    one = found(given_rows)
    shuffled = list(given_rows)
    random.shuffle(shuffled)
    assert found(shuffled) == one
    assert Difference(**json.loads(json.dumps(asdict(one), allow_nan=False))) == one
    if one.n:
        assert all(type(value) is float for name, value in asdict(one).items() if name not in ("n", "p_holm"))
        assert -1 <= one.low <= one.difference <= one.high <= 1  # type: ignore[operator]


def test_the_overall_is_the_mean_of_the_objectives_not_of_the_cells() -> None:
    before = np.array([[0.0, 0.0], [0.0, np.nan], [0.0, np.nan], [0.0, np.nan]])
    after = np.array([[1.0, 0.0], [1.0, np.nan], [1.0, 0.0], [1.0, np.nan]])
    found = overall_difference(before, after, rng_seed=0)
    assert (found.seed, found.best, found.difference, found.n) == (0.0, 0.5, 0.5, 4)


def test_an_objective_without_a_pair_is_left_out() -> None:
    before, after = scores(5, 30, "binary")
    empty = np.full(30, np.nan)
    two = overall_difference(np.c_[before, empty], np.c_[after, after], rng_seed=0)
    assert two == paired_difference(before, after, rng_seed=0)


def test_objectives_that_move_together_are_one_piece_of_evidence() -> None:
    before, after = scores(6, 80, "binary")
    one = paired_difference(before, after, rng_seed=0)
    copies = overall_difference(np.c_[before, before, before], np.c_[after, after, after], rng_seed=0)
    assert (copies.low, copies.high) == pytest.approx((one.low, one.high), abs=1e-9)
    first, second = scores(7, 80, "binary")
    both = overall_difference(np.c_[before, first], np.c_[after, second], rng_seed=0)
    assert both.high - both.low < 0.85 * (one.high - one.low)  # type: ignore[operator]


def test_the_random_seed_decides() -> None:
    before, after = scores(8, 30, "graded")
    assert paired_difference(before, after, rng_seed=1) == paired_difference(before, after, rng_seed=1)
    assert paired_difference(before, after, rng_seed=1) != paired_difference(before, after, rng_seed=2)


@pytest.mark.parametrize(
    ("before", "after", "groups", "told"),
    [
        ([0.5], [1.5], None, r"1\.5 is no score"),
        ([-0.1], [0.5], None, r"-0\.1 is no score"),
        ([0.5, 0.5], [0.5], None, "shapes"),
        ([0.5], [0.5], ["a", "b"], "2 groups for 1 examples"),
    ],
)
def test_what_cannot_be_compared(before: list[float], after: list[float], groups: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        paired_difference(before, after, groups, rng_seed=0)


def test_overall_takes_tables() -> None:
    with pytest.raises(ValueError, match="shapes"):
        overall_difference([0.5], [0.5], rng_seed=0)


@pytest.mark.parametrize("freedom", [3, 4, 7, 19, 100])
@pytest.mark.parametrize("probability", [0.9, 0.975, 0.99])
def test_students_quantile(freedom: int, probability: float) -> None:
    assert _student(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=0.01)


def test_many_examples_fit_into_memory() -> None:
    before, after = scores(9, 3_000, "binary")
    found = paired_difference(before, after, rng_seed=0)
    assert verdict(found) == "improved"


def test_weights_count_and_their_scale_does_not() -> None:
    rng = np.random.default_rng(5)
    before, after = (rng.random((40, 2)) < 0.5).astype(float), (rng.random((40, 2)) < 0.7).astype(float)
    plain = overall_difference(before, after, rng_seed=0)
    assert overall_difference(before, after, weights=[2, 2], rng_seed=0) == plain
    uneven = overall_difference(before, after, weights=[3, 1], rng_seed=0)
    assert uneven.difference == pytest.approx(((after - before).mean(axis=0) * [0.75, 0.25]).sum())
    assert overall_difference(before, after, weights=[1, 0], rng_seed=0) == paired_difference(before[:, 0], after[:, 0], rng_seed=0)
    assert overall_difference(before, after, weights=[0, 0], rng_seed=0) == NOTHING
    for wrong in ([1], [1, -1], [1, float("nan")]):
        with pytest.raises(ValueError, match="the weights"):
            overall_difference(before, after, weights=wrong, rng_seed=0)


def test_lower_can_be_better() -> None:
    fell = paired_difference([0.9] * 30, [0.1] * 30, rng_seed=0)
    assert (verdict(fell), verdict(fell, lower_is_better=True)) == ("worse", "improved")


def test_p_is_the_sign_tests_for_scores_of_0_or_1() -> None:
    before, after = scores(10, 60, "binary")
    won, lost = int((after > before).sum()), int((after < before).sum())
    found = paired_difference(before, after, rng_seed=0)
    assert found.p == pytest.approx(stats.binomtest(won, won + lost).pvalue)
    assert found.p_error == 0.0


def test_p_flips_whole_groups() -> None:
    before, after = scores(11, 12, "graded")
    names = [f"g{index}" for index in range(12)]
    alone = paired_difference(before, after, rng_seed=0)
    grouped = paired_difference(np.repeat(before, 4), np.repeat(after, 4), np.repeat(names, 4).tolist(), rng_seed=0)
    assert grouped.p == pytest.approx(alone.p)
    assert paired_difference(np.repeat(before, 4), np.repeat(after, 4), rng_seed=0).p < alone.p  # type: ignore[operator]


def test_p_of_the_overall_flips_an_example_with_all_its_objectives() -> None:
    """With missing cells: against scipy, which is handed what each example adds to the weighted mean of the objectives' means."""
    rng = np.random.default_rng(12)
    before, after = rng.random((9, 2)), rng.random((9, 2)) * 0.5 + 0.5
    before[::4, 1] = np.nan
    weights = np.array([3.0, 1.0])
    parts = np.nan_to_num((after - before) / (~np.isnan(before)).sum(axis=0)) @ (weights / 4)
    theirs = stats.permutation_test((parts,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided")
    assert overall_difference(before, after, weights=weights, rng_seed=0).p == pytest.approx(theirs.pvalue)


def test_a_family_holds_each_to_more() -> None:
    won = paired_difference([0.0] * 6, [1.0] * 6, rng_seed=0)
    even = paired_difference([0.0, 1.0] * 3, [1.0, 0.0] * 3, rng_seed=0)
    assert won.p == pytest.approx(2 / 64)
    assert verdict(won) == "improved"
    assert [verdict(each) for each in as_family({"a": won}).values()] == ["improved"]
    family = as_family({"a": won, "b": even, "c": NOTHING})
    assert {name: each.p_holm for name, each in family.items()} == {"a": pytest.approx(4 / 64), "b": 1.0, "c": None}
    assert [verdict(each) for each in family.values()] == ["not distinguishable"] * 3
    both = as_family({"a": won, "b": paired_difference([1.0] * 9, [0.0] * 9, rng_seed=0)})
    assert [verdict(each) for each in both.values()] == ["improved", "worse"]
