"""Splits: which examples the search learns from (train), selects by (val), and never sees (test).

Examples of one group, and examples with the same inputs but for case and spaces, are never dealt to different parts: what is learnt by
heart on one would look like skill on the other.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from adapters.dataset import DatasetError, Row
from adapters.digest import canonical, digest
from adapters.duplicates import duplicates, sameness
from adapters.example import Example
from adapters.nearest import nearest

Part: TypeAlias = Literal["train", "val", "test"]
PARTS: tuple[Part, ...] = ("train", "val", "test")

_SPELLINGS: dict[str, Part] = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
}


class SealError(RuntimeError):
    """The test split was opened a second time."""


class SealedTest:
    """The test split. Until it is opened it tells nothing but its size, that of its groups, and marks that nothing can be read from; it is
    opened once, by the final report."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self.__examples = tuple(examples)
        self.opened_for: str | None = None
        """The reason that it was opened for; None while it is sealed."""
        self.marks = frozenset(digest(sameness(each.inputs)) for each in self.__examples)
        """Hashes of its examples' inputs: another split that has one of them has that example too, whatever its answer is by then."""

    def __len__(self) -> int:
        return len(self.__examples)

    @property
    def group_sizes(self) -> list[int]:
        """See the function of that name."""
        return group_sizes(self.__examples)

    def open(self, reason: str) -> tuple[Example, ...]:
        """The examples. Raises SealError the second time."""
        if self.opened_for is not None:
            raise SealError(f"the test split was opened already, for: {self.opened_for}; not again for: {reason}")
        self.opened_for = reason
        return self.__examples


def group_sizes(examples: Iterable[Example]) -> list[int]:
    """How many examples each piece of evidence has that is independent of the others: a group's, or 1 for an example without one."""
    groups: Counter[str | int] = Counter(index if each.group is None else each.group for index, each in enumerate(examples))
    return list(groups.values())


@dataclass(frozen=True)
class SearchData:
    """All examples that the search may see; neither part is empty."""

    train: tuple[Example, ...]
    val: tuple[Example, ...]


@dataclass(frozen=True)
class Splits:
    """Every part in the order of its examples' ids, so the order of the rows has no influence. `notes`: what the user should
    know of the parts."""

    search: SearchData
    test: SealedTest
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shares:
    """The parts' shares of the examples, which add up to 1. `stratify`: with the mixture of expected answers alike in each."""

    train: float
    val: float
    test: float = 0.0
    stratify: bool = False

    def __post_init__(self) -> None:
        total = self.train + self.val + self.test
        if not (self.train > 0 and self.val > 0 and self.test >= 0 and abs(total - 1) <= 1e-6):
            raise ValueError(
                f"shares of train {self.train:g}, val {self.val:g} and test {self.test:g}: "
                "train and val have to be above 0, and all add up to 1"
            )

    @property
    def of(self) -> dict[Part, float]:
        """Part → share, without the parts that get nothing."""
        shares: dict[Part, float] = {"train": self.train, "val": self.val, "test": self.test}
        return {part: share for part, share in shares.items() if share > 0}


def split_dataset(rows: Sequence[Row], shares: Shares | None, seed: int) -> Splits:
    """The rows in parts: as their column `split` says, or without one dealt out by `shares`.

    Dealing depends on the seed and the examples alone. It gives each part at least one example, and at least the whole number
    below its share and at most the one above it, as far as groups and equal inputs, which stay together, allow. Raises
    DatasetError.
    """
    marked = next((row for row in rows if row.split is not None), None)
    if shares is None:
        if marked is None:
            raise DatasetError(
                "nothing says which examples are for train, val and test; give the rows a column `split`, or the data shares"
            )
        return _as_marked(rows)
    if marked is not None:
        raise DatasetError(f"{marked.place}: the row has a split of its own, and the data shares too; leave out one of them")
    examples = sorted((row.example for row in rows), key=lambda example: example.id)
    return _splits(_deal(examples, shares, seed))


def _as_marked(rows: Sequence[Row]) -> Splits:
    parts: dict[Part, list[Example]] = {part: [] for part in PARTS}
    homes: dict[str, tuple[Part, Row]] = {}
    for row in rows:
        part = _part(row)
        parts[part].append(row.example)
        if row.example.group is not None:
            home, first = homes.setdefault(row.example.group, (part, row))
            if home != part:
                raise DatasetError(
                    f"{row.place}: the group {row.example.group!r} is in {part} here and in {home} at {first.place}; "
                    "the examples of a group belong in one part"
                )
    for part in ("train", "val"):
        if not parts[part]:
            raise DatasetError(f"no row has the split {part}; mark some so, or leave the column out and give the data shares")
    return _splits(parts)


