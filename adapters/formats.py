"""File formats: a data file as records, each with the place that it came from."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.nearest import near
from adapters.plain import NotPlainError, parse_json, plain
from adapters.yamlrows import YamlRowsError, yaml_rows

_LONGEST_CELL = 2**31 - 1
"""Characters; the csv module's own limit, 131072, is short for a document."""


class DatasetError(ValueError):
    """Data that cannot be used. Names the file, the line and the field, and says what to change."""


class DataFileError(DatasetError):
    """The file as a whole: it is not there, holds nothing, or cannot be read."""


class ColumnError(DatasetError):
    """A column that somebody has named, and no row has. `role`: what it was to be: `expected`, `id` or `group`."""

    def __init__(self, role: str, message: str) -> None:
        super().__init__(message)
        self.role = role


@dataclass(frozen=True)
class Record:
    """One row as the file holds it. `place` is for messages: file and line. `text_only`: the format knows no empty values,
    so an empty cell is all that can stand for one."""

    place: str
    fields: Mapping[str, Any]
    text_only: bool = False


def read_records(path: Path) -> list[Record]:
    """The rows of a JSON Lines, JSON, CSV, YAML or Parquet file, told apart by its ending. Raises DatasetError."""
    if not path.is_file():
        raise DataFileError(_missing(path))
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise DataFileError(f"{path}: unknown ending {path.suffix!r}; a data file ends in {', '.join(_READERS)}")
    return reader(path)


def record(place: str, row: object) -> Record:
    """Raises DatasetError where `row` is not an object of plain values."""
    if not isinstance(row, Mapping):
        raise DatasetError(f"{place}: a row is an object of names and values, not {type(row).__name__}")
    try:
        return Record(place, plain(row))
    except NotPlainError as error:
        raise DatasetError(f"{place}: {error}") from None


def _missing(path: Path) -> str:
    if path.is_dir():
        return f"{path} is a folder; name the data file in it"
    if not path.parent.is_dir():
        return f"{path} does not exist, nor does its folder"
    match = near(path.name, (other.name for other in path.parent.iterdir()))
    return f"{path} does not exist" + (f"; did you mean {match!r}?" if match else "")


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror}") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataFileError(f"{path} is written in UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataFileError(f"{path}:{line}: not UTF-8 (byte {error.object[error.start]:#04x}); save it as UTF-8") from None


def _json_lines(path: Path) -> list[Record]:
    records = []
    # Not splitlines(): JSON strings may hold the other characters that it takes for line ends.
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                row = parse_json(line)
            except json.JSONDecodeError as error:
                hint = "; a file with one JSON array ends in .json" if number == 1 and line.strip() == "[" else ""
                raise DatasetError(f"{place}:{error.colno}: not JSON: {error.msg}{hint}") from None
            except NotPlainError as error:
                raise DatasetError(f"{place}: {error}") from None
            records.append(record(place, row))
    return records


def _json(path: Path) -> list[Record]:
    text = _read_text(path)
    if not text.strip():
        return []
    try:
        rows = parse_json(text)
    except json.JSONDecodeError as error:
        hint = "; a file with one object a line ends in .jsonl" if error.msg == "Extra data" else ""
        raise DatasetError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}{hint}") from None
    except NotPlainError as error:
        raise DatasetError(f"{path}: {error}") from None
    if isinstance(rows, dict):
        rows = rows.get("examples")
    if not isinstance(rows, list):
        raise DatasetError(f"{path}: expected an array of objects, or an object whose key `examples` holds one")
    return [record(f"{path}, element {number}", row) for number, row in enumerate(rows, 1)]


def _csv(path: Path) -> list[Record]:
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        rows = _csv_rows(path)
        line, header = next(rows, (1, []))
        _check_header(f"{path}:{line}", header)
        return [_csv_record(f"{path}:{line}", header, row) for line, row in rows]
    finally:
        csv.field_size_limit(before)


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Each row that is no blank line, with the line that it begins in."""
    reader = csv.reader(io.StringIO(_read_text(path), newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DatasetError(
                f"{path}:{line}: not CSV: {error}; a quote inside quotes is doubled, and each one that opens is closed"
            ) from None
        if row:
            yield line, row


def _check_header(place: str, header: list[str]) -> None:
    for number, name in enumerate(header, 1):
        if not name.strip():
            raise DatasetError(f"{place}: column {number} has no name; the first row names every column")
        if header.index(name) < number - 1:
            raise DatasetError(f"{place}: two columns are called {name!r}; give each its own name")
    if len(header) == 1 and any(separator in header[0] for separator in ";\t"):
        raise DatasetError(f"{place}: the columns are not parted by commas; save the file as CSV with commas")


def _csv_record(place: str, header: list[str], row: list[str]) -> Record:
    if len(row) != len(header):
        raise DatasetError(
            f"{place}: the row has {len(row)} cells and the header {len(header)}; put quotes around a cell that holds a comma"
        )
    if not any(row):
        raise DatasetError(f"{place}: every cell is empty; delete the line")
    return Record(place, dict(zip(header, row, strict=True)), text_only=True)


def _yaml(path: Path) -> list[Record]:
    try:
        return [record(f"{path}:{line}", row) for line, row in yaml_rows(_read_text(path))]
    except YamlRowsError as error:
        raise DatasetError(f"{path}:{error}") from None


def _parquet(path: Path) -> list[Record]:
    try:
        import pyarrow as arrow  # noqa: PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise DataFileError(f"{path}: Parquet needs more packages: pip install 'promptfront[datasets]'") from None
    try:
        rows = parquet.read_table(path).to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise DataFileError(f"{path}: not a Parquet file that can be read: {error}") from None
    return [record(f"{path}, row {number}", row) for number, row in enumerate(rows, 1)]


_READERS: dict[str, Callable[[Path], list[Record]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".yaml": _yaml,
    ".yml": _yaml,
    ".parquet": _parquet,
}
