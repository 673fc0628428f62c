"""Whole runs whose choice does not stand, and one without a test split."""

from pathlib import Path

import pytest
from commands import commander
from standin import Standin, write_project
from test_run import but_for_time, replayed, sit

SIZES = {"train": 20, "val": 60, "test": 12}
TURNED = """
def turned(example, answer):
    share = codes(example, answer)
    share, words = share if isinstance(share, tuple) else (share, "")
    return (1 - share if example.id.startswith("test") else share), words
"""
"""What is right on train and val is wrong on test: a search cannot know."""


@pytest.fixture
def project(tmp_path: Path, standin: Standin) -> Path:
    scoring = {"scorers": [{"python": "scorer.py:turned"}]}
    path = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 170}, sizes=SIZES, scoring=scoring)
    with (path.parent / "scorer.py").open("a") as scorer:
        scorer.write(TURNED)
    return path


def test_where_the_test_split_refutes_the_choice_best_holds_the_seed(
    project: Path, tmp_path: Path, standin: Standin, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command, out = commander(capsys, monkeypatch), tmp_path / "run"
    ran = command("run", project, "--out", out, "--no-progress", "--require-improvement")
    assert ran.code == 5 and "an improvement was required, and the verdict is: worse" in ran.err
    assert "\nWorse than the seed: -" in ran.err and "So the seed is kept, and best/ holds it." in ran.err
    result = sit(project, out)
    assert result["best"] == result["seed"] and result["refuted"]["id"] != result["seed"]["id"]
    assert result["refuted"]["against"] == ["overall"] and result["overall"]["high"] < 0
    assert (out / "best/instructions.txt").read_text() == result["seed"]["components"]["instructions"]
    assert command("show", out, "best").out.startswith(f"{result['seed']['id']}: the seed, best\n")
    assert replayed(project, out) == []


def test_without_a_test_split_the_report_is_made_where_the_choice_was_not(project: Path, tmp_path: Path, standin: Standin) -> None:
    rows = (project.parent / "parcels.jsonl").read_text().splitlines()
    (project.parent / "parcels.jsonl").write_text("".join(f"{row}\n" for row in rows if '"split": "test"' not in row))
    out = tmp_path / "run"
    first = sit(project, out, "budget.rollouts=200")
    assert (first["split"], first["correction"], first["look"]) == ("val", "fresh", None)
    assert first["overall"]["n"] >= 10 and first["overall"]["difference"] > 0 and first["spent"]["rollouts"] <= 200
    assert (out / "best/instructions.txt").read_text() == first["best"]["components"]["instructions"] != ""
    assert replayed(project, out, "budget.rollouts=200") == []
    again = sit(project, out, "budget.rollouts=240")
    assert again["spent"]["rollouts"] <= 240
    assert but_for_time(again) == but_for_time(sit(project, out, "budget.rollouts=240"))
