"""Contrast: who did clearly better on an example where an answer lost points. It shows that more can be had, and how."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell
from optimizer.propose.proposer import Other

CLEARLY = 0.25
"""How much more than an answer another one has to be worth, in 0..1: less may be luck."""
NAMES = "AB"
"""What to call other texts that are told of, as many as there may be."""


@dataclass(frozen=True)
class Contrast:
    """`who` did better than the cell in question, and what they did."""

    who: str
    cell: Cell


def contrasts(cell: Cell, cells: Iterable[Cell], texts: Mapping[str, Sequence[Cell]], objectives: ObjectivesConfig) -> list[Contrast]:
    """The best other model with the same text, among `cells`, and the best other text with the same model, among `texts` (what to call
    it → its cells): each only where it did clearly better. Of equals, the first."""
    here = cell.example.id
    models = [Contrast(f"The model {c.model}, with this text,", c) for c in cells if c.example.id == here and c.model != cell.model]
    same_model = [Contrast(f"Text {name}", c) for name, its in texts.items() for c in its if c.example.id == here and c.model == cell.model]
    best = (max(rivals, key=lambda rival: gain(cell, rival.cell, objectives)) for rivals in (models, same_model) if rivals)
    return [rival for rival in best if gain(cell, rival.cell, objectives) >= CLEARLY]


def named(cells: Sequence[Cell], others: Sequence[Other], objectives: ObjectivesConfig) -> dict[str, Other]:
    """What to call it → another that did clearly better than some of the cells: two at most, those that did so most often first."""
    here: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        here[cell.example.id, cell.model].append(cell)

    def beaten(other: Other) -> int:
        pairs = ((cell, rival) for rival in other.cells for cell in here.get((rival.example.id, rival.model), ()))
        return len({cell.key for cell, rival in pairs if gain(cell, rival, objectives) >= CLEARLY})

    wins = [(beaten(other), other) for other in others]
    most = sorted((pair for pair in wins if pair[0]), key=lambda pair: -pair[0])
    return {name: other for name, (_, other) in zip(NAMES, most, strict=False)}


def gain(cell: Cell, rival: Cell, objectives: ObjectivesConfig) -> float:
    """The mean of the differences over the objectives that both have, above 0 where the rival is better; 0 where there are none."""
    if cell.score is None or rival.score is None:
        return 0.0
    before, after = objectives.oriented(cell.score.values), objectives.oriented(rival.score.values)
    differences = [after[dimension] - value for dimension, value in before.items() if dimension in after]
    return sum(differences) / len(differences) if differences else 0.0
