"""Choosing the train examples that a parent and its child are compared on."""

import random
from collections.abc import Sequence

import numpy as np

from adapters.example import Example
from optimizer.table import Table

FAILURES = 0.7
"""The share of a minibatch that is kept for examples where the parent is known to lose points; the rest guards against regressions and
finds failures that are not known yet."""


def minibatch(parent: str, train: Sequence[Example], size: int, table: Table, rng: random.Random) -> list[Example]:
    """At most `size` of `train`: known failures first (they cost the parent nothing), then examples that the parent has not met,
    then any."""
    order = list(train)
    rng.shuffle(order)
    failing = [e for e in order if _loses(parent, e, table)]
    unmet = [e for e in order if not table.knows(parent, e)]
    chosen = failing[: round(FAILURES * size)]
    for example in (*unmet, *failing, *order):
        if len(chosen) >= size:
            break
        if example not in chosen:
            chosen.append(example)
    return chosen


def _loses(parent: str, example: Example, table: Table) -> bool:
    values = table.values(parent, [example])
    return bool((values[~np.isnan(values)] < 1).any())
