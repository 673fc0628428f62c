"""Duplicates between parts: the same inputs, and nearly the same, against a plain comparison of every two."""

import random
import re
import time
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.duplicates import duplicates, sameness
from adapters.example import Example

TICKET = "My parcel was left in the rain by a driver who did not ring, and all the books in it are wet."
OTHER = "On Monday somebody took forty euros from my account, and I have never ordered anything in your shop at all."


def ask(id: str, text: object = None, **inputs: object) -> Example:
    return Example(id, inputs or {"q": id if text is None else text}, place=f"rows.jsonl:{id}")


def told(train: Sequence[Example] = (), val: Sequence[Example] = (), test: Sequence[Example] = ()) -> tuple[str, ...]:
    return duplicates({"train": train, "val": val, "test": test})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"q": "A b"}, {"q": " a\n B\t"}, True),
        ({"q": ["A", {"x": "b"}]}, {"q": ("a", {"x": "B "})}, True),
        ({"q": 1, "r": None}, {"r": None, "q": 1}, True),
        ({"q": 1}, {"q": "1"}, False),
        ({"q": "a"}, {"r": "a"}, False),
        ({"q": ["a", "b"]}, {"q": ["b", "a"]}, False),
        ({"q": "a.b"}, {"q": "a b"}, False),
        ({"q": "a\\nb"}, {"q": "a\nb"}, False),
    ],
)
def test_sameness_is_but_for_case_and_spaces(one: Mapping[str, object], other: Mapping[str, object], same: bool) -> None:
    assert (sameness(one) == sameness(other)) is same


def test_the_note_names_rows_and_what_to_do() -> None:
    train, test = [ask("1", "Where?"), ask("2", "When?")], [ask("7", "where? "), ask("8", "Who?")]
    assert told(train, test=test) == (
        "test: 1 example has the same inputs as in train ('1' (rows.jsonl:1) and '7' (rows.jsonl:7)), so what test says of new inputs is "
        "too good. Leave them out, or keep them in one part: mark them with the same split, or give them the same group",
    )


def test_of_many_some_are_named() -> None:
    (note,) = told([ask(f"a{n}", f"q{n}") for n in range(9)], [ask(f"b{n}", f"Q{n}") for n in range(9)])
    assert (
        note.startswith("val: 9 examples have the same inputs as in train (") and note.count("rows.jsonl") == 6 and "; and 6 more)" in note
    )


def test_every_two_parts_are_told_of_in_their_order() -> None:
    notes = told([ask("a", "x"), ask("b", TICKET)], [ask("c", "x"), ask("d", "y")], [ask("e", "y"), ask("f", f"{TICKET} Well.")])
    assert [note.partition(" (")[0] for note in notes] == [
        "val: 1 example has the same inputs as in train",
        "test: 1 example has nearly the same inputs as in train",
        "test: 1 example has the same inputs as in val",
    ]
    assert told([ask("a", "x"), ask("b", "x"), ask("c", TICKET), ask("d", TICKET)], [ask("e", "y")]) == (), "inside of one part"
    assert told() == ()


@pytest.mark.parametrize(
    ("text", "near"),
    [
        (TICKET.replace(",", ";").replace("My", "my"), True),
        (f"Hello! {TICKET}", True),
        (TICKET.replace("books", "plates"), False),
        (" ".join(TICKET.split()[:12]), True),
        (f"{TICKET} {OTHER}", False),
        (OTHER, False),
    ],
    ids=["marks", "a word more", "a word in the middle", "a part of it", "as much again", "another"],
)
def test_what_is_nearly_the_same(text: str, near: bool) -> None:
    """Of the later one most has to be in the earlier one."""
    assert [" nearly the same " in note for note in told([ask("a", TICKET)], test=[ask("b", text)])] == [True] * near


def test_inputs_are_taken_together() -> None:
    both = ask("a", ticket=TICKET, note=OTHER)
    assert (
        told([both], [ask("b", ticket=TICKET, note="Something else that is as long as the other note and has nothing of it in it.")]) == ()
    )
    assert len(told([both], [ask("c", note=TICKET, ticket=OTHER)])) == 1, "whatever they are called"


def test_what_many_have_in_common_is_how_the_data_is_worded() -> None:
    def rows(name: str, size: int) -> list[Example]:
        return [ask(f"{name}{n}", f"{name} {n}: {TICKET}") for n in range(size)]

    assert len(told(rows("a", 4), rows("b", 4))) == 1
    assert told(rows("a", 6), rows("b", 6)) == ()


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=14).map(" ".join), max_size=7), st.integers(0, 7))
def test_against_every_two_compared_one_by_one(texts: list[str], cut: int) -> None:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", text)
        return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}

    rows = [ask(str(n), text) for n, text in enumerate(texts)]
    train, val = rows[:cut], rows[cut:]
    same = {b.id for b in val for a in train if a.inputs == b.inputs}
    near = {b.id for b in val for a in train if (own := runs(b.inputs["q"])) and len(own & runs(a.inputs["q"])) >= 0.7 * len(own)} - same
    counted = {" nearly " in note: int(note.split()[1]) for note in told(train, val)}
    assert counted == {how: len(found) for how, found in ((False, same), (True, near)) if found}


def test_thousands_are_compared_quickly() -> None:
    draw = random.Random(0)
    rows = [ask(str(n), " ".join(f"w{draw.randrange(3000)}" for _ in range(60))) for n in range(4000)]
    rows[3999] = ask("copy", f"{rows[7].inputs['q']} thanks")
    start = time.process_time()
    assert "'7' (rows.jsonl:7) and 'copy'" in told(rows[:2000], test=rows[2000:])[0]
    assert time.process_time() - start < 2  # 0.5 s on a busy machine
