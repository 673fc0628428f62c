"""Constraints: labels letter for letter, JSON that fits its schema, and schemas that no answer could be checked against."""

from typing import Any

import pytest

from adapters.clients.client import JsonSchema, Labels
from adapters.constraint import ConstraintError, UnfitError, checker

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"$ref": "#/$defs/age"}},
    "required": ["name"],
    "additionalProperties": False,
    "$defs": {"age": {"type": "integer"}},
}


@pytest.mark.parametrize("text", ["billing", " billing\n", "\tbilling"])
def test_a_label_is_found_between_white_space(text: str) -> None:
    assert checker(Labels(("billing", "Billing team")))(text) == "billing"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Billing", "Billing is none of the labels; did you mean 'billing'?"),
        ('"billing"', "none of the labels"),
        ("billing.", "none of the labels"),
        ("", " is none of the labels; there is billing, other"),
        ("z" * 500, "z… is none of the labels"),
    ],
)
def test_what_is_not_a_label_letter_for_letter(text: str, message: str) -> None:
    with pytest.raises(UnfitError) as caught:
        checker(Labels(("billing", "other")))(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("a", " b"), "' b' is empty, or begins or ends"),
        (("a", ""), "'' is empty"),
        (("a", "b", "a"), "'a' is given twice"),
        (("a",), "two or more"),
    ],
)
def test_labels_that_leave_no_clear_choice(labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        checker(Labels(labels))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "ü", "age": 3}',
        ' \n{"name": "ü", "age": 3}\n',
        '```json\n{"name": "ü", "age": 3}\n```',
        '\n```\n{"name": "ü",\n"age": 3}```\n',
    ],
)
def test_json_is_read_plain_or_from_the_one_fenced_block(text: str) -> None:
    assert checker(JsonSchema(PERSON))(text) == {"name": "ü", "age": 3}


def test_backticks_inside_the_json_are_its_own() -> None:
    assert checker(JsonSchema({}))('```\n"```\\n"\n```') == "```\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value"),
        ('Here it is:\n```json\n{"name": "x"}\n```', "not JSON: "),
        ('```json\n{"name": "x"}\n```\n```json\n{"name": "y"}\n```', "not JSON: "),
        ('{"name": "x", "age": NaN}', "not JSON: age: nan"),
        ('{"name": "x", "name": "y"}', "not JSON: the key 'name' is given twice"),
        ('{"name": "x", "age": "3"}', "does not fit the JSON schema: $.age: '3' is not of type 'integer'"),
        ('{"nam": "x"}', "does not fit the JSON schema: $"),
        ('{"name": ' + "[" * 99 + "]" * 99 + "}", "does not fit the JSON schema: $.name: "),
        ("[" * 5000 + "]" * 5000, "levels deep"),
    ],
)
def test_what_does_not_fit_says_how(text: str, message: str) -> None:
    with pytest.raises(UnfitError) as caught:
        checker(JsonSchema(PERSON))(text)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_dialect_is_the_schemas_own() -> None:
    tuple_of_two: dict[str, Any] = {"items": [{"type": "integer"}, {"$ref": "#/definitions/s"}], "definitions": {"s": {"type": "string"}}}
    check = checker(JsonSchema({"$schema": "http://json-schema.org/draft-07/schema#", **tuple_of_two}))
    assert check('[1, "x"]') == [1, "x"]
    with pytest.raises(UnfitError):
        check("[1, 2]")


def test_references_by_id_and_anchor() -> None:
    schema: dict[str, Any] = {
        "$id": "https://example.com/s",
        "$defs": {"n": {"$anchor": "number", "type": "number"}},
        "properties": {"a": {"$ref": "#number"}, "b": {"$ref": "https://example.com/s"}, "$ref": {"type": "string"}},
    }
    assert checker(JsonSchema(schema))('{"a": 1, "b": {"a": 2}, "$ref": "#x"}') == {"a": 1, "b": {"a": 2}, "$ref": "#x"}
    with pytest.raises(UnfitError, match=r"\$\.b\.a"):
        checker(JsonSchema(schema))('{"b": {"a": "x"}}')


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "text"}, r"no JSON schema: \$\.type: 'text' is not valid"),
        ({"allOf": [{"$ref": "#/$defs/missing"}]}, r"has no '#/\$defs/missing' in it; nothing is fetched"),
        ({"$ref": "http://127.0.0.1:1/schema.json"}, "has no 'http://127.0.0.1:1/schema.json' in it"),
    ],
)
def test_schemas_that_nothing_could_be_checked_against(schema: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        checker(JsonSchema(schema))


def test_a_schema_that_never_ends() -> None:
    with pytest.raises(ConstraintError, match="refers to itself without end"):
        checker(JsonSchema({"$ref": "#"}))("1")
