"""Nearest names: what somebody may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(name: str, names: Iterable[str]) -> str | None:
    """The name most like `name`, or None where none is alike."""
    known = {other.lower(): other for other in names}
    return next((known[match] for match in get_close_matches(name.lower(), known, n=1)), None)


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: `; did you mean 'x'?`, or else the names that there are."""
    known = list(names)
    match = near(name, known)
    if match is not None:
        return f"; did you mean {match!r}?"
    return f"; there is {', '.join(known)}" if known else ""
