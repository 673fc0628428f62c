"""Demonstrations: worked examples inside a candidate, as JSON Lines of `{"id": ..., "inputs": {...}, "answer": "..."}`."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from adapters.example import Example
from adapters.nearest import nearest
from adapters.plain import parse_json, plain
from adapters.template import spell

_KEYS = ("id", "inputs", "answer")


class DemonstrationError(ValueError):
    """A text that holds no demonstrations. Names the line."""


@dataclass(frozen=True)
class Demonstration:
    """`answer`: what a model should have answered. `id`: of the example that it was made from, where there is one."""

    inputs: Mapping[str, Any]
    answer: str
    id: str | None = None


def demonstration_of(example: Example) -> Demonstration | None:
    """The example as a demonstration; None where its right answer is not known, or is blank, which no provider takes as a turn.
    An answer that is not text is shown as JSON."""
    answer = spell(example.expected)
    return Demonstration(example.inputs, answer, example.id) if answer.strip() else None


def dump_demonstrations(demonstrations: Iterable[Demonstration]) -> str:
    """The component's text: the same demonstrations in the same order give the same text. Empty for none. Raises NotPlainError
    for inputs that JSON cannot hold."""
    return "\n".join(map(_line, demonstrations))


@lru_cache(maxsize=256)
def parse_demonstrations(text: str) -> tuple[Demonstration, ...]:
    """The demonstrations in a component's text. Raises DemonstrationError."""
    return tuple(_parse(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _line(demonstration: Demonstration) -> str:
    inputs = {name: demonstration.inputs[name] for name in sorted(demonstration.inputs)}
    known = {} if demonstration.id is None else {"id": demonstration.id}
    return json.dumps(plain({**known, "inputs": inputs, "answer": demonstration.answer}), ensure_ascii=False)


def _parse(number: int, line: str) -> Demonstration:
    try:
        fields = parse_json(line)
    except ValueError as error:
        raise DemonstrationError(f"demonstrations, line {number}: not JSON that can be read: {error}") from None
    problem = _problem(fields)
    if problem:
        raise DemonstrationError(f'demonstrations, line {number}: {problem}; a line is {{"inputs": {{...}}, "answer": "..."}}')
    return Demonstration(fields["inputs"], fields["answer"], fields.get("id"))


def _problem(fields: Any) -> str | None:
    if not isinstance(fields, dict):
        return "expected an object"
    for name in fields:
        if name not in _KEYS:
            return f"unknown key {name!r}{nearest(name, _KEYS)}"
    if not isinstance(fields.get("inputs"), dict):
        return "`inputs` has to be an object of names and values"
    answer = fields.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        return "`answer` has to be text, and not blank"
    return None if isinstance(fields.get("id"), str | None) else "`id` has to be text"
