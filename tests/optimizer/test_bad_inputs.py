"""Whatever is wrong with what a user gives: one message that names the place and the way out, no traceback, the right exit code."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Command, commander
from filelock import FileLock
from standin import Behaviour, Standin, write_project

SIZES = {"train": 12, "val": 6, "test": 6}


@dataclass
class Project:
    config: Path
    out: Path
    standin: Standin

    def edit(self, **changes: Any) -> None:
        """Replace whole entries of the config."""
        self.config.write_text(yaml.safe_dump({**yaml.safe_load(self.config.read_text()), **changes}, sort_keys=False))

    def edit_rows(self, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        path = self.config.parent / "parcels.jsonl"
        rows = change([json.loads(line) for line in path.read_text().splitlines()])
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def edit_scorer(self, text: str) -> None:
        (self.config.parent / "scorer.py").write_text(text)


@pytest.fixture
def project(tmp_path: Path, standin: Standin) -> Project:
    return Project(write_project(tmp_path / "p", standin.api_base, budget={"rollouts": 60}, sizes=SIZES), tmp_path / "out", standin)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


def misspelt_key(project: Project) -> None:
    project.edit(budget={"rolouts": 60})


def unknown_placeholder(project: Project) -> None:
    project.edit(adapter={"system": "{instructions}", "user": "{qestion}"})


def missing_file(project: Project) -> None:
    project.edit(data={"path": "parcel.jsonl"})


def empty_data(project: Project) -> None:
    project.edit_rows(lambda rows: [])


def data_in_another_encoding(project: Project) -> None:
    (project.config.parent / "parcels.jsonl").write_text("[]", encoding="utf-16")


def data_in_a_folder(project: Project) -> None:
    project.edit(data={"path": "."})


def duplicate_ids(project: Project) -> None:
    project.edit_rows(lambda rows: [*rows, rows[3]])


def no_val_split(project: Project) -> None:
    project.edit_rows(lambda rows: [row for row in rows if row["split"] != "val"])


def unknown_scorer(project: Project) -> None:
    project.edit(scoring={"scorers": ["exat"]})


def scorer_that_raises(project: Project) -> None:
    project.edit_scorer("def codes(example, answer):\n    return example.expected['no such aspect']\n")


def label_that_there_is_not(project: Project) -> None:
    project.edit(adapter={"user": "{instructions} {question}", "answer": {"labels": ["yellow", "blue"]}}, scoring={"scorers": ["exact"]})
    project.edit_rows(lambda rows: [{**row, "expected": "yelow" if n == 3 else "blue"} for n, row in enumerate(rows)])


def negative_budget(project: Project) -> None:
    project.edit(budget={"rollouts": -60})


def unknown_model(project: Project) -> None:
    project.edit(models=[{"id": "small", "model": "local/smolm2"}])


def unknown_provider(project: Project) -> None:
    project.edit(models=[{"id": "small", "model": "opnai/gpt-x"}])


def model_that_the_provider_lacks(project: Project) -> None:
    project.standin.reset(Behaviour(faults={"unknown_model": 1.0}))


def corrupt_journal(project: Project) -> None:
    project.out.mkdir()
    (project.out / "journal.sqlite").write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)


@pytest.mark.parametrize(
    ("spoil", "code", "place", "way_out"),
    [
        (misspelt_key, 2, "config.yaml:30: budget.rolouts", "did you mean 'rollouts'?"),
        (unknown_placeholder, 2, "config.yaml:6: adapter: user: {qestion} is neither", "did you mean 'question'?"),
        (missing_file, 2, "config.yaml:19: data.path: ", "parcel.jsonl does not exist; did you mean 'parcels.jsonl'?"),
        (empty_data, 2, "config.yaml:19: data.path: ", "parcels.jsonl has no rows; write at least one example for train and one for val"),
        (data_in_another_encoding, 2, "config.yaml:19: data.path: ", "parcels.jsonl is written in UTF-16; save it as UTF-8"),
        (data_in_a_folder, 2, "config.yaml:19: data.path: ", "is a folder; name the data file in it"),
        (duplicate_ids, 2, "parcels.jsonl:25: the id 'train-1003' is that of", "give each its own"),
        (no_val_split, 2, "config.yaml:18: data: no row has the split val", "give the data shares"),
        (unknown_scorer, 2, "config.yaml:22: scoring.scorers.0: there is no scorer 'exat'", "did you mean 'exact'?"),
        (scorer_that_raises, 2, "parcels.jsonl:", "KeyError: 'no such aspect' (scorer.py, line 2)"),
        (label_that_there_is_not, 2, "config.yaml:6: adapter: the expected answer of example 'train-1003' (", "did you mean 'yellow'?"),
        (negative_budget, 2, "config.yaml:30: budget.rollouts", "must be at least 1"),
        (unknown_model, 2, "config.yaml:12: models.0.model", "did you mean 'local/smollm2'?"),
        (unknown_provider, 2, "config.yaml:12: models.0.model: LiteLLM knows no provider", "did you mean openai/…?"),
        (model_that_the_provider_lacks, 3, "openai/parcel-a", "The model does not exist"),
        (corrupt_journal, 2, "journal.sqlite", "--out"),
    ],
)
def test_bad_input(project: Project, command: Command, spoil: Callable[[Project], None], code: int, place: str, way_out: str) -> None:
    spoil(project)
    ran = command("run", project.config, "--out", project.out, "--no-progress")
    assert (ran.code, ran.out) == (code, ""), ran.err
    assert place in ran.err
    assert way_out in ran.err
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) == 1, ran.err


def test_a_second_writer(project: Project, command: Command) -> None:
    project.out.mkdir()
    with FileLock(project.out / "lock"):
        ran = command("run", project.config, "--out", project.out)
    assert (ran.code, ran.out) == (2, "")
    assert str(project.out) in ran.err
    assert "--out" in ran.err
    assert len(ran.err.splitlines()) == 1
