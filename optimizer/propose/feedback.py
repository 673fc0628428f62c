"""What a reflection model is shown of the cells: what was asked, what came back, what it was worth and why."""

import re
from collections.abc import Iterable

from adapters.template import spell
from optimizer.evaluate import Cell

GAP = "\n\n"
FIELD = 2_000
"""The longest text of one field, in characters."""
MARK = 60
"""Characters that a mark of something left out takes, at most."""
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Characters that no text needs, and that some providers refuse a whole request for."""


def cut(text: str, limit: int) -> str:
    """The text, or its two ends with a mark between them that says how much is left out: at most `limit` + MARK characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[len(text) - half :]}"


def render(cells: Iterable[Cell], limit: int) -> str:
    """One section for each scored cell, those that lost most first, as many as fit: at most `limit` + 2 MARK characters."""
    scored = sorted((cell for cell in cells if cell.score is not None), key=_worth)
    sections: list[str] = []
    size = 0
    for number, cell in enumerate(scored, 1):
        section = f"## Example {number}\n\n{_section(cell)}"
        size += len(section) + len(GAP)
        if size > limit and sections:
            sections.append(f"[… {len(scored) - len(sections)} more examples left out …]")
            break
        sections.append(cut(section, limit))
    return GAP.join(sections)


def _worth(cell: Cell) -> float:
    values = list(cell.score.values.values()) if cell.score else []
    return sum(values) / len(values) if values else 0.0


def _section(cell: Cell) -> str:
    if cell.score is None or cell.answer is None:
        raise ValueError(f"the cell {cell.key} has no score to show")
    inputs = "\n".join(f"{name}: {cut(spell(value), FIELD)}" for name, value in cell.example.inputs.items())
    scores = ", ".join(f"{cell.model}:{dimension} {100 * value:.0f} of 100" for dimension, value in cell.score.values.items())
    parts = [f"What was asked:\n{inputs}", f"What came back:\n{cut(cell.answer.text, FIELD) or '(nothing)'}", f"Scores: {scores}"]
    if cell.score.feedback:
        parts.append(f"Feedback: {cut(cell.score.feedback, FIELD)}")
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", GAP.join(parts))
