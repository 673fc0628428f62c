"""The rows of data that a config names, or holds itself."""

from pathlib import Path

from adapters.dataset import Row, dataset_of, load_dataset
from optimizer.config import DataConfig


def rows_of(data: DataConfig, folder: Path) -> list[Row]:
    """`folder`: where a relative path starts. Raises DatasetError."""
    columns = {"expected": data.expected, "id": data.id, "group": data.group}
    if data.path is None:
        return dataset_of(data.rows or (), inputs=data.inputs, **columns)
    return load_dataset(data.path if "://" in data.path else folder / data.path, inputs=data.inputs, **columns)
