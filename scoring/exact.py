"""The scorer `exact`: the answer is the expected one, letter for letter."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import text
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerError
from scoring.text import plain_number, spoken
from scoring.user_code import source_version


@dataclass(frozen=True)
class Exact:
    """The answer (what the adapter parsed, else its text) without the white space around it is what was expected, or one of
    a list. Numbers are compared as text, in plain digits; true and false as JSON spells them."""

    name: ClassVar[str] = "exact"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    @cached_property
    def version(self) -> str:
        return source_version(type(self), text)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example without an expected answer, and for one that is no text, number or truth value."""
        accepted = [self._spell(example, member) for member in self._members(example)]
        got = spoken(answer).strip()
        correct = answer.failure_kind is None and got in accepted
        kind = None if correct else answer.failure_kind or "wrong"
        wanted = " or ".join(show(text) for text in accepted)
        feedback = "Right." if correct else f"{'Wrong' if kind == 'wrong' else f'Failed ({kind})'}: expected {wanted}, got {show(got)}."
        return Score({TEMPLATE: float(correct)}, correct, kind, got, feedback)

    def _members(self, example: Example) -> list[object]:
        expected = example.expected
        members = expected if isinstance(expected, list | tuple) else [expected]
        if expected is None or not members:
            problem = "there is no expected answer to compare with; give the example one, or leave this scorer out"
            raise ScorerError(self.name, example.id, problem)
        return list(members)

    def _spell(self, example: Example, member: object) -> str:
        if isinstance(member, str):
            return member.strip()
        if isinstance(member, bool):
            return str(member).lower()
        if isinstance(member, int | float):
            return plain_number(member)
        hint = "the scorer fields compares those" if isinstance(member, dict) else "write it as text"
        problem = f"the expected answer {show(member)} is neither text nor a number; {hint}"
        raise ScorerError(self.name, example.id, problem)
