"""The whole numbers of a text with their values. What is whole, scoring.whole says.

The texts are folded and their dashes are one, see scoring.text and scoring.whole. Linear in the length.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext

from scoring.text import LONGEST
from scoring.whole import at, ends_number, goes_on, is_currency, is_minus

_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
# Possessive repetitions, as in scoring.text. After a letter or a point, a point is none of the number's.
_NUMBER = re.compile(
    r"""(?P<digits> (?: (?<![.\w]) \.[0-9]++ | [0-9]++ (?:\.[0-9]++)?+ ) )
    (?P<power> e [+-]?+ [0-9]{1,4}+ (?![0-9]) )?+
    (?: [ -]?+ (?P<scale> thousand|million|billion|trillion) s?+ \b )?+""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Number:
    """`start`, `end`: where it stands, with its sign, currency sign and scale word."""

    start: int
    end: int
    value: Decimal


def numbers(text: str, begin: int = 0) -> Iterator[Number]:
    """Those that start at `begin` or after it: `-$1.50`, `.5`, `1e5`, `45 million`. One of more than LONGEST digits is none."""
    for found in _NUMBER.finditer(text, begin):
        first = found.start()
        written = found["digits"] + (found["power"] or "")
        if len(written) > LONGEST or not ends_number(text, first + len(written), written):
            continue
        start = first - is_currency(at(text, first - 1))
        negative = is_minus(text, start - 1)
        if not negative and goes_on(text, first - 1):
            continue
        power = int((found["power"] or "e0")[1:]) + _SCALES.get(found["scale"], 0)
        # From text, because arithmetic would round to 28 digits.
        value = Decimal(f"{'-' if negative else ''}{found['digits']}e{power}")
        if start - negative >= begin:
            yield Number(start - negative, found.end(), value)


def number(text: str) -> Decimal | None:
    """The value of a text that is one number and nothing else: also no currency sign."""
    found = next(numbers(text), None)
    whole = found is not None and (found.start, found.end) == (0, len(text)) and not any(map(is_currency, text))
    return found.value if found is not None and whole else None


def near(wanted: Decimal, found: Decimal, tolerance: float, relative: float) -> bool:
    """Whether they differ by `tolerance` at most, or by `relative` × the wanted one."""
    with localcontext() as context:
        context.prec = 2 * LONGEST  # enough for differences to be exact, so that 10.01 is within 0.01 of 10
        return abs(wanted - found) <= max(Decimal(repr(tolerance)), Decimal(repr(relative)) * abs(wanted))
