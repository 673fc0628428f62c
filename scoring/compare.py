"""Comparisons: what one expected value and the one that was found are worth, from 0 to 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from adapters.digest import canonical
from adapters.nearest import nearest
from scoring.numbers import near, number
from scoring.score import show
from scoring.scorer import ScorerConfigError
from scoring.settings import check_amount
from scoring.text import LONGEST, fold, plain_number
from scoring.whole import one_dash

_FORMS = "exact, text, set, numeric or {numeric: {tolerance: 0.01, relative: 0.05}}"


class ComparisonError(ValueError):
    """An expected value that the comparison chosen for it cannot compare."""


class Comparison(Protocol):
    """Values are plain, see adapters.plain."""

    def credit(self, expected: object, got: object) -> float:
        """0 to 1; 1 exactly where it is right. Raises ComparisonError."""
        ...


@dataclass(frozen=True)
class Exactly:
    """The same JSON value, see `same`."""

    def credit(self, expected: object, got: object) -> float:
        return float(same(expected, got))


@dataclass(frozen=True)
class Numeric:
    """Numbers that differ by `tolerance` at most, or by `relative` × the expected one. A text that is one number, however its
    digits are grouped, counts as that number; true and false do not."""

    tolerance: float = 0.0
    relative: float = 0.0

    def __post_init__(self) -> None:
        for name in ("tolerance", "relative"):
            check_amount("the comparison numeric", name, getattr(self, name))

    def credit(self, expected: object, got: object) -> float:
        wanted, found = _number(expected), _number(got)
        if wanted is None and expected is not None:
            raise ComparisonError(f"numeric compares numbers, and the expected value is {show(expected)}")
        if wanted is None or found is None:
            return float(same(expected, got))
        return float(near(wanted, found, self.tolerance, self.relative))


@dataclass(frozen=True)
class AsSet:
    """Lists with the same members, in any order and however often. Otherwise the share of the members that both have in those
    that either has."""

    def credit(self, expected: object, got: object) -> float:
        if expected is None:
            return float(got is None)
        if not isinstance(expected, list):
            raise ComparisonError(f"set compares lists, and the expected value is {show(expected)}")
        if not isinstance(got, list):
            return 0.0
        wanted, found = ({canonical(_norm(member)) for member in members} for members in (expected, got))
        either = wanted | found
        return len(wanted & found) / len(either) if either else 1.0


@dataclass(frozen=True)
class AsText:
    """The same text once both are folded: case, white space and the grouping of digits do not count. A number counts as its
    digits."""

    def credit(self, expected: object, got: object) -> float:
        wanted, found = _text(expected), _text(got)
        if wanted is None and expected is not None:
            raise ComparisonError(f"text compares texts and numbers, and the expected value is {show(expected)}")
        return float(wanted == found) if wanted is not None else float(got is None)


COMPARISONS: Mapping[str, type[Comparison]] = {"exact": Exactly, "numeric": Numeric, "set": AsSet, "text": AsText}


def read_comparison(spec: object) -> Comparison:
    """A comparison as it is, by its name, or as `{numeric: {settings}}`. Raises ScorerConfigError."""
    if isinstance(spec, tuple(COMPARISONS.values())):
        return spec  # type: ignore[return-value]
    name, settings = next(iter(spec.items())) if isinstance(spec, Mapping) and len(spec) == 1 else (spec, {})
    if not isinstance(name, str) or not isinstance(settings, Mapping):
        raise ScorerConfigError(f"the comparison {show(spec)} cannot be read; write {_FORMS}")
    if name not in COMPARISONS:
        raise ScorerConfigError(f"there is no comparison {name!r}{nearest(name, COMPARISONS)}")
    known = COMPARISONS[name].__dataclass_fields__  # type: ignore[attr-defined]
    for setting in settings:
        if setting not in known:
            raise ScorerConfigError(f"the comparison {name} has no setting {setting!r}{nearest(str(setting), known)}")
    return COMPARISONS[name](**settings)


def read_comparisons(specs: object) -> dict[str, Comparison]:
    """Field → comparison, see read_comparison. Raises ScorerConfigError, also where both a field and a part of it are named."""
    if not isinstance(specs, Mapping):
        raise ScorerConfigError(f"the comparisons are {show(specs)}; they have to be a mapping of fields, as in {{price: numeric}}")
    for name in specs:
        if not isinstance(name, str):
            raise ScorerConfigError(f"{show(name)} cannot name a field; put quotes around it")
    whole = next((name for name in specs for part in specs if part.startswith(f"{name}.")), None)
    if whole is not None:
        raise ScorerConfigError(f"both {whole!r} and a part of it are named; it is compared as a whole or in parts")
    comparisons = {}
    for name, spec in specs.items():
        try:
            comparisons[name] = read_comparison(spec)
        except ScorerConfigError as error:
            raise ScorerConfigError(f"{name}: {error}") from None
    return comparisons


def same(one: object, other: object) -> bool:
    """Whether two JSON values are the same; texts without the white space around them, and true is not 1."""
    if isinstance(one, str) and isinstance(other, str):
        return one.strip() == other.strip()
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _norm(value: object) -> object:
    """A form that two values share exactly where they are the same."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_norm(member) for member in value]
    if isinstance(value, Mapping):
        return {name: _norm(member) for name, member in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _number(value: object) -> Decimal | None:
    """None where it is none, or one of more than LONGEST digits."""
    if isinstance(value, str):
        return number(one_dash(fold(value))) if len(value) <= LONGEST else None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= 10**LONGEST:
        return None
    return Decimal(repr(value))


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return fold(value)
    return None if _number(value) is None else plain_number(value)  # type: ignore[arg-type]
