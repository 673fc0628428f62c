"""Verification field by field: an expected object and the one that was found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from adapters.nearest import nearest
from adapters.plain import NotPlainError, plain
from scoring.compare import Comparison, ComparisonError, Exactly, read_comparisons
from scoring.score import show
from scoring.template import Misfit, Template, read_template

Path: TypeAlias = tuple[str, ...]
"""A field's name, or the names that lead to a part of it."""

WHOLE = "(whole answer)"
"""The field that fails where an answer's values do not fit together, or holds what the template does not allow."""

_MOST_EXTRA, _LONGEST_NAME = 5, 50
"""How many names that nobody asked for are told, and how many characters of them."""


class FieldsError(ValueError):
    """An expected object that nothing can be verified against. Names the field."""


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = _Absent()
"""No value: not the same as null."""


@dataclass(frozen=True)
class Field:
    """`score`: 0 to 1, None where the answer has no value. `misfit`: why the template does not allow the value, or empty.
    `expected` is ABSENT for a field that only has to be filled, `got` for one that is not there."""

    expected: Any
    got: Any
    score: float | None
    misfit: str = ""

    @property
    def result(self) -> bool | None:
        """Right; None where the answer has no value."""
        return None if self.score is None else self.score == 1


@dataclass(frozen=True)
class FieldsResult:
    """`fields`: name → what became of it. `extra`: names in the answer that nobody asked for; no fault by themselves."""

    fields: Mapping[str, Field]
    extra: tuple[str, ...] = ()

    @property
    def verify_result(self) -> bool:
        return all(field.result for field in self.fields.values())

    @property
    def field_results(self) -> dict[str, bool | None]:
        return {name: field.result for name, field in self.fields.items()}

    @property
    def field_scores(self) -> dict[str, float | None]:
        return {name: field.score for name, field in self.fields.items()}

    def share(self, weights: Mapping[str, float]) -> float:
        """The mean of the fields' scores, 0 for those without a value; `weights`: of fields whose weight is not 1."""
        total = sum(weights.get(name, 1.0) for name in self.fields)
        return sum(weights.get(name, 1.0) * (field.score or 0.0) for name, field in self.fields.items()) / total

    def complaints(self, *, reveal_expected: bool = True) -> list[str]:
        """A line for every field that is not right, and one for extra fields if there is any; none where all is right."""
        lines = [_complaint(name, field, reveal_expected) for name, field in self.fields.items() if not field.result]
        if lines and self.extra:
            more = len(self.extra) - _MOST_EXTRA
            names = ", ".join(name[:_LONGEST_NAME] for name in self.extra[:_MOST_EXTRA])
            lines.append(f"Not asked for: {names}{f' and {more} more' if more > 0 else ''}")
        return lines


def verify_fields(
    expected: Mapping[str, Any],
    parsed: Mapping[str, Any] | None,
    comparisons: Mapping[str, object] | None = None,
    *,
    template: object = None,
) -> FieldsResult:
    """What became of every expected field, and with a template of every field that it requires or finds wrong.

    `parsed`: None for an answer that could not be read. `comparisons`: field → what scoring.compare.read_comparison takes; exact
    for the others. `address.city` names a part of an object, whose parts then are fields of their own. `template`: what
    scoring.template.read_template takes; a field that it does not require may be left out, which is the same as null.

    Raises ValueError: FieldsError for no expected fields, for expected values that their comparison cannot compare or the
    template does not allow, and for names in `comparisons` that are not there; NotPlainError for a parsed value that JSON
    cannot hold; ScorerConfigError for comparisons and templates that cannot be read."""
    chosen = read_comparisons(comparisons or {})
    kinds = None if template is None else read_template(template)
    found = None if parsed is None else plain(parsed)
    wanted = _wanted(expected)
    _check_names(wanted, chosen, kinds)
    if kinds is not None:
        _check_fit(wanted, kinds)
    extra = tuple(name for name in found or () if name not in (wanted if kinds is None else kinds.names))
    return FieldsResult(_fields(wanted, found, chosen, kinds), extra)


