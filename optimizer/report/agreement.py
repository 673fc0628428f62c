"""How far judges agreed with themselves, over all that a run has scored."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from optimizer.report.words import count, points
from optimizer.table import Table
from scoring.agreement import self_agreement

KEY = "judge_agreement"


def judge_agreement(tables: Iterable[Table]) -> dict[str, Any]:
    """The result's part KEY, or nothing where no judge had several votes: trait → `share` (of the pairs of votes on one answer, those that
    say the same, 0..1) and `answers` (how many had two valid votes). An answer that several candidates gave was judged once, and counts
    once."""
    details: dict[tuple[str, str], Mapping[str, Any]] = {}
    for table in tables:
        for cell in table.all():
            if cell.score is not None and cell.answer is not None:
                details[cell.example.id, cell.answer.digest] = cell.score.details
    told = {name: asdict(found) for name, found in self_agreement(details.values()).items()}
    return {KEY: told} if told else {}


def agreement_line(result: Mapping[str, Any]) -> list[str]:
    """The same for people: one line, or none."""
    shares = [f"{name} {points(told['share'])}% on {count(told['answers'], 'answer')}" for name, told in result.get(KEY, {}).items()]
    return [f"votes of the judge that agree: {', '.join(shares)}"] if shares else []
