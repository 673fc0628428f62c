"""A candidate's mean by itself: beside exact formulas, and by how often its interval holds the truth."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from scoring import Average, average, overall_average

ALONE = 0.012
"""How far an end that is drawn may be from the exact one: several standard errors of a quantile of 10,000 draws."""


@pytest.mark.parametrize(("right", "n"), [(1, 5), (5, 10), (3, 20), (19, 20), (30, 60), (190, 200)])
def test_of_zeros_and_ones_it_is_jeffreys_interval(right: int, n: int) -> None:
    found = average([1.0] * right + [0.0] * (n - right), rng_seed=1)
    low, high = beta.ppf([0.025, 0.975], right + 0.5, n - right + 0.5)
    assert found.mean == right / n and found.n == n
    assert found.low == pytest.approx(low, abs=ALONE) and found.high == pytest.approx(high, abs=ALONE)


def test_another_level() -> None:
    found = average([1.0] * 7 + [0.0] * 13, rng_seed=1, level=0.8)
    assert (found.low, found.high) == pytest.approx(tuple(beta.ppf([0.1, 0.9], 7.5, 13.5)), abs=ALONE)


@pytest.mark.parametrize(("value", "n"), [(0.0, 8), (1.0, 8)])
def test_all_alike_still_leaves_doubt_and_the_mean_is_inside(value: float, n: int) -> None:
    found = average([value] * n, rng_seed=0)
    far = beta.ppf(0.975, 0.5, n + 0.5)
    ends = (0.0, far) if value == 0 else (1 - far, 1.0)
    assert found.mean == value and (found.low, found.high) == pytest.approx(ends, abs=ALONE)


def test_copies_of_an_example_are_no_more_evidence_than_one() -> None:
    """Ten groups of six that are alike are ten examples."""
    scores = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0]
    one = average(scores, rng_seed=3)
    many = average(np.repeat(scores, 6), [f"g{index // 6}" for index in range(60)], rng_seed=3)
    assert many.n == 60 and (many.mean, many.low, many.high) == pytest.approx((one.mean, one.low, one.high))


@pytest.mark.parametrize(
    ("scores", "groups", "expected"),
    [
        ([], None, Average(None, None, None, 0)),
        ([math.nan, math.nan], None, Average(None, None, None, 0)),
        ([0.5], None, Average(0.5, 0.0, 1.0, 1)),
        ([0.5, 1.0, math.nan], ["g", "g", "h"], Average(0.75, 0.0, 1.0, 2)),
    ],
)
def test_too_little_to_tell(scores: list[float], groups: list[str | None] | None, expected: Average) -> None:
    assert average(scores, groups, rng_seed=0) == expected


def test_missing_scores_are_left_out_and_are_no_zeros() -> None:
    assert average([1.0, math.nan, 0.0, 1.0], rng_seed=5) == average([1.0, 0.0, 1.0], rng_seed=5)


def test_overall_is_the_mean_of_the_objectives_means() -> None:
    scores = np.array([[1.0, 0.0], [math.nan, 0.5], [0.5, 1.0]])
    assert overall_average(scores, rng_seed=0).mean == pytest.approx((0.75 + 0.5) / 2)
    assert overall_average(scores, weights=[3, 1], rng_seed=0).mean == pytest.approx((3 * 0.75 + 0.5) / 4)
    alone = overall_average(scores, weights=[0, 2], rng_seed=0)
    assert alone == average(scores[:, 1], rng_seed=0), "what counts nothing is left out"
    assert overall_average(scores, rng_seed=0).n == 3
    assert overall_average(np.full((3, 2), math.nan), rng_seed=0).n == 0


def test_objectives_that_rise_and_fall_together_are_no_independent_evidence() -> None:
    scores = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    one, twice = average(scores, rng_seed=2), overall_average(np.stack([scores, scores], axis=1), rng_seed=2)
    assert (twice.low, twice.high) == pytest.approx((one.low, one.high))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=12), st.randoms())
def test_the_order_of_the_examples_does_not_matter(scores: list[float], random: Any) -> None:
    groups = [None if index % 3 else "g" for index in range(len(scores))]
    order = list(range(len(scores)))
    random.shuffle(order)
    found = average(scores, groups, rng_seed=4)
    assert found == average([scores[i] for i in order], [groups[i] for i in order], rng_seed=4)
    assert found.low is not None and found.mean is not None and found.high is not None
    assert 0 <= found.low <= found.mean <= found.high <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scores": [[0.5], [1.5]]}, "1.5 is no score"),
        ({"scores": [0.5, 0.5]}, "examples × objectives"),
        ({"scores": [[0.5], [0.5]], "groups": ["g"]}, "1 groups for 2 examples"),
        ({"scores": [[0.5], [0.5]], "weights": [1, 2]}, "1 objectives need"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        overall_average(**arguments, rng_seed=0)


@pytest.mark.parametrize("kind", ["binary", "graded", "clustered"])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(kind: str) -> None:
    """Among 300 of 20 examples: 95% would be 285, and 272 are three and a half standard errors fewer."""
    rng, held = np.random.default_rng(11), 0
    for _ in range(300):
        groups: list[str | None] | None = None
        if kind == "binary":
            scores, truth = rng.binomial(1, 0.7, 20).astype(float), 0.7
        elif kind == "graded":
            scores, truth = rng.beta(4, 1, 20), 0.8
        else:
            scores, truth = np.repeat(rng.binomial(1, 0.6, 20), 3).astype(float), 0.6
            groups = [f"g{index // 3}" for index in range(60)]
        found = average(scores, groups, rng_seed=0)
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert held >= 272
