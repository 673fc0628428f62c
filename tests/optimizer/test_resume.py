"""A run that is started again with another budget: what is paid stays in the account, and no limit is passed."""

import re
from pathlib import Path
from typing import Any

import pytest
from standin import Behaviour, Standin, write_project
from test_run import Watcher, but_for_time, replayed, sit, task_calls

from optimizer.errors import BudgetError
from optimizer.events import Warned

SIZES = {"train": 20, "val": 12, "test": 24}


def made(standin: Standin) -> int:
    """Calls that the server has answered."""
    return sum(standin.stats()["calls"].values())


def begun(tmp_path: Path, standin: Standin, seed: int, **budget: float) -> tuple[Path, Path, dict[str, Any]]:
    """A config, the directory of a run that one of its limits has ended, and the result."""
    config = write_project(tmp_path / "project", standin.api_base, budget=budget, sizes=SIZES, random_seed=seed)
    result = sit(config, tmp_path / "run")
    assert result["stopped_by"] in budget, "or this tests nothing"
    return config, tmp_path / "run", result


@pytest.mark.parametrize("seed", [0, 3, 4])
@pytest.mark.parametrize("other", ["budget.minutes=60", "budget.calls=100000", "budget.calls=20"])
def test_a_limit_that_did_not_end_the_run_changes_nothing_in_it(tmp_path: Path, standin: Standin, seed: int, other: str) -> None:
    config, out, first = begun(tmp_path, standin, seed, rollouts=134)
    before, watcher = made(standin), Watcher()
    again = sit(config, out, other, watcher=watcher)
    assert but_for_time(again) == but_for_time(first) and made(standin) == before
    told = [event.message for event in watcher.events if isinstance(event, Warned)]
    assert any(f"has ended ({first['stopped_by']})" in each for each in told), told
    assert replayed(config, out, other) == []


@pytest.mark.parametrize("seed", [0, 3, 4])
@pytest.mark.parametrize("more", [0, 1, 10, 100])
def test_no_limit_on_calls_is_passed_when_it_is_raised(tmp_path: Path, standin: Standin, seed: int, more: int) -> None:
    config, out, first = begun(tmp_path, standin, seed, calls=150)
    with pytest.raises(BudgetError, match=r"budget\.calls: 151 leaves no room to go on: \d+ are spent") as told:
        sit(config, out, "budget.calls=151")
    limit = int(re.findall(r"to (\d+) at least", str(told.value))[0]) + more
    more_of_it = sit(config, out, f"budget.calls={limit}")
    assert made(standin) == more_of_it["spent"]["calls"] <= limit
    assert task_calls(standin) == more_of_it["spent"]["rollouts"] >= first["spent"]["rollouts"]
    assert more_of_it["overall"]["n"] == SIZES["test"], "the report is whole"
    assert replayed(config, out, f"budget.calls={limit}") == []


def test_the_limit_that_ends_a_run_again_is_the_one_that_is_named(tmp_path: Path, standin: Standin) -> None:
    """More rollouts, and calls for next to nothing: raised, it is those that let the run go on."""
    config, out, first = begun(tmp_path, standin, 0, rollouts=190)
    short = first["spent"]["calls"] + SIZES["test"] + 3
    assert sit(config, out, "budget.rollouts=400", f"budget.calls={short}")["stopped_by"] == "calls"
    further = sit(config, out, "budget.rollouts=400", f"budget.calls={short + 150}")
    assert further["spent"]["rollouts"] > first["spent"]["rollouts"] and made(standin) == further["spent"]["calls"] <= short + 150


def test_every_limit_has_to_have_room_where_one_is_raised(tmp_path: Path, standin: Standin) -> None:
    """It is the rollouts that leave no room for another report, and they are named, though it is the calls that have changed."""
    config, out, first = begun(tmp_path, standin, 0, calls=150, rollouts=150)
    stopped_by = first["stopped_by"]
    other = {"calls": "rollouts", "rollouts": "calls"}[stopped_by]
    before = made(standin)
    with pytest.raises(BudgetError, match=r"budget\.rollouts: \d+ leaves no room to go on"):
        sit(config, out, f"budget.{stopped_by}={153 if stopped_by == 'rollouts' else 200}")
    assert made(standin) == before
    assert but_for_time(sit(config, out)) == but_for_time(first)
    further = sit(config, out, f"budget.{stopped_by}=250", f"budget.{other}=250")
    assert made(standin) == further["spent"]["calls"] <= 250 and further["spent"]["rollouts"] > first["spent"]["rollouts"]


@pytest.mark.parametrize("seed", range(3))
def test_a_noisy_run_keeps_the_limit_that_it_asks_for(tmp_path: Path, standin: Standin, seed: int) -> None:
    """More of a larger limit may be set aside for repeats of the report: that must not cost what was searched."""
    sizes = {"train": 30, "val": 30, "test": 20}
    config = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 190}, sizes=sizes, random_seed=seed, repeats="auto")
    standin.reset(Behaviour(fickle=True))
    sit(config, tmp_path / "run")
    with pytest.raises(BudgetError) as told:
        sit(config, tmp_path / "run", "budget.rollouts=191")
    enough = re.findall(r"to (\d+) at least", str(told.value))[0]
    result = sit(config, tmp_path / "run", f"budget.rollouts={enough}")
    assert task_calls(standin) == result["spent"]["rollouts"] <= int(enough)
