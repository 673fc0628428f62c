"""Whole runs against a stand-in API, through LiteLLM and HTTP: the promises I1 to I7 of the architecture."""

import asyncio
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from standin import Behaviour, Standin, write_project

from adapters.digest import canonical
from optimizer.build import prepare
from optimizer.cli.reading import read_run
from optimizer.configfile import load_config
from optimizer.errors import BudgetError, ConfigError, JournalError, LockedError, ProviderError
from optimizer.events import CellFilled, Diverged, Event, JobCommitted
from optimizer.journal import CLOSING, OPENED, REPORT_JOB, Journal
from optimizer.loop import LINES
from optimizer.order import OPENING, Order
from optimizer.preflight import preflight
from optimizer.run import replay, run
from optimizer.rundir import locked
from optimizer.schedule import BLOCK, FIRST

SMALL = {"train": 20, "val": 12, "test": 16}
ROLLOUTS = 160


@dataclass
class Watcher:
    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    @property
    def jobs(self) -> list[JobCommitted]:
        return [event for event in self.events if isinstance(event, JobCommitted)]


def sit(config: Path, out: Path, *overrides: str, watcher: Watcher | None = None, allow_changes: bool = False) -> dict[str, Any]:
    """One sitting, in this process."""
    loaded = load_config(config, overrides)
    return asyncio.run(run(prepare(loaded.config, loaded.folder), out, watcher or Watcher(), allow_changes=allow_changes))


def replayed(config: Path, out: Path, *overrides: str) -> list[str]:
    loaded = load_config(config, overrides)
    return asyncio.run(replay(prepare(loaded.config, loaded.folder), out))


def but_for_time(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, "spent": {**result["spent"], "seconds": None}}


def committed(out: Path) -> dict[int, str]:
    with closing(Journal.read(out)) as journal:
        return {job: canonical(body) for job, _, body in journal.decisions("commit") if job < REPORT_JOB}


def task_calls(standin: Standin) -> int:
    return sum(n for model, n in standin.stats()["calls"].items() if not model.endswith("-reflect"))


@pytest.fixture
def project(tmp_path: Path, standin: Standin) -> Path:
    return write_project(tmp_path / "project", standin.api_base, budget={"rollouts": ROLLOUTS}, sizes=SMALL)


def test_a_run_finds_a_better_prompt_and_says_by_how_much(project: Path, tmp_path: Path, standin: Standin) -> None:
    watcher = Watcher()
    result = sit(project, tmp_path / "run", watcher=watcher)
    assert list(result) == [
        "verdict", "split", "stopped_by", "seed", "best", "refuted", "best_by", "unproven", "overall", "objectives", "models",
        "lower_is_better", "constraints", "floors", "best_per_model", "frontier", "spent", "failed_cells", "look", "correction",
        "overlap",
    ]  # fmt: skip
    assert list(result["overall"]) == ["seed", "best", "difference", "low", "high", "relative", "n", "p", "p_error", "p_holm"]
    assert list(result["spent"]) == ["rollouts", "calls", "cached", "input_tokens", "output_tokens", "usd", "seconds"]
    assert result["verdict"] == "improved" and result["split"] == "test" and result["stopped_by"] == "rollouts"
    assert result["overall"]["low"] > 0 and result["overall"]["n"] == SMALL["test"]
    assert list(result["objectives"]) == ["a:codes"] and result["failed_cells"] == {}
    assert result["best"]["id"] != result["seed"]["id"] and result["best"]["id"] in [each["id"] for each in result["frontier"]]
    assert (tmp_path / "run/best/instructions.txt").read_text() == result["best"]["components"]["instructions"]
    assert json.loads((tmp_path / "run/result.json").read_text()) == result
    # The budget is a cap on what the server saw, and the result says what was used.
    assert task_calls(standin) == result["spent"]["rollouts"] <= ROLLOUTS
    assert result["spent"]["calls"] == sum(standin.stats()["calls"].values())
    assert any(job.outcome == "proposed" for job in watcher.jobs)


def test_a_finished_run_is_derived_again_for_nothing(project: Path, tmp_path: Path, standin: Standin) -> None:
    first = sit(project, tmp_path / "run")
    standin.reset()
    again = sit(project, tmp_path / "run")
    assert but_for_time(again) == but_for_time(first)
    assert replayed(project, tmp_path / "run") == []
    assert standin.stats()["calls"] == {}


