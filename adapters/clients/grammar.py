"""Constraints in llama.cpp's terms, and those that it would not keep: it drops these with a line on the terminal, or worse."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.clients.client import Constraint, ErrorKind, JsonSchema, Labels, ModelError
from adapters.clients.weights import MODEL

BOUNDS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"))
UNKNOWN = re.compile(r"\\[^][^$.()|{}*+?\\-]|\(\?(?!:)|[*+?}][+?]")
"""A backslash before anything but a sign of the notation, groups that are more than brackets, lazy and possessive counts."""


def constraint_body(constraint: Constraint | None) -> dict[str, Any]:
    """What to add to the body of a request. Raises ModelError (bad_request) for a schema that llama.cpp does not enforce."""
    match constraint:
        case None:
            return {}
        case Labels(values):
            return {"grammar": "root ::= " + " | ".join(map(_literal, values))}
        case JsonSchema(schema):
            for node in _nodes(schema):
                problem = _pattern_problem(node.get("pattern")) or _bounds_problem(node)
                if problem:
                    raise ModelError(ErrorKind.BAD_REQUEST, MODEL, f"the JSON schema cannot be enforced: {problem}")
            return {"json_schema": dict(schema)}


def _literal(text: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08X}" if c in '"\\' or not c.isprintable() else c for c in text) + '"'


def _nodes(node: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        yield node
        for child in node.values():
            yield from _nodes(child)
    elif isinstance(node, list | tuple):
        for child in node:
            yield from _nodes(child)


def _pattern_problem(pattern: object) -> str | None:
    if not isinstance(pattern, str):
        return None
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return f"begin the pattern {pattern!r} with ^ and end it with $"
    unknown = UNKNOWN.search(pattern)
    if unknown:
        return f"write the pattern {pattern!r} without {unknown[0]}; for digits, [0-9]"
    try:
        re.compile(pattern)
    except re.error as error:
        return f"the pattern {pattern!r} is broken: {error}"
    return None


def _bounds_problem(node: Mapping[str, Any]) -> str | None:
    for low, high in BOUNDS:
        least, most = node.get(low), node.get(high)
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            return f"{low} {least} is more than {high} {most}"
    return None
