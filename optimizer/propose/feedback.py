"""What a reflection model is shown of the cells: what was asked, what came back, what it was worth and why, and who did better."""

import re
from collections.abc import Mapping, Sequence

from adapters.template import spell
from optimizer.config import ObjectivesConfig
from optimizer.evaluate import Cell
from optimizer.propose.contrast import Contrast, contrasts
from scoring.score import Score, discreet

GAP = "\n\n"
FIELD = 2_000
"""The longest text of one field, in characters."""
BETTER = 300
"""The longest text of an answer that did better."""
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


def render(cells: Sequence[Cell], limit: int, *, reveal: bool, texts: Mapping[str, Sequence[Cell]], objectives: ObjectivesConfig) -> str:
    """One section for each scored cell, those that lost most first, as many as fit: at most `limit` + 2 MARK characters.

    `reveal`: False leaves out what tells the expected answer: what scorers say of it, answers that are right, and those that did better.
    `texts`: other texts, by what they are called, and their cells; see contrast."""
    scored = sorted((cell for cell in cells if cell.score is not None), key=lambda cell: _worth(cell, objectives))
    sections: list[str] = []
    size = 0
    for number, cell in enumerate(scored, 1):
        section = f"## Example {number}\n\n{_section(cell, contrasts(cell, cells, texts, objectives), reveal, objectives)}"
        size += len(section) + len(GAP)
        if size > limit and sections:
            sections.append(f"[… {len(scored) - len(sections)} more examples left out …]")
            break
        sections.append(cut(section, limit))
    return GAP.join(sections)


def _worth(cell: Cell, objectives: ObjectivesConfig) -> float:
    values = objectives.oriented(cell.score.values).values() if cell.score else ()
    return sum(values) / len(values) if values else 0.0


def _section(cell: Cell, better: Sequence[Contrast], reveal: bool, objectives: ObjectivesConfig) -> str:
    if cell.score is None or cell.answer is None:
        raise ValueError(f"the cell {cell.key} has no score to show")
    inputs = "\n".join(f"{name}: {cut(spell(value), FIELD)}" for name, value in cell.example.inputs.items())
    said = cut(cell.answer.text, FIELD) or "(nothing)"
    if not reveal and (_right(cell.score, objectives) or _expected(cell.answer.text, cell.example.expected)):
        said = "(the right answer, which is not shown)"
    parts = [f"What was asked:\n{inputs}", f"What came back:\n{said}"]
    parts += [f"Scores: {scores}"] if (scores := _scores(cell.score, objectives, f"{cell.model}:")) else []
    parts += _why(cell, cell.score, reveal, objectives)
    parts += [_better(contrast, reveal, objectives) for contrast in better]
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", GAP.join(parts))


def _right(score: Score, objectives: ObjectivesConfig) -> bool:
    """What nobody calls right or wrong counts as right where nothing could be better."""
    values = objectives.oriented(score.values).values()
    return score.correct if score.correct is not None else len(values) > 0 and all(value == 1 for value in values)


def _expected(text: str, expected: object) -> bool:
    """Whether the text is the expected answer, or one of several, word for word."""
    several = expected if isinstance(expected, list | tuple) else ()
    return expected is not None and text.strip() in [spell(each).strip() for each in (expected, *several)]


def _why(cell: Cell, score: Score, reveal: bool, objectives: ObjectivesConfig) -> list[str]:
    feedback = score.feedback if reveal else discreet(score)
    parts = [f"Feedback: {cut(feedback, FIELD)}"] if feedback else []
    lost = not score.correct and any(value < 1 for value in objectives.oriented(score.values).values())
    if reveal and lost and score.discreet is None and cell.example.expected is not None:  # else the feedback says it
        parts.append(f"Expected: {cut(spell(cell.example.expected), FIELD)}")
    return parts


def _better(contrast: Contrast, reveal: bool, objectives: ObjectivesConfig) -> str:
    score, answer = contrast.cell.score, contrast.cell.answer
    if score is None or answer is None:
        raise ValueError(f"the cell {contrast.cell.key} has no score to show")
    told = f"{contrast.who} {'got this right' if _right(score, objectives) else 'did better here'} ({_scores(score, objectives)})"
    return f"{told}. Its answer:\n{cut(answer.text, BETTER) or '(nothing)'}" if reveal else f"{told}."


def _scores(score: Score, objectives: ObjectivesConfig, model: str = "") -> str:
    """The objectives, in the units of their scorers."""
    told = {name: f"{model}{name} {100 * score.values[name]:.0f} of 100" for name in objectives.oriented(score.values)}
    return ", ".join(f"{text} (lower is better)" if objectives.lower_is_better(name) else text for name, text in told.items())