def _fields(
    wanted: Mapping[str, Any], found: Mapping[str, Any] | None, comparisons: Mapping[str, Comparison], template: Template | None
) -> dict[str, Field]:
    apart = {name[:end] for name in comparisons for end, sign in enumerate(name) if sign == "."}
    parts = dict(_parts(wanted, apart))
    required = () if template is None else template.required
    paths = [*parts, *((name,) for name in required if name not in wanted)]
    wrong = {} if template is None or found is None else _wrong(template.misfits(found), paths, template.names)
    expected, got = (values if template is None or values is None else template.read(values) for values in (wanted, found))
    fields: dict[str, Field] = {}
    for path in dict.fromkeys([*paths, *wrong]):
        name = ".".join(path) or WHOLE
        if name in fields:
            raise FieldsError(f"two fields are called {name!r}; rename one of them")
        value = _get(got, path, _get(found, path, ABSENT))
        named = _get(expected, path, parts[path]) if path in parts else ABSENT
        if (
            value is ABSENT
            and named is None
            and path not in wrong
            and found is not None
            and template is not None
            and path[0] not in required
        ):
            value = None  # left out, as the template allows
        fields[name] = _field(name, named, value, wrong.get(path, ""), comparisons.get(name, Exactly()))
    return fields


def _field(name: str, expected: Any, got: Any, misfit: str, comparison: Comparison) -> Field:
    if got is ABSENT or (got is None and expected is not None and expected is not ABSENT):
        return Field(expected, got, None, misfit)
    if misfit or expected is ABSENT:
        return Field(expected, got, 0.0 if misfit else 1.0, misfit)
    try:
        return Field(expected, got, comparison.credit(expected, got))
    except ComparisonError as error:
        raise FieldsError(f"the field {name!r}: {error}") from None


def _wanted(expected: object) -> dict[str, Any]:
    if not isinstance(expected, Mapping) or not expected:
        raise FieldsError(f"the expected answer is {show(expected)}; fields takes an object of names and values")
    try:
        values: dict[str, Any] = plain(expected)
    except NotPlainError as error:
        raise FieldsError(f"the expected answer: {error}") from None
    return values


def _check_names(wanted: Mapping[str, Any], comparisons: Iterable[str], template: Template | None) -> None:
    known = wanted if template is None else template.names
    for name in wanted:
        if name not in known:
            raise FieldsError(f"the expected answer has a field {name!r}, which the template has not{nearest(name, known)}")
    for name in comparisons:
        if name not in wanted:
            _check_part(name, wanted, template)


def _check_part(name: str, wanted: Mapping[str, Any], template: Template | None) -> None:
    values: object = wanted
    for part in name.split("."):
        if values is None:
            return  # of an object that is null here, the parts are elsewhere
        if not isinstance(values, Mapping):
            raise FieldsError(f"there is a comparison for {name!r}, but what holds {part!r} is {show(values)} and no object")
        if part not in values:
            if values is wanted and template is not None:
                return  # the template has it, and this example does not say what it is
            raise FieldsError(f"there is a comparison for {name!r}, and the expected answer has no {part!r}{nearest(part, values)}")
        values = values[part]


def _check_fit(wanted: Mapping[str, Any], template: Template) -> None:
    for where, why in template.misfits(wanted):
        if _get(wanted, where[:1], ABSENT) is not ABSENT and where:
            raise FieldsError(f"the expected answer does not fit the template: {'.'.join(map(str, where))}: {why}")


def _parts(values: Mapping[str, Any], apart: Set[str], above: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in values.items():
        path = (*above, name)
        if ".".join(path) in apart and isinstance(value, Mapping):
            yield from _parts(value, apart, path)
        else:
            yield path, value


def _wrong(misfits: Iterable[Misfit], paths: Sequence[Path], known: Sequence[str]) -> dict[Path, str]:
    """The first that is wrong with each field: the innermost of `paths` that holds the place, else all that lie in it, else the
    field of the template. What is no field is wrong with the whole: an answer may hold any number of those."""
    wrong: dict[Path, str] = {}
    for where, why in misfits:
        names = tuple(map(str, where))
        inner = next((path for end in range(len(names), 0, -1) if (path := names[:end]) in paths), None)
        if inner is not None:
            wrong.setdefault(inner, why)
        elif names and names[0] in known:
            for path in [path for path in paths if path[: len(names)] == names] or [names[:1]]:
                wrong.setdefault(path, why)
        else:
            wrong.setdefault((), f"{names[0][:_LONGEST_NAME]}: {why}" if names else why)
    return wrong


def _get(values: Any, path: Sequence[str | int], default: object) -> Any:
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return default
        values = values[name]
    return values


def _complaint(name: str, field: Field, reveal_expected: bool) -> str:
    wanted = f"expected {show(field.expected)}, " if reveal_expected and field.expected is not ABSENT else ""
    why = f" ({field.misfit})" if field.misfit else ""
    return f"{name}: {wanted}got {show(field.got)}{why}"
