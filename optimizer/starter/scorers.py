"""Scorers of your own: plain functions of an example and an answer."""

from adapters.answer import TracedAnswer
from adapters.example import Example

LEVELS = ("low", "normal", "high")


def closeness(example: Example, answer: TracedAnswer) -> tuple[float, str]:
    """1 for the right level, 0.5 for the one beside it, else 0; and the reason, which a reflection model reads."""
    if answer.text not in LEVELS:
        return 0.0, f"{answer.text!r} is none of {', '.join(LEVELS)}"
    away = abs(LEVELS.index(answer.text) - LEVELS.index(example.expected))
    return 1 - away / 2, ("right", "one level off", "the opposite")[away]
