"""Looks at a test split: counted by the examples that were seen, whatever else of the data has changed since."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pieces import example

from adapters.example import Example
from adapters.split import SealedTest
from optimizer.journal import Journal
from optimizer.looks import looks, note_opening, opened_for


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.write(tmp_path)) as journal:
        yield journal


def marks(*examples: Example) -> frozenset[str]:
    return SealedTest(examples).marks


ONE, TWO, THREE = (example(name, "yes", q=f"the question of {name}") for name in ("one", "two", "three"))


def test_looks_at_the_same_examples_are_counted(journal: Journal) -> None:
    note_opening(journal, "a", marks(ONE, TWO))
    note_opening(journal, "a", marks(TWO, ONE))
    assert opened_for(journal, marks(ONE, TWO)) == {"a"}
    note_opening(journal, "b", marks(ONE, TWO))
    assert opened_for(journal, marks(ONE, TWO)) == {"a", "b"} and opened_for(journal, marks(THREE)) == set()


@pytest.mark.parametrize(
    "now",
    [[ONE], [TWO, THREE], [example("renamed", "no", q="The question  of one"), THREE]],
    ids=["an example less", "another one", "a mended answer and a new id"],
)
def test_a_split_that_has_changed_is_known_by_any_example_that_stayed(journal: Journal, now: list[Example]) -> None:
    note_opening(journal, "a", marks(ONE, TWO))
    assert opened_for(journal, marks(*now)) == {"a"}


def test_a_candidate_is_remembered_for_every_split_that_it_has_met(journal: Journal) -> None:
    note_opening(journal, "a", marks(ONE))
    note_opening(journal, "a", marks(TWO))
    assert opened_for(journal, marks(ONE)) == opened_for(journal, marks(TWO)) == {"a"}


def test_looks_outlive_a_change_of_the_config(journal: Journal) -> None:
    note_opening(journal, "a", marks(ONE))
    journal.forget_derived()
    assert opened_for(journal, marks(ONE)) == {"a"}


@pytest.mark.parametrize(("opened", "n"), [(set(), 1), ({"seed"}, 1), ({"seed", "a"}, 1), ({"seed", "a", "b"}, 2)])
def test_that_at_the_seed_is_none_of_its_own(opened: set[str], n: int) -> None:
    assert looks(opened, "seed") == n


def test_the_marks_tell_nothing_of_the_examples() -> None:
    told = " ".join(marks(ONE, TWO))
    assert len(told) == 16 + 1 + 16 and not {"one", "two", "yes", "question"} & set(told.split())
