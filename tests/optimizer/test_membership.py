"""How sure a place on the frontier is."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.config import ObjectivesConfig
from optimizer.membership import bootstrap, membership
from optimizer.policy import Objectives

NAN = math.nan


@given(st.integers(1, 6), st.integers(1, 5), st.integers(1, 3), st.integers(0, 100))
def test_somebody_is_on_the_frontier_in_every_draw(draws: int, candidates: int, objectives: int, seed: int) -> None:
    levels = np.random.default_rng(seed).integers(0, 3, (draws, candidates, objectives)) / 2
    found = membership(levels)
    assert found.shape == (candidates,) and (found >= 0).all() and (found <= 1).all()
    assert found.sum() >= 1 - 1e-9
    assert np.allclose(found, np.mean([membership(each[None]) for each in levels], axis=0))


def test_it_is_the_share_of_draws() -> None:
    draws = np.array([[[0.9], [0.5]], [[0.4], [0.5]], [[0.6], [0.5]], [[0.5], [0.5]]])
    assert membership(draws).tolist() == [0.75, 0.5]


def test_constraints_hold_in_every_draw() -> None:
    config = ObjectivesConfig.model_validate({"dimensions": {"a": {}, "b": {"constraint": ">= 0.5"}}})
    draws = np.array([[[1.0, 0.4], [0.1, 0.5]], [[1.0, 0.6], [0.1, 0.5]]])
    assert membership(draws, Objectives(["m"], ["a", "b"], config).frontier).tolist() == [0.5, 0.5]


def test_without_a_draw_nothing_can_be_said() -> None:
    with pytest.raises(ValueError, match="at least one draw"):
        membership(np.empty((0, 2, 1)))


def test_the_more_is_known_the_surer_it_is() -> None:
    rng = np.random.default_rng(0)
    few, many = ((rng.random((2, n, 1)) < [[[0.5]], [[0.7]]]).astype(float) for n in (10, 2000))
    sure = membership(bootstrap(many, 400, rng))
    assert sure[1] > 0.99 and sure[0] < 0.01
    assert membership(bootstrap(few, 400, rng)).max() < 0.999


def test_draws_follow_the_posterior_of_the_bootstrap() -> None:
    """Of a mean of n values its mean is the mean, and its variance the (biased) variance over n + 1."""
    values = np.random.default_rng(1).random((3, 40, 2))
    draws = bootstrap(values, 4000, np.random.default_rng(2))
    assert draws.shape == (4000, 3, 2)
    assert np.allclose(draws.mean(axis=0), values.mean(axis=1), atol=0.005)
    assert np.allclose(draws.var(axis=0), values.var(axis=1) / 41, rtol=0.15)


def test_candidates_that_met_the_easy_examples_only_gain_nothing() -> None:
    """The seed has the first half right. One candidate has met that half alone, and does there as the seed does."""
    seed = [1.0] * 10 + [0.0] * 10
    easy = [1.0] * 10 + [NAN] * 10
    nobody = [NAN] * 20
    draws = bootstrap(np.array([seed, easy, nobody])[:, :, None], 50, np.random.default_rng(0))
    assert np.allclose(draws[:, 0], draws[:, 1])
    assert np.isnan(draws[:, 2]).all()
