"""Copies: training data that stands in a proposal word for word, and did not in the text before.

A prompt that repeats its training data is good on just these examples. Two rules tell a copy from a rule that is put in plain words:

- A text of COPIED letters or more, a whole input or an expected answer, does not get into a proposal by chance. All of the train
  split is looked for.
- A shorter answer may: a year, a number, a name. So short answers count only where they are specific, where their example was shown
  for this very proposal, and where SEVERAL of them are there, or together as many letters as a long one has.

An answer is specific where it belongs to FEW examples at most and most answers of its kind belong to one example alone. Where most
answers come again, they are labels, also the rare ones among them, and a prompt has to be able to name its labels.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from adapters.example import Example
from adapters.template import spell

COPIED = 40
SEVERAL = 3
FEW = 2
SHORTEST = 3
"""Letters that an answer needs to be told from the numbers and the little words that are in every text."""
EDGE = COPIED + 1
WINDOW = 1000
"""Characters of a text that are read to find out how it begins or ends."""
# A number, a word, or one sign; signs of scripts that put no spaces between words count one by one.
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\u2e80-\U0003ffff]+|\S")


class Copies:
    """Of `train`. What is looked for is read once, and a text is then searched in one pass, however many examples there are."""

    def __init__(self, train: Sequence[Example]) -> None:
        self._train = train

    def found(self, old: str, new: str, shown: Sequence[Example]) -> list[str]:
        """The ids of the examples that `new` copies and `old` does not. `shown`: what the new text's author has seen of `train`."""
        before, after = words(old), words(new)
        return self._long(before, after) or self._short(before, after, shown)

    def _long(self, before: str, after: str) -> list[str]:
        spaces = [match.start() for match in re.finditer(" ", after)]
        starts, ends = {after[i : i + EDGE] for i in spaces}, {after[max(0, i + 1 - EDGE) : i + 1] for i in spaces}
        hits = sorted((index, text) for start in starts & self._starts.keys() for index, end, text in self._starts[start] if end in ends)
        found = (index for index, text in hits if (whole := words(text)) in after and whole not in before)
        return [self._train[index].id for index in islice(found, 1)]

    def _short(self, before: str, after: str, shown: Sequence[Example]) -> list[str]:
        copied: dict[str, str] = {}
        for example in shown:
            for place, answer in answers(example.expected):
                known = (place, answer) in self._specific and len(answer) >= SHORTEST + 2
                if known and answer in after and answer not in before:
                    copied.setdefault(answer, example.id)
        enough = len(copied) >= SEVERAL or sum(len(answer) - 2 for answer in copied) >= COPIED
        return list(dict.fromkeys(copied.values())) if enough else []

    @cached_property
    def _starts(self) -> dict[str, list[tuple[int, str, str]]]:
        """How a long text begins → for each that begins so its example's index, how it ends, and itself."""
        starts: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
        for index, example in enumerate(self._train):
            inputs = [value for value in example.inputs.values() if isinstance(value, str) and len(value) >= COPIED]
            for text in (*inputs, *(answer for place, answer in answers(example.expected) if (place, answer) in self._specific)):
                start, end = _edges(text)
                if len(start) == EDGE:
                    starts[start].append((index, end, text))
        return dict(starts)

    @cached_property
    def _specific(self) -> frozenset[tuple[str, str]]:
        return specific(self._train)


def specific(examples: Sequence[Example]) -> frozenset[tuple[str, str]]:
    """The answers that are no labels, each as `answers` gives it, with its place."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for example in examples:
        for place, answer in set(answers(example.expected)):
            counts[place][answer] += 1
    open_places = {place: n for place, n in counts.items() if 2 * sum(times == 1 for times in n.values()) > n.total()}
    return frozenset((place, answer) for place, n in open_places.items() for answer, times in n.items() if times <= FEW)


def words(text: str) -> str:
    """The text's words, numbers and signs with one space around each: in this form a whole word is found as a part is."""
    return f" {' '.join(TOKEN.findall(text.casefold()))} "


def answers(expected: object) -> Iterator[tuple[str, str]]:
    """The texts and numbers in an expected answer, as `words` spells them, each with its place: the names of the fields that lead to
    it. The members of a list share a place."""
    left: list[tuple[str, object]] = [("", expected)]
    while left:
        place, value = left.pop()
        if isinstance(value, Mapping):
            left += [(f"{place}.{name}", inner) for name, inner in value.items()]
        elif isinstance(value, list | tuple):
            left += [(place, inner) for inner in value]
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            answer = words(spell(value))
            if answer.strip():
                yield place, answer


def _edges(text: str) -> tuple[str, str]:
    """How the text's words begin and end, EDGE characters each; fewer where there are not COPIED letters."""
    start, end = words(text[:WINDOW]), words(text[-WINDOW:])
    if min(len(start), len(end)) <= 2 * EDGE:  # the window has cut a word, or there is no more
        start = end = words(text)
    return start[:-1][:EDGE], end[1:][-EDGE:]
