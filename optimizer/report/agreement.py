"""How far judges agreed with themselves, over all that a run has scored."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from optimizer.table import Table
from scoring.agreement import self_agreement


def judge_agreement(tables: Iterable[Table]) -> dict[str, dict[str, float | int]]:
    """Trait → `share` (of the pairs of votes on one answer, those that say the same, 0..1) and `answers` (how many had two valid votes);
    empty where no judge had several votes. An answer that several candidates gave was judged once, and counts once."""
    details: dict[tuple[str, str], Mapping[str, Any]] = {}
    for table in tables:
        for cell in table.all():
            if cell.score is not None and cell.answer is not None:
                details[cell.example.id, cell.answer.digest] = cell.score.details
    return {name: asdict(found) for name, found in self_agreement(details.values()).items()}
