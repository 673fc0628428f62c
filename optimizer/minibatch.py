"""Choosing where a candidate is run next, and which of its failures are read."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set

from adapters.example import Example
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell, CellKey, Spot


def block(
    candidate: str, examples: Sequence[Example], repeats: Mapping[str, int], met: Set[CellKey], size: int, rng: random.Random
) -> list[Spot]:
    """At most `size` spots for the candidate, each example once: first those where it has not been, with any of the models; of these the
    examples that it has met least, and then those that everybody has met least.

    `repeats`: model → how often a candidate may meet an example with it. `met`: the cells of all candidates, those under way too.
    Every example with one model tells more than half as many with two."""
    mine = Counter((example, model) for who, example, model, _ in met if who == candidate)
    everyone = Counter(example for _, example, _, _ in met)
    often, load = Counter[str](), Counter[str]()
    for (example, model), times in mine.items():
        often[example] += times
        load[model] += times
    free = {each.id: [model for model in repeats if mine[each.id, model] < repeats[model]] for each in examples}
    order = [each for each in examples if free[each.id]]
    rng.shuffle(order)
    order.sort(key=lambda each: (min(mine[each.id, model] for model in free[each.id]), often[each.id], everyone[each.id]))
    chosen: list[Spot] = []
    for each in order[:size]:
        model = min(free[each.id], key=lambda name: (mine[each.id, name], load[name]))
        load[model] += 1
        chosen.append(Spot(each, model, mine[each.id, model]))
    return chosen


def lessons(cells: Iterable[Cell], wanted: ObjectivesConfig, size: int, rng: random.Random) -> list[Example]:
    """At most `size` examples to learn from: those where points were lost, in any order, then others."""
    order = [cell for cell in cells if cell.score is not None]
    rng.shuffle(order)
    order.sort(key=lambda cell: not lost(cell, wanted))
    return list({cell.example.id: cell.example for cell in order}.values())[:size]


def told(cells: Iterable[Cell], wanted: ObjectivesConfig) -> list[Cell]:
    """One cell for each example and model, since repeats say much the same: the first that lost points, or else the first."""
    chosen: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        place = cell.example.id, cell.model
        if place not in chosen or (lost(cell, wanted) and not lost(chosen[place], wanted)):
            chosen[place] = cell
    return list(chosen.values())


def lost(cell: Cell, wanted: ObjectivesConfig) -> bool:
    """Whether it could be better in something that is wanted."""
    return cell.score is not None and any(value < 1 for value in wanted.oriented(cell.score.values).values())
