"""The scorer protocol, and the two ways in which a scorer can fail."""

from typing import Protocol

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.score import Score

TEMPLATE = "template"
"""The dimension of correctness."""


class ScorerError(Exception):
    """A scorer that raised, or gave something that is not a score, or cannot score this example. Names both."""

    def __init__(self, scorer: str, example: str, problem: str) -> None:
        super().__init__(f"scorer {scorer!r}, example {example!r}: {problem}")
        self.scorer, self.example, self.problem = scorer, example, problem


class ScorerConfigError(ValueError):
    """A scorer that cannot be built as the config says. Found before any call; says which and what to change."""


class Scorer(Protocol):
    """Turns (example, traced answer) into a score."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> tuple[str, ...] | None:
        """The dimensions that it emits; None where only calling it tells."""
        ...

    @property
    def version(self) -> str:
        """A hash of its source and settings: an edited scorer never meets older scores."""
        ...

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError."""
        ...
