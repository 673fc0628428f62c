"""The scorer `regex`: the answer matches a pattern, or what the pattern takes out of it is right."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import ClassVar

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import expected, text, timed
from scoring.expected import acceptable, either, judged, on
from scoring.score import Score
from scoring.scorer import TEMPLATE, ScorerConfigError, ScorerError
from scoring.settings import check_name, checked_texts
from scoring.text import spoken
from scoring.timed import PatternError, TimedPattern
from scoring.user_code import source_version

GROUP = "answer"


@dataclass(frozen=True)
class Regex:
    r"""Right when `pattern` is found in the answer; write `\A…\Z` around it for the whole answer. With a group `(?P<answer>…)`,
    right when what the group holds is the expected answer or one of a list, letter for letter without the white space around
    it: no match is a parse_failure, and matches that hold different answers are hedged. `dimension`: another one than
    `template` says nothing about correctness."""

    pattern: str
    dimension: str = TEMPLATE

    name: ClassVar[str] = "regex"

    def __post_init__(self) -> None:
        checked_texts(self.name, "pattern", [self.pattern])
        check_name(self.name, self.dimension)
        _ = self._compiled

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (self.dimension,)

    @cached_property
    def version(self) -> str:
        return source_version(type(self), expected, text, timed, settings=asdict(self))

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError where the pattern takes too long, and, with a group, for an example without an expected answer."""
        said = spoken(answer)
        try:
            score = self._taken(example, answer, said) if self._compiled.has(GROUP) else self._matched(answer, said)
        except PatternError as error:
            raise ScorerError(self.name, example.id, str(error)) from None
        return on(self.dimension, score)

    def _matched(self, answer: TracedAnswer, said: str) -> Score:
        kind = None if self._compiled.found(said) else "wrong"
        return judged(answer, kind, f"a match of {self.pattern}", said, secret=False)

    def _taken(self, example: Example, answer: TracedAnswer, said: str) -> Score:
        wanted = acceptable(self.name, example)
        taken = {found.strip() for found in self._compiled.taken(said, GROUP)}
        if len(taken) != 1:
            return judged(answer, "hedged" if taken else "parse_failure", either(wanted), said)
        (got,) = taken
        return judged(answer, None if got in wanted else "wrong", either(wanted), got)

    @cached_property
    def _compiled(self) -> TimedPattern:
        try:
            return TimedPattern(self.pattern)
        except PatternError as error:
            raise ScorerConfigError(f"{self.name}: {error}") from None
