"""The scorer `fields`: the answer is JSON, compared with the expected object field by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from adapters.answer import TracedAnswer
from adapters.digest import canonical
from adapters.example import Example
from adapters.plain import parse_json
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerConfigError, ScorerError
from scoring.user_code import source_version


@dataclass(frozen=True)
class Fields:
    """Right when every expected field has its expected value: texts without the white space around them, numbers by value,
    lists and objects part by part; fields that nobody expected are ignored. `partial`: the value is the share of the fields
    that are right, instead of 1 for all and 0 for fewer. The answer is what the adapter parsed, or the text as JSON, or the
    one fenced block in it."""

    partial: bool = False

    name: ClassVar[str] = "fields"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    def __post_init__(self) -> None:
        if not isinstance(self.partial, bool):
            raise ScorerConfigError(f"fields: partial is {show(self.partial)}; it has to be true or false")

    @cached_property
    def version(self) -> str:
        return source_version(type(self), settings={"partial": self.partial})

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example whose expected answer is not an object with fields."""
        expected = example.expected
        if not isinstance(expected, Mapping) or not expected:
            problem = f"the expected answer is {show(expected)}; fields takes an object of names and values"
            raise ScorerError(self.name, example.id, problem)
        got = _parsed(answer)
        if answer.failure_kind is not None or got is None:
            kind = answer.failure_kind or "parse_failure"
            feedback = f"Failed ({kind}): expected JSON with {', '.join(expected)}, got {show(answer.text)}."
            return Score({TEMPLATE: 0.0}, False, kind, None, feedback)
        return self._compared(expected, got)

    def _compared(self, expected: Mapping[str, Any], got: Mapping[str, Any]) -> Score:
        right = {name: name in got and same(value, got[name]) for name, value in expected.items()}
        correct = all(right.values())
        value = sum(right.values()) / len(right) if self.partial else float(correct)
        lines = [
            f"{name}: expected {show(expected[name])}, got {show(got[name]) if name in got else 'nothing'}"
            for name, is_right in right.items()
            if not is_right
        ]
        feedback = "Every field is right." if correct else "\n".join(["Wrong fields:", *lines])
        outcome = canonical({name: got[name] for name in expected if name in got})
        return Score({TEMPLATE: value}, correct, None if correct else "wrong", outcome, feedback, {"fields": right})


def same(one: object, other: object) -> bool:
    """Whether two JSON values are the same; texts without the white space around them, and true is not 1."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _parsed(answer: TracedAnswer) -> Mapping[str, Any] | None:
    """The object in the answer; None where there is none."""
    if answer.parsed is not None:
        return answer.parsed if isinstance(answer.parsed, Mapping) else None
    for text in (answer.text, _fenced(answer.text)):
        try:
            value = parse_json(text)
        except ValueError:
            continue
        return value if isinstance(value, dict) else None
    return None


def _fenced(text: str) -> str:
    """What stands in the one fenced block, without the name of its language; nothing where there is none, or several."""
    parts = text.split("```")
    if len(parts) != 3:
        return ""
    head, _, rest = parts[1].partition("\n")
    return rest if head.strip().isalnum() else parts[1]
