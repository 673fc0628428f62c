"""What the user's own code prints never stands among results."""

import json
from pathlib import Path

import pytest
from commands import Command, commander
from standin import Standin, write_project

SIZES = {"train": 20, "val": 10, "test": 10}
NOISE = "a word of the scorer's"
LOUD = f"""
import json

print("{NOISE}, when it is loaded")

def codes(example, answer):
    print("{NOISE}")
    try:
        given = json.loads(answer.text)
    except ValueError:
        given = {{}}
    return sum(given.get(name) == code for name, code in example.expected.items()) / len(example.expected)
"""


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


@pytest.fixture
def config(tmp_path: Path, standin: Standin) -> Path:
    path = write_project(tmp_path / "p", standin.api_base, budget={"rollouts": 80}, sizes=SIZES)
    (path.parent / "scorer.py").write_text(LOUD)
    return path


def test_a_scorer_that_prints_leaves_json_alone(tmp_path: Path, config: Path, command: Command) -> None:
    out, other, kept = tmp_path / "out", tmp_path / "other.txt", ("--out", tmp_path / "kept")
    other.write_text("Give the codes.")
    for arguments in (
        ("check", config),
        ("check", config, "--estimate", "--out", out),
        ("run", config, "--out", out),
        ("evaluate", config, *kept),
        ("compare", "seed", other, "--config", config, *kept),
    ):
        ran = command(*arguments, "--json")
        assert ran.code == 0 and json.loads(ran.out) and NOISE in ran.err, arguments


def test_nor_does_it_stand_among_lines_for_people(tmp_path: Path, config: Path, command: Command) -> None:
    for arguments in (("check", config), ("evaluate", config, "--out", tmp_path / "kept"), ("run", config, "--out", tmp_path / "out")):
        ran = command(*arguments)
        assert ran.code == 0 and NOISE in ran.err and NOISE not in ran.out, arguments
        assert bool(ran.out) is (arguments[0] != "run"), "a run's report is no data"
