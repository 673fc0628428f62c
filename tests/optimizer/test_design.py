"""Both ways to solve against the same equations written out with dense matrices."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizer import design as designs
from optimizer.design import ByCell, ByCoefficient, Design, design, inverse
from optimizer.factors import HARD, NOISE, Factors, Indexes, Patch, gather
from optimizer.policy import Array

Way = Callable[[Factors], Design]
WAYS: list[Way] = [ByCoefficient.of, ByCell.of]
seeds = st.integers(0, 10**9)
ways = pytest.mark.parametrize("way", WAYS, ids=["by coefficient", "by cell"])


@dataclass(frozen=True)
class Case:
    patches: list[Patch]
    deviation: Array
    group: Indexes
    groups: int

    @property
    def factors(self) -> Factors:
        return gather(self.patches, self.deviation, self.group, self.groups)

    @property
    def dense(self) -> Array:
        """Cells × all coefficients, in prior deviations."""
        found = np.zeros((len(self.group), len(self.deviation)))
        for rows, columns, factors in self.patches:
            found[np.ix_(rows, columns)] = factors
        return found * self.deviation

    @property
    def members(self) -> Array:
        """Cells × groups."""
        return np.eye(self.groups)[self.group]

    @property
    def inverted(self) -> Array:
        """Of the scores' covariance, cells × cells."""
        dense, members = self.dense, self.members
        whole = dense @ dense.T + NOISE**2 * np.eye(len(dense)) + HARD**2 * members @ members.T
        return np.linalg.inv(whole).astype(np.float64)


def case(seed: int) -> Case:
    """Anything that can come: no cells, one candidate, all lines new, none, cells in one group, each in its own; factors that are 0."""
    rng = np.random.default_rng(seed)
    candidates, size = int(rng.integers(0, 6)), int(rng.integers(1, 40))
    owner = rng.integers(candidates, size=int(rng.integers(1, 30))) if candidates else np.zeros(0, dtype=np.intp)
    kept = rng.choice([0.0, 0.1, 0.5, 1.0])
    keeper = rng.integers(max(1, candidates), size=size)
    patches = []
    for number in range(candidates):
        columns = np.flatnonzero((keeper == number) | (rng.random(size) < kept))
        rows = np.flatnonzero(owner == number)
        if len(rows):
            values = rng.normal(size=(len(rows), len(columns))) * (rng.random((len(rows), len(columns))) < 0.8)
            patches.append((rows, columns, values))
    groups = int(rng.choice([1, 3, 10, 60]))
    return Case(patches, rng.choice([0.03, 0.3, 1.0], size=size), rng.integers(groups, size=len(owner)), groups)


@ways
@settings(max_examples=80, deadline=None)
@given(seed=seeds)
def test_it_is_the_posterior_of_the_dense_equations(way: Way, seed: int) -> None:
    given_ = case(seed)
    found, rng = way(given_.factors), np.random.default_rng(seed)
    dense, inverted, active = given_.dense, given_.inverted, given_.factors.active
    left = rng.normal(size=len(given_.group))
    mean = np.zeros(len(given_.deviation))
    mean[active] = found.solve(left)
    np.testing.assert_allclose(mean, dense.T @ inverted @ left, atol=1e-8)
    hard = given_.factors.hard(left - given_.factors.values(found.solve(left)))
    np.testing.assert_allclose(hard, HARD**2 * given_.members.T @ inverted @ left, atol=1e-8)
    expected = np.eye(len(mean)) - dense.T @ inverted @ dense
    inactive = np.setdiff1d(np.arange(len(mean)), active)
    np.testing.assert_array_equal(expected[inactive], np.eye(len(mean))[inactive])
    parts, weights = rng.normal(size=(3, len(active))), rng.normal(size=(3, given_.groups))
    everything = np.hstack([dense[:, active], HARD * given_.members])
    covariance = np.eye(everything.shape[1]) - everything.T @ inverted @ everything
    both = np.hstack([parts, HARD * weights])
    np.testing.assert_allclose(found.variances(parts, weights), np.diag(both @ covariance @ both.T), atol=1e-8)
    expected = expected[np.ix_(active, active)]
    np.testing.assert_allclose(found.variances(parts, 0 * weights), np.diag(parts @ expected @ parts.T), atol=1e-8)
    # A draw is a sum over the random numbers, so what each does alone says how draws spread.
    each = np.eye(len(active) + found.more)
    drawn = np.array([found.spread(luck) for luck in each]).reshape(len(each), len(active))
    np.testing.assert_allclose(drawn.T @ drawn, expected, atol=1e-8)
    luck = rng.normal(size=len(each))
    np.testing.assert_allclose(found.spread(luck), luck @ drawn, atol=1e-8)


def reworded(candidates: int, lines: int, cells: int, groups: int, kept: int = 1) -> Case:
    """Every candidate has `kept` coefficients in common with all and `lines` of its own, in so many cells."""
    rng = np.random.default_rng(0)
    own = [np.arange(kept + n * lines, kept + (n + 1) * lines) for n in range(candidates)]
    rows = np.arange(candidates * cells).reshape(candidates, cells)
    patches = [(rows[n], np.append(np.arange(kept), own[n]), rng.normal(size=(cells, kept + lines))) for n in range(candidates)]
    return Case(patches, np.full(kept + candidates * lines, 0.1), rng.integers(groups, size=rows.size), groups)


@pytest.mark.parametrize(
    ("given_", "way"),
    [
        (reworded(10, 80, 12, 60), ByCell),  # few shared things
        (reworded(4, 2, 12, 10**6, kept=200), ByCell),  # more shared ones than cells
        (reworded(20, 1, 40, 60, kept=10), ByCoefficient),  # many cells of few lines
        (reworded(2, 100, 300, 10**6), ByCoefficient),  # a candidate's cells are too many to go through them together
        (Case([], np.ones(3), np.zeros(0, dtype=np.intp), 4), ByCoefficient),
    ],
)
def test_the_shorter_way_is_gone_whatever_the_scores_are(given_: Case, way: type[Design]) -> None:
    found = design(given_.patches, given_.deviation, given_.group, given_.groups)
    assert type(found) is way
    for other in WAYS:
        left = np.random.default_rng(1).normal(size=len(given_.group))
        np.testing.assert_allclose(found.solve(left), other(given_.factors).solve(left), atol=1e-8)
        parts, hard = np.ones((1, len(found.factors.active))), np.full((1, given_.groups), 1 / given_.groups)
        np.testing.assert_allclose(found.variances(parts, hard), other(given_.factors).variances(parts, hard), atol=1e-8)


@pytest.mark.parametrize("size", [0, 1, 2, designs.SMALL, designs.SMALL + 1, 300])
def test_triangles_are_inverted(size: int) -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(size, size))
    root = np.linalg.cholesky(np.eye(size) + half @ half.T).astype(np.float64)
    np.testing.assert_allclose(inverse(root) @ root - np.eye(size), 0.0, atol=1e-9)
    assert (np.triu(inverse(root), 1) == 0).all()
