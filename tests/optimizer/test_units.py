"""Units: candidates fall into lines, and are put together from them again; nothing is lost but blank lines and doubles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import Demonstration, dump_demonstrations, parse_demonstrations
from optimizer.units import MOST, Unit, assemble, pieces, units

FENCED = "```python\nif x:\n\n    y()\nz()\n```"

lines = st.sampled_from(
    [
        "",
        " ",
        "\t",
        "One rule.",
        "Another: {text}",
        "  indented",
        "\tmore",
        "```",
        "```json",
        "````",
        "~~~",
        "   ```",
        "```x```",
        "汉字",
        "a\r",
        "\x0b",
    ]
) | st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8)
texts = st.lists(lines, max_size=12).map("\n".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n\t\n", []),
        ("one", ["one"]),
        ("one\n\ntwo\n", ["one", "two"]),
        ("one\n  of it\n\n\tand this\ntwo", ["one\n  of it\n\tand this", "two"]),
        ("  one\ntwo", ["  one", "two"]),
        (f"before\n{FENCED}\nafter", ["before", FENCED, "after"]),
        ("~~~\n```\na\n~~~\nb", ["~~~\n```\na\n~~~", "b"]),
        ("````\n```\na\n```\n````\nb", ["````\n```\na\n```\n````", "b"]),
        ("```\n```json\na\n```\nb", ["```\n```json\na\n```", "b"]),
        ("one:\n  ```\na\n  ```\nb", ["one:\n  ```\na\n  ```", "b"]),
        ("one\n```\nnever\n\nclosed", ["one", "```\nnever\n\nclosed"]),
        ("```like this```\nb", ["```like this```", "b"]),
        ("``\nb", ["``", "b"]),
        ("one\r\n\r\n```\r\na\r\n```\r\nb", ["one\r", "```\r\na\r\n```\r", "b"]),
        ("汉字\x0bone line\u2028still", ["汉字\x0bone line\u2028still"]),
    ],
)
def test_a_text_falls_into_pieces(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


@given(texts)
def test_nothing_is_lost_but_blank_lines(text: str) -> None:
    def told(some: str) -> list[str]:
        return [line for line in some.split("\n") if line.strip()]

    assert told("\n".join(pieces(text))) == told(text)


@given(st.dictionaries(st.sampled_from(["system", "style", "instructions"]), texts))
def test_what_is_put_together_has_the_same_units(components: dict[str, str]) -> None:
    found = units(Candidate(components))
    again = assemble(components, found)
    assert units(again) == found
    assert again.components.keys() == components.keys()
    assert assemble(components, units(again)) == again


@given(
    st.lists(st.tuples(st.text(max_size=5), st.text(min_size=1, max_size=5).filter(str.strip)), max_size=5),
    st.sampled_from(["", "  ", "\t"]),
)
def test_every_demonstration_is_a_unit(shown: list[tuple[str, str]], indent: str) -> None:
    """However its line is indented: they are counted by lines."""
    dumped = dump_demonstrations(Demonstration({"text": asked}, answer) for asked, answer in shown)
    text = "\n\n".join(indent + line for line in dumped.split("\n"))
    found = units(Candidate({DEMONSTRATIONS: text}))
    assert len(found) == len(set(shown))
    again = assemble([DEMONSTRATIONS], found).components[DEMONSTRATIONS]
    assert {(each.inputs["text"], each.answer) for each in parse_demonstrations(again)} == set(shown)


def test_a_line_that_is_said_twice_is_one_unit_of_its_component() -> None:
    made = Candidate({"a": "x\ny\nx", "b": "x"})
    assert units(made) == (Unit("a", "x"), Unit("a", "y"), Unit("b", "x"))
    assert assemble(["b", "a", "c"], units(made)) == Candidate({"a": "x\ny", "b": "x", "c": ""})


def test_units_are_put_together_in_the_given_order() -> None:
    assert assemble(["a"], [Unit("a", "2"), Unit("a", "1")]) == Candidate({"a": "2\n1"})


def test_of_thousands_of_lines_the_last_are_one() -> None:
    lines = [f"line {n}" for n in range(20 * MOST)]
    text, longer = "\n".join(lines), "\n\n".join([*lines, lines[3], "one more"])
    assert [unit.text for unit in units(Candidate({"a": "\n".join(lines[:MOST])}))] == lines[:MOST]
    found = units(Candidate({"a": text, "b": "short"}))
    assert len(found) == MOST + 1 and [unit.text for unit in found[: MOST - 1]] == lines[: MOST - 1]
    assert assemble("ab", found) == Candidate({"a": text, "b": "short"})
    assert units(Candidate({"a": longer}))[: MOST - 1] == found[: MOST - 1], "what was known of them still holds"
    assert units(assemble("a", units(Candidate({"a": longer})))) == units(Candidate({"a": longer}))
    assert len(units(Candidate({"a": "\n".join(["same"] * MOST * 2)}))) == 1
