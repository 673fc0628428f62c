"""How much of the space of objectives a set of candidates dominates: one number for a whole frontier."""

import numpy as np
from numpy.typing import NDArray

from scoring.pareto import non_dominated

Array = NDArray[np.float64]

OBJECTIVES, ROWS = 8, 50
"""With more than four objectives and more than so many rows on the frontier, or with more objectives than this, it would take too long."""


class HypervolumeError(ValueError):
    """The exact hypervolume would take too long."""


def hypervolume(levels: Array, reference: float = 0.0) -> float:
    """The volume of what is at least as high as `reference` everywhere and dominated by a row of `levels` (candidates × objectives, higher
    is better). A row with an unknown level (NaN), or with one that is not above `reference`, spans nothing.

    Exact, by the exclusive volumes of While, Bradstreet and Barone 2012, IEEE Transactions on Evolutionary Computation 16. Raises
    HypervolumeError with more than 8 objectives, and with more than 4 where more than 50 rows that differ are on the frontier.
    """
    rows = _frontier(levels - reference)
    _check(rows)
    return _volume(rows)


def growth(levels: Array, reference: float = 0.0) -> list[float]:
    """The hypervolume of the first row alone, of the first two, and so on to all. Raises HypervolumeError as `hypervolume` does."""
    total, volumes = 0.0, []
    front = np.empty((0, levels.shape[1]))
    _check(front)
    for row in levels - reference:
        if _spans(row) and not (front >= row).all(axis=1).any():
            total += _exclusive(row, front)
            front = _frontier(np.vstack([front, row]))
            _check(front)
        volumes.append(total)
    return volumes


def _check(rows: Array) -> None:
    number, objectives = rows.shape
    if objectives > OBJECTIVES:
        raise HypervolumeError(f"a hypervolume of {objectives} objectives takes too long; give at most {OBJECTIVES}")
    if objectives > 4 and number > ROWS:
        raise HypervolumeError(
            f"a hypervolume of {number} candidates on the frontier of {objectives} objectives takes too long; give at most {ROWS}, "
            "thinned out with an epsilon, or at most 4 objectives"
        )


def _frontier(rows: Array) -> Array:
    """What spans something and is not dominated, each row once, in ascending order of the first objective."""
    spanning: Array = np.unique(rows[_spans(rows)], axis=0)
    return spanning[non_dominated(spanning)]


def _spans(rows: Array) -> NDArray[np.bool_]:
    spans: NDArray[np.bool_] = np.all(rows > 0, axis=-1)
    return spans


def _volume(rows: Array) -> float:
    """Of rows as `_frontier` gives them. Those after a row are higher in the first objective, so cut down to what they have in
    common with it they all have its height there: it is left out, and the rest has one objective less."""
    if len(rows) < 2 or rows.shape[1] == 1:
        return float(rows.prod(axis=1).sum())
    if rows.shape[1] == 2:
        return _area(rows)
    return sum(float(row[0]) * _exclusive(row[1:], rows[index + 1 :, 1:]) for index, row in enumerate(rows))


def _exclusive(row: Array, others: Array) -> float:
    """The volume of what the row dominates and the others do not."""
    return float(row.prod()) - _volume(_frontier(np.minimum(others, row)))


def _area(rows: Array) -> float:
    """A staircase: the first objective ascends, so the second descends."""
    widths = np.diff(rows[:, 0], prepend=0.0)
    return float(widths @ rows[:, 1])