def test_replay_tells_where_a_changed_record_leads_elsewhere(project: Path, tmp_path: Path) -> None:
    sit(project, tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run/journal.sqlite")) as db, db:
        db.execute("UPDATE decisions SET body = '{}' WHERE job = 1")
    assert any("job 1" in told for told in replayed(project, tmp_path / "run"))


def test_concurrency_and_latency_change_nothing(project: Path, tmp_path: Path, standin: Standin) -> None:
    results = []
    for concurrency, reflecting, spread in ((1, 0.0, 0.0), (3, 0.01, 1.0), (16, 0.3, 1.0)):
        standin.reset(Behaviour(0.01 * (concurrency > 1), reflecting, spread))
        results.append(sit(project, tmp_path / f"run-{concurrency}", f"concurrency={concurrency}", "in_flight=3"))
        assert standin.stats()["peak"] <= concurrency
    assert but_for_time(results[0]) == but_for_time(results[1]) == but_for_time(results[2])


@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_larger_budget_goes_on_where_the_run_was(project: Path, tmp_path: Path, standin: Standin, in_flight: int) -> None:
    """Nothing of the search is thrown away, and the limit counts all that was ever paid for."""
    width, watcher = f"in_flight={in_flight}", Watcher()
    small = sit(project, tmp_path / "run", "budget.rollouts=130", width)
    before = committed(tmp_path / "run")
    large = sit(project, tmp_path / "run", "budget.rollouts=220", width, watcher=watcher)
    assert small["spent"]["rollouts"] <= 130 < large["spent"]["rollouts"] <= 220
    assert not [event for event in watcher.events if isinstance(event, Diverged)]
    assert before.items() <= committed(tmp_path / "run").items() and len(before) > OPENING
    assert task_calls(standin) == large["spent"]["rollouts"] <= 220, "a former report stays spent"
    assert sum(standin.stats()["calls"].values()) == large["spent"]["calls"]
    for concurrency in ("concurrency=16", "concurrency=5"):
        again = sit(project, tmp_path / "run", "budget.rollouts=220", width, concurrency)
        assert but_for_time(again) == but_for_time(large)
    assert replayed(project, tmp_path / "run", "budget.rollouts=220", width) == []


def test_a_budget_with_no_room_for_another_report_is_refused_and_the_next_larger_one_is_kept(tmp_path: Path, standin: Standin) -> None:
    """With less than that, blocks that were paid for would be in no account, and the limit would be passed."""
    sizes = {"train": 20, "val": 12, "test": 24}
    config, out = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 134}, sizes=sizes), tmp_path / "run"
    first = sit(config, out, "random_seed=4")
    with pytest.raises(BudgetError, match=r"rollouts: 136 leaves no room to go on: \d+ are spent.* Raise it to \d+ at least") as told:
        sit(config, out, "random_seed=4", "budget.rollouts=136")
    assert but_for_time(sit(config, out, "random_seed=4")) == but_for_time(first), "nothing has changed"
    enough = re.findall(r"to (\d+) at least", str(told.value))[0]
    more = sit(config, out, "random_seed=4", f"budget.rollouts={enough}")
    assert task_calls(standin) == more["spent"]["rollouts"] <= int(enough)


def test_a_changed_config_is_another_run(project: Path, tmp_path: Path, standin: Standin) -> None:
    sit(project, tmp_path / "run")
    with pytest.raises(JournalError, match=r"random_seed.*--resume"):
        sit(project, tmp_path / "run", "random_seed=1")
    standin.reset()
    changed = sit(project, tmp_path / "run", "random_seed=1", allow_changes=True)
    reused = changed["spent"]["calls"] - sum(standin.stats()["calls"].values())
    assert reused >= SMALL["val"], "the seed's val answers were paid for already"
    other = sit(project, tmp_path / "other", "random_seed=1")
    assert but_for_time({**changed, "look": 1}) == but_for_time(other), "only the test split was opened before, for another best"


def test_only_one_writer(project: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "run"), pytest.raises(LockedError, match="in use by another run"):
        sit(project, tmp_path / "run")


