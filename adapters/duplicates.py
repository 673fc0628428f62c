"""Duplicates: examples of different parts whose inputs are the same, or nearly.

What was learnt by heart on one would look like skill on the other.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from adapters.digest import canonical
from adapters.example import Example
from adapters.ngrams import Grams, grams, joined, leaves

NEARLY = 0.7
"""The share of an example's runs that another has, from which on they are nearly the same: as in PaLM, see adapters.ngrams."""
FREQUENT = 10
"""Runs that more examples have are how such data is worded (GPT-3: Brown et al. 2020, arXiv 2005.14165, appendix C)."""
TOLD = 3
"""Pairs that a note names."""
Name = TypeVar("Name", bound=str)
SAME, ALIKE = "the same", "nearly the same"


def sameness(inputs: Mapping[str, object]) -> str:
    """Equal for inputs that differ in nothing but case and spaces."""
    return canonical(_folded(inputs))


def duplicates(parts: Mapping[Name, Sequence[Example]]) -> tuple[str, ...]:
    """A note for each two of the parts that have examples with the same inputs, and for each two that have such with nearly the same.

    Nearly the same: of the later part's example, NEARLY of its runs of words are in the other's inputs. Of inputs with fewer words than a
    run nothing is known."""
    examples = [example for part in parts.values() for example in part]
    home = [name for name, part in parts.items() for _ in part]
    found: dict[tuple[str, str, str], dict[int, int]] = {}
    for how, pairs in ((SAME, _same(examples, home)), (ALIKE, _alike(examples))):
        for first, second in pairs:
            one, other = home[first], home[second]
            if one != other and second not in found.get((one, other, SAME), ()):
                found.setdefault((one, other, how), {}).setdefault(second, first)
    order = [(one, other, how) for one in parts for other in parts for how in (SAME, ALIKE)]
    return tuple(_note(*key, [(examples[a], examples[b]) for b, a in sorted(found[key].items())]) for key in order if key in found)


def _same(examples: Sequence[Example], home: Sequence[str]) -> Iterator[tuple[int, int]]:
    """For each example the first one of every earlier part with its inputs."""
    first: dict[str, dict[str, int]] = {}
    for index, example in enumerate(examples):
        known = first.setdefault(sameness(example.inputs), {})
        yield from ((earlier, index) for earlier in known.values())
        known.setdefault(home[index], index)


def _alike(examples: Sequence[Example]) -> list[tuple[int, int]]:
    """The earlier one and the later one of each two."""
    read = [_runs(example) for example in examples]
    sizes = np.array([len(runs) for runs in read], dtype=np.intp)
    runs, owners = joined(read), np.repeat(np.arange(len(read)), sizes)
    order = np.lexsort((owners, runs))
    pairs, common = np.unique(_owners_in_common(runs[order], owners[order], len(read)), return_counts=True)
    earlier, later = np.divmod(pairs, max(len(read), 1))
    enough = common >= NEARLY * sizes[later]
    return list(zip(earlier[enough].tolist(), later[enough].tolist(), strict=True))


def _owners_in_common(runs: Grams, owners: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """For each two examples `earlier * n + later`, as often as they have a run in common that is not frequent. Rising runs, each with its
    owner."""
    _, where, counts = np.unique(runs, return_inverse=True, return_counts=True)
    rare = counts[where] <= FREQUENT
    runs, owners = runs[rare], owners[rare]
    steps = range(1, min(FREQUENT, len(runs)))
    found = [owners[:-k][equal] * n + owners[k:][equal] for k in steps for equal in [runs[:-k] == runs[k:]]]
    return np.concatenate([np.array([], dtype=np.intp), *found])


def _runs(example: Example) -> Grams:
    return np.unique(joined(map(grams, leaves(example.inputs))))


def _folded(value: object) -> object:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, Mapping):
        return {name: _folded(inner) for name, inner in value.items()}
    return [_folded(inner) for inner in value] if isinstance(value, list | tuple) else value


def _note(one: str, other: str, how: str, pairs: Sequence[tuple[Example, Example]]) -> str:
    named = "; ".join(f"{first.spoken} and {second.spoken}" for first, second in pairs[:TOLD])
    more = f"; and {len(pairs) - TOLD} more" if len(pairs) > TOLD else ""
    examples = "1 example has" if len(pairs) == 1 else f"{len(pairs)} examples have"
    return (
        f"{other}: {examples} {how} inputs as in {one} ({named}{more}), so what {other} says of new inputs is too good. Leave them out, "
        "or keep them in one part: mark them with the same split, or give them the same group"
    )
