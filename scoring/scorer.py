"""The scorer protocol, and the two ways in which a scorer can fail."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

from adapters.answer import TracedAnswer
from adapters.clients.client import ModelClient, Request
from adapters.example import Example
from scoring.score import Score, shorten

TEMPLATE = "template"
"""The dimension of correctness."""
LONGEST_PROBLEM = 2_000
"""Characters that are told of what is wrong with a scorer."""


class ScorerError(Exception):
    """A scorer that raised, or gave something that is not a score, or cannot score this example. Names both."""

    def __init__(self, scorer: str, example: str, problem: str, place: str = "") -> None:
        """`problem` may be anything that users' code says: it is kept in a form that a journal can hold, and not without end.
        `place`: the example's file and line, where they are known."""
        problem = shorten(problem.encode("utf-8", "backslashreplace").decode(), LONGEST_PROBLEM)
        super().__init__(f"scorer {scorer!r}, example {example!r}{f' ({place})' if place else ''}: {problem}")
        self.scorer, self.example, self.problem = scorer, example, problem


class ScorerConfigError(ValueError):
    """A scorer that cannot be built as the config says. Found before any call; says which and what to change."""


MakeModel = Callable[[Mapping[str, Any]], ModelClient]
"""Makes a model client of the settings that a config has for one (`model`, `temperature`, and so on). Raises ScorerConfigError."""


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


@runtime_checkable
class AskingScorer(Scorer, Protocol):
    """A scorer that asks models. Their calls are journaled, counted and limited as a part of the cell that is being scored; one
    that fails raises ModelError, which `score` lets pass: the cell is then failed, and nothing was scored."""

    models: ClassVar[tuple[str, ...]]
    """The names of its class's settings that are models: the config gives these as mappings, the class gets model clients."""

    def requests(self, example: Example) -> list[tuple[ModelClient, Request]]:
        """All that scoring one answer to the example can ask, each request as large as it can be: what budgets are reserved for."""
        ...
