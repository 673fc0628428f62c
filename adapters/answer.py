"""Traced answers: what came back from one candidate on one example with one model, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.digest import digest


@dataclass(frozen=True)
class Usage:
    """Tokens and money. `usd` is None where the price is unknown: never zero for that reason."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens, usd)


@dataclass(frozen=True)
class Step:
    """One model or tool call inside a traced answer. `seconds` is the latency of the attempt that was answered."""

    kind: str
    name: str
    request: tuple[Mapping[str, str], ...]
    text: str
    usage: Usage = Usage()
    seconds: float = 0.0
    finish_reason: str | None = None


@dataclass(frozen=True)
class TracedAnswer:
    """`failure_kind` names a failure of content that the adapter itself saw (`refusal`, `parse_failure`, `context_length`);
    a call that failed for other reasons is no answer at all and raises ModelError instead. `partial`: cut off by a limit."""

    text: str
    parsed: Any = None
    partial: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    failure_kind: str | None = None

    @property
    def usage(self) -> Usage:
        """The sum over all steps."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def digest(self) -> str:
        """A hash of what a scorer may judge: the texts, not how long they took."""
        steps = [(s.kind, s.name, s.request, s.text, s.finish_reason, s.usage.input_tokens, s.usage.output_tokens) for s in self.steps]
        return digest(self.text, self.parsed, self.partial, self.notes, self.failure_kind, steps)
