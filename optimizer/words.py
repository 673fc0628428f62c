"""Words: what a line and an example have in common."""

import re
from collections.abc import Iterable, Sequence

import numpy as np

from optimizer.policy import Array

WORD = re.compile(r"\w+")
COMMON = 0.5
"""Words of more than this share of the texts say nothing of what a text is about."""


class Words:
    """The rare words of some texts: those of two texts at least, and not of most. The rarer, the more a word counts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._where: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for word in _words(text):
                self._where.setdefault(word, []).append(number)
        self._where = {word: where for word, where in self._where.items() if 2 <= len(where) <= COMMON * len(texts)}
        self._weight = {word: float(np.log(len(texts) / len(where))) for word, where in self._where.items()}
        self._all = self._in_common(self._where, len(texts))

    def relevance(self, text: str) -> Array:
        """By known text, 0..1: the weight of the words in common, relative to what it could be."""
        words = [word for word in _words(text) if word in self._where]
        most = np.minimum(sum(self._weight[word] for word in words), self._all)
        found: Array = self._in_common(words, len(self._all)) / np.where(most > 0, most, 1.0)
        return np.minimum(found, 1.0)  # but for rounding it is

    def _in_common(self, words: Iterable[str], texts: int) -> Array:
        weights = np.zeros(texts)
        for word in words:
            weights[self._where[word]] += self._weight[word]
        return weights


def _words(text: str) -> list[str]:
    """Each once, always in the same order, so that sums of their weights are always the same."""
    return sorted(set(WORD.findall(text.lower())))
