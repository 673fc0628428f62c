"""Measures that come with every answer: what it cost, how long it took, how long it is.

Less is better for all of them, and a score is higher the better: 1 for nothing at all, falling in a straight line to 0 at the
limit, and 0 beyond it. So the limit says what is no longer acceptable, and a frontier can trade the measure against others.
"""

from abc import ABC, abstractmethod
from typing import Literal

from adapters.answer import TracedAnswer
from adapters.digest import digest
from adapters.example import Example
from scoring.score import Score
from scoring.scorer import ScorerConfigError


class Measure(ABC):
    """A dimension with the measure's own name. `limit`: the amount that is worth nothing any more, in the measure's unit."""

    name: str
    unit: str

    def __init__(self, limit: float) -> None:
        """Raises ScorerConfigError for a limit that is not above 0."""
        self._limit = _above_zero(limit, self.unit)
        self.dimensions = (self.name,)
        self.version = digest("measure", self.name, self.unit, self._limit)

    @abstractmethod
    def amount(self, answer: TracedAnswer) -> float | None:
        """How much it is, or None where that is not known: then nothing is scored."""

    async def score(self, example: Example, answer: TracedAnswer) -> Score:  # noqa: ARG002
        amount = self.amount(answer)
        if amount is None:
            return Score({}, details={self.name: None})
        value = max(0.0, 1 - amount / self._limit)
        feedback = f"{amount:.6g} {self.unit}, of at most {self._limit:.6g}" if value < 1 else ""
        return Score({self.name: value}, feedback=feedback, details={self.name: amount})


class Cost(Measure):
    """Dollars for all calls of an answer; not scored where a price is unknown."""

    name, unit = "cost", "USD"

    def amount(self, answer: TracedAnswer) -> float | None:
        return answer.usage.usd


class Latency(Measure):
    """Seconds that the model took over the calls of an answer, one after the other, without waiting for a place or a retry."""

    name, unit = "latency", "seconds"

    def amount(self, answer: TracedAnswer) -> float | None:
        return sum(step.seconds for step in answer.steps)


class Tokens(Measure):
    """Input and output tokens of all calls of an answer."""

    name, unit = "tokens", "tokens"

    def amount(self, answer: TracedAnswer) -> float | None:
        return answer.usage.input_tokens + answer.usage.output_tokens


class Length(Measure):
    """How long the answer's text is, in words or characters. An answer that is no answer (empty, refused) is not scored, lest
    silence should win."""

    name, unit = "length", "words"

    def __init__(self, limit: float, unit: Literal["words", "characters"] = "words") -> None:
        if unit not in ("words", "characters"):
            raise ScorerConfigError(f"the unit is {unit!r}; it has to be words or characters")
        self.unit = unit
        super().__init__(limit)

    def amount(self, answer: TracedAnswer) -> float | None:
        if answer.failure_kind is not None or not answer.text.strip():
            return None
        return len(answer.text.split()) if self.unit == "words" else len(answer.text)


def _above_zero(limit: object, unit: str) -> float:
    """A config may hold anything."""
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise ScorerConfigError(f"the limit is {limit!r}; it has to be a number above 0, in {unit}")
    return float(limit)
