"""Acceptance compares a child with its parent on the same cells, and nothing else."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.accept import Verdict
from optimizer.accept import accept as judged
from optimizer.config import ObjectivesConfig
from optimizer.policy import Objectives
from optimizer.table import Values

NAN = float("nan")
rows = st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.7, 1.0, NAN]), min_size=2, max_size=2), min_size=1, max_size=8)


def accept(parent: Values, child: Values) -> Verdict:
    return judged(parent, child, Objectives(["m"], [f"d{k}" for k in range(parent.shape[1])]))


@pytest.mark.parametrize(
    ("parent", "child", "accepted", "reason"),
    [
        ([[0.0], [1.0]], [[1.0], [1.0]], True, "+50.0 points on 2 examples"),
        ([[0.0], [1.0]], [[1.0], [0.0]], False, "not better than its parent: +0.0 points on 2 examples"),
        ([[1.0], [1.0]], [[1.0], [0.5]], False, "not better than its parent: -25.0 points on 2 examples"),
        ([[0.0, 0.5]], [[1.0, 0.0]], True, "+25.0 points on 1 examples"),
        ([[NAN], [0.5]], [[1.0], [0.6]], True, "+10.0 points on 1 examples"),
        ([[0.9], [0.5]], [[NAN], [0.6]], True, "+10.0 points on 1 examples"),
        ([[NAN, 0.5]], [[1.0, NAN]], False, "no example was scored for both parent and child"),
        ([[NAN]], [[NAN]], False, "no example was scored for both parent and child"),
    ],
    ids=["better", "equal", "worse", "trade", "parent failed", "child failed", "nothing shared", "nothing"],
)
def test_by_example(parent: list[list[float]], child: list[list[float]], accepted: bool, reason: str) -> None:
    verdict = accept(np.array(parent), np.array(child))
    assert (verdict.accepted, verdict.reason) == (accepted, reason)


def test_a_failed_cell_is_no_zero() -> None:
    """Counted as zero, the parent's failure would let this child pass, and the child's would keep it out."""
    assert not accept(np.array([[NAN], [0.5]]), np.array([[1.0], [0.4]])).accepted
    assert accept(np.array([[1.0], [0.5]]), np.array([[NAN], [0.6]])).accepted


def test_objectives_weigh_alike_however_many_cells_they_have() -> None:
    parent = np.array([[0.5, 0.5], [0.5, NAN], [0.5, NAN]])
    child = np.array([[0.6, 0.3], [0.6, NAN], [0.6, NAN]])
    assert accept(parent, child).reason == "not better than its parent: -5.0 points on 3 examples"


@given(rows)
def test_nobody_is_better_than_itself(values: list[list[float]]) -> None:
    assert not accept(np.array(values), np.array(values)).accepted


@given(rows)
def test_at_most_one_of_two_is_better_than_the_other(values: list[list[float]]) -> None:
    one, other = np.array(values), np.array(values)[::-1]
    assert not (accept(one, other).accepted and accept(other, one).accepted)


def test_a_dominating_child_passes_though_nothing_that_counts_changes() -> None:
    objectives = Objectives(
        ["m"], ["right", "brief"], ObjectivesConfig.model_validate({"dimensions": {"right": {}, "brief": {"weight": 0}}})
    )
    passed = judged(np.array([[0.5, 0.2]] * 2), np.array([[0.5, 0.2], [0.5, 0.4]]), objectives)
    assert passed == Verdict(True, "better in 1 of 2 objectives, and worse in none")
    assert not judged(np.array([[0.5, 0.2]]), np.array([[0.4, 0.9]]), objectives).accepted


def test_what_the_worst_model_wins_is_what_counts() -> None:
    objectives = Objectives(["small", "large"], ["right"], ObjectivesConfig(best="worst_model"))
    parent, child = np.array([[0.2, 0.8]]), np.array([[0.3, 0.4]])
    assert judged(parent, child, objectives).accepted and not judged(child, parent, objectives).accepted
    assert not accept(parent, child).accepted


def test_a_constraint_pulls_as_hard_as_all_objectives_together() -> None:
    config = ObjectivesConfig.model_validate({"dimensions": {"right": {}, "safe": {"weight": 0, "constraint": ">= 0.9"}}})
    objectives = Objectives(["m"], ["right", "safe"], config)
    unsafe, safe = np.array([[0.6, 0.5]]), np.array([[0.5, 0.9]])
    assert judged(unsafe, safe, objectives).reason == "+30.0 points on 1 examples"
    assert not judged(safe, unsafe, objectives).accepted


@given(st.lists(st.sampled_from([n / 10 for n in range(11)]), min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_the_same_scores_on_other_examples_are_no_gain(scores: list[float], shuffle: random.Random) -> None:
    """0.3 - 0.2 is a little less than 0.1: only rounding makes a difference here."""
    moved = list(scores)
    shuffle.shuffle(moved)
    assert not accept(np.array(scores)[:, None], np.array(moved)[:, None]).accepted


@given(rows, st.data())
def test_a_child_that_dominates_is_accepted(values: list[list[float]], data: st.DataObject) -> None:
    parent = np.array(values)
    gains = data.draw(st.lists(st.lists(st.sampled_from([0.0, 0.05]), min_size=2, max_size=2), min_size=len(values), max_size=len(values)))
    child = parent + np.array(gains)
    better = bool((child - parent > 0).any())
    assert accept(parent, child).accepted == better
