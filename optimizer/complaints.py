"""What pydantic found wrong with a config, in words for the person who wrote it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from adapters.nearest import near, nearest
from optimizer.yamlsource import KeyPath

_NOUNS = {
    "string_type": "text",
    "path_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
}
"""The kinds of error that say: a value of this kind is wanted."""

_SENTENCES = {
    "missing": "this key is missing",
    "greater_than": "must be more than {gt:g}, not {value}",
    "greater_than_equal": "must be at least {ge:g}, not {value}",
    "less_than": "must be less than {lt:g}, not {value}",
    "less_than_equal": "must be at most {le:g}, not {value}",
    "finite_number": "must be a finite number, not {value}",
    "too_short": "needs at least {min_length}, has {actual_length}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "does not fit the pattern {pattern}",
    "value_error": "{error}",
}
"""For the other kinds; filled in from what pydantic says of the error."""


@dataclass(frozen=True)
class Complaint:
    path: KeyPath
    message: str


def complaints(error: ValidationError, model: type[BaseModel], data: object) -> list[Complaint]:
    """What is wrong with `data`, one for each mistake. Where the types leave a choice, the one that was meant is told of."""
    findings = _without_consequences([_Finding(detail, *_locate(detail["loc"], model)) for detail in error.errors()])
    told = [Complaint(finding.path, _tell(finding)) for finding in findings if finding.choice is None]
    for choice in dict.fromkeys(finding.choice for finding in findings if finding.choice):
        told += _tell_choice(choice, [finding for finding in findings if finding.choice == choice], _at(data, choice.path))
    return told


@dataclass(frozen=True)
class _Choice:
    """A place where the types leave a choice."""

    path: KeyPath
    members: tuple[Any, ...]


@dataclass(frozen=True)
class _Finding:
    """One of pydantic's errors. `owner`: the block that the last key of `path` belongs to; `member`: the one of the choice's
    members that the error is about."""

    detail: ErrorDetails
    path: KeyPath
    owner: type[BaseModel] | None
    choice: _Choice | None
    member: Any

    @property
    def kind(self) -> str:
        return self.detail["type"]

    @property
    def key(self) -> str:
        return str(self.path[-1]) if self.path else ""

    @property
    def names(self) -> list[str]:
        """The keys that the owner has."""
        return list(self.owner.model_fields) if self.owner else []


def _locate(place: tuple[str | int, ...], model: Any) -> tuple[KeyPath, type[BaseModel] | None, _Choice | None, Any]:
    """The place without what pydantic puts between the keys: the names of a union's members."""
    path: list[str | int] = []
    owner, choice, member = None, None, None
    kind = model
    for token in place:
        members = _members(kind)
        if len(members) > 1:
            choice = _Choice(tuple(path), members)
            kind = member = next((m for m in members if _label(m) == str(token).partition("[")[0]), Any)
        else:
            path.append(token)
            owner = _block(members[0])
            kind = _inner(members[0], str(token))
    return tuple(path), owner, choice, member


def _members(kind: Any) -> tuple[Any, ...]:
    """The members of a union, without None; of anything else, itself."""
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return tuple(member for member in get_args(kind) if member is not NoneType)
    return (kind,)


def _label(member: Any) -> str:
    return getattr(get_origin(member) or member, "__name__", "")


def _block(kind: Any) -> type[BaseModel] | None:
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _inner(kind: Any, key: str) -> Any:
    """The type of what `key` leads to."""
    block = _block(kind)
    if block is None:
        return (get_args(kind) or (Any,))[-1]
    return block.model_fields[key].annotation if key in block.model_fields else Any


def _at(data: Any, path: KeyPath) -> Any:
    for token in path:
        data = data[token]
    return data


def _without_consequences(findings: list[_Finding]) -> list[_Finding]:
    """A misspelt key is one mistake, not two: that the right one is missing follows from it."""
    unknown = [finding for finding in findings if finding.kind == "extra_forbidden"]
    meant = {(*finding.path[:-1], near(finding.key, finding.names)) for finding in unknown}
    return [finding for finding in findings if finding.kind != "missing" or finding.path not in meant]


def _tell(finding: _Finding) -> str:
    kind, value, context = finding.kind, finding.detail["input"], finding.detail.get("ctx", {})
    if kind == "extra_forbidden":
        return f"unknown key{nearest(finding.key, finding.names)}"
    if kind == "literal_error":
        meant = near(str(value), re.findall(r"'(.*?)'", context["expected"]))
        return f"expected {context['expected']}, not {spoken(value)}" + (f"; did you mean {meant!r}?" if meant else "")
    if kind in _NOUNS:
        return f"expected {_NOUNS[kind]}, not {spoken(value)}{_quotes(kind, value)}"
    if kind in _SENTENCES:
        return _SENTENCES[kind].format(value=value, **context)
    return finding.detail["msg"]


def _tell_choice(choice: _Choice, findings: list[_Finding], value: Any) -> list[Complaint]:
    blocks = [block for block in map(_block, choice.members) if block]
    if isinstance(value, Mapping) and blocks:
        meant = max(blocks, key=lambda block: len(value.keys() & block.model_fields))
        if value.keys() & meant.model_fields:
            return [Complaint(finding.path, _tell(finding)) for finding in findings if finding.member is meant]
        names = [name for block in blocks for name in block.model_fields]
        unknown = [Complaint((*choice.path, key), f"unknown key{nearest(key, names)}") for key in value]
        return unknown or [Complaint(choice.path, f"expected a mapping with {_or(names)}")]
    inside = [Complaint(finding.path, _tell(finding)) for finding in findings if finding.path != choice.path]
    # Of a value that is of the right kind, and too small, say, only that is told.
    inside = inside or [Complaint(choice.path, _tell(finding)) for finding in findings if finding.kind in _SENTENCES]
    nouns = dict.fromkeys(map(_noun, findings))
    return inside or [Complaint(choice.path, f"expected {_or(list(nouns))}, not {spoken(value)}")]


def _noun(finding: _Finding) -> str:
    return str(finding.detail["ctx"]["expected"]) if finding.kind == "literal_error" else _NOUNS.get(finding.kind, "")


def _or(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _quotes(kind: str, value: object) -> str:
    """What to do where YAML took a text for something else."""
    if _NOUNS[kind] != "text" or value is None:
        return ""
    if isinstance(value, Mapping) and not any(value.values()):
        return "; text that begins with '{' needs quotes"
    return "" if isinstance(value, Mapping | list) else "; put quotes around it"


def spoken(value: object) -> str:
    """A value as the writer of YAML knows it: its kind, and itself where it is short."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {value!r}" if len(value) <= 40 else f"the text {value[:40] + '…'!r}"
        case Mapping() | list():
            return "a mapping" if isinstance(value, Mapping) else "a list"
    return f"a value of type {type(value).__name__}"  # no file holds one, but what Python hands over may
