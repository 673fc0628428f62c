"""Demonstrations are lines that candidates may be made of; what a candidate shows it is not tried on."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from pieces import candidate, example, examples

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.example import Example
from optimizer.propose.demos import OFFERED, Shown, offers, shown_by, unshown
from optimizer.units import assemble, units

TRAIN = examples(6)


def showing(*which: int, train: Sequence[Example] = TRAIN) -> Candidate:
    shown = [made for made in (demonstration_of(train[n]) for n in which) if made]
    return candidate(**{DEMONSTRATIONS: dump_demonstrations(shown)})


# --- what is offered --------------------------------------------------------------------------------------------------


def test_every_example_is_a_line() -> None:
    found = offers(TRAIN)
    assert {unit.component for unit in found} == {DEMONSTRATIONS}
    assert [parse_demonstrations(unit.text) for unit in found] == [(demonstration_of(each),) for each in TRAIN]


def test_examples_without_an_answer_are_not_offered() -> None:
    train = [example("a", None), example("b", "yes"), example("c", " \n"), example("d", 0)]
    assert [parse_demonstrations(unit.text)[0].id for unit in offers(train)] == ["b", "d"]
    assert offers(train[:1]) == offers([]) == []


def test_answers_that_are_no_text_are_shown_as_json() -> None:
    (line,) = offers([example("a", {"label": "x", "n": 1}, text="t")])
    assert parse_demonstrations(line.text) == (Demonstration({"text": "t"}, '{"label": "x", "n": 1}', "a"),)


def test_of_examples_with_the_same_inputs_the_last_is_offered() -> None:
    """One shown beside the other would waste room, or contradict it."""
    train = [
        example("a", "no", x=1, y="t"),
        example("b", "yes", x=2, y="t"),
        example("c", "yes", y="t", x=1),
        example("d", None, x=2, y="t"),
    ]
    assert [parse_demonstrations(unit.text)[0].id for unit in offers(train)] == ["c", "b"]


def test_of_many_some_are_offered_spread_evenly() -> None:
    assert len(offers(examples(OFFERED))) == OFFERED
    found = [parse_demonstrations(unit.text)[0].id for unit in offers(examples(4 * OFFERED))]
    assert found == [f"e{4 * k}" for k in range(OFFERED)]
    assert len({unit.text for unit in offers(examples(OFFERED + 1))}) == OFFERED


texts = st.text(max_size=6) | st.sampled_from(['"' * 20, "\n```\n", "\r\u2028\x85\x0b", "汉" * 8, "same"])
values = texts | st.integers(-5, 5) | st.booleans() | st.lists(texts, max_size=2) | st.none()
rows = st.lists(st.tuples(values, values, values), max_size=10)


@given(rows)
def test_lines_parse_back_and_stay_whole_in_a_candidate(rows: list[tuple[object, object, object]]) -> None:
    train = [Example(f"id{n}", {"a": a, "b": b}, expected) for n, (a, b, expected) in enumerate(rows)]
    found = offers(train)
    known = {each.id: each for each in train}
    for unit in found:
        (shown,) = parse_demonstrations(unit.text)
        assert shown == demonstration_of(known[str(shown.id)])
    answered = [each for each in train if demonstration_of(each)]
    assert len(found) == len({unit.text for unit in found}) <= len(answered)
    made = assemble(["instructions", DEMONSTRATIONS], [*units(candidate()), *found])
    assert [unit for unit in units(made) if unit.component == DEMONSTRATIONS] == found
    assert unshown(made, answered) == [], "each answered example is offered, or one with the same inputs"


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_what_is_shown_is_not_tried() -> None:
    assert unshown(showing(1, 3), TRAIN) == [TRAIN[n] for n in (0, 2, 4, 5)]
    assert unshown(showing(1, 3), TRAIN[1:2]) == []


def test_who_shows_nothing_is_tried_on_everything() -> None:
    for each in (candidate(), showing()):
        assert unshown(each, TRAIN) == TRAIN
        assert shown_by(each) == ()


def test_a_twin_of_what_is_shown_is_not_tried() -> None:
    """Rows with the same inputs, under other ids or none, are answered by heart; whatever order their fields have."""
    by_hand = candidate(**{DEMONSTRATIONS: '{"inputs": {"y": [1, {"z": null}], "x": "汉"}, "answer": "yes"}'})
    twin, other = example("e", "no", x="汉", y=[1, {"z": None}]), example("f", "no", x="汉", y=[1])
    assert unshown(by_hand, [twin, other]) == [other]


@given(st.lists(st.sampled_from("abcd"), max_size=8), st.sets(st.integers(0, 7)))
def test_what_is_looked_up_is_what_is_not_left_to_try(inputs: list[str], which: set[int]) -> None:
    train = [example(f"e{n}", text=text) for n, text in enumerate(inputs)]
    made, shown = showing(*(n for n in sorted(which) if n < len(train)), train=train), Shown(train)
    for _ in range(2):
        assert shown.by(made) == {each.id for each in train} - {each.id for each in unshown(made, train)}
    assert shown.by(candidate()) == frozenset()


def test_demonstrations_are_read_in_their_order() -> None:
    assert [shown.id for shown in shown_by(showing(4, 0, 2))] == ["e4", "e0", "e2"]
