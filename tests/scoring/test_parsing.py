"""The object in an answer."""

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from adapters.answer import TracedAnswer
from scoring.parsing import UnreadableError, read_object

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=3), values, max_size=4)
prose = st.text(st.characters(exclude_characters="{}`"), max_size=20)


@given(objects, prose, prose)
def test_an_object_is_found_in_other_text(value: dict[str, Any], before: str, after: str) -> None:
    """Unless all of it is one string in quotes."""
    assume(not before.lstrip().startswith('"'))
    said = json.dumps(value, ensure_ascii=False).replace("`", "'")
    assert read_object(TracedAnswer(f"{before} {said} {after}"), anywhere=True) == json.loads(said)


def test_a_string_in_quotes_is_no_object() -> None:
    with pytest.raises(UnreadableError, match="not an object"):
        read_object(TracedAnswer('" {} "'), anywhere=True)


@pytest.mark.parametrize(
    "text",
    ['For {x} it is {"a": 1}.', 'It is {"a": 1}; {} { "b"', 'As { { {"a": 1} in braces'],
    ids=["placeholder", "unfinished", "braces"],
)
def test_other_braces_do_not_disturb(text: str) -> None:
    text = text.replace("{} ", "")
    assert read_object(TracedAnswer(text), anywhere=True) == {"a": 1}
    with pytest.raises(UnreadableError, match="no JSON"):
        read_object(TracedAnswer(text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1} or {"a": 2}', "several objects"),
        ('It is {"a": NaN}', "a: nan is not a number"),
        ('It is {"a": 1, "a": 2}', "'a' is given twice"),
        ('It is {"a": 1} {"b"}, {"b": }{"c": 1', ""),
        ("It is {x}", "no object"),
        ("It is [1]", "no object"),
        ("", "no object"),
        ('{"a": 1', "no object"),
        ('{"a": NaN}', "a: nan is not a number"),
        ("[1]", r"it is \[1\], and not an object"),
        ("7", "it is 7, and not an object"),
    ],
)
def test_what_is_no_single_object(text: str, why: str) -> None:
    if not why:
        assert read_object(TracedAnswer(text), anywhere=True) == {"a": 1}
        return
    with pytest.raises(UnreadableError, match=why):
        read_object(TracedAnswer(text), anywhere=True)


def test_what_the_adapter_parsed_is_made_plain() -> None:
    assert read_object(TracedAnswer("", parsed={"day": date(2024, 1, 2), "at": (1, 2)})) == {"day": "2024-01-02", "at": [1, 2]}
    with pytest.raises(UnreadableError, match="a: nan"):
        read_object(TracedAnswer("", parsed={"a": float("nan")}))


HOSTILE = {
    "unclosed texts": '{"a":"' * 160_000,
    "escapes": '{"a' + '\\"' * 500_000,
    "backslashes": '{"' + "\\" * 1_000_001,
    "braces": "{" * 1_000_000,
    "placeholders": "{x}" * 330_000,
    "spaces": ("{" + " " * 999) * 1000,
    "deep": '{"a":' * 200_000 + "1" + "}" * 200_000,
    "lists in lists": ('{"a":[' + "0," * 500) * 950,
    "big number": '{"a":' + "9" * 1_000_000 + "}",
    "fences": "```" * 330_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_refused_in_linear_time(text: str) -> None:
    """Squared it would be minutes."""
    with pytest.raises(UnreadableError):
        read_object(TracedAnswer(text), anywhere=True)
