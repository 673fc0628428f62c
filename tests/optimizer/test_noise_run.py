"""Whole runs with models that say something else each time: noise is found, met again, averaged, and told; and every promise holds."""

from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from statistics import fmean

import pytest
from standin import Behaviour, Standin, write_project
from test_run import SMALL, Watcher, but_for_time, replayed, sit, task_calls

from optimizer.build import prepare
from optimizer.configfile import load_config
from optimizer.errors import BudgetError
from optimizer.events import Diverged
from optimizer.journal import REPORTED, Journal
from optimizer.noise import PART, PROBES
from optimizer.plan import plan
from optimizer.schedule import FIRST

ROLLOUTS = 240
SAMPLED = "models.0.temperature=1"
"""The stand-in goes by the seed then, so its luck does not depend on the order of calls."""

PROBED = min(PROBES, (FIRST + FIRST // 2) // PART)
"""Cells of the seed that are filled twice before anything else."""


@pytest.fixture
def project(tmp_path: Path, standin: Standin) -> Path:
    return write_project(tmp_path / "project", standin.api_base, budget={"rollouts": ROLLOUTS}, sizes=SMALL, repeats="auto")


def scores(out: Path, candidate: str, split: str) -> dict[str, list[float]]:
    """Example → its repeats' scores."""
    found: dict[str, list[float]] = {}
    with closing(Journal.read(out)) as journal:
        for row in journal.cells(candidate, split):
            found.setdefault(row.example, []).append(row.body["values"]["codes"])
    return found


def repeats(out: Path, candidate: str) -> int:
    with closing(Journal.read(out)) as journal:
        return sum(row.repeat > 0 for row in journal.cells(candidate))


def test_the_report_averages_inside_an_example(project: Path, tmp_path: Path, standin: Standin) -> None:
    result = sit(project, tmp_path / "run", SAMPLED)
    assert result["best"]["id"] != result["seed"]["id"], "or this tests nothing"
    assert 0.05 < result["noise"]["a"]["share"] <= 1 and result["noise"]["a"]["n"] >= PROBED + 2 * SMALL["test"]
    varying = 0
    for side in ("seed", "best"):
        met = scores(tmp_path / "run", result[side]["id"], REPORTED)
        assert len(met) == SMALL["test"] and all(len(row) > 1 for row in met.values())
        assert result["overall"][side] == pytest.approx(fmean(map(fmean, met.values())))
        varying += sum(len(set(row)) > 1 for row in met.values())
    assert varying, "or there is nothing to average"
    assert result["overall"]["n"] == SMALL["test"], "the interval is over examples"
    assert task_calls(standin) == result["spent"]["rollouts"] <= ROLLOUTS


def test_concurrency_and_latency_change_nothing(project: Path, tmp_path: Path, standin: Standin) -> None:
    results = []
    for concurrency in (1, 12):
        standin.reset(Behaviour(latency=0.01 * (concurrency > 1), spread=1.0))
        results.append(sit(project, tmp_path / f"run-{concurrency}", SAMPLED, f"concurrency={concurrency}", "in_flight=3"))
    assert but_for_time(results[0]) == but_for_time(results[1])
    assert results[0]["noise"]


@pytest.mark.parametrize("fickle", [False, True])
def test_at_temperature_zero_a_repeat_is_asked_for_once_and_remembered(
    project: Path, tmp_path: Path, standin: Standin, fickle: bool
) -> None:
    standin.reset(Behaviour(fickle=fickle))
    first = sit(project, tmp_path / "run")
    stats = standin.stats()
    assert (first["noise"]["a"]["share"] > 0) is fickle
    asked_again = repeats(tmp_path / "run", first["seed"]["id"]) + repeats(tmp_path / "run", first["best"]["id"])
    assert stats["repeated"] >= asked_again >= PROBED if fickle else stats["repeated"] == asked_again == PROBED, (
        "real calls, and only where they tell"
    )
    standin.reset(Behaviour(fickle=fickle))
    assert but_for_time(sit(project, tmp_path / "run")) == but_for_time(first)
    assert replayed(project, tmp_path / "run") == []
    assert standin.stats()["calls"] == {}


def test_a_run_that_may_repeat_nothing_measures_nothing(project: Path, tmp_path: Path, standin: Standin) -> None:
    result = sit(project, tmp_path / "run", "repeats=1")
    assert "noise" not in result and standin.stats()["repeated"] == 0


def test_what_a_run_takes_at_least_is_told_before_it_begins(project: Path, tmp_path: Path, standin: Standin) -> None:
    loaded = load_config(project)
    least = plan(prepare(loaded.config, loaded.folder)).least
    with pytest.raises(BudgetError, match=f"may take {least}"):
        sit(project, tmp_path / "run", f"budget.rollouts={least - 1}")
    assert standin.stats()["calls"] == {}


@pytest.mark.parametrize("limit", [{"rollouts": 130}, {"calls": 200}, {"usd": 0.06}])
def test_no_limit_is_passed_by_repeats(tmp_path: Path, standin: Standin, limit: Mapping[str, float]) -> None:
    config = write_project(tmp_path / "project", standin.api_base, budget=limit, sizes=SMALL, repeats=4)
    cheap = [SAMPLED, "models.0.max_tokens=60", "proposers.reflection.max_tokens=300"]
    result = sit(config, tmp_path / "run", *cheap, *(["proposers.reflection.price={input: 0.01, output: 0.04}"] if "usd" in limit else []))
    ((name, most),) = limit.items()
    assert result["spent"][name] <= most
    assert result["spent"]["calls"] == sum(standin.stats()["calls"].values())


def test_a_larger_budget_goes_on_where_the_run_was(project: Path, tmp_path: Path, standin: Standin) -> None:
    watcher = Watcher()
    small = sit(project, tmp_path / "run", SAMPLED, "budget.rollouts=150")
    large = sit(project, tmp_path / "run", SAMPLED, "budget.rollouts=300", watcher=watcher)
    assert not [event for event in watcher.events if isinstance(event, Diverged)]
    assert small["spent"]["rollouts"] <= 150 < large["spent"]["rollouts"] <= 300
    assert task_calls(standin) == large["spent"]["rollouts"], "a former report stays spent, its repeats too"
    assert replayed(project, tmp_path / "run", SAMPLED, "budget.rollouts=300") == []


def test_what_has_met_everything_is_met_again(tmp_path: Path, standin: Standin) -> None:
    """Where there are few examples, a run does not end with its calls unspent. Nobody proposes anything here: it is about the seed."""
    sizes = {"train": 12, "val": 10, "test": 8}
    for often in (1, 3):
        config = write_project(
            tmp_path / f"project-{often}", standin.api_base, budget={"rollouts": 400}, sizes=sizes, repeats=often, in_flight=1
        )
        out = tmp_path / f"run-{often}"
        sit(config, out, SAMPLED, "proposers.reflection.model=openai/parcel-a")
        with closing(Journal.read(out)) as journal:
            met = Counter(row.repeat for each in journal.candidates() for row in journal.cells(each.id) if row.split != REPORTED)
        assert met == dict.fromkeys(range(often), 12 + 10)
