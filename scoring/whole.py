"""Finding a label in a text so that its numbers are whole: `12` stands in `12-15` and in `12 kg`, not in `112`, `0.12`, `-12`.

Both texts are folded, see scoring.text, and their dashes are one, see `one_dash`. Nothing here is a regular expression: the
label is literal, and every occurrence is judged by the few characters around it.
"""

import unicodedata
from collections.abc import Iterator

DIGITS = frozenset("0123456789")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"), "-")
_BEFORE_HYPHEN = frozenset("%‰°'\"`´′″")
"""Signs that a hyphen, not a minus, comes after; so do letters, digits, and closing quotes and brackets."""


def one_dash(text: str) -> str:
    """The text with every hyphen, en dash and typographic minus as `-`. An em dash is none of them."""
    return text.translate(_DASHES)


def places(text: str, label: str, start: int = 0) -> Iterator[int]:
    """Where, from `start` on, the label begins with its numbers whole."""
    place = text.find(label, start)
    while place >= 0:
        if _left(text, place, label) and ends_number(text, place + len(label), label):
            yield place
        place = text.find(label, place + 1)


def _left(text: str, place: int, label: str) -> bool:
    """Whether no longer or negative number begins before the label."""
    if label[0] == "-":
        return not _starts_number(label[1:]) or is_minus(text, place)
    if not _starts_number(label):
        return True
    if is_currency(label[0]):
        return not is_minus(text, place - 1)
    return not goes_on(text, place - 1)


def goes_on(text: str, last: int) -> bool:
    """Whether the character at `last` belongs to the number that stands right after it."""
    sign, earlier = at(text, last), at(text, last - 1)
    if sign == ".":
        return not (earlier == "." or earlier.isalpha())
    if sign in ("-", "+"):
        return is_minus(text, last) or _is_exponent(text, last - 1)
    if is_currency(sign):
        return is_minus(text, last - 1)
    return sign in DIGITS or _is_exponent(text, last)


def ends_number(text: str, end: int, label: str) -> bool:
    """Whether the number that the label ends in ends with it."""
    if label[-1] not in DIGITS:
        return True
    after, next_one = at(text, end), at(text, end + 1)
    if after in DIGITS or (after == "." and next_one in DIGITS):
        return False
    return not (after == "e" and (next_one in DIGITS or (next_one in ("+", "-") and at(text, end + 2) in DIGITS)))


def _starts_number(text: str) -> bool:
    """Whether it starts with a digit, or with a point or a currency sign and then a digit."""
    first, second = at(text, 0), at(text, 1)
    return first in DIGITS or (second in DIGITS and (first == "." or is_currency(first)))


def is_minus(text: str, place: int) -> bool:
    """Whether a minus stands at `place`: not a dash that joins two things, as in `12-15`, `mid-2019` and `$12-$15`."""
    before = at(text, place - 1)
    if at(text, place) != "-":
        return False
    if is_currency(before):
        return at(text, place - 2) not in DIGITS
    joins = before in DIGITS or before in _BEFORE_HYPHEN or before.isalpha()
    return not joins and not (before and unicodedata.category(before) in ("Pe", "Pf"))


def _is_exponent(text: str, place: int) -> bool:
    """Whether the character at `place` is the e of a number such as 1e5."""
    return at(text, place) == "e" and at(text, place - 1) in DIGITS


def is_currency(sign: str) -> bool:
    return bool(sign) and unicodedata.category(sign) == "Sc"


def at(text: str, place: int) -> str:
    """The character at `place`; an empty text outside."""
    return text[place] if 0 <= place < len(text) else ""
