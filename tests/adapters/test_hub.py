"""Hugging Face data sets, read from a folder by the real library, where it is installed."""

import json
import sys
from pathlib import Path

import pytest

from adapters.dataset import DatasetError, load_dataset


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
    folder = tmp_path / "tickets"
    folder.mkdir()
    for split, count in (("train", 3), ("validation", 2), ("test", 1)):
        rows = [{"ticket": f"{split} {i}", "expected": "ab"[i % 2]} for i in range(count)]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_all_splits_or_one(folder: Path) -> None:
    rows = load_dataset(f"hf://{folder}")
    assert [row.split for row in rows] == ["train"] * 3 + ["validation"] * 2 + ["test"]
    assert rows[3].example.inputs == {"ticket": "validation 0"}
    assert rows[4].place == f"hf://{folder}, split validation, row 2"
    rows = load_dataset(f"hf://{folder}?split=validation")
    assert [(row.split, row.example.expected) for row in rows] == [(None, "a"), (None, "b")]
    assert rows[1].place == f"hf://{folder}?split=validation, row 2"


def test_class_labels_become_their_names(tmp_path: Path, folder: Path) -> None:
    readme = """---
dataset_info:
  features:
  - name: q
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': ham
          '1': spam
---
"""
    labelled = tmp_path / "labelled"
    labelled.mkdir()
    (labelled / "README.md").write_text(readme)
    (labelled / "train.jsonl").write_text('{"q": "x", "label": 1}\n{"q": "y", "label": -1}\n{"q": "z", "label": null}\n')
    rows = load_dataset(f"hf://{labelled}", expected="label")
    assert [row.example.expected for row in rows] == ["spam", None, None]


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        ("?split=dev", r'cannot be loaded: Unknown split "dev"'),
        ("?config=other", "cannot be loaded: BuilderConfig 'other' not found"),
        ("-missing", "cannot be loaded: "),
        ("?spilt=train", "unknown option 'spilt'; did you mean 'split'?"),
    ],
)
def test_what_cannot_be_loaded(folder: Path, ending: str, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load_dataset(f"hf://{folder}{ending}")
    assert str(caught.value).startswith(f"hf://{folder}{ending}")
    assert message in str(caught.value)


def test_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DatasetError, match=r"hf://owner/name: .* pip install 'promptfront\[datasets\]'"):
        load_dataset("hf://owner/name")
