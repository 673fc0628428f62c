"""Demonstrations: what is written is what is read, and a broken line is named."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.demonstrations import (
    Demonstration,
    DemonstrationError,
    demonstration_of,
    dump_demonstrations,
    parse_demonstrations,
)
from adapters.example import Example

answers = st.text().filter(lambda text: bool(text.strip()))
inputs = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.booleans()), max_size=3)


@given(st.lists(st.builds(Demonstration, inputs, answers, st.none() | st.text()), max_size=4))
def test_what_is_dumped_is_parsed(shown: list[Demonstration]) -> None:
    text = dump_demonstrations(shown)
    assert parse_demonstrations(text) == tuple(shown)
    assert len(text.split("\n")) == max(len(shown), 1)


def test_the_text_is_stable_and_readable() -> None:
    one = Demonstration({"b": "ü\u2028", "a": date(2020, 1, 2)}, "x\ny", "e1")
    assert dump_demonstrations([one]) == '{"id": "e1", "inputs": {"a": "2020-01-02", "b": "ü\u2028"}, "answer": "x\\ny"}'
    assert dump_demonstrations([Demonstration({}, "x")]) == '{"inputs": {}, "answer": "x"}'
    assert dump_demonstrations([]) == ""
    assert parse_demonstrations("\n  \n") == ()


@pytest.mark.parametrize(
    ("expected", "answer"),
    [(" as it is\n", " as it is\n"), ({"b": 1, "a": "ü"}, '{"b": 1, "a": "ü"}'), (3, "3"), (0, "0"), (False, "false"), ([], "[]")],
)
def test_the_right_answer_as_a_model_should_give_it(expected: Any, answer: str) -> None:
    assert demonstration_of(Example("e", {"q": 1}, expected)) == Demonstration({"q": 1}, answer, "e")


@pytest.mark.parametrize("expected", [None, "", " \n"])
def test_without_an_answer_there_is_nothing_to_show(expected: str | None) -> None:
    assert demonstration_of(Example("e", {"q": 1}, expected)) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON that can be read: Expecting"),
        ('{"inputs": {"q": NaN}, "answer": "x"}', "inputs.q: nan"),
        ("[]", 'expected an object; a line is {"inputs": {...}, "answer": "..."}'),
        ('{"inputs": {}, "anser": "x"}', "unknown key 'anser'; did you mean 'answer'?"),
        ('{"answer": "x"}', "`inputs` has to be an object of names and values"),
        ('{"inputs": {}}', "`answer` has to be text, and not blank"),
        ('{"inputs": {}, "answer": 5}', "`answer` has to be text"),
        ('{"inputs": {}, "answer": " "}', "`answer` has to be text, and not blank"),
        ('{"inputs": {}, "answer": "x", "id": 5}', "`id` has to be text"),
    ],
)
def test_a_broken_line_is_named(line: str, message: str) -> None:
    with pytest.raises(DemonstrationError) as caught:
        parse_demonstrations('{"inputs": {}, "answer": "x"}\n\n' + line)
    assert str(caught.value).startswith("demonstrations, line 3: ")
    assert message in str(caught.value)
