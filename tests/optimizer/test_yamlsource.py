"""The lines that a document's parts come from."""

import re

import pytest

from optimizer.errors import ConfigError
from optimizer.yamlsource import KeyPath, read_yaml

TEXT = """\
base: &base
  q: 1
own:
  <<: *base
  c: 1
items:
  - id: 3
    z: 4
  - word
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("base", "q"), 2),
        (("own", "q"), 2),
        (("own", "c"), 5),
        (("items",), 6),
        (("items", 0), 7),
        (("items", 0, "z"), 8),
        (("items", 0, "missing"), 7),
        (("items", 1, "missing"), 9),
        (("items", 7), 6),
        (("missing",), None),
        ((), None),
    ],
)
def test_lines(path: KeyPath, line: int | None) -> None:
    assert read_yaml(TEXT, "t").line(path) == line


def test_a_mappings_own_key_comes_before_a_merged_one() -> None:
    source = read_yaml("base: &base\n  q: 1\nown:\n  q: 2\n  <<: *base\n", "t")
    assert source.data["own"] == {"q": 2}
    assert source.line(("own", "q")) == 4


def test_aliases_that_stand_for_more_than_memory_holds_are_refused() -> None:
    def doubling(times: int) -> str:
        return "a0: &a0 {k: v}\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, times))

    assert len(read_yaml(doubling(16), "t").data) == 16
    with pytest.raises(ConfigError, match=r"^t: its aliases stand for more than 1,000,000 further parts"):
        read_yaml(doubling(60), "t")


def test_an_empty_document_has_no_data() -> None:
    source = read_yaml("# nothing\n", "t")
    assert source.data is None
    assert source.line(("a",)) is None


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"), ("off", "off"), ("2024-01-02", "2024-01-02"), ("007", "007"), ("1:30", "1:30"), ("1_000", "1_000"), ("=", "="),
        ("true", True), ("False", False), ("~", None), ("", None),
        ("0", 0), ("-12", -12), ("1e3", 1000.0), (".5", 0.5), ("2.", 2.0), ("0.25", 0.25),
    ],
)  # fmt: skip
def test_texts_are_what_they_look_like(written: str, value: object) -> None:
    data = read_yaml(f"a: {written}", "t").data
    assert data == {"a": value}
    assert type(data["a"]) is type(value)


@pytest.mark.parametrize("written", [".inf", "-.INF", ".nan", "1e999"])
def test_numbers_that_json_lacks_are_refused(written: str) -> None:
    with pytest.raises(ConfigError, match=rf"^t:1:4: not valid YAML: {re.escape(written)} is not a finite number$"):
        read_yaml(f"a: {written}", "t")


@pytest.mark.parametrize("written", ["9" * 5000, "-" + "9" * 5000])
def test_numbers_that_nobody_counts_with_are_refused(written: str) -> None:
    with pytest.raises(ConfigError, match=r"^t:1:4: not valid YAML: a whole number has too many digits$"):
        read_yaml(f"a: {written}", "t")


@pytest.mark.parametrize("text", ["a: !!set {b}", "a: !!binary aGk=", "a: !!omap [b: 1]", "a: !!timestamp 2024-01-01", "a: !other 1"])
def test_types_that_json_lacks_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^t:1:4: not valid YAML: the type .* has no place here$"):
        read_yaml(text, "t")


@pytest.mark.parametrize("written", [">= 0.7", ">0.7", "> 0.7", "| 0.7"])
def test_a_sign_that_begins_a_block_of_text_needs_quotes(written: str) -> None:
    with pytest.raises(ConfigError, match=r"^t:1:\d: not valid YAML: .*; text that begins with '>' or '\|' needs quotes$"):
        read_yaml(f"a: {written}", "t")


@pytest.mark.parametrize(("text", "begun"), [('a: 1\nb: "c\nd: 1\n', "quoted scalar"), ("a: 1\nb: [1, 2\nc: 3\n", "flow sequence")])
def test_what_is_never_closed_is_told_with_the_line_where_it_begins(text: str, begun: str) -> None:
    with pytest.raises(ConfigError, match=rf"^t:[34]:\d: not valid YAML: .*, in the {begun} that begins in line 2$"):
        read_yaml(text, "t")
