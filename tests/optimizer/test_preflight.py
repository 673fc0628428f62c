"""`check --estimate`: a handful of the run's own first calls, and what they tell of it."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from commands import Command, commander
from sittings import rows, sit
from standin import Behaviour, Standin, running, write_project

from optimizer.preflight import AGAIN, HANDFUL
from optimizer.schedule import FIRST

SIZES = {"train": 24, "val": 16, "test": 10}


@pytest.fixture(scope="module")
def server() -> Iterator[Standin]:
    with running() as standin:
        yield standin


@pytest.fixture
def standin(server: Standin) -> Standin:
    server.reset()
    return server


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("STANDIN_KEY", "no key that anybody knows")
    return commander(capsys, monkeypatch)


def project(folder: Path, standin: Standin, **changes: Any) -> Path:
    budget = changes.pop("budget", {"rollouts": 150})
    return write_project(folder, standin.api_base, budget=budget, sizes=SIZES, **changes)


def estimate(command: Command, config: Path, out: Path, *more: str) -> dict[str, Any]:
    ran = command("check", config, "--estimate", "--out", out, "--json", *more)
    assert ran.code == 0, ran.err
    told: dict[str, Any] = json.loads(ran.out)["estimate"]
    return told


def test_the_run_uses_its_calls_and_pays_for_none_twice(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path / "a", standin, models=("a", "b")), tmp_path / "out"
    told = estimate(command, config, out)
    assert told["made"] == standin.stats()["calls"]["parcel-a"] + standin.stats()["calls"]["parcel-b"] == 2 * HANDFUL
    assert estimate(command, config, out)["made"] == 0, "a second look is free"
    result = sit(config, out)
    stats = standin.stats()
    assert stats["repeated"] == 0 and result["spent"]["calls"] == stats["distinct"]
    standin.reset()
    fresh = sit(config, tmp_path / "fresh")
    assert {**fresh, "spent": None} == {**result, "spent": None}, "it changes nothing in the run"


def test_what_is_expected(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path, standin), tmp_path / "out"
    told = estimate(command, config, out)
    (task,) = told["measured"]
    assert (task["role"], task["model"], task["calls"]) == ("task", "openai/parcel-a", HANDFUL)
    assert 0 < task["median"] <= task["p95"]
    ((tokens, usd),) = rows(out, "SELECT avg(input_tokens + output_tokens), avg(usd) FROM calls")
    assert task["tokens"] == pytest.approx(tokens) and task["usd"] == pytest.approx(usd)
    expected = told["expected"]
    seconds = expected["task"].pop("seconds")
    assert expected["task"] == {"calls": 150, "tokens": round(150 * tokens), "usd": pytest.approx(150 * usd)} and seconds > 0
    assert expected["reflection"]["calls"] > 3 and expected["reflection"]["usd"] is None, "unknown, not nothing"
    assert told["assumed"] and told["in_flight"] in (1, 2, 3, 4) and told["concurrency"] == 12 * told["in_flight"]
    assert told["seconds"]["1"] >= told["seconds"]["4"] > 0 and told["busy"] > told["seconds"]["1"] / 12


def test_a_run_that_has_begun_tells_of_its_proposals(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path, standin), tmp_path / "out"
    sit(config, out)
    standin.reset()
    told = estimate(command, config, out)
    assert (told["made"], told["assumed"], standin.stats()["calls"]) == (0, False, {})
    assert [each["role"] for each in told["measured"]] == ["task", "reflection"]
    assert told["expected"]["reflection"]["usd"] > 0
    assert json.loads((out / "result.json").read_text())["verdict"], "the run's result stays"


def test_another_width_may_begin_where_the_estimate_was(tmp_path: Path, standin: Standin, command: Command) -> None:
    """The advice can be taken: an estimate's directory is not yet that of a run."""
    config, out = project(tmp_path, standin), tmp_path / "out"
    estimate(command, config, out)
    standin.reset()
    sit(config, out, "in_flight=3")
    assert {"manifest.json", "result.json"} <= {path.name for path in out.iterdir()}
    with closing(sqlite3.connect(out / "journal.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM calls").fetchone()[0] == standin.stats()["distinct"] + HANDFUL
    ran = command("check", config, "--estimate", "--out", out)
    assert ran.code == 2 and "in_flight" in ran.err, "and then it is one"


RIGHT = "def right(example, answer):\n    return True\n"


def always_right(folder: Path, standin: Standin, **changes: Any) -> Path:
    config = project(folder, standin, scoring={"scorers": [{"python": "right.py:right"}]}, **changes)
    (folder / "right.py").write_text(RIGHT)
    return config


def test_what_the_run_can_show(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path, standin), tmp_path / "out"
    told = json.loads(command("check", config, "--estimate", "--out", out, "--json").out)
    assert told["run"] and told["advice"][-1].startswith("in_flight ")
    seen, batch = told["outlook"]["seen"], told["estimate"]["minibatch"]
    scores = [json.loads(body)["score"]["values"]["codes"] for (body,) in rows(out, "SELECT body FROM scores")]
    assert seen["n"] == HANDFUL and seen["mean"] == pytest.approx(sum(scores) / len(scores))
    assert 0 <= seen["low"] < seen["lost"] / HANDFUL <= seen["high"] + 1e-9 <= 1 + 1e-9 and 0 < batch["holds"] <= 1
    assert told["outlook"]["proof"] == {"split": "test", "n": 10, "groups": 10, "pieces": 10, "models": 1}
    assert "outlook" not in told["estimate"] and told["estimate"]["noise"] == {}


def test_a_seed_that_is_right_everywhere_is_looked_at_longer(tmp_path: Path, standin: Standin, command: Command) -> None:
    """On all that the run begins with, and no further; the run pays for nothing again, and is warned too."""
    config, out = always_right(tmp_path / "a", standin), tmp_path / "out"
    told = json.loads(command("check", config, "--estimate", "--out", out, "--json").out)
    first = min(FIRST, SIZES["train"]) + min(FIRST // 2, SIZES["val"])
    assert told["estimate"]["made"] == told["outlook"]["seen"]["n"] == first == standin.stats()["calls"]["parcel-a"]
    assert not told["run"] and told["advice"][0].startswith(f"do not run: the seed lost no point in {first} answers")
    ran = command("run", config, "--out", out, "--no-progress")
    assert f"warning: this run can show nothing: the seed lost no point in {first} answers" in ran.err
    assert standin.stats()["repeated"] == 0


def test_no_more_than_there_is_money_for(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = always_right(tmp_path, standin, budget={"rollouts": 150, "tokens": 15_000})
    told = estimate(command, config, tmp_path / "out")
    assert told["made"] == HANDFUL


def test_noise_is_measured_by_calls_that_the_run_makes_too(tmp_path: Path, standin: Standin, command: Command) -> None:
    standin.reset(Behaviour(fickle=True))
    config, out = project(tmp_path / "a", standin, repeats="auto"), tmp_path / "out"
    told = estimate(command, config, out)
    assert told["made"] == HANDFUL + AGAIN
    assert told["noise"]["a"]["n"] == AGAIN and 0 <= told["noise"]["a"]["share"] <= 1
    assert "noise: of what scores vary by, chance is " in command("check", config, "--estimate", "--out", out).out
    result = sit(config, out)
    ((calls,),) = rows(out, "SELECT count(*) FROM calls")
    assert result["spent"]["calls"] == calls == sum(standin.stats()["calls"].values()), "all of its calls are the run's"


def test_for_people(tmp_path: Path, standin: Standin, command: Command) -> None:
    out = tmp_path / "out"
    told = command("check", project(tmp_path, standin), "--estimate", "--out", out, "--set", "in_flight=1").out.replace("\n  ", " ")
    assert f"estimate: {HANDFUL} calls made now and kept in {out}, where the run uses them again" in told
    assert f"task, openai/parcel-a: {HANDFUL} calls answered, half of them within " in told
    assert "proposals: none made yet" in told and "more than 4 cost quality" in told
    assert "expected of task: 150 calls, " in told and "expected of reflection: " in told
    assert "advice: in_flight " in told
    assert "seed: loses points in " in told and "minibatch: of 20 train examples at random" in told
    assert "can be shown by 10 test examples: " in told and " one after the other" in told


def test_without_a_limit_on_rollouts_only_advice_is_given(tmp_path: Path, standin: Standin, command: Command) -> None:
    told = estimate(command, project(tmp_path, standin, budget={"minutes": 5}), tmp_path / "out")
    assert (told["seconds"], told["busy"], told["expected"]) == ({}, None, {}) and told["in_flight"] >= 1


def test_failures_are_told_and_tried_again_by_the_run(tmp_path: Path, standin: Standin, command: Command) -> None:
    config, out = project(tmp_path, standin), tmp_path / "out"
    standin.reset(Behaviour(plan=["ok", "server_error", "ok"]))
    told = estimate(command, config, out, "--set", "models.0.attempts=1")
    assert told["failed"] == {"server_error": 1} and told["made"] == HANDFUL - 1
    standin.reset(Behaviour(plan=["server_error"]))
    ran = command("check", config, "--estimate", "--out", out, "--set", "models.0.attempts=1")
    assert "of the seed's cells 1 failed with server_error; the run tries them again" in ran.out
    assert sit(config, out)["failed_cells"] == {}


def test_a_wrong_key_ends_it_as_it_ends_a_run(tmp_path: Path, standin: Standin, command: Command) -> None:
    standin.reset(Behaviour(key="another"))
    ran = command("check", project(tmp_path, standin), "--estimate", "--out", tmp_path / "out")
    assert ran.code == 3 and "out of reach" in ran.err


def test_nothing_answered_is_said(tmp_path: Path, standin: Standin, command: Command) -> None:
    standin.reset(Behaviour(faults={"context_length": 1.0}))
    ran = command("check", project(tmp_path, standin), "--estimate", "--out", tmp_path / "out")
    assert ran.code == 3 and "no call was answered (" in ran.err


def test_a_limit_holds(tmp_path: Path, standin: Standin, command: Command) -> None:
    config = project(tmp_path, standin, budget={"rollouts": 150, "usd": 1e-6})
    ran = command("check", config, "--estimate", "--out", tmp_path / "out")
    assert ran.code == 4 and "Raise budget.usd" in ran.err and standin.stats()["calls"] == {}


def test_a_directory_without_an_estimate_makes_no_sense(tmp_path: Path, standin: Standin, command: Command) -> None:
    ran = command("check", project(tmp_path, standin), "--out", tmp_path / "out")
    assert ran.code == 2 and "--estimate" in ran.err and not (tmp_path / "out").exists()
