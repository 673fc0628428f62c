"""How an acceptable answer is looked for in a text, where plain containment is not enough: with more forgiveness, or with less,
so that saying everything is no way to be right."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import category

from scoring.numbers import Number, number, numbers
from scoring.settings import check_count, check_flag, check_word, checked_texts
from scoring.text import fold
from scoring.whole import DIGITS, at, one_dash, places


@dataclass(frozen=True)
class Matching:
    """The settings of `answer_contains`. Those that forgive:

    `numeric`: a number stands in a text that holds one of the same value: `45.2` in `45.20`, `45,200,000.0` in `45.2 million`,
    `0.12` in `.12`, `100000` in `1e5`. `case`: "fold" takes letters for the same that Unicode folds: `STRASSE`, `straße`.

    Those that are strict. `whole_words`: `cat` is not in `concatenate`; for scripts that put spaces between words.
    `hide_after_letters`: `12` is not in `B12`. `max_characters`: a longer answer is too_long; white space counts as one space.
    `last_characters`: an acceptable answer has to stand within the last so many, and what is before them may be anything.
    `rivals`: texts such as the other labels, or `or`: where one stands there too, the answer is hedged; not where it is
    acceptable itself, or a part of an acceptable answer in that place. `one_number`: where the acceptable answers hold
    numbers, any number of another value makes the answer hedged.

    Raises ScorerConfigError for settings of other types, counts under 1 and blank rivals."""

    numeric: bool = False
    case: Literal["lower", "fold"] = "lower"
    whole_words: bool = False
    hide_after_letters: bool = False
    max_characters: int | None = None
    last_characters: int | None = None
    rivals: Sequence[str] = ()
    one_number: bool = False

    def __post_init__(self) -> None:
        for name in ("numeric", "whole_words", "hide_after_letters", "one_number"):
            check_flag("answer_contains", name, getattr(self, name))
        for name in ("max_characters", "last_characters"):
            check_count("answer_contains", name, getattr(self, name))
        check_word("answer_contains", "case", self.case, ("lower", "fold"))
        object.__setattr__(self, "rivals", checked_texts("answer_contains", "rivals", self.rivals))

    def fault(self, folded: str, labels: Sequence[str]) -> str | None:
        """What is wrong with a folded text: too_long, wrong, hedged, or nothing. `labels`: the acceptable answers, not folded."""
        if self.max_characters is not None and len(folded) > self.max_characters:
            return "too_long"
        text, wanted = self._read(folded), [self._read(fold(label)) for label in labels]
        begin = 0 if self.last_characters is None else max(0, len(text) - self.last_characters)
        if not any(self._holds(text, label, begin) for label in wanted):
            return "wrong"
        return "hedged" if self._has_rival(text, wanted, begin) or self._has_other_number(text, wanted, begin) else None

    def _read(self, folded: str) -> str:
        text = one_dash(folded)
        return text.casefold() if self.case == "fold" else text

    def _holds(self, text: str, label: str, begin: int) -> bool:
        if any(True for _ in self._places(text, label, begin)):
            return True
        value = number(label) if self.numeric else None
        return value is not None and any(found.value == value for found in self._numbers(text, begin))

    def _has_rival(self, text: str, wanted: Sequence[str], begin: int) -> bool:
        if not self.rivals:
            return False
        rivals = [rival for rival in (self._read(fold(rival)) for rival in self.rivals) if rival not in wanted]
        covers = [(len(label), list(self._places(text, label, begin))) for label in wanted]
        return any(
            not any(_covered(place, len(rival), size, starts) for size, starts in covers)
            for rival in rivals
            for place in self._places(text, rival, begin)
        )

    def _has_other_number(self, text: str, wanted: Sequence[str], begin: int) -> bool:
        if not self.one_number:
            return False
        allowed = {found.value for label in wanted for found in numbers(label)}
        return bool(allowed) and any(found.value not in allowed for found in self._numbers(text, begin))

    def _places(self, text: str, label: str, begin: int) -> Iterator[int]:
        for place in places(text, label, begin):
            inside = self.whole_words and _inside_word(text, place, label)
            hidden = self.hide_after_letters and label[0] in DIGITS and at(text, place - 1).isalpha()
            if not inside and not hidden:
                yield place

    def _numbers(self, text: str, begin: int) -> Iterator[Number]:
        for found in numbers(text, begin):
            if not (self.hide_after_letters and at(text, found.start - 1).isalpha()):
                yield found


PLAIN = Matching()
"""Containment and nothing else."""


def _covered(place: int, length: int, size: int, starts: Sequence[int]) -> bool:
    """Whether what stands at `place` lies inside one of the stretches of `size` that begin at `starts`, in ascending order."""
    index = bisect_left(starts, place + length - size)
    return index < len(starts) and starts[index] <= place


def _inside_word(text: str, place: int, label: str) -> bool:
    """Whether a word goes on beyond an end of the label that is a letter. Digits have rules of their own."""
    before, after = at(text, place - 1), at(text, place + len(label))
    return any(_in_word(edge) and edge not in DIGITS and _in_word(beyond) for edge, beyond in ((label[0], before), (label[-1], after)))


def _in_word(sign: str) -> bool:
    return bool(sign) and (sign.isalnum() or sign == "_" or category(sign).startswith("M"))
