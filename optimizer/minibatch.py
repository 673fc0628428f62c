"""Choosing where a candidate is run next, and which of its failures are read."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from adapters.example import Example
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell, Spot

Key = tuple[str, str, str]


def block(candidate: str, examples: Sequence[Example], models: Sequence[str], met: Set[Key], size: int, rng: random.Random) -> list[Spot]:
    """At most `size` spots where the candidate has not been, each example once: first those that it has met with the fewest models, and
    of these the ones that everybody has met least. `met`: the cells of all candidates, those under way too.

    Every example with one model tells more than half as many with two."""
    mine = Counter(example for who, example, _ in met if who == candidate)
    everyone = Counter(example for _, example, _ in met)
    load = Counter(model for who, _, model in met if who == candidate)
    order = list(examples)
    rng.shuffle(order)
    order.sort(key=lambda example: (mine[example.id], everyone[example.id]))
    chosen: list[Spot] = []
    for example in order:
        free = [model for model in models if (candidate, example.id, model) not in met]
        if free and len(chosen) < size:
            model = min(free, key=lambda name: load[name])
            load[model] += 1
            chosen.append(Spot(example, model))
    return chosen


def lessons(cells: Iterable[Cell], wanted: ObjectivesConfig, size: int, rng: random.Random) -> list[Example]:
    """At most `size` examples to learn from: those where points were lost, in any order, then others."""
    order = [cell for cell in cells if cell.score is not None]
    rng.shuffle(order)
    order.sort(key=lambda cell: not lost(cell, wanted))
    return list({cell.example.id: cell.example for cell in order}.values())[:size]


def lost(cell: Cell, wanted: ObjectivesConfig) -> bool:
    """Whether it could be better in something that is wanted."""
    return cell.score is not None and any(value < 1 for value in wanted.oriented(cell.score.values).values())
