"""Scorers of your own: plain functions of an example and an answer."""

import re

from adapters.answer import TracedAnswer
from adapters.example import Example


def closeness(example: Example, answer: TracedAnswer) -> tuple[float, str]:
    """1 for the right number, wherever it stands, and less the further it is off; and the reason, which a reflection model reads."""
    found = re.findall(r"\d+(?:[.,]\d+)?", answer.text)
    if len(found) != 1:
        return 0.0, f"{len(found)} numbers instead of one"
    paid, said = float(example.expected), float(found[0].replace(",", "."))
    return max(0.0, 1 - abs(said - paid) / paid), f"{said:g}, and {paid:g} was paid"