def _part(row: Row) -> Part:
    if row.split is None:
        raise DatasetError(f"{row.place}: the row has no split, though others have one; write train, val or test")
    part = _SPELLINGS.get(row.split.strip().lower())
    if part is None:
        raise DatasetError(f"{row.place}, split: unknown split {row.split!r}{nearest(row.split, PARTS)}")
    return part


def _splits(parts: dict[Part, list[Example]]) -> Splits:
    train, val, test = (tuple(sorted(parts[part], key=lambda example: example.id)) for part in PARTS)
    return Splits(SearchData(train, val), SealedTest(test), duplicates(parts))


def _deal(examples: Sequence[Example], shares: Shares, seed: int) -> dict[Part, list[Example]]:
    """Largest units first, each to the part that lacks most of what the unit holds."""
    units = _units(examples)
    parts: dict[Part, list[Example]] = {part: [] for part in PARTS}
    if len(units) < len(shares.of):
        raise DatasetError(
            f"{' and '.join(shares.of)} need at least {len(shares.of)} examples that may be parted, and there are {len(units)} "
            "(examples of one group, or with the same inputs, stay together); add examples, or give a part no share"
        )
    strata = {example.id: canonical(example.expected) if shares.stratify else "" for example in examples}
    lacking = _targets(Counter(strata.values()), shares, seed)
    lacking_in_all = {part: sum(stratum[part] for stratum in lacking.values()) for part in shares.of}
    units.sort(key=lambda unit: (-len(unit), digest(seed, unit[0].id, length=32)))
    for index, unit in enumerate(units):
        empty = [part for part in shares.of if not parts[part]]
        open_to = empty if len(empty) == len(units) - index else list(shares.of)
        part = max(open_to, key=lambda part: (sum(lacking[strata[e.id]][part] for e in unit), lacking_in_all[part]))
        parts[part] += unit
        lacking_in_all[part] -= len(unit)
        for example in unit:
            lacking[strata[example.id]][part] -= 1
    return parts


def _units(examples: Sequence[Example]) -> list[list[Example]]:
    """Examples that stay together, in one list: those linked by a group or by equal inputs."""
    above: dict[str, str] = {}

    def root(key: str) -> str:
        while above.setdefault(key, key) != key:
            above[key] = above[above[key]]
            key = above[key]
        return key

    for example in examples:
        inputs = "inputs " + sameness(example.inputs)
        if example.group is not None:
            above[root(inputs)] = root("group " + example.group)
    units: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        units[root("inputs " + sameness(example.inputs))].append(example)
    return list(units.values())


def _targets(sizes: Counter[str], shares: Shares, seed: int) -> dict[str, dict[Part, int]]:
    """Stratum → part → examples: a whole number next to each share, in every stratum and over all."""
    whole = {stratum: {part: _floor(share * size) for part, share in shares.of.items()} for stratum, size in sizes.items()}
    lacking = _apportion(sum(sizes.values()), shares)
    for part in lacking:
        lacking[part] -= sum(stratum[part] for stratum in whole.values())
    # What rounding down left over, stratum by stratum, to the parts that lack most: with three parts this always comes out even.
    for stratum in sorted(sizes, key=lambda stratum: digest(seed, stratum, length=32)):
        left = sizes[stratum] - sum(whole[stratum].values())
        for part in sorted(lacking, key=lambda part: -lacking[part])[:left]:
            whole[stratum][part] += 1
            lacking[part] -= 1
    return whole


def _apportion(size: int, shares: Shares) -> dict[Part, int]:
    """Whole numbers that add up to `size`, by largest remainder."""
    exact = {part: share * size for part, share in shares.of.items()}
    counts = {part: _floor(value) for part, value in exact.items()}
    left = size - sum(counts.values())
    for part in sorted(exact, key=lambda part: counts[part] - exact[part])[:left]:
        counts[part] += 1
    return counts


def _floor(value: float) -> int:
    # Shares such as 0.29 have no exact binary form: 0.29 * 100 is a little less than 29.
    return math.floor(value + 1e-9)
