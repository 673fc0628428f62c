"""The scorer `choice`: the answer takes one of the options, and says so in a form that leaves no doubt."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import ClassVar

from adapters.answer import TracedAnswer
from adapters.example import Example
from adapters.nearest import nearest
from scoring import expected, text
from scoring.expected import acceptable, either, judged
from scoring.score import Score, show
from scoring.scorer import TEMPLATE, ScorerConfigError, ScorerError
from scoring.settings import checked_texts
from scoring.text import fold, spoken
from scoring.user_code import source_version

_AROUND = " \t\r\n()[]{}<>\"'“”‘’«»`*_.,:;!"
"""Signs that may stand around an option."""
# What comes after it is only looked at, so that one line may hold several; its length is limited, so that the time is linear.
_ANNOUNCED = re.compile(r"\banswer\b[*_]{0,3}+\s*+(?::|is\b:?+)\s*+(?=([^\n]{0,300}+))", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """Right when the option that the answer takes is the expected one, or one of a list. `options`: the letters or labels there
    are, two at least; case, and signs around them, do not count.

    An option is taken where it is all of the answer (`B`, `**(b)**`), where it is all that a line holds after `Answer:` or
    `answer is`, or where it opens one of these with a bracket, a point or a colon after it (`B) Paris`). Options that only
    stand in the text are not: that is a parse_failure. Several that are taken make the answer hedged."""

    options: Sequence[str]

    name: ClassVar[str] = "choice"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    def __post_init__(self) -> None:
        options = checked_texts(self.name, "options", self.options)
        if len(options) < 2:
            raise ScorerConfigError(f"{self.name}: options is {show(list(options))}; it takes two or more")
        keys = [_key(option) for option in options]
        for option, key in zip(options, keys, strict=True):
            if not key or keys.count(key) > 1:
                problem = "could not be told from another one" if key else "is nothing but signs"
                raise ScorerConfigError(f"{self.name}: the option {option!r} {problem}; case and signs around it do not count")
        object.__setattr__(self, "options", options)

    @cached_property
    def version(self) -> str:
        return source_version(type(self), expected, text, settings=asdict(self))

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example whose expected answer is no option."""
        wanted, said = acceptable(self.name, example), spoken(answer)
        for label in wanted:
            if _key(label) not in self._by_key:
                problem = f"the expected answer {show(label)} is none of the options{nearest(label, self.options)}"
                raise ScorerError(self.name, example.id, problem)
        taken = self._taken(said)
        if len(taken) != 1:
            return judged(answer, "hedged" if taken else "parse_failure", either(wanted), said)
        (key,) = taken
        kind = None if key in map(_key, wanted) else "wrong"
        return judged(answer, kind, either(wanted), self._by_key[key])

    @cached_property
    def _by_key(self) -> dict[str, str]:
        return {_key(option): option for option in self.options}

    @cached_property
    def _opening(self) -> re.Pattern[str]:
        """An option with a sign after it that sets it off."""
        longest_first = sorted(map(re.escape, self._by_key), key=len, reverse=True)
        return re.compile(rf"(?<!\w)({'|'.join(longest_first)})[*_]{{0,3}}+[)\].:](?!\w)")

    def _taken(self, said: str) -> set[str]:
        announced = [found[1] for found in _ANNOUNCED.finditer(said)]
        return {key for part in announced or [said] for key in self._of(part)}

    def _of(self, part: str) -> Iterator[str]:
        key = _key(part)
        if key in self._by_key:
            yield key
            return
        folded = fold(part).casefold().lstrip(_AROUND)
        if self._opening.match(folded):
            yield from (found[1] for found in self._opening.finditer(folded))


def _key(text: str) -> str:
    """What two spellings of an option have in common."""
    return fold(text).casefold().strip(_AROUND)
