"""What a candidate's cells amount to, and two candidates' cells beside each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from optimizer.journal import REPORTED, UNSEALED, CellRow

SPLITS = ("train", "val", REPORTED, UNSEALED)


@dataclass(frozen=True)
class Summary:
    """`mean`: over the `scored` cells, None where there is none. `failed`: cells of this model that failed."""

    split: str
    objective: str
    mean: float | None
    scored: int
    failed: int


@dataclass(frozen=True)
class Comparison:
    """Two candidates on the `n` cells that both have: the same examples, the same model."""

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
        for model in dict.fromkeys(cell.model for cell in here):
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
        for model in dict.fromkeys(cell.model for cell in ours):
            for dimension in _dimensions([cell for cell in ours if cell.model == model]):
                left, right = _values(ours, model, dimension), _values(theirs, model, dimension)
                shared = left.keys() & right.keys()
                if shared:
                    means = fmean(left[key] for key in shared), fmean(right[key] for key in shared)
                    yield Comparison(split, f"{model}:{dimension}", *means, means[1] - means[0], len(shared))


def _dimensions(cells: Sequence[CellRow]) -> list[str]:
    return list(dict.fromkeys(dimension for cell in cells for dimension in cell.body.get("values", {})))


def _values(cells: Sequence[CellRow], model: str, dimension: str) -> dict[tuple[str, int], float]:
    """(example, repeat) → the score, where there is one."""
    mine = (cell for cell in cells if cell.model == model and dimension in cell.body.get("values", {}))
    return {(cell.example, cell.repeat): cell.body["values"][dimension] for cell in mine}
