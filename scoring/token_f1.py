"""The scorer `token_f1`: how many words the answer has in common with the expected one, as for the SQuAD data sets."""

import re
import string
from collections import Counter
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

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@dataclass(frozen=True)
class TokenF1:
    """The F1 of precision and recall over words, the best over the acceptable answers; in lower case, without ASCII punctuation
    and without a, an, the. Correct where it is 1: the same words, in any order. Saying more than the answer lowers it."""

    name: ClassVar[str] = "token_f1"
    dimensions: ClassVar[tuple[str, ...]] = (TEMPLATE,)

    @cached_property
    def version(self) -> str:
        return source_version(type(self), expected, text)

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        """Raises ScorerError for an example without an expected answer, and for one that is no text, number or truth value."""
        wanted, said = acceptable(self.name, example), spoken(answer)
        value = max(f1(said, label) for label in wanted)
        return judged(answer, None if value == 1 else "wrong", either(wanted), said, value)


def f1(said: str, wanted: str) -> float:
    """0 to 1; where one of them has no words, 1 if neither has."""
    found, needed = Counter(_words(said)), Counter(_words(wanted))
    if not found or not needed:
        return float(found == needed)
    return 2 * (found & needed).total() / (found.total() + needed.total())


def _words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()
