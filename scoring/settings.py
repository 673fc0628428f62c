"""Scorers' settings, checked where a scorer is made: each message names the scorer and the setting."""

import math
from collections.abc import Sequence

from scoring.score import check_dimension, show
from scoring.scorer import ScorerConfigError


def check_flag(scorer: str, name: str, value: object) -> None:
    """Raises ScorerConfigError for what is neither true nor false."""
    if not isinstance(value, bool):
        raise ScorerConfigError(f"{scorer}: {name} is {show(value)}; it has to be true or false")


def check_count(scorer: str, name: str, value: object) -> None:
    """Raises ScorerConfigError for what is no whole number from 1 on; None is none."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ScorerConfigError(f"{scorer}: {name} is {show(value)}; it has to be a whole number, 1 or more")


def check_amount(scorer: str, name: str, value: object) -> None:
    """Raises ScorerConfigError for what is no finite number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ScorerConfigError(f"{scorer}: {name} is {show(value)}; it has to be a number, 0 or more")


def check_word(scorer: str, name: str, value: object, words: Sequence[str]) -> None:
    """Raises ScorerConfigError for what is none of the words."""
    if value not in words:
        raise ScorerConfigError(f"{scorer}: {name} is {show(value)}; it has to be {' or '.join(words)}")


def checked_texts(scorer: str, name: str, value: object) -> tuple[str, ...]:
    """The list as a tuple. Raises ScorerConfigError for what is no list of texts, and for a blank one."""
    if not isinstance(value, list | tuple):
        raise ScorerConfigError(f"{scorer}: {name} is {show(value)}; it has to be a list of texts")
    for text in value:
        if not isinstance(text, str) or not text.strip():
            hint = "; put quotes around it" if isinstance(text, bool | int | float) else ""
            raise ScorerConfigError(f"{scorer}: {name} holds {show(text)}; each has to be a text that is not blank{hint}")
    return tuple(value)


def check_name(scorer: str, dimension: object) -> None:
    """Raises ScorerConfigError for what cannot name a dimension."""
    try:
        check_dimension(dimension)
    except ValueError as error:
        raise ScorerConfigError(f"{scorer}: {error}") from None
