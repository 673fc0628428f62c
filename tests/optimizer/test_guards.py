"""Guards refuse a broken proposal before it costs anything, with a reason that its proposer can use."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pieces import candidate, example

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.example import Example
from adapters.template import placeholders
from optimizer.propose.copies import COPIED
from optimizer.propose.guards import Guards

LONG = "The quick brown fox jumps over the lazy dog and is never seen again."
OTHER = "Pack my box with five dozen liquor jugs, then send it to the harbour."


def guards(*train: Example, names: tuple[str, ...] = ("ticket", "note"), max_bytes: int = 1000) -> Guards:
    return Guards(lambda text: placeholders(text, names), max_bytes, train)


def problem(old: str, new: str, guard: Guards | None = None) -> str | None:
    return (guard or guards()).problem(candidate(old), candidate(new), {candidate(old).id})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Classify it.", "Classify the ticket with care."),
        ("Classify {ticket}.", "Read {ticket}. Then classify it."),
        ("Use {ticket} and {note}.", "Note: {note}\nTicket: {ticket}"),
        ("Twice: {ticket} {ticket}", "Once is enough: {ticket}"),
        ("Classify it.", 'Answer as JSON: {"label": {"of": "ticket"}} or {unknown}'),
        ("Classify {ticket}.", "Classify {ticket}. {{ticket is a word}}"),
        ("", "Something at last."),
    ],
)
def test_a_sound_text_passes(old: str, new: str) -> None:
    assert problem(old, new) is None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Classify it.", "Classify it.", "the text is the same as before"),
        ("Classify it.\n", "\n\n Classify it.", "the text is the same as before"),
        ("Classify it.", "", "the text is empty"),
        ("Classify it.", " \n\t ", "the text is empty"),
        ("Classify {ticket}.", "Classify it.", "the placeholder {ticket} is missing; every placeholder has to stay"),
        ("{note} {ticket}", "nothing", "the placeholder {note} is missing; every placeholder has to stay"),
        ("Classify {ticket}.", "Classify { ticket }.", "the placeholder {ticket} is missing; every placeholder has to stay"),
        ("Classify it.", "Classify {ticket}.", "the placeholder {ticket} is new; use only those that the text had"),
        (
            "Classify {ticket}.",
            "{ticket} once more: {ticket}",
            "the placeholder {ticket} stands there more often than before; use it as often as the text did",
        ),
    ],
)
def test_a_broken_text_is_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    assert problem(old, new) == reason


def test_a_text_that_was_tried_before_is_refused() -> None:
    tried = candidate("Another one.")
    assert guards().problem(candidate("Now."), tried, {tried.id}) == "this text was tried before"


# --- length -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "max_bytes", "room"), [(100, 1000, 1000), (100, 9000, 4100), (5000, 99999, 10000), (2000, 1000, 2000)])
def test_a_text_may_grow_but_not_without_end(size: int, max_bytes: int, room: int) -> None:
    guard = guards(max_bytes=max_bytes)
    old = "x" * size
    assert guard.room(old) == room
    assert problem(old, "y" * room, guard) is None
    assert problem(old, "y" * (room + 1), guard) == f"the text is too long: {room + 1} bytes, at most {room} are allowed"


def test_length_is_counted_in_bytes() -> None:
    assert problem("x", "汉" * 333, guards(max_bytes=1000)) is None
    assert problem("x", "汉" * 334, guards(max_bytes=1000)) == "the text is too long: 1002 bytes, at most 1000 are allowed"


@given(st.text(max_size=50), st.text(max_size=200), st.integers(1, 500))
def test_what_passes_fits_into_the_room(old: str, new: str, max_bytes: int) -> None:
    guard = guards(max_bytes=max_bytes)
    if problem(old, new, guard) is None:
        assert len(new.encode()) <= guard.room(old)
    assert guard.room(old) >= len(old.encode())


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "train",
    [example("e7", ticket=LONG), example("e7", expected=LONG), example("e7", text="short", ticket=f"  {LONG.upper()}\n")],
    ids=["input", "answer", "other case and spaces"],
)
@pytest.mark.parametrize(
    "new",
    [f"Rules. {LONG} So it goes.", LONG.replace(" ", "\n  "), f"If asked ‘{LONG.lower()}’, say yes."],
    ids=["inside", "broken lines", "quoted"],
)
def test_a_copied_row_is_refused(train: Example, new: str) -> None:
    reason = "the text copies the training example 'e7'; state rules that hold for examples never seen"
    assert problem("Rules.", new, guards(example("e6", ticket=OTHER), train)) == reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Rules.", "Rules about foxes, dogs and boxes."),
        ("Rules.", f"Rules. {LONG[: len(LONG) // 2]}"),
        (f"Rules: {LONG}", f"Better rules: {LONG}"),
        ("Rules.", "Rules. Answer refund."),
    ],
    ids=["other words", "half of it", "it was there before", "a short answer"],
)
def test_what_is_no_copy_passes(old: str, new: str) -> None:
    assert problem(old, new, guards(example("e6", ticket=LONG), example("e7", "refund", ticket="too short to tell"))) is None


def test_texts_are_recognized_from_forty_letters_on() -> None:
    text = "y" * COPIED
    assert problem("Rules.", text, guards(example("e", ticket=text))) is not None
    assert problem("Rules.", text, guards(example("e", ticket=text[1:]))) is None
    assert problem("Rules.", "7" * 50, guards(example("e", ticket=int("7" * 50)))) is None, "a number is no text"


def test_a_large_train_split_is_searched_quickly() -> None:
    guard = guards(*(example(f"e{n}", ticket=f"{n} {LONG * 20}") for n in range(3000)), max_bytes=20_000)
    start = time.process_time()
    for n in range(20):
        assert problem("Rules.", f"Rule {n}. " * 400, guard) is None
    assert time.process_time() - start < 5


# --- several components -----------------------------------------------------------------------------------------------


def pair(first: str, second: str, demonstrations: str = "") -> Candidate:
    return Candidate({"first": first, "second": second, DEMONSTRATIONS: demonstrations})


def test_every_changed_component_is_checked_and_only_those() -> None:
    guard = guards(max_bytes=300)
    parent = pair("One.", "Two {ticket}.")
    assert guard.problem(parent, pair("One!", "Two {ticket}."), set()) is None
    assert guard.problem(parent, pair("One.", "Two."), set()) == "the placeholder {ticket} is missing; every placeholder has to stay"
    assert guard.problem(parent, pair("One!", ""), set()) == "the text is empty"
    spoilt = pair("", "Two {ticket}.")
    assert guard.problem(spoilt, pair("", "{ticket}"), set()) is None, "what was empty before is not this proposal's fault"


def test_demonstrations_may_copy_and_be_long_but_not_be_the_same() -> None:
    guard = guards(example("e", ticket=LONG), max_bytes=10)
    parent = pair("One.", "Two.")
    assert guard.problem(parent, pair("One.", "Two.", f'{{"inputs": {{"ticket": "{LONG}"}}, "answer": "yes"}}'), set()) is None
    assert guard.problem(parent, pair("One.", "Two."), set()) == "the text is the same as before"
