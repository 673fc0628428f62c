"""The scorer `exact`: the answer is the expected one, letter for letter."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import expected, text
from scoring.expected import acceptable, either, judged
from scoring.score import Score
from scoring.scorer import TEMPLATE
from scoring.text import spoken
from scoring.user_code import source_version


@dataclass(frozen=True)
class Exact:
    """The answer (what the adapter parsed, else its text) without the white space around it is what was expected, or one of
    a list. Numbers are compared as text, in plain digits; true and false as JSON spells them."""

    name: ClassVar[str] = "exact"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    @cached_property
    def version(self) -> str:
        return source_version(type(self), expected, text)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example without an expected answer, and for one that is no text, number or truth value."""
        wanted, got = acceptable(self.name, example), spoken(answer).strip()
        return judged(answer, None if got in wanted else "wrong", either(wanted), got)
