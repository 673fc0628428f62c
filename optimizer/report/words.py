"""Numbers and texts as people read them."""

import os
import re
import textwrap
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

UNKNOWN = "–"
"""A value that is not there: never a zero."""
WIDTH = 140
"""Characters of a line that is read in one go."""


def points(value: float | None) -> str:
    """A score of 0..1 in per cent: `41.2`."""
    return UNKNOWN if value is None else f"{value * 100:.1f}"


def estimated(value: float | None, deviation: float | None) -> str:
    """An estimate of a score, and its standard deviation: `41.2 ± 3.0`."""
    return points(value) if value is None or deviation is None else f"{points(value)} ± {points(deviation)}"


def signed(value: float | None) -> str:
    """A difference of scores in points: `+12.3`."""
    return UNKNOWN if value is None else f"{round(value * 100, 1) + 0.0:+.1f}"


def interval(low: float | None, high: float | None) -> str:
    return UNKNOWN if low is None or high is None else f"{signed(low)} to {signed(high)}"


def count(n: int, noun: str) -> str:
    """`1 call`, `12,345 calls`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def money(usd: float | None) -> str:
    """Cents, or two digits of less: a thousandth of a cent is not nothing."""
    if usd is None:
        return "price unknown"
    return f"${usd:.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.2g}"


def duration(seconds: float) -> str:
    """`4.2 s`, `42 s`, `3 min 20 s`, `2 h 05 min`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def met(state: bool | None) -> str:
    """Whether a constraint is met, None where that is not known."""
    return {True: "met", False: "not met", None: "not known"}[state]


def used(spent: Mapping[str, Any], calls: str) -> str:
    """What was spent, as results hold it; `calls`: a word on the calls."""
    tokens = f"{spent['input_tokens']:,} tokens in, {spent['output_tokens']:,} out"
    work = [count(spent["rollouts"], "rollout"), f"{count(spent['calls'], 'call')} ({calls})", tokens]
    return ", ".join([*work, money(spent["usd"]), duration(spent["seconds"])])


def from_here(text: str) -> str:
    """The text with every path that lies below the working directory told from there; others stay as they are."""
    here = Path.cwd()
    if here == here.parent:
        return text
    return re.sub(rf"(?<![^\s'\"(=]){re.escape(f'{here}{os.sep}')}", "", text)


def folded(text: str) -> str:
    """The text with its longer lines broken at spaces, and what follows indented. A path is never broken."""
    lines = text.split("\n")
    return "\n".join(
        line if len(line) <= WIDTH else textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines
    )


def visible(text: str) -> str:
    """The text with everything that a terminal would obey, or not show, written out: escape sequences, carriage returns, marks that
    turn the reading direction. Line ends and tabs stay."""
    return "".join(char if char in "\n\t" or unicodedata.category(char) not in _HIDDEN else _spelled(char) for char in text)


_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
