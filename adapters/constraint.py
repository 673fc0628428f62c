"""Constraints, checked: is an answer one of the labels, or JSON that fits the schema?"""

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from adapters.clients.client import Constraint, JsonSchema, Labels
from adapters.nearest import nearest
from adapters.plain import parse_json
from adapters.schema import SchemaError, schema_validator

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
    from jsonschema.exceptions import best_match  # noqa: PLC0415  # slow to import: only where it is used

    try:
        validator = schema_validator(constraint.schema)
    except SchemaError as error:
        raise ConstraintError(str(error)) from None

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


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
