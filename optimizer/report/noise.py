"""How far scores were chance, over all that a run has filled more than once."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from optimizer.evaluate import Cell
from optimizer.noise import measured
from optimizer.policy import Objectives
from optimizer.report.words import count

KEY = "noise"


def noise(cells: Iterable[Cell], objectives: Objectives) -> dict[str, Any]:
    """The result's part KEY, or nothing where no cell was filled twice: model → `share` and `n`, see optimizer.noise.Noise."""
    told = {model: asdict(found) for model, found in measured(cells, objectives).items()}
    return {KEY: told} if told else {}


def noise_line(result: Mapping[str, Any]) -> list[str]:
    """The same for people: one line, or none."""
    shares = [f"{told['share']:.0%} with {model} ({count(told['n'], 'cell')} filled again)" for model, told in result.get(KEY, {}).items()]
    return [f"noise: of what scores vary by, chance is {', '.join(shares)}"] if shares else []
