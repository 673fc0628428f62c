from typing import Any

import pytest

from adapters.clients.client import ErrorKind, JsonSchema, Labels, ModelError
from adapters.clients.grammar import constraint_body


def test_labels_become_one_choice() -> None:
    assert constraint_body(Labels(("spam", 'a"b\\\n日'))) == {"grammar": 'root ::= "spam" | "a\\U00000022b\\U0000005C\\U0000000A日"'}
    assert constraint_body(None) == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"pattern": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"}, "b": {"enum": ["x", 1]}}},
        {"type": "string", "pattern": "^(?:ab|c)+\\.\\-[^x]?.*$"},
        {"type": "array", "minItems": 2, "maxItems": 2, "items": [{"type": "integer", "minimum": 1}]},
    ],
)
def test_a_schema_that_is_enforced_is_passed_on(schema: dict[str, Any]) -> None:
    assert constraint_body(JsonSchema(schema)) == {"json_schema": schema}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string", "pattern": "x"}, "begin the pattern 'x' with ^ and end it with $"),
        ({"type": "string", "pattern": "^x"}, "end it with $"),
        ({"type": "string", "pattern": r"^\d+$"}, r"without \d; for digits, [0-9]"),
        ({"type": "string", "pattern": "^(?=a)b$"}, "without (?"),
        ({"type": "string", "pattern": "^a*?$"}, "without *?"),
        ({"type": "string", "pattern": "^a{2,1}$"}, "is broken: min repeat greater than max repeat"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength 3 is more than maxLength 2"),
        ({"type": "integer", "minimum": 3, "maximum": 2.5}, "minimum 3 is more than maximum 2.5"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "minItems 3 is more than maxItems 2"),
        ({"type": "object", "properties": {"a": {"anyOf": [{"type": "string", "pattern": "x"}]}}}, "begin the pattern"),
    ],
)
def test_a_schema_that_is_not_enforced_is_refused(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(ModelError) as raised:
        constraint_body(JsonSchema(schema))
    assert raised.value.kind is ErrorKind.BAD_REQUEST
    assert told in raised.value.message
