"""How long the score table and its fronts take over one more candidate.

    python tests/benchmarks/table_speed.py [--candidates 2000] [--examples 1000] [--models 2] [--dimensions 4] [--last 50]

A table is filled candidate by candidate, each on every example; at each of the last ones it is timed how long its whole row takes to be
entered, and all fronts to be brought up to date: levels, the frontier, and the winners of every view. Scores are 0 or 1 (many ties) or
any number. Median and slowest, in milliseconds of one core; a minute or two in all, and about 2 GB of memory.
"""

import argparse
import time
from collections.abc import Sequence
from itertools import product
from statistics import median

import numpy as np

from adapters.answer import TracedAnswer
from adapters.example import Example
from optimizer.budget import Used
from optimizer.evaluate import Cell
from optimizer.policy import Objectives
from optimizer.standing import Standing
from optimizer.table import Table
from scoring.score import Score

ANSWER, USED = TracedAnswer("yes"), Used(1, {}, 0)
DIFFERENT = 2000
"""Scores that the cells are given, at random: making one takes longer than entering it."""


def row(candidate: str, examples: Sequence[Example], models: Sequence[str], scores: Sequence[Score]) -> list[Cell]:
    pairs = product(examples, models)
    return [Cell(candidate, example, model, ANSWER, score, None, USED) for (example, model), score in zip(pairs, scores, strict=True)]


def measure(candidates: int, examples: int, models: int, dimensions: int, last: int, whole: bool) -> tuple[list[float], list[float], int]:
    """Milliseconds to enter each of the last rows, and to update every front after it; and how many are on the frontier."""
    rng = np.random.default_rng(0)
    items = [Example(f"e{index}", {}) for index in range(examples)]
    objectives = Objectives([f"m{index}" for index in range(models)], [f"d{index}" for index in range(dimensions)])
    numbers = rng.random((DIFFERENT, dimensions))
    scores = [Score(dict(zip(objectives.dimensions, line, strict=True))) for line in (np.round(numbers) if whole else numbers).tolist()]
    table = Table(items, objectives)
    standing = Standing(table, items)
    entering, updating = [], []
    for index in range(candidates):
        cells = row(f"c{index}", items, objectives.models, [scores[n] for n in rng.integers(len(scores), size=examples * models)])
        started = time.process_time()
        table.add(cells)
        entered = time.process_time()
        standing.add(f"c{index}")
        standing.levels()
        standing.frontier()
        standing.wins("hybrid")
        standing.wins("cartesian")
        if index >= candidates - last:
            entering.append((entered - started) * 1e3)
            updating.append((time.process_time() - entered) * 1e3)
    return entering, updating, int(standing.frontier().sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name, default in (("candidates", 2000), ("examples", 1000), ("models", 2), ("dimensions", 4), ("last", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    for whole, kind in ((True, "0 or 1"), (False, "any number")):
        entering, updating, front = measure(asked.candidates, asked.examples, asked.models, asked.dimensions, asked.last, whole)
        both = [a + b for a, b in zip(entering, updating, strict=True)]
        print(
            f"{asked.candidates} candidates × {asked.examples} examples × {asked.models * asked.dimensions} objectives, scores {kind:<10} "
            f"enter {median(entering):.1f} ms, fronts {median(updating):.1f} ms, both {median(both):.1f} ms, slowest {max(both):.1f} ms; "
            f"{front} on the frontier",
            flush=True,
        )


if __name__ == "__main__":
    main()
