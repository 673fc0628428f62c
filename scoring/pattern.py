"""The scorer `regex`: the answer matches a pattern, or what the pattern takes out of it is right.

Patterns run under a time limit, because one that backtracks may never end; therefore the package `regex`, whose syntax is that of
Python's `re` and more.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring import expected, text
from scoring.expected import acceptable, either, judged, on
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerConfigError, ScorerError
from scoring.settings import check_name, checked_texts
from scoring.text import spoken
from scoring.user_code import source_version

SECONDS = 1.0
"""How long a pattern may take on one answer."""
GROUP = "answer"


@dataclass(frozen=True)
class Regex:
    r"""Right when `pattern` is found in the answer; write `\A…\Z` around it for the whole answer. With a group `(?P<answer>…)`,
    right when what the group holds is the expected answer or one of a list, letter for letter without the white space around
    it: no match is a parse_failure, and matches that hold different answers are hedged. `dimension`: another one than
    `template` says nothing about correctness.

    A pattern that takes longer than SECONDS raises, and gives no score: how fast the machine is never changes one."""

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
        return source_version(type(self), expected, text, settings=asdict(self))

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError where the pattern takes too long, and, with a group, for an example without an expected answer."""
        said = spoken(answer)
        with self._in_time(example, said):
            takes = GROUP in self._compiled.groupindex
            score = self._taken(example, answer, said) if takes else self._matched(answer, said)
        return on(self.dimension, score)

    def _matched(self, answer: TracedAnswer, said: str) -> Score:
        found = self._compiled.search(said, timeout=SECONDS)
        return judged(answer, None if found else "wrong", f"a match of {self.pattern}", said, secret=False)

    def _taken(self, example: Example, answer: TracedAnswer, said: str) -> Score:
        wanted = acceptable(self.name, example)
        matches = self._compiled.finditer(said, timeout=SECONDS)
        taken = {found[GROUP].strip() for found in matches if found[GROUP] is not None}
        if len(taken) != 1:
            return judged(answer, "hedged" if taken else "parse_failure", either(wanted), said)
        (got,) = taken
        return judged(answer, None if got in wanted else "wrong", either(wanted), got)

    @cached_property
    def _compiled(self) -> Any:
        import regex  # noqa: PLC0415  (only where it is used)

        try:
            return regex.compile(self.pattern)
        except regex.error as error:
            raise ScorerConfigError(f"{self.name}: the pattern {show(self.pattern)} cannot be read: {error}") from None

    @contextmanager
    def _in_time(self, example: Example, said: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            problem = (
                f"the pattern {show(self.pattern)} takes longer than {SECONDS:g} s on an answer of {len(said)} characters; repetitions "
                "inside of repetitions do that: write possessive ones, a++, or say more exactly what is repeated"
            )
            raise ScorerError(self.name, example.id, problem) from None
