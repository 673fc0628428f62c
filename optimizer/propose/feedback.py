"""What a reflection model is shown of the cells: what was asked, what came back, what it was worth and why."""

import json
from collections.abc import Iterable

from optimizer.evaluate import Cell

FIELD = 2_000
"""The longest text of one field, in characters."""


def cut(text: str, limit: int) -> str:
    """The text, or its two ends with a mark between them that says how much is left out."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def render(cells: Iterable[Cell], limit: int) -> str:
    """One section for each scored cell, those that lost most first, as many as fit into `limit` characters."""
    scored = sorted((cell for cell in cells if cell.score is not None), key=_worth)
    sections: list[str] = []
    size = 0
    for number, cell in enumerate(scored, 1):
        section = f"## Example {number}\n\n{_section(cell)}"
        size += len(section)
        if size > limit and sections:
            sections.append(f"[… {len(scored) - len(sections)} more examples left out …]")
            break
        sections.append(cut(section, limit))
    return "\n\n".join(sections)


def _worth(cell: Cell) -> float:
    values = list(cell.score.values.values()) if cell.score else []
    return sum(values) / len(values) if values else 0.0


def _section(cell: Cell) -> str:
    if cell.score is None or cell.answer is None:
        raise ValueError(f"the cell {cell.key} has no score to show")
    inputs = "\n".join(f"{name}: {cut(_plain(value), FIELD)}" for name, value in cell.example.inputs.items())
    scores = ", ".join(f"{cell.model}:{dimension} {100 * value:.0f} of 100" for dimension, value in cell.score.values.items())
    parts = [f"What was asked:\n{inputs}", f"What came back:\n{cut(cell.answer.text, FIELD) or '(nothing)'}", f"Scores: {scores}"]
    if cell.score.feedback:
        parts.append(f"Feedback: {cut(cell.score.feedback, FIELD)}")
    return "\n\n".join(parts)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
