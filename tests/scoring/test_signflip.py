"""The sign-flip test and Holm's correction, against scipy, the binomial test and plain enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.signflip import DRAWS, Chance, holm, sign_flip


def enumerated(differences: list[float]) -> float:
    """Every pattern of signs."""
    observed = abs(math.fsum(differences))
    sums = [
        abs(math.fsum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(each >= observed - 1e-6 * max(map(abs, differences), default=0.0) for each in sums) / len(sums)


@given(st.lists(st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.25, -0.5, 0.1, 0.2, -0.3]), st.floats(-1, 1)), max_size=9))
def test_it_is_the_enumeration(differences: list[float]) -> None:
    found = sign_flip(differences, rng_seed=0)
    assert found.p == pytest.approx(enumerated(differences))
    assert found.error == 0.0


@pytest.mark.parametrize("n", [4, 9, 11])
def test_it_agrees_with_scipy(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.3, 1, n)
    theirs = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided")
    assert sign_flip(differences, rng_seed=0).p == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(("won", "lost"), [(5, 0), (6, 0), (12, 3), (30, 30), (140, 100), (0, 9)])
def test_of_wins_and_losses_it_is_the_sign_test(won: int, lost: int) -> None:
    found = sign_flip([1.0] * won + [-1.0] * lost + [0.0] * 50, rng_seed=0)
    assert found.p == pytest.approx(stats.binomtest(won, won + lost).pvalue)
    assert found.error == 0.0


def test_graded_steps_are_counted_whatever_their_number() -> None:
    """200 differences in tenths: their patterns are 2 to the 200, their sums few."""
    steps = np.random.default_rng(1).integers(-9, 11, 200)
    found = sign_flip(steps / 10, rng_seed=0)
    assert found.error == 0.0
    shares = {0: 1.0}
    for step in steps.tolist():
        grown: dict[int, float] = {}
        for total, share in shares.items():
            for sign in (step, -step):
                grown[total + sign] = grown.get(total + sign, 0.0) + share / 2
        shares = grown
    assert found.p == pytest.approx(sum(share for total, share in shares.items() if abs(total) >= abs(steps.sum())))


def test_so_many_unlike_differences_are_counted_and_more_are_drawn() -> None:
    rng = np.random.default_rng(2)
    assert sign_flip(rng.normal(0.3, 1, 26), rng_seed=0).error == 0.0
    many = rng.normal(0.1, 1, 200)
    one, other = (sign_flip(many, rng_seed=seed) for seed in (1, 2))
    assert one == sign_flip(many, rng_seed=1) != other
    assert one.error == pytest.approx(math.sqrt(one.p * (1 - one.p) / DRAWS))
    assert abs(one.p - other.p) < 5 * one.error
    assert one.p == pytest.approx(stats.ttest_1samp(many, 0).pvalue, abs=0.01)
    assert 0 < sign_flip(rng.normal(3, 1, 200), rng_seed=0).p < 1e-4


def test_the_order_and_the_sign_of_all_do_not_matter() -> None:
    differences = np.random.default_rng(3).normal(0.2, 1, 60)
    found = sign_flip(differences, rng_seed=0)
    assert sign_flip(differences[::-1], rng_seed=0) == found == sign_flip(-differences, rng_seed=0)


def test_what_tells_nothing() -> None:
    assert sign_flip([], rng_seed=0) == sign_flip([0.0] * 9, rng_seed=0) == sign_flip([0.7], rng_seed=0) == Chance(1.0, 0.0)
    with pytest.raises(ValueError, match="not finite"):
        sign_flip([0.1, math.nan], rng_seed=0)


def test_holm_on_a_worked_family() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.7]) == [0.7]


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=6), st.floats(1e-6, 0.99))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float], level: float) -> None:
    """Enumerated: one is rejected where Bonferroni rejects every family that holds it."""
    members = range(len(p_values))
    families = [f for size in range(1, len(p_values) + 1) for f in itertools.combinations(members, size)]
    for index, adjusted in enumerate(holm(p_values)):
        own = max(min(min(p_values[i] for i in f) * len(f), 1.0) for f in families if index in f)
        assert adjusted == pytest.approx(own)