@pytest.mark.parametrize("limit", [{"calls": 90}, {"tokens": 12_000}, {"usd": 0.012}, {"rollouts": 100}])
def test_no_limit_is_ever_passed(tmp_path: Path, standin: Standin, limit: dict[str, float]) -> None:
    config = write_project(tmp_path / "project", standin.api_base, budget=limit, sizes=SMALL)
    endpoint = {"model": "openai/parcel-reflect", "api_base": standin.api_base, "api_key_env": "STANDIN_KEY", "max_tokens": 300}
    overrides = [f"proposers.reflection.{key}={value}" for key, value in endpoint.items()]
    if "usd" in limit or "tokens" in limit:
        overrides += ["models.a.max_tokens=60", "proposers.reflection.price={input: 0.01, output: 0.04}", "in_flight=1"]
    try:
        result = sit(config, tmp_path / "run", *overrides)
    except BudgetError as error:
        name = next(iter(limit))
        assert name in str(error), "said before the first call, with the limit's name"
        assert sum(standin.stats()["calls"].values()) == 0
        return
    spent = result["spent"]
    spent["tokens"] = spent["input_tokens"] + spent["output_tokens"]
    ((name, most),) = limit.items()
    assert spent[name] <= most and result["stopped_by"] == name
    assert spent["calls"] == sum(standin.stats()["calls"].values())


