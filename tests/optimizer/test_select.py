"""Parents are drawn about as often as they are likely to be the best for somebody."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.policy import Objectives
from optimizer.select import choose
from optimizer.table import Values

NAN = float("nan")
DRAWS = 2000


def chosen(pool: list[Values], rng: np.random.Generator) -> int:
    """Among candidates that are told by their scores alone: the seed has none right."""
    objectives = Objectives(["m"], [f"d{k}" for k in range(pool[0].shape[1])])
    return choose(np.zeros_like(pool[0]), pool, objectives, rng)


def shares(pool: list[Values], seed: int = 0) -> list[float]:
    rng = np.random.default_rng(seed)
    counts = Counter(chosen(pool, rng) for _ in range(DRAWS))
    return [counts[index] / DRAWS for index in range(len(pool))]


def scores(rng: np.random.Generator, *chances: float, examples: int = 60) -> Values:
    """Right or wrong on each example, one column for each chance of being right."""
    return (rng.random((examples, len(chances))) < np.array(chances)).astype(np.float64)


def test_a_candidate_alone_is_chosen() -> None:
    assert chosen([np.array([[0.5]])], np.random.default_rng(0)) == 0
    assert chosen([np.array([[NAN]])], np.random.default_rng(0)) == 0


def test_dominated_candidates_are_hardly_ever_drawn() -> None:
    rng = np.random.default_rng(1)
    good = scores(rng, 0.9, 0.9)
    worse = good * (rng.random(good.shape) < 0.8)
    assert (worse <= good).all()
    assert shares([worse, good, worse * 0.9])[1] > 0.99


def test_a_candidate_that_is_never_better_is_never_drawn() -> None:
    """Under any weights the other is at least as good, and it stands first."""
    good = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert shares([good, good - 0.1, np.array([[1.0, 0.5], [0.5, 0.9]])]) == [1.0, 0.0, 0.0]


def test_specialists_are_drawn_about_as_often_as_their_objective_weighs_most() -> None:
    rng = np.random.default_rng(2)
    specialists = [scores(rng, 0.9, 0.4), scores(rng, 0.4, 0.9)]
    generalist = scores(rng, 0.5, 0.5)
    first, second, third = shares([*specialists, generalist])
    assert 0.35 < first < 0.65 and 0.35 < second < 0.65
    assert third < 0.05


def test_near_equals_are_both_drawn_and_the_better_one_more_often() -> None:
    rng = np.random.default_rng(3)
    base = scores(rng, 0.6, examples=40)
    better = base.copy()
    better[np.flatnonzero(base == 0)[:5]] = 1.0
    better[np.flatnonzero(base == 1)[:2]] = 0.0
    share = shares([base, better])
    assert 0.05 < share[0] < 0.25, "three wins more than losses: probably better, not surely"


def test_the_chance_is_that_of_being_the_best() -> None:
    """Two candidates that win on different examples, one objective: under exponential weights on a wins and b losses, the
    sum over a is the larger with the probability that a fair coin shows a heads before b tails."""
    first = np.array([[1.0], [1.0], [0.0]])
    assert shares([first, 1 - first])[0] == pytest.approx(3 / 4, abs=0.03)


def test_unknown_candidates_are_never_drawn() -> None:
    unknown, known = np.full((4, 2), NAN), np.zeros((4, 2))
    assert shares([unknown, known, unknown]) == [0.0, 1.0, 0.0]


def test_a_failed_cell_is_no_zero() -> None:
    """What is known of the second is as good as the first: it must not lose by its failures."""
    whole = np.full((20, 1), 0.5)
    failed = np.full((20, 1), 0.6)
    failed[:10] = NAN
    assert shares([whole, failed]) == [0.0, 1.0]


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_the_same_stream_draws_the_same(seed: int, size: int) -> None:
    make = np.random.default_rng(seed)
    pool = [scores(make, 0.5, 0.5, examples=5) for _ in range(size)]
    one, other = (chosen(pool, np.random.default_rng(seed)) for _ in range(2))
    assert one == other
    assert 0 <= one < size
