"""Hugging Face data sets as records."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from adapters.formats import DataFileError, Record, record
from adapters.nearest import nearest

SCHEME = "hf://"


def read_hub(address: str) -> list[Record]:
    """The rows of `hf://owner/name?config=...&split=...`, where config and split may be left out.

    Without a split, all splits are read and each row's is its column `split`; with one, the rows have no such column.
    Class labels become their names. Raises DataFileError, and DatasetError for a row.
    """
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query))
    for name in options.keys() - {"config", "split"}:
        raise DataFileError(f"{address}: unknown option {name!r}{nearest(name, ['config', 'split'])}")
    splits = _load(address, parts.netloc + parts.path, options.get("config"), options.get("split"))
    records = []
    for split, rows in splits.items():
        place = f"{address}, split {split}" if split else address
        for number, row in enumerate(rows, 1):
            records.append(record(f"{place}, row {number}", {**row, "split": split} if split else row))
    return records


def _load(address: str, name: str, config: str | None, split: str | None) -> dict[str, list[dict[str, Any]]]:
    """Split name → rows; the name is empty where one split was asked for."""
    try:
        import datasets  # noqa: PLC0415
    except ImportError:
        raise DataFileError(f"{address}: Hugging Face data sets need more packages: pip install 'promptfront[datasets]'") from None
    try:
        loaded = datasets.load_dataset(name, name=config, split=split)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise DataFileError(f"{address} cannot be loaded: {error}") from None
    return {"": _rows(datasets, loaded)} if split else {name: _rows(datasets, part) for name, part in loaded.items()}


def _rows(datasets: Any, part: Any) -> list[dict[str, Any]]:
    labels = {column: kind for column, kind in part.features.items() if isinstance(kind, datasets.ClassLabel)}
    return [{**row, **{column: _label(kind, row[column]) for column, kind in labels.items()}} for row in part]


def _label(kind: Any, value: int | None) -> str | None:
    # Data sets that keep their test answers to themselves write -1.
    return None if value is None or value < 0 else kind.int2str(value)