def test_a_budget_too_small_to_compare_anything_costs_nothing(project: Path, tmp_path: Path, standin: Standin) -> None:
    seed = min(FIRST, SMALL["train"]) + min(FIRST // 2, SMALL["val"])
    least = seed + BLOCK + 2 * SMALL["test"]
    with pytest.raises(BudgetError, match=rf"rollouts would come before the first comparison.*may take {least}\. Raise budget\.rollouts"):
        sit(project, tmp_path / "run", "budget.rollouts=60")
    assert standin.stats()["calls"] == {}


@pytest.mark.parametrize("sizes", [SMALL, {"train": 3, "val": 3, "test": 3}])
def test_the_least_budget_is_enough_for_a_comparison(tmp_path: Path, standin: Standin, sizes: dict[str, int]) -> None:
    seed = min(FIRST, sizes["train"]) + min(FIRST // 2, sizes["val"])
    least = seed + min(BLOCK, seed) + 2 * sizes["test"]
    config = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": least}, sizes=sizes)
    result = sit(config, tmp_path / "run")
    assert seed < result["spent"]["rollouts"] == task_calls(standin) <= least


def test_a_budget_too_small_for_a_proposal_costs_nothing(project: Path, tmp_path: Path, standin: Standin) -> None:
    """Proposals are long: the seed would be paid for in vain."""
    with pytest.raises(
        BudgetError, match=r"limit on tokens .* one proposal by reflection, .* may take [\d,]+\. Raise budget\.tokens"
    ) as told:
        sit(project, tmp_path / "run", "budget.rollouts=null", "budget.tokens=150000")
    assert standin.stats()["calls"] == {}
    enough = re.findall(r"may take ([\d,]+)", str(told.value))[0].replace(",", "")
    result = sit(project, tmp_path / "run", "budget.rollouts=null", f"budget.tokens={enough}")
    assert result["spent"]["input_tokens"] + result["spent"]["output_tokens"] <= int(enough)


def test_an_unknown_price_is_an_error_where_money_is_limited(project: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"models\.0\.model: the price of openai/parcel-a is not known"):
        sit(project, tmp_path / "run", "budget.usd=1", "models.a.price=null")


def test_time_that_is_up_ends_the_run_and_its_replay_alike(
    project: Path, tmp_path: Path, standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that goes by jobs: how far a run comes in a second says more of the machine than of the code."""
    monkeypatch.setattr(Journal, "seconds", lambda journal: 10.0 * len(journal.decisions("commit")))
    result = sit(project, tmp_path / "run", "budget.minutes=2")
    assert result["stopped_by"] == "minutes"
    assert replayed(project, tmp_path / "run", "budget.minutes=2") == []


def test_transient_faults_leave_no_zero(project: Path, tmp_path: Path, standin: Standin) -> None:
    calm = sit(project, tmp_path / "calm")
    standin.reset(Behaviour(faults={"rate_limit": 0.1, "server_error": 0.1}, retry_after="0.01"))
    assert but_for_time(sit(project, tmp_path / "stormy")) == but_for_time(calm)


def test_a_failed_call_is_a_missing_cell_and_not_a_zero(project: Path, tmp_path: Path, standin: Standin) -> None:
    standin.reset(Behaviour(faults={"server_error": 0.1}))
    overrides = ("models.a.attempts=1", "proposers.reflection.attempts=1", "failures.max_share=0.5")
    result = sit(project, tmp_path / "run", *overrides)
    assert result["failed_cells"].keys() == {"server_error"}
    with closing(Journal.read(tmp_path / "run")) as journal:
        rows = [row for split in ("val", "train", "test") for c in journal.candidates() for row in journal.cells(c.id, split)]
    failed = [row for row in rows if row.failed]
    assert len(failed) == result["failed_cells"]["server_error"]
    assert all("values" not in row.body for row in failed) and all("values" in row.body for row in rows if not row.failed)
    assert result["overall"]["n"] == 16 - len({row.example for row in failed if row.split == "test"})
    assert replayed(project, tmp_path / "run", *overrides) == []


def test_a_provider_that_is_down_stops_the_run_and_can_be_waited_for(project: Path, tmp_path: Path, standin: Standin) -> None:
    calm = sit(project, tmp_path / "calm")
    standin.reset(Behaviour(faults={"server_error": 1.0}))
    with pytest.raises(ProviderError, match=r"out of reach.*server_error"):
        sit(project, tmp_path / "run", "models.a.attempts=2")
    standin.reset()
    assert but_for_time(sit(project, tmp_path / "run")) == but_for_time(calm)


def test_too_many_failed_cells_stop_the_run(project: Path, tmp_path: Path, standin: Standin) -> None:
    standin.reset(Behaviour(faults={"server_error": 0.5}))
    with pytest.raises(ProviderError, match=r"cells failed \(\d+ with server_error\).*run the same command"):
        sit(project, tmp_path / "run", "models.a.attempts=1")
    standin.reset()
    assert sit(project, tmp_path / "run", "models.a.attempts=1")["failed_cells"] == {}


def test_a_reflection_model_that_refuses_its_key_stops_the_run(project: Path, tmp_path: Path, standin: Standin) -> None:
    standin.reset(Behaviour(key="stand-in-key"))
    os.environ["OTHER_KEY"] = "not-the-key-at-all"
    try:
        with pytest.raises(ProviderError, match=r"parcel-reflect is out of reach.*auth") as told:
            sit(project, tmp_path / "run", "proposers.reflection.api_key_env=OTHER_KEY")
    finally:
        del os.environ["OTHER_KEY"]
    assert "not-the-key-at-all" not in str(told.value)
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or b"stand-in-key" not in path.read_bytes()


def test_content_failures_are_scored(project: Path, tmp_path: Path, standin: Standin) -> None:
    standin.reset(Behaviour(faults={"refused": 0.2, "truncated": 0.1}))
    result = sit(project, tmp_path / "run", "proposers.reflection.attempts=1")
    assert result["failed_cells"] == {} and result["overall"]["n"] == SMALL["test"]


def test_the_test_split_is_opened_once_and_the_journal_says_so(project: Path, tmp_path: Path) -> None:
    result = sit(project, tmp_path / "run")
    with closing(Journal.read(tmp_path / "run")) as journal:
        opened = [kind for job, kind, _ in journal.decisions() if job == REPORT_JOB and kind.startswith(OPENED)]
        assert opened == [OPENED + result["best"]["id"]]
        met = {c.id for c in journal.candidates() if any(row.split == "test" for row in journal.cells(c.id))}
    assert met == {result["seed"]["id"], result["best"]["id"]}


def test_without_a_test_split_the_report_is_on_val(tmp_path: Path, standin: Standin) -> None:
    config = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 100}, sizes={"train": 20, "val": 12})
    result = sit(config, tmp_path / "run")
    assert result["split"] == "val" and result["overall"]["n"] == 12
    assert task_calls(standin) == result["spent"]["rollouts"] <= 100


def test_several_models_have_an_objective_each(tmp_path: Path, standin: Standin) -> None:
    config = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 400}, sizes=SMALL, models=("a", "b", "c"))
    result = sit(config, tmp_path / "run")
    assert list(result["objectives"]) == ["a:codes", "b:codes", "c:codes"]
    mean = sum(each["difference"] for each in result["objectives"].values()) / 3
    assert result["overall"]["difference"] == pytest.approx(mean)
    assert all(set(each["objectives"]) == set(result["objectives"]) for each in result["frontier"])


def test_progress_is_told_in_order(project: Path, tmp_path: Path) -> None:
    watcher = Watcher()
    sit(project, tmp_path / "run", watcher=watcher)
    with closing(Journal.read(tmp_path / "run")) as journal:
        ended = [job for job, _, _ in journal.decisions(CLOSING)]
    told = [job.index for job in watcher.jobs]
    order = Order(load_config(project).config.in_flight)
    places = [order.place(job.index, job.proposer != LINES) for job in watcher.jobs if job.index not in ended]
    assert places == sorted(places) and len(set(places)) == len(places) > OPENING
    assert told[len(places) :] == ended == sorted(ended)
    rollouts = [event.spent.rollouts for event in watcher.events if isinstance(event, CellFilled)]
    assert rollouts == sorted(rollouts) and rollouts[-1] <= ROLLOUTS


def command(config: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "optimizer", "run", str(config), "--out", str(out), "--no-progress"]


def start(config: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command(config, out), stderr=subprocess.PIPE)


def finish(config: Path, out: Path) -> None:
    done = subprocess.run(command(config, out), stderr=subprocess.PIPE, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_killed_at_any_moment_it_arrives_at_the_same_result(project: Path, tmp_path: Path, standin: Standin) -> None:
    """kill -9, again and again; no call is paid for twice but those that were in flight at a kill."""
    straight = sit(project, tmp_path / "straight")
    standin.reset(Behaviour(latency=0.04, reflect_latency=0.3, spread=0.5))
    out, draw, kills, running = tmp_path / "run", random.Random(3), 0, True
    while running and kills < 6:
        before = task_calls(standin)
        process = start(project, out)
        while task_calls(standin) == before and process.poll() is None:
            time.sleep(0.02)  # the program starts up before it calls
        time.sleep(draw.uniform(0.05, 0.4))
        running = process.poll() is None
        process.kill()
        process.communicate()
        kills += 1
    finish(project, out)
    assert but_for_time(json.loads((out / "result.json").read_text())) == but_for_time(straight)
    stats = standin.stats()
    assert stats["repeated"] + stats["abandoned"] <= 16 * kills
    assert kills >= 3
    assert replayed(project, out) == []


def test_ctrl_c_keeps_what_is_paid_for_and_says_how_to_go_on(project: Path, tmp_path: Path, standin: Standin) -> None:
    straight = sit(project, tmp_path / "straight")
    standin.reset(Behaviour(latency=0.1))
    process = start(project, tmp_path / "run")
    while task_calls(standin) < 20 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert b"continue with: python -m optimizer resume" in told
    standin_before = standin.stats()
    assert standin_before["abandoned"] == 0, "calls under way were waited for"
    finish(project, tmp_path / "run")
    assert but_for_time(json.loads((tmp_path / "run/result.json").read_text())) == but_for_time(straight)
    assert standin.stats()["repeated"] == 0


def test_a_replay_says_what_has_changed_since(project: Path, tmp_path: Path) -> None:
    sit(project, tmp_path / "run")
    with (project.parent / "scorer.py").open("a") as scorer:
        scorer.write("# edited\n")
    with pytest.raises(JournalError, match=r"has changed since \(the scorers\)"):
        replayed(project, tmp_path / "run")


def test_a_run_of_an_older_version_is_told_as_such(project: Path, tmp_path: Path) -> None:
    """And not as one with another config, which its missing fields look like."""
    sit(project, tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run/journal.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = '1'")
        db.execute("UPDATE decisions SET body = json_remove(body, '$.deviations')")
    kept = json.loads((tmp_path / "run/manifest.json").read_text())
    del kept["config"]["repeats"]
    (tmp_path / "run/manifest.json").write_text(json.dumps(kept))
    loaded = load_config(project, ())
    for way in (
        lambda: sit(project, tmp_path / "run"),
        lambda: sit(project, tmp_path / "run", allow_changes=True),
        lambda: read_run(tmp_path / "run"),
        lambda: asyncio.run(preflight(prepare(loaded.config, loaded.folder), tmp_path / "run")),
    ):
        with pytest.raises(JournalError, match=r"journal format 1; .* reads format 3.*--out"):
            way()
