"""Data sets: rows of a file as examples."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapters.digest import canonical, digest
from adapters.example import Example
from adapters.formats import ColumnError, DataFileError, DatasetError, Record, read_records, record
from adapters.hub import SCHEME, read_hub
from adapters.nearest import nearest

__all__ = ["DataFileError", "DatasetError", "Row", "data_hash", "dataset_of", "input_names", "load_dataset"]


@dataclass(frozen=True)
class Row:
    """An example with what its file says of it. `split`: the text in its column `split`, where there is one; `place`: file and
    line, for messages."""

    example: Example
    split: str | None
    place: str


@dataclass(frozen=True)
class _Columns:
    expected: str
    inputs: Sequence[str] | None
    id: str
    group: str

    @property
    def parts(self) -> frozenset[str]:
        """The columns that have a part of their own."""
        return frozenset({"split", "metadata", self.expected, self.id, self.group})


def load_dataset(
    path: str | Path, *, expected: str = "expected", inputs: Sequence[str] | None = None, id: str = "id", group: str = "group"
) -> list[Row]:
    """The rows of a JSON Lines, JSON, CSV, YAML or Parquet file, or of `hf://owner/name` (see adapters.hub), in their order.

    A row holds its inputs in an object `inputs`, or flat: then its inputs are the columns named by `inputs`, the others
    going to the metadata, or without that every column that is not `split`, `metadata`, `expected`, `id` or `group`. A row
    without an id is called by the hash of its content; the second of two such rows that are alike gets `-2`, and so on
    (adapters.split keeps both in one part). In CSV an empty cell is no answer, id, group or split, and an empty text as an
    input. Raises DatasetError, of the kind DataFileError where nothing can be read of the file at all.
    """
    return _dataset(str(path), _records(path), _Columns(expected, inputs, id, group))


def dataset_of(
    rows: Iterable[object], *, expected: str = "expected", inputs: Sequence[str] | None = None, id: str = "id", group: str = "group"
) -> list[Row]:
    """The same of rows that are there already; messages call them `row 1` and so on. Raises DatasetError."""
    records = [record(f"row {number}", row) for number, row in enumerate(rows, 1)]
    return _dataset("the data", records, _Columns(expected, inputs, id, group))


def input_names(examples: Iterable[Example]) -> frozenset[str]:
    """The names of all inputs that any of the examples has."""
    return frozenset(name for example in examples for name in example.inputs)


def data_hash(examples: Iterable[Example]) -> str:
    """Sixteen hex digits that depend on the examples' ids, contents and groups, not on their order."""
    return digest(sorted((example.id, example.digest, canonical(example.group)) for example in examples))


def _dataset(name: str, records: list[Record], columns: _Columns) -> list[Row]:
    """`name`: what the records are called in messages."""
    if columns.inputs is not None and columns.expected in columns.inputs:
        raise DatasetError(f"the column {columns.expected!r} holds the right answer, so it cannot be an input too")
    if not records:
        raise DataFileError(f"{name} has no rows; write at least one example for train and one for val")
    _check_columns(name, records, columns)
    return _named([_row(record, columns) for record in records])


def _records(path: str | Path) -> list[Record]:
    return read_hub(str(path)) if str(path).startswith(SCHEME) else read_records(Path(path))


def _check_columns(name: str, records: list[Record], columns: _Columns) -> None:
    """A column that the caller has named, and no row has, is a slip."""
    known = dict.fromkeys(name for record in records for name in record.fields)
    for role, column in (("expected", columns.expected), ("id", columns.id), ("group", columns.group)):
        if column not in known and column not in ("expected", "id", "group"):
            raise ColumnError(role, f"{name}: no row has the column {column!r}{nearest(column, known)}")


def _row(record: Record, columns: _Columns) -> Row:
    inputs, further = _nested(record, columns) if "inputs" in record.fields else _flat(record, columns)
    metadata = _object(record, "metadata") if record.fields.get("metadata") is not None else {}
    for name in further.keys() & metadata.keys():
        raise DatasetError(f"{record.place}: {name!r} is a column and a key of `metadata`; rename one")
    example = Example(
        id=_name(record, columns.id) or "",
        inputs=inputs,
        expected=_present(record, columns.expected),
        metadata={**further, **metadata},
        group=_name(record, columns.group),
        place=record.place,
    )
    return Row(example, _name(record, "split"), record.place)


def _nested(record: Record, columns: _Columns) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The inputs of a row with an object `inputs`. There are no further columns: one is most likely misspelt."""
    inputs = _object(record, "inputs")
    if not inputs:
        raise DatasetError(f"{record.place}: `inputs` is empty; an example has at least one input")
    parts = columns.parts | {"inputs"}
    for name in record.fields:
        if name not in parts:
            raise DatasetError(f"{record.place}: unknown field {name!r}{nearest(name, sorted(parts))}")
    return inputs, {}


def _flat(record: Record, columns: _Columns) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The inputs, and the further columns."""
    fields = record.fields
    others = {name: value for name, value in fields.items() if name not in columns.parts}
    if columns.inputs is None:
        if not others:
            raise DatasetError(f"{record.place}: the row has no inputs; give it a column that is not {_either(columns.parts)}")
        return others, {}
    for name in columns.inputs:
        if name not in fields:
            raise DatasetError(f"{record.place}: the row has no input {name!r}{nearest(name, fields)}")
    inputs = {name: fields[name] for name in columns.inputs}
    return inputs, {name: value for name, value in others.items() if name not in inputs}


def _either(names: Collection[str]) -> str:
    *most, last = sorted(names)
    return f"{', '.join(most)} or {last}"


def _object(record: Record, column: str) -> Mapping[str, Any]:
    value = record.fields[column]
    if not isinstance(value, Mapping):
        raise DatasetError(f"{record.place}, {column}: expected an object of names and values; a column of another kind needs another name")
    return value


def _present(record: Record, column: str) -> Any:
    value = record.fields.get(column)
    return None if record.text_only and value == "" else value


def _name(record: Record, column: str) -> str | None:
    """An id, a group or a split: text, or a number as text; empty is none."""
    value = record.fields.get(column)
    if isinstance(value, Mapping | list):
        raise DatasetError(f"{record.place}, {column}: expected text or a number, not {canonical(value)[:40]}")
    return value or None if value is None or isinstance(value, str) else canonical(value)


def _named(rows: list[Row]) -> list[Row]:
    """The rows, each with an id that no other has."""
    places: dict[str, str] = {}
    for row in rows:
        if row.example.id in places:
            raise DatasetError(
                f"{row.place}: the id {row.example.id!r} is that of {places[row.example.id]} already; give each its own, or none"
            )
        if row.example.id:
            places[row.example.id] = row.place
    return [row if row.example.id else _hashed(row, places) for row in rows]


def _hashed(row: Row, places: dict[str, str]) -> Row:
    base = row.example.digest
    name, number = base, 1
    while name in places:
        number += 1
        name = f"{base}-{number}"
    places[name] = row.place
    return replace(row, example=replace(row.example, id=name))
