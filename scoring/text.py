"""Texts made comparable: folding, numbers in plain digits, and what an answer says in words."""

import re
from decimal import Decimal
from math import isfinite

from adapters.answer import TracedAnswer

MARKS = ",\u00a0\u2007\u2009\u202f"
"""What groups the digits of a number: the comma, and the no-break, figure, thin and narrow no-break spaces."""

LONGEST = 400
"""The most zeros that a power of ten is written out with; floats reach 308."""

# The repetitions are possessive: they are never given up again, so the time is linear in the text.
_GROUPED = {
    mark: re.compile(rf"(?<![0-9])(?<![0-9]\.)(?<![0-9]{mark})[0-9]{{1,3}}+(?:{mark}[0-9]{{3}})++(?![0-9])(?!{mark}[0-9])")
    for mark in MARKS
}


def fold(text: str) -> str:
    """The text in lower case, its numbers without grouping marks, every run of white space one space, the ends trimmed.

    `1,204` is `1204`; but `1,2`, `1,2,3` and `2019,204` are no grouped numbers and stay. Folding twice changes nothing.
    Digits are 0 to 9; nothing else is normalized. Linear in the length."""
    for mark, grouped in _GROUPED.items():
        if mark in text:
            text = grouped.sub(lambda number, mark=mark: number[0].replace(mark, ""), text)  # type: ignore[misc]
    return " ".join(text.lower().split())


def plain_number(number: float | Decimal) -> str:
    """The number in the fewest digits that tell it apart, without exponent: 12400.0 is `12400`, 1e-7 is `0.0000001`.

    Raises ValueError for NaN, infinity and powers of ten beyond LONGEST."""
    if isinstance(number, int):
        return str(number)
    exact = number if isinstance(number, Decimal) else Decimal(repr(float(number)))
    if not exact.is_finite() or abs(exact.adjusted()) > LONGEST:
        raise ValueError(f"{number} cannot be written in plain digits")
    digits = f"{exact:f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return "0" if digits == "-0" else digits


def spoken(answer: TracedAnswer) -> str:
    """What the answer says in words: the label, number or truth value that the adapter parsed, else the text as it came."""
    parsed = answer.parsed
    if isinstance(parsed, str):
        return parsed
    if isinstance(parsed, bool):
        return str(parsed).lower()
    return plain_number(parsed) if isinstance(parsed, int | float) and isfinite(parsed) else answer.text
