"""Users' patterns, under a time limit, because one that backtracks may never end; therefore the package `regex`, whose syntax is that
of Python's `re` and more."""

from collections.abc import Iterator
from contextlib import contextmanager

from scoring.score import show

SECONDS = 1.0
"""How long a pattern may take on one answer."""


class PatternError(ValueError):
    """A pattern that cannot be read, or that takes too long. Names it."""


class TimedPattern:
    """A pattern that takes longer than SECONDS raises, and finds nothing: how fast the machine is never changes a score."""

    def __init__(self, pattern: str) -> None:
        """Raises PatternError."""
        import regex  # noqa: PLC0415  (only where it is used)

        self._pattern = pattern
        try:
            self._compiled = regex.compile(pattern)
        except regex.error as error:
            raise PatternError(f"the pattern {show(pattern)} cannot be read: {error}") from None

    def has(self, group: str) -> bool:
        return group in self._compiled.groupindex

    def found(self, text: str) -> bool:
        """Whether it is anywhere in the text. Raises PatternError."""
        with self._in_time(text):
            return self._compiled.search(text, timeout=SECONDS) is not None

    def taken(self, text: str, group: str) -> list[str]:
        """What the group holds in each match. Raises PatternError."""
        with self._in_time(text):
            return [match[group] for match in self._compiled.finditer(text, timeout=SECONDS) if match[group] is not None]

    @contextmanager
    def _in_time(self, text: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise PatternError(
                f"the pattern {show(self._pattern)} takes longer than {SECONDS:g} s on an answer of {len(text)} characters; repetitions "
                "inside of repetitions do that: write possessive ones, a++, or say more exactly what is repeated"
            ) from None
