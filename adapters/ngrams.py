"""Runs of words: what two texts have in common word for word, however it is cased, spaced and punctuated.

Eight words in a row seldom come about twice by chance; PaLM's authors looked for contaminated examples by them (Chowdhery et al. 2022,
arXiv 2204.02311, section 8).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Grams: TypeAlias = NDArray[np.uint64]

RUN = 8
"""Words in a run."""
# Signs of scripts that put no spaces between words count one by one.
_WORD = re.compile(r"[^\W\u2e80-\U0003ffff]+|(?=\w)[\u2e80-\U0003ffff]")
_POWERS: Grams = np.array([pow(0x9E3779B97F4A7C15, k, 2**64) for k in range(RUN)], dtype=np.uint64)


def grams(text: str) -> Grams:
    """A number for each run of RUN words in the text, in their order; none where it has fewer words. Equal runs have equal numbers, and
    others do not, but for one chance in 2⁶⁴. Of a text they tell nothing to whoever has not got it, and they are others in another process:
    keep them in memory only."""
    # Python's own hash of a text is salted anew for each process, and fast. All that is asked of it here is whether two are equal.
    words = np.fromiter(map(hash, _WORD.findall(text.casefold())), dtype=np.int64).view(np.uint64)
    return np.convolve(words, _POWERS, "valid") if len(words) >= RUN else words[:0]


def joined(parts: Iterable[Grams]) -> Grams:
    """One behind the other."""
    return np.concatenate([np.array([], dtype=np.uint64), *parts])


def leaves(value: object) -> Iterator[str]:
    """The texts in a value, which may hold lists and objects."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
