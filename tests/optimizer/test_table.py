"""The table keeps scores, failures and blanks apart."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import cell, example, examples

from adapters.example import Example
from optimizer.policy import Objectives
from optimizer.table import Table, means

NAN = float("nan")
TRAIN = examples(4)


@pytest.fixture
def table() -> Table:
    return Table(TRAIN, Objectives(["small", "large"], ["template", "brevity"]))


def same(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], expected: list[list[float]]) -> bool:
    return np.array_equal(values, np.array(expected), equal_nan=True)


def test_objectives_stand_model_by_model(table: Table) -> None:
    assert table.objectives.names == ["small:template", "small:brevity", "large:template", "large:brevity"]


def test_scores_come_back_in_the_order_of_the_examples_asked_for(table: Table) -> None:
    table.add([cell(TRAIN[0], {"template": 0.1, "brevity": 0.2}), cell(TRAIN[2], {"template": 0.3, "brevity": 0.4}, model="large")])
    expected = [[NAN, NAN, 0.3, 0.4], [0.1, 0.2, NAN, NAN], [NAN] * 4]
    assert same(table.values("c", [TRAIN[2], TRAIN[0], TRAIN[1]]), expected)


def test_a_zero_is_a_score_and_a_failure_is_none(table: Table) -> None:
    table.add([cell(TRAIN[0], {"template": 0.0, "brevity": 0.0}), cell(TRAIN[1], None)])
    values = table.values("c", TRAIN[:2])
    assert values[0, :2].tolist() == [0.0, 0.0]
    assert np.isnan(values[1]).all()


def test_a_dimension_that_was_left_out_is_missing_and_an_unknown_one_is_not_kept(table: Table) -> None:
    table.add([cell(TRAIN[0], {"brevity": 0.5, "novel": 1.0})])
    assert same(table.values("c", TRAIN[:1]), [[NAN, 0.5, NAN, NAN]])


def test_of_a_candidate_never_met_nothing_is_known(table: Table) -> None:
    assert same(table.values("nobody", TRAIN[:2]), [[NAN] * 4] * 2)
    assert table.values("nobody", []).shape == (0, 4)
    assert table.cells("nobody", TRAIN) == []
    table.add([cell(TRAIN[0])])
    assert table.values("c", []).shape == (0, 4)


def test_values_are_a_copy(table: Table) -> None:
    table.add([cell(TRAIN[0], {"template": 0.5})])
    table.values("c", TRAIN)[:] = 9
    assert table.values("c", TRAIN)[0, 0] == 0.5


def test_an_example_of_another_split_is_a_mistake(table: Table) -> None:
    with pytest.raises(KeyError):
        table.values("c", [example("sealed")])
    with pytest.raises(KeyError):
        table.add([cell(example("sealed"))])


def test_the_first_cell_counts_and_only_new_ones_are_returned(table: Table) -> None:
    first, again, other = cell(TRAIN[0], 0.25), cell(TRAIN[0], 1.0), cell(TRAIN[1], None)
    assert table.add([first, again, other]) == [first, other], "also within one list"
    assert table.add([again, cell(TRAIN[1], 1.0)]) == []
    assert table.values("c", TRAIN)[0, 0] == 0.25
    assert np.isnan(table.values("c", TRAIN)[1]).all()
    assert table.counts() == (2, {"timeout": 1})
    assert table.all() == [first, other]


def test_known_cells_are_listed_example_by_example_and_model_by_model(table: Table) -> None:
    cells = [cell(e, None if m == "large" else 1.0, model=m) for e in TRAIN[:2] for m in ("small", "large")]
    table.add([cells[3], cells[0], cells[2], cells[1], cell(TRAIN[3], who="other")])
    assert table.cells("c", TRAIN) == cells
    assert table.cells("c", [TRAIN[1], TRAIN[3]]) == cells[2:]


def test_repeats_average_within_their_example(table: Table) -> None:
    """Over those that have a score: a repeat that failed is not a zero."""
    table.add([replace(cell(TRAIN[0], {"template": value, "brevity": 0.5}), repeat=n) for n, value in enumerate((1.0, 0.0))])
    table.add([replace(cell(TRAIN[0], None), repeat=2), replace(cell(TRAIN[0], {"template": 0.5}), repeat=3)])
    assert same(table.values("c", TRAIN[:1]), [[0.5, 0.5, NAN, NAN]])
    assert [each.repeat for each in table.cells("c", TRAIN)] == [0, 1, 2, 3]
    assert table.add([replace(cell(TRAIN[0], 1.0), repeat=1)]) == [], "that one is known"
    assert table.counts() == (4, {"timeout": 1})


def test_repeats_of_a_failure_are_scores_and_the_other_way_round(table: Table) -> None:
    table.add([cell(TRAIN[0], None), replace(cell(TRAIN[0], {"template": 0.5}), repeat=1)])
    table.add([cell(TRAIN[1], {"template": 0.5}), replace(cell(TRAIN[1], None), repeat=1)])
    assert same(table.values("c", TRAIN[:2]), [[0.5, NAN, NAN, NAN]] * 2)


@given(st.permutations(range(4)))
def test_the_order_in_which_repeats_arrive_makes_no_difference(order: list[int]) -> None:
    cells = [replace(cell(TRAIN[0], {"template": value}), repeat=n) for n, value in enumerate((0.1, 0.2, 0.3, 0.7))]
    table, other = Table(TRAIN, Objectives(["small"], ["template"])), Table(TRAIN, Objectives(["small"], ["template"]))
    table.add(cells)
    for index in order:
        other.add([cells[index]])
    assert table.values("c", TRAIN).tobytes() == other.values("c", TRAIN).tobytes()
    assert table.cells("c", TRAIN) == other.cells("c", TRAIN) == cells


def test_a_version_tells_whether_there_is_more(table: Table) -> None:
    assert table.version("c") == 0
    table.add([cell(TRAIN[0]), cell(TRAIN[1], None), cell(TRAIN[0], who="other")])
    table.add([cell(TRAIN[0])])
    assert (table.version("c"), table.version("other")) == (2, 1)


def test_failures_are_counted_by_kind(table: Table) -> None:
    assert table.counts() == (0, {})
    table.add([cell(TRAIN[0]), cell(TRAIN[1], None), cell(TRAIN[1], None, who="d")])
    assert table.counts() == (3, {"timeout": 2})


def test_means_are_over_what_is_there() -> None:
    values = np.array([[1.0, NAN, 0.0], [0.5, NAN, NAN]])
    assert same(means(values)[None], [[0.75, NAN, 0.0]])
    assert np.isnan(means(np.empty((0, 2)))).all()


@given(st.permutations(range(8)))
def test_the_order_in_which_cells_arrive_makes_no_difference(order: list[int]) -> None:
    known: list[Example] = examples(4)
    cells = [cell(e, {"template": 0.1 * n}, model=m) for n, (e, m) in enumerate((e, m) for e in known for m in ("a", "b"))]
    one, other = (Table(known, Objectives(["a", "b"], ["template"])) for _ in range(2))
    one.add(cells)
    for index in order:
        other.add([cells[index]])
    assert one.values("c", known).tobytes() == other.values("c", known).tobytes()
    assert one.cells("c", known) == other.cells("c", known)
