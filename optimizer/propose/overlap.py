"""Overlap: how much of a candidate is examples, in runs of eight words, and whether an example is in it as good as word for word.

The measures are those by which benchmarks are looked for in the training data of models. A passage of an example is copied where 70% of
its runs are there (PaLM: Chowdhery et al. 2022, arXiv 2204.02311, section 8); the share of a text is that of its words which stand in
a run that an example has too (Llama 2: Touvron et al. 2023, arXiv 2307.09288, A.6). Runs that more than a few examples have are the
language of the task and nobody's own (GPT-3: Brown et al. 2020, arXiv 2005.14165, appendix C, leaves out frequent ones as well).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.demonstrations import parse_demonstrations
from adapters.duplicates import sameness
from adapters.example import Example
from adapters.ngrams import RUN, Grams, grams, joined, leaves
from optimizer.propose.copies import FEW, answers, specific

COPIED_SHARE = 0.7
"""Of a passage's own runs."""


class Overlap:
    """Of candidates with `train` and `val`. It keeps numbers and no text, so whoever holds it cannot read val by it."""

    def __init__(self, train: Sequence[Example], val: Sequence[Example]) -> None:
        examples = [*train, *val]
        known = specific(examples)
        read = [[np.unique(grams(text)) for text in _passages(example, known)] for example in examples]
        # Rows with the same inputs count once: what only they have is no language of the task.
        common = _common({sameness(each.inputs): joined(runs) for each, runs in zip(examples, read, strict=True)}.values())
        self._train, self._val = _part(read[: len(train)], common), _part(read[len(train) :], common)

    def shares(self, candidate: Candidate) -> dict[str, float]:
        """`train` and `val` → the share of the candidate's words, 0..1, that stand in its own runs. Texts with fewer words than a run are
        left out, and for train the demonstrations, which are made of it."""
        texts, shown = _texts(candidate)
        return {"train": _share(texts, self._train), "val": _share([*texts, *shown], self._val)}

    def copied(self, old: Candidate, new: Candidate) -> bool:
        """Whether `new` holds a passage that `old` does not: of val, or of train outside of the demonstrations. A passage is one text in an
        example's inputs or expected answer, of RUN words or more; labels are none."""
        before, (texts, shown) = _runs([text for part in _texts(old) for text in part]), _texts(new)
        said, all_said = (np.setdiff1d(_runs(each), before) for each in (texts, [*texts, *shown]))
        return bool(self._train.held(said) or self._val.held(all_said))

    def held(self, candidate: Candidate) -> list[int]:
        """Which examples of val the candidate holds, by their places there."""
        return self._val.held(np.unique(_runs([text for part in _texts(candidate) for text in part])))


@dataclass(frozen=True, eq=False)
class _Part:
    """The own runs of one split, rising; beside each the number of its passage; how many each passage has, and the place of its example."""

    runs: Grams
    passages: NDArray[np.intp]
    sizes: NDArray[np.intp]
    homes: NDArray[np.intp]

    def has(self, runs: Grams) -> NDArray[np.bool_]:
        first, last = self._find(runs)
        return first < last

    def held(self, runs: Grams) -> list[int]:
        """The examples with a passage that is there. `runs`: each once."""
        first, last = (ends[self.has(runs)].tolist() for ends in self._find(runs))
        met = Counter(self.passages[row] for a, b in zip(first, last, strict=True) for row in range(a, b))
        return sorted({int(self.homes[passage]) for passage, count in met.items() if count >= COPIED_SHARE * self.sizes[passage]})

    def _find(self, runs: Grams) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.searchsorted(self.runs, runs), np.searchsorted(self.runs, runs, "right")


def _part(read: Sequence[Sequence[Grams]], common: Grams) -> _Part:
    """`read`: by example, by passage, its runs, each once."""
    passages = [runs for example in read for runs in example]
    runs, owners = joined(passages), np.repeat(np.arange(len(passages)), [len(each) for each in passages])
    own = ~np.isin(runs, common)
    runs, owners = runs[own], owners[own]
    order = np.argsort(runs, kind="stable")
    homes = np.repeat(np.arange(len(read)), [len(example) for example in read])
    return _Part(runs[order], owners[order], np.bincount(owners, minlength=len(passages)), homes)


def _common(read: Iterable[Grams]) -> Grams:
    """The runs that more than FEW examples have. `read`: by example, its runs."""
    runs, counts = np.unique(joined(map(np.unique, read)), return_counts=True)
    return runs[counts > FEW]


def _passages(example: Example, known: Set[tuple[str, str]]) -> Iterator[str]:
    """`known`: the specific answers; the others are labels."""
    yield from leaves(example.inputs)
    yield from (answer for place, answer in answers(example.expected) if (place, answer) in known)


def _texts(candidate: Candidate) -> tuple[list[str], list[str]]:
    """The candidate's texts, and those in its demonstrations."""
    texts = [text for name, text in candidate.components.items() if name != DEMONSTRATIONS]
    shown = parse_demonstrations(candidate.components.get(DEMONSTRATIONS, ""))
    return texts, [text for each in shown for text in (*leaves(each.inputs), each.answer)]


def _runs(texts: Iterable[str]) -> Grams:
    return joined(map(grams, texts))


def _share(texts: Sequence[str], part: _Part) -> float:
    read = [runs for runs in map(grams, texts) if len(runs)]
    words = [np.convolve(part.has(runs), np.ones(RUN)) > 0.5 for runs in read]
    return float(np.mean(np.concatenate(words))) if words else 0.0
