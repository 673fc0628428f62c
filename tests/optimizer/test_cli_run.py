"""run, resume and replay against the stand-in API, as their users meet them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Command, commander
from standin import Behaviour, Standin, write_project

from optimizer.run import GRACE

SIZES = {"train": 20, "val": 10, "test": 10}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


def project(folder: Path, standin: Standin, rollouts: int = 120, **changes: Any) -> Path:
    return write_project(folder, standin.api_base, budget={"rollouts": rollouts}, sizes=SIZES, **changes)


def calls_of(standin: Standin) -> int:
    return sum(standin.stats()["calls"].values())


def timeless(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((path / "result.json").read_text())
    content["spent"].pop("seconds")
    return content


def test_a_run_reports_on_stderr_and_is_continued_by_the_same_command(
    tmp_path: Path, standin: Standin, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project(tmp_path / "p", standin)
    ran = command("run", "p/config.yaml")
    out = tmp_path / "runs" / "parcel-run"
    assert (ran.code, ran.out) == (0, "")
    assert "searching: " in ran.err
    assert "Improved: +" in ran.err
    assert "test examples, never seen by the search." in ran.err
    assert ran.err.splitlines()[-1] == "finished: improved; files: runs/parcel-run/result.json, runs/parcel-run/best"
    assert (out / "best" / "instructions.txt").read_text() == timeless(out)["best"]["components"]["instructions"]
    calls, first = calls_of(standin), timeless(out)
    listed = json.loads(command("front", out, "--json").out)["candidates"]
    assert {each["id"]: each["objectives"] for each in listed} == {each["id"]: each["objectives"] for each in first["frontier"]}
    best = json.loads(command("show", out, "best", "--json").out)
    assert best["components"] == first["best"]["components"]
    assert {each["mean"] for each in best["scores"] if each["split"] == "test"} == {first["overall"]["best"]}
    told = json.loads(command("diff", out, "seed", "best", "--json").out)["scores"]
    assert [each["difference"] for each in told if each["split"] == "test"] == [pytest.approx(first["overall"]["difference"])]

    again = command("run", "p/config.yaml", "--json", "--no-progress")
    assert again.code == 0
    assert "searching" not in again.err
    told = json.loads(again.out)
    told["spent"].pop("seconds")
    assert told == first == timeless(out)
    assert calls_of(standin) == calls


def test_resume_goes_on_and_replay_confirms(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = project(tmp_path / "p", standin)
    out = tmp_path / "out"
    assert command("run", config, "--out", out, "--set", "budget.rollouts=80").code == 0
    assert command("run", config, "--out", out).code == 0
    more = timeless(out)
    assert more["spent"]["rollouts"] > 80
    resumed = command("resume", out, "--json")
    assert resumed.code == 0
    assert json.loads(resumed.out)["best"] == more["best"]

    calls = calls_of(standin)
    ran = command("replay", out)
    assert (ran.code, ran.out) == (0, "")
    assert "the same result" in ran.err
    assert json.loads(command("replay", out, "--json").out) == {"same": True, "differences": []}
    assert calls_of(standin) == calls


def test_a_finished_run_stays_as_it_is(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path / "p", standin, 80), tmp_path / "out"
    assert command("run", config, "--out", out).code == 0
    path = out / "result.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "spent": {**told["spent"], "seconds": 1234.5}}))  # a longer run than this one was
    kept, calls = path.read_bytes(), calls_of(standin)
    for again in (("resume", out), ("run", config, "--out", out)):
        ran = command(*again, "--json")
        assert ran.code == 0 and ran.err.startswith(f"{out}: this run is finished; ")
        assert path.read_bytes() == kept and json.loads(ran.out) == json.loads(kept)
        assert "scoring the seed" not in ran.err and "20 min 34 s" in ran.err and "finished: " in ran.err.splitlines()[-1]
    assert calls_of(standin) == calls
    more = command("run", config, "--out", out, "--set", "budget.rollouts=120")
    assert "searching" in more.err and "this run is finished" not in more.err and path.read_bytes() != kept


def test_a_spoilt_result_is_written_anew(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path / "p", standin, 80), tmp_path / "out"
    assert command("run", config, "--out", out).code == 0
    first = timeless(out)
    for spoilt in ("{", json.dumps({**first, "verdict": "perfect"})):
        (out / "result.json").write_text(spoilt)
        assert command("resume", out).code == 0
        assert timeless(out) == first


def test_replay_says_where_a_result_does_not_follow_from_the_journal(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = project(tmp_path / "p", standin, 80)
    out = tmp_path / "out"
    assert command("run", config, "--out", out).code == 0
    result = json.loads((out / "result.json").read_text())
    result["verdict"] = "worse"
    (out / "result.json").write_text(json.dumps(result))
    ran = command("replay", out, "--json")
    assert ran.code == 1
    assert json.loads(ran.out) == {"same": False, "differences": ["result.json: verdict differs"]}
    assert "the run came out differently:\nresult.json: verdict differs" in ran.err


def test_a_changed_config_needs_a_word(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = project(tmp_path / "p", standin, 80)
    out = tmp_path / "out"
    assert command("run", config, "--out", out).code == 0
    changed = command("run", config, "--out", out, "--set", "random_seed=1")
    assert changed.code == 2
    assert "random_seed" in changed.err
    assert "--resume" in changed.err
    assert command("run", config, "--out", out, "--set", "random_seed=1", "--resume").code == 0


def test_an_improvement_can_be_required(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = project(tmp_path / "p", standin, 80, world="null", seed={"instructions": "Answer {qestion}"})
    ran = command("run", config, "--out", tmp_path / "out", "--require-improvement")
    assert ran.code == 5
    assert ran.err.startswith("warning: component 'instructions': {qestion} stays as it is")
    assert "an improvement was required, and the verdict is: not distinguishable" in ran.err
    assert (tmp_path / "out" / "result.json").exists()


def begun(arguments: Sequence[object], folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "STANDIN_KEY": "stand-in-key"}
    words = [sys.executable, "-m", "optimizer", *map(str, arguments)]
    return subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(standin: Standin, requests: int, process: subprocess.Popen[str]) -> None:
    while calls_of(standin) < requests:
        assert process.poll() is None, "the run ended before it had called so often"
        time.sleep(0.05)


def test_an_interrupted_run_keeps_its_state_and_says_how_to_continue(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = project(tmp_path / "p", standin)
    assert command("run", config, "--out", tmp_path / "whole").code == 0
    standin.reset(Behaviour(latency=0.1))
    out = tmp_path / "out dir"
    process = begun(["run", config, "--out", out], tmp_path)
    wait_for(standin, 30, process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == ""
    assert "stopping: the calls under way are waited for" in stderr
    assert "interrupted: state kept in out dir; continue with: python -m optimizer resume 'out dir'" in stderr
    assert "Traceback" not in stderr
    assert not (out / "result.json").exists()

    standin.reset()
    paid = timeless(tmp_path / "whole")["spent"]["calls"]
    assert command("resume", out).code == 0
    assert timeless(out) == timeless(tmp_path / "whole")
    assert calls_of(standin) <= paid - 30


def test_a_second_signal_ends_it_there_and_then(tmp_path: Path, standin: Standin) -> None:
    standin.reset(Behaviour(latency=60.0))
    process = begun(["run", project(tmp_path / "p", standin), "--out", tmp_path / "out"], tmp_path)
    wait_for(standin, 1, process)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    assert any(line.startswith("stopping: ") for line in process.stderr)
    start = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert any("continue with: python -m optimizer resume" in line for line in process.stderr)
    assert time.monotonic() - start < GRACE / 2
    assert process.wait(timeout=60) == 130


def test_an_interruption_before_the_run_began(tmp_path: Path, standin: Standin, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("optimizer.cli.sitting.prepare", interrupted)
    ran = command("run", project(tmp_path / "p", standin), "--out", tmp_path / "out")
    assert (ran.code, ran.err) == (130, "interrupted before the run began\n")


def test_the_commands_that_go_on_need_a_run(tmp_path: Path, command: Command) -> None:
    for name in ("resume", "replay"):
        ran = command(name, tmp_path)
        assert ran.code == 2
        assert "no run directory" in ran.err
