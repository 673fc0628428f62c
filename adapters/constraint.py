"""Constraints, checked: is an answer one of the labels, or JSON that fits the schema?"""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from adapters.clients.client import Constraint, JsonSchema, Labels
from adapters.nearest import nearest
from adapters.plain import parse_json

Check: TypeAlias = Callable[[str], Any]
"""Answer text → its value. Raises UnfitError."""

_FENCED = re.compile(r"```[A-Za-z]*\n(.*)```", re.DOTALL)


class ConstraintError(ValueError):
    """A constraint that no answer could be checked against."""


class UnfitError(ValueError):
    """An answer that does not fit. Says how."""


def checker(constraint: Constraint) -> Check:
    """The check that belongs to a constraint.

    Labels: the text without the white space around it is a label, letter for letter; the value is the label. JSON schema: the
    text, or the one fenced block that it consists of, is JSON that fits; the value is what it holds. Raises ConstraintError.
    """
    return _label_check(constraint) if isinstance(constraint, Labels) else _schema_check(constraint)


def _label_check(constraint: Labels) -> Check:
    labels = constraint.values
    for label in labels:
        if not label or label != label.strip():
            raise ConstraintError(f"the label {label!r} is empty, or begins or ends with white space, which answers are read without")
        if labels.count(label) > 1:
            raise ConstraintError(f"the label {label!r} is given twice")
    if len(labels) < 2:
        raise ConstraintError("fewer than two labels leave no choice; give two or more")

    def check(text: str) -> str:
        label = text.strip()
        if label not in labels:
            raise UnfitError(f"{_short(label)} is none of the labels{nearest(label[:100], labels)}")
        return label

    return check


def _schema_check(constraint: JsonSchema) -> Check:
    # Importing jsonschema takes a fourteenth of a second: only where it is used.
    from jsonschema import SchemaError, validators  # noqa: PLC0415
    from jsonschema.exceptions import best_match  # noqa: PLC0415
    from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415

    schema = dict(constraint.schema)
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise ConstraintError(f"no JSON schema: {error.json_path}: {error.message}") from None
    _check_references(schema, kind.META_SCHEMA["$schema"])
    # This registry fetches nothing; the default one would follow an address in a schema.
    validator = kind(schema, registry=EMPTY_REGISTRY)

    def check(text: str) -> Any:
        fenced = _FENCED.fullmatch(text.strip())
        try:
            value = parse_json(fenced[1] if fenced else text)
        except ValueError as error:
            raise UnfitError(f"not JSON: {error}") from None
        try:
            misfit = best_match(validator.iter_errors(value))
        except RecursionError:
            raise ConstraintError("the JSON schema refers to itself without end") from None
        if misfit is not None:
            raise UnfitError(f"does not fit the JSON schema: {misfit.json_path}: {_short(misfit.message)}")
        return value

    return check


def _check_references(schema: dict[str, Any], dialect: str) -> None:
    """Raises ConstraintError for a `$ref` that leads nowhere inside the schema."""
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415
    from referencing.jsonschema import specification_with  # noqa: PLC0415

    resolver = Registry[Any]().resolver_with_root(specification_with(dialect).create_resource(schema))
    for reference in _references(schema):
        try:
            resolver.lookup(reference)
        except Unresolvable:
            raise ConstraintError(f"the JSON schema has no {reference!r} in it; nothing is fetched from elsewhere") from None


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            yield from _references(value)
    elif isinstance(part, list):
        for item in part:
            yield from _references(item)


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
