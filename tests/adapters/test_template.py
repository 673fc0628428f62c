"""Templates and filling: what is a brace, what is a name, and that no value is ever read as a template."""

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.template import Template, TemplateError, braced, fill, placeholders, spell

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_ .-]{0,8}[a-z]", fullmatch=True)


@given(st.lists(st.text() | names.map(lambda name: (name,)), max_size=8), st.text())
def test_a_template_is_read_once(pieces: list[str | tuple[str]], value: str) -> None:
    """Text with its braces doubled comes out as it was, names come out as their values, whatever these hold."""
    source = "".join(piece.replace("{", "{{").replace("}", "}}") if isinstance(piece, str) else f"{{{piece[0]}}}" for piece in pieces)
    template = Template(source)
    assert template.names == {piece[0] for piece in pieces if isinstance(piece, tuple)}
    values = {name: value + name for name in template.names}
    assert template.render(values) == "".join(piece if isinstance(piece, str) else values[piece[0]] for piece in pieces)


def test_values_with_braces_are_not_read_again() -> None:
    template = Template("{a}{b}{{a}} {a b}")
    assert template.render({"a": "{b}", "b": "{{a}}", "a b": "}"}) == "{b}{{a}}{a} }"


def test_as_many_braces_as_one_likes() -> None:
    assert Template("{{{a}}}").render({"a": 1}) == "{1}"
    assert Template("{{{{a}}}}").render({}) == "{{a}}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("ab\nc{", "line 2, column 2: a single '{'; write '{{' for a literal brace"),
        ("}", "line 1, column 1: a single '}'; write '}}' for a literal brace"),
        ("{a} {b{c}}", "line 1, column 5: a single '{'"),
        ("x{}", "line 1, column 2: '{}' holds no name"),
        ("{ a}", "line 1, column 1: '{ a}' holds no name; write {name} without spaces at the ends, or {{ and }}"),
        ('{"a": 1,\n"b": 2}', "line 1, column 1: "),
        ('{"a": 1}', "write {name} without spaces at the ends, or {{ and }} for literal braces"),
        ("{a}\n\n {a }", "line 3, column 2: "),
    ],
)
def test_what_is_no_template(source: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        Template(source)
    assert message in str(caught.value)


def test_a_value_that_is_not_given() -> None:
    with pytest.raises(KeyError, match="b"):
        Template("{a}{b}").render({"a": 1})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ü {x}", "ü {x}"),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (0.5, "0.5"),
        ([1, None, "ü"], '[1, null, "ü"]'),
        ({"b": 1, "a": (True,)}, '{"b": 1, "a": [true]}'),
        (MappingProxyType({"a": MappingProxyType({"b": 1})}), '{"a": {"b": 1}}'),
        ([1 + 2j], '["(1+2j)"]'),
    ],
)
def test_how_values_are_spelt(value: object, text: str) -> None:
    assert spell(value) == text
    assert Template("<{v}>").render({"v": value}) == f"<{text}>"
    assert fill("<{v}>", {"v": value}) == f"<{text}>"


def test_filling_touches_exact_names_only() -> None:
    inputs = {"q": "{r}", "r": 1, "a|b": "x", "": "never"}
    text = 'Give {"q": {q}, "n": {{r}}} { q } {} {Q} {qq} {a|b} {{}} {'
    assert fill(text, inputs) == 'Give {"q": {r}, "n": {1}} { q } {} {Q} {qq} x {{}} {'
    assert fill("no braces", inputs) == "no braces"


@given(st.text("{}qr", max_size=20))
def test_filling_leaves_other_braces_as_they_are(text: str) -> None:
    assert fill(text, {}) == text
    assert fill(text, {"q": "{q}"}) == text
    assert fill(text, {"q": "V"}) == text.replace("{q}", "V")


@given(st.text("{}qr", max_size=20))
def test_placeholders_are_what_filling_replaces(text: str) -> None:
    assert placeholders(text, ["q", "r"]) == {name for name in ("q", "r") if fill(text, {name: "V"}) != text}


def test_what_looks_like_a_name() -> None:
    found: Any = braced('{quesiton} {"a": 1} {two words} {} { x } {a\nb} {{nested}} {größe}')
    assert found == {"quesiton", "two words", "nested", "größe"}
