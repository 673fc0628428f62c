"""What a candidate's cells amount to, and two candidates' cells beside each other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from optimizer.config import ObjectivesConfig
from optimizer.journal import REPORTED, UNSEALED, CellRow
from optimizer.policy import ROUNDING
from optimizer.report.words import from_here, points

_Place = TypeVar("_Place")

MOST = 5
"""Examples that are told of in a line."""
SPLITS = ("train", "val", REPORTED, UNSEALED)
SEEN = ("train", "val")
"""Where single examples are told of. What is mended by looking at the test split, it cannot judge any more."""


@dataclass(frozen=True)
class Summary:
    """`mean`: over the `scored` examples, None where there is none; repeats are averaged. `failed`: cells of this model that failed."""

    split: str
    objective: str
    mean: float | None
    scored: int
    failed: int


@dataclass(frozen=True)
class Comparison:
    """Two candidates on the `n` examples that both have met, with the same model; repeats are averaged."""

    split: str
    objective: str
    a: float
    b: float
    difference: float
    n: int


def summaries(cells: Sequence[CellRow]) -> Iterator[Summary]:
    """For every split and objective. A model that never gave an answer stands there with its failures."""
    for split in SPLITS:
        here = [cell for cell in cells if cell.split == split]
        for model in sorted({cell.model for cell in here}):
            failed = sum(cell.failed is not None for cell in here if cell.model == model)
            dimensions = _dimensions([cell for cell in here if cell.model == model])
            for dimension in dimensions:
                values = list(_values(here, model, dimension).values())
                yield Summary(split, f"{model}:{dimension}", fmean(values), len(values), failed)
            if not dimensions:
                yield Summary(split, model, None, 0, failed)


def comparisons(a: Sequence[CellRow], b: Sequence[CellRow]) -> Iterator[Comparison]:
    """For every split and objective that both have cells of."""
    for split in SPLITS:
        ours, theirs = ([cell for cell in cells if cell.split == split] for cells in (a, b))
        for model in sorted({cell.model for cell in ours}):
            for dimension in _dimensions([cell for cell in ours if cell.model == model]):
                left, right = _values(ours, model, dimension), _values(theirs, model, dimension)
                shared = left.keys() & right.keys()
                if shared:
                    means = fmean(left[key] for key in shared), fmean(right[key] for key in shared)
                    yield Comparison(split, f"{model}:{dimension}", *means, means[1] - means[0], len(shared))


@dataclass(frozen=True)
class Gap:
    """What an example lacks, as the mean over its objectives, higher is better: to all points, or to what another candidate has there.
    `place`: its file and line, where they are known."""

    split: str
    example: str
    gap: float
    place: str


def lost(cells: Sequence[CellRow], wanted: ObjectivesConfig, places: Mapping[str, str]) -> list[Gap]:
    """Where points were lost on train and val, the most first, split by split."""
    return [each for split in SEEN for each in _gaps(split, {key: 1 - v for key, v in _known(cells, split, wanted).items()}, places)]


def behind(a: Sequence[CellRow], b: Sequence[CellRow], wanted: ObjectivesConfig, places: Mapping[str, str]) -> list[Gap]:
    """Where `a` has less than `b` on train and val, the most first, split by split."""
    found = []
    for split in SEEN:
        ours, theirs = _known(a, split, wanted), _known(b, split, wanted)
        found += _gaps(split, {key: theirs[key] - ours[key] for key in ours.keys() & theirs.keys()}, places)
    return found


_Key = tuple[str, str, str]
"""Example, model, dimension."""


def _known(cells: Sequence[CellRow], split: str, wanted: ObjectivesConfig) -> dict[_Key, float]:
    """What is known of each, higher is better; of repeats the mean."""
    return _means(
        ((cell.example, cell.model, dimension), value)
        for cell in cells
        if cell.split == split
        for dimension, value in wanted.oriented(cell.body.get("values", {})).items()
    )


def _gaps(split: str, lacking: Mapping[_Key, float], places: Mapping[str, str]) -> list[Gap]:
    by_example: dict[str, list[float]] = {}
    for (example, *_), gap in sorted(lacking.items()):
        by_example.setdefault(example, []).append(gap)
    found = [Gap(split, example, fmean(gaps), places.get(example, "")) for example, gaps in by_example.items()]
    return sorted((each for each in found if each.gap > ROUNDING), key=lambda each: (-each.gap, each.example))


def spelled(gaps: Sequence[Gap]) -> Iterator[str]:
    """A line for each split, with the first of its gaps."""
    for split in SEEN:
        here = [each for each in gaps if each.split == split]
        told = [f"{each.example}{f' ({from_here(each.place)})' if each.place else ''} by {points(each.gap)}" for each in here[:MOST]]
        if here:
            yield f"{split}: {', '.join(told)}{f' and {len(here) - MOST} more' if len(here) > MOST else ''}"


def _dimensions(cells: Sequence[CellRow]) -> list[str]:
    return list(dict.fromkeys(dimension for cell in cells for dimension in cell.body.get("values", {})))


def _values(cells: Sequence[CellRow], model: str, dimension: str) -> dict[str, float]:
    """Example → the score, where there is one; of repeats the mean."""
    mine = (cell for cell in cells if cell.model == model and dimension in cell.body.get("values", {}))
    return _means((cell.example, cell.body["values"][dimension]) for cell in mine)


def _means(scored: Iterable[tuple[_Place, float]]) -> dict[_Place, float]:
    """Repeats are told as several scores of the same place."""
    found: dict[_Place, list[float]] = {}
    for place, value in scored:
        found.setdefault(place, []).append(value)
    return {place: fmean(values) for place, values in found.items()}
