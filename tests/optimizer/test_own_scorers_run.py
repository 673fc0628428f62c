"""Runs with scorers of users' own: one as short as the manual's, and those that do what no scorer may."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from commands import Command, commander
from standin import Standin, write_project

README = Path(__file__).parents[2] / "README.md"
SIZES = {"train": 6, "val": 8, "test": 4}
SCORERS = """
import math
from scoring.functions import scorer

def odd(example):
    return example.id.endswith("3")

def raising(example, answer):
    return 1 / (not odd(example))

class Panic(BaseException):
    pass

def panics(example, answer):
    if odd(example):
        raise Panic("half \\ud83d of it")
    return 0.5

def not_a_number(example, answer):
    return math.nan if odd(example) else 0.5

def seven(example, answer):
    return 7 if odd(example) else 0.5

def nothing(example, answer):
    return None if odd(example) else 0.5

async def later():
    return 0.5

def coroutine(example, answer):
    return later() if odd(example) else 0.5

def misspelt(example, answer):
    return {"words": 0.5, "linse" if odd(example) else "lines": 0.5}

@scorer(dimensions=["words", "lines"])
def declared(example, answer):
    return {"words": 0.5, "linse" if odd(example) else "lines": 0.5}
"""
TOLD = {
    "raising": r"it raised ZeroDivisionError: division by zero \(own\.py, line 9\)",
    "panics": r"it raised Panic: half \\ud83d of it \(own\.py, line 16\)",
    "not_a_number": r"it returned nan: nan is not in 0\.\.1",
    "seven": r"it returned 7: 7 is not in 0\.\.1",
    "nothing": r"it returned None: None is not a number",
    "coroutine": r"it returned <coroutine .*: nobody awaited it; write the function as `async def`",
    "misspelt": r"the dimension 'linse' is new; did you mean 'lines'\?",
    "declared": r"it returned .*: the dimension 'linse' is not declared; did you mean 'lines'\?",
}
PLACE = r"\([^()]*parcels\.jsonl:\d+\)"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


def project(folder: Path, standin: Standin, name: str, source: str = SCORERS, on_error: str = "stop") -> Path:
    scoring = {"scorers": [{"python": f"own.py:{name}"}], "on_error": on_error}
    budget = {"rollouts": 40}
    config = write_project(
        folder, standin.api_base, budget=budget, sizes=SIZES, scoring=scoring, failures={"max_share": 0.5}, random_seed=1, concurrency=3
    )
    (folder / "own.py").write_text(source)
    return config


def test_the_readmes_scorer_is_used_by_a_run(tmp_path: Path, standin: Standin, command: Command) -> None:
    (source,) = re.findall(r"```python\n(def brevity.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(source.splitlines()) <= 5
    ran = command("run", project(tmp_path, standin, "brevity", source), "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    assert list(json.loads(ran.out)["objectives"]) == ["a:brevity"]


@pytest.mark.parametrize("name", TOLD)
def test_what_no_scorer_may_do_ends_the_run_with_its_name_and_the_examples(
    name: str, tmp_path: Path, standin: Standin, command: Command
) -> None:
    config = project(tmp_path, standin, name)
    ran = command("run", config, "--out", tmp_path / "out")
    assert ran.code == 2 and re.search(rf"scorer '{name}', example 'train-1003' {PLACE}: {TOLD[name]}", ran.err), ran.err
    (tmp_path / "own.py").write_text(SCORERS.replace('endswith("3")', 'endswith("none")'))
    standin.reset()
    mended = command("run", config, "--out", tmp_path / "out", "--resume")
    assert mended.code == 0, mended.err


@pytest.mark.parametrize("name", TOLD)
def test_or_fails_the_cell_and_is_told_once(name: str, tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path, standin, name, on_error="fail_cell"), tmp_path / "out"
    ran = command("run", config, "--out", out, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["failed_cells"]["scorer_error"] >= 2 and "linse" not in str(result["objectives"])
    told = re.findall(rf"warning: scorer '{name}', example '[a-z]+-\d+3' {PLACE}: {TOLD[name]}", ran.err.replace("\n", " "))
    assert len(told) == 1, ran.err
    with closing(sqlite3.connect(out / "journal.sqlite")) as db:
        rows = db.execute("SELECT example, body ->> '$.problem' FROM cells WHERE failed IS NOT NULL").fetchall()
    assert rows and all(re.search(rf"scorer '{name}', example '{example}' {PLACE}: {TOLD[name]}", problem) for example, problem in rows)
    standin.reset()
    again = json.loads(command("run", config, "--out", out, "--json").out)
    assert {**again, "spent": None} == {**result, "spent": None} and standin.stats()["calls"] == {}
    assert command("replay", out).code == 0
