"""`evaluate`: any prompt on any split, against the stand-in API."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from commands import Command, Ran, commander
from sittings import rows
from standin import Behaviour, Standin, write_project

from scoring import average

SIZES = {"train": 10, "val": 16, "test": 8}
BETTER = "Give the codes that are asked for, as one JSON object.\nrule-zone\nrule-grade\nrule-colour"


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.txt").write_text(BETTER)
    return commander(capsys, monkeypatch)


def project(standin: Standin, **changes: Any) -> str:
    budget = changes.pop("budget", {"rollouts": 150})
    return str(write_project(Path(), standin.api_base, budget=budget, sizes=changes.pop("sizes", SIZES), **changes))


def data(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    told: dict[str, Any] = json.loads(ran.out)
    return told


def calls(standin: Standin) -> int:
    return sum(standin.stats()["calls"].values())


def scores(split: str, model: str = "a", folder: str = "evaluations/parcel-run") -> dict[str, list[float]]:
    """Example → the scores of its repeats, as the journal holds them."""
    found: dict[str, list[float]] = {}
    query = (
        f"SELECT example, json_extract(body, '$.values.codes') FROM cells WHERE split = '{split}' AND model = '{model}' AND failed IS NULL"
    )
    for example, value in rows(Path(folder), query):
        found.setdefault(example, []).append(value)
    return found


def test_means_and_intervals_are_those_of_the_cells(standin: Standin, command: Command) -> None:
    told = data(command("evaluate", project(standin, models=("a", "b")), "--candidate", "new.txt", "--json"))
    assert told["candidate"]["components"] == {"instructions": BETTER}
    assert (told["split"], told["examples"], told["repeats"], told["look"]) == ("val", {"met": 16, "of": 16}, 1, None)
    for model in ("a", "b"):
        found = average([fmean(each) for each in scores("val", model).values()], rng_seed=0)
        assert told["objectives"][f"{model}:codes"] == told["models"][model] == pytest.approx(vars(found))
        assert found.low is not None and found.mean is not None and found.high is not None
        assert found.low < found.mean < found.high
    both = [fmean(pair[0] for pair in each) for each in zip(scores("val", "a").values(), scores("val", "b").values(), strict=True)]
    assert told["overall"]["mean"] == pytest.approx(fmean(both)) and told["overall"]["n"] == 16
    assert told["spent"]["rollouts"] == told["made"] == 32 and told["spent"]["usd"] > 0 and told["failed_cells"] == {}


def test_the_same_again_costs_nothing(standin: Standin, command: Command) -> None:
    config = project(standin)
    first = data(command("evaluate", config, "--json"))
    assert calls(standin) == first["made"] == 16
    again = data(command("evaluate", config, "--json"))
    assert calls(standin) == 16 and again["made"] == 0 and again["spent"]["calls"] == 16
    for each in (first, again):
        del each["made"], each["spent"]["seconds"]
    assert first == again


def test_a_config_that_changed_uses_what_still_fits(standin: Standin, command: Command) -> None:
    config = project(standin)
    command("evaluate", config, "--candidate", "new.txt", "--split", "test")
    assert scores("test")
    again = data(command("evaluate", config, "--candidate", "new.txt", "--split", "test", "--json", "--set", "seed.instructions=Another."))
    assert again["made"] == 0 and again["look"] == 1 and len(scores("test")) == 8
    data(command("evaluate", config, "--json", "--set", "seed.instructions=Another."))
    assert set(scores("val")) | set(scores("test")) and len(rows(Path("evaluations/parcel-run"), "SELECT * FROM candidates")) == 2


def test_repeats_are_averaged_inside_an_example(standin: Standin, command: Command) -> None:
    told = data(
        command("evaluate", project(standin), "--candidate", "new.txt", "--repeats", "3", "--json", "--set", "models.a.temperature=1")
    )
    found = scores("val")
    assert {len(each) for each in found.values()} == {3} and any(len(set(each)) > 1 for each in found.values())
    assert told["overall"] == pytest.approx(vars(average([fmean(each) for each in found.values()], rng_seed=0)))
    assert told["overall"]["n"] == 16 and told["spent"]["rollouts"] == 48


def test_some_of_the_models(standin: Standin, command: Command) -> None:
    config = project(standin, models=("a", "b", "c"))
    told = data(command("evaluate", config, "--models", "c, a", "--json"))
    assert list(told["objectives"]) == ["a:codes", "c:codes"] and set(standin.stats()["calls"]) == {"parcel-a", "parcel-c"}
    ran = command("evaluate", config, "--models", "d")
    assert ran.code == 2 and "no model has the id 'd'; there is a, b, c" in ran.err


def test_groups_widen_intervals(standin: Standin, command: Command) -> None:
    """Sixteen examples in three groups tell less than sixteen that stand alone."""
    config = Path(project(standin))
    alone = data(command("evaluate", config, "--candidate", "new.txt", "--json"))["overall"]
    made = [json.loads(line) for line in Path("parcels.jsonl").read_text().splitlines()]
    grouped = [{**row, "group": f"{row['split']}-{index % 3}"} for index, row in enumerate(made)]
    Path("parcels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grouped))
    told = data(command("evaluate", config, "--candidate", "new.txt", "--json"))["overall"]
    assert told["mean"] == alone["mean"] and told["n"] == 16
    assert told["high"] - told["low"] > 1.2 * (alone["high"] - alone["low"])


def test_a_look_at_test_is_asked_for_labelled_and_counted(standin: Standin, command: Command) -> None:
    config = project(standin)
    ran = command("evaluate", config, "--candidate", "new.txt", "--split", "test", "--json")
    told = data(ran)
    assert told["look"] == 1 and told["overall"]["n"] == 8 and len(scores("test")) == 8
    assert "a look at the sealed test split by hand (look 1)" in ran.err and "does not know of it" in ran.err
    assert data(command("evaluate", config, "--split", "test", "--json"))["look"] == 1, "the seed is none of its own"
    Path("newer.txt").write_text(BETTER + "\nrule-shelf")
    assert data(command("evaluate", config, "--candidate", "newer.txt", "--split", "test", "--json"))["look"] == 2
    noted = rows(Path("evaluations/parcel-run"), "SELECT kind FROM decisions WHERE kind LIKE 'test opened for %'")
    assert len(noted) == 3


def test_looks_of_the_configs_run_count(standin: Standin, command: Command) -> None:
    config = project(standin)
    assert command("run", config, "--no-progress").code == 0
    result = json.loads(Path("runs/parcel-run/result.json").read_text())
    assert result["look"] == 1 and result["best"]["id"] != result["seed"]["id"]
    best = data(command("evaluate", config, "--candidate", "runs/parcel-run/best", "--split", "test", "--json"))
    assert best["candidate"]["id"] == result["best"]["id"] and best["look"] == 1
    assert best["overall"]["mean"] == pytest.approx(result["overall"]["best"]), "the stand-in is exact, and so are the report and this"
    assert data(command("evaluate", config, "--candidate", "new.txt", "--split", "test", "--json"))["look"] == 2


def test_without_a_test_split(standin: Standin, command: Command) -> None:
    ran = command("evaluate", project(standin, sizes={"train": 4, "val": 4}), "--split", "test")
    assert ran.code == 2 and "the data has no test split" in ran.err and calls(standin) == 0


def test_train_may_be_looked_at(standin: Standin, command: Command) -> None:
    assert data(command("evaluate", project(standin), "--split", "train", "--json"))["overall"]["n"] == 10


@pytest.mark.parametrize("budget", [{"rollouts": 5}, {"calls": 5}, {"usd": 0.0047}, {"tokens": 1400}])
def test_a_limit_is_a_limit(standin: Standin, command: Command, budget: dict[str, float]) -> None:
    (limit,) = budget
    ran = command("evaluate", project(standin, budget=budget), "--json")
    told = data(ran)
    met = told["examples"]["met"]
    spent = {**told["spent"], "tokens": told["spent"]["input_tokens"] + told["spent"]["output_tokens"]}
    assert 0 < met == told["overall"]["n"] == calls(standin) < 16 and spent[limit] <= budget[limit]
    assert f"the limit on {limit} ended the evaluation after {met} of 16 examples" in ran.err


@pytest.mark.parametrize("budget", [{"usd": 1e-9}, {"minutes": 1e-9}])
def test_a_limit_that_allows_nothing(standin: Standin, command: Command, budget: dict[str, float]) -> None:
    (limit,) = budget
    ran = command("evaluate", project(standin, budget=budget))
    assert ran.code == 4 and f"the limit on {limit} has no room for a single example. Raise budget.{limit}." in ran.err
    assert calls(standin) == 0


def test_time_ends_it_between_steps(standin: Standin, command: Command) -> None:
    """Two at a time, 0.4 s each: within 1.2 s there is time for some of them, and not for all."""
    standin.reset(Behaviour(latency=0.4))
    ran = command("evaluate", project(standin, budget={"minutes": 0.02}, concurrency=2), "--json")
    told = data(ran)
    assert told["examples"]["met"] == calls(standin) in range(2, 9) and "the limit on minutes ended the evaluation" in ran.err
    assert data(command("evaluate", "config.yaml", "--json", "--set", "budget.minutes=5"))["examples"]["met"] == 16
    assert calls(standin) == 16


def test_a_budget_that_ends_among_the_repeats(standin: Standin, command: Command) -> None:
    ran = command("evaluate", project(standin, budget={"rollouts": 20}), "--repeats", "2", "--json")
    told = data(ran)
    assert told["examples"]["met"] == 16 and told["spent"]["rollouts"] == 20
    assert "after repeat 2 of 2, 4 of 16 examples" in ran.err


def test_failed_cells_are_no_zeros_and_are_tried_again(standin: Standin, command: Command) -> None:
    config = project(standin, concurrency=1)
    standin.reset(Behaviour(plan=["ok", "server_error", "ok"]))
    ran = command("evaluate", config, "--json", "--set", "models.a.attempts=1")
    told = data(ran)
    assert told["failed_cells"] == {"server_error": 1} and told["overall"]["n"] == 15
    assert told["overall"]["mean"] == pytest.approx(fmean(each[0] for each in scores("val").values()))
    standin.reset(Behaviour(plan=["server_error"]))
    words = command("evaluate", config, "--set", "models.a.attempts=1").out
    assert "failed cells: 1 server_error; they count for nobody, and the same command tries them again" in words
    again = data(command("evaluate", config, "--json", "--set", "models.a.attempts=1"))
    assert again["failed_cells"] == {} and again["made"] == 1 and again["overall"]["n"] == 16


def test_a_provider_out_of_reach(standin: Standin, command: Command) -> None:
    standin.reset(Behaviour(key="another"))
    ran = command("evaluate", project(standin))
    assert ran.code == 3 and "out of reach" in ran.err
    standin.reset(Behaviour(faults={"server_error": 0.9}))
    ran = command("evaluate", "config.yaml", "--set", "models.a.attempts=1")
    assert ran.code == 3, "too many failed"


def test_who_is_interrupted_goes_on_where_it_was(standin: Standin, command: Command) -> None:
    standin.reset(Behaviour(latency=0.5))
    arguments = [sys.executable, "-m", "optimizer", "evaluate", project(standin, concurrency=2), "--candidate", "new.txt"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env=environment) as process:
        while standin.stats()["answered"] < 3:
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "what was paid for is kept in evaluations/parcel-run; the same command goes on" in err
    before = standin.stats()["answered"]
    assert before < 16
    told = data(command("evaluate", "config.yaml", "--candidate", "new.txt", "--json"))
    stats = standin.stats()
    assert told["overall"]["n"] == 16 and stats["repeated"] == 0 and told["made"] == 16 - before


def test_objectives_as_the_config_wants_them(standin: Standin, command: Command) -> None:
    wanted = {"dimensions": {"codes": {"direction": "minimize", "constraint": "<= 0.5"}}}
    told = data(command("evaluate", project(standin, objectives=wanted), "--json"))
    raw, overall = told["objectives"]["a:codes"], told["overall"]
    assert raw["mean"] == pytest.approx(fmean(each[0] for each in scores("val").values()))
    assert (overall["mean"], overall["low"], overall["high"]) == pytest.approx((1 - raw["mean"], 1 - raw["high"], 1 - raw["low"]))
    assert raw["low"] < raw["mean"] < raw["high"]
    assert told["lower_is_better"] == ["a:codes"]
    assert told["constraints"] == {"a:codes": {"constraint": "<= 0.5", "met": True}}
    words = command("evaluate", "config.yaml").out
    assert "constraint a:codes <= 0.5: met" in words and "a:codes (lower is better): mean" in words


def test_for_people(standin: Standin, command: Command) -> None:
    ran = command("evaluate", project(standin), "--split", "test", "--set", "budget.rollouts=5")
    first, overall, objective, *rest = ran.out.splitlines()
    assert " on the first 5 of 8 test examples: " in first and " of 100 (95% interval " in first
    assert overall.startswith("overall: mean ") and objective.startswith("a:codes: mean ") and objective.endswith("n 5")
    assert rest[0].startswith("spent: 5 rollouts, 5 calls (5 of them made now), ")
    assert rest[1:] == ["look at the sealed test split: 1", "kept in evaluations/parcel-run"]
    assert "evaluating: 0/8 rollouts" in ran.err
    assert command("evaluate", "config.yaml", "--no-progress").err == ""


def test_scorers_that_say_nothing(standin: Standin, command: Command) -> None:
    Path("nothing.py").write_text("from scoring import Score\n\n\ndef nothing(example, answer):\n    return Score({})\n")
    ran = command("evaluate", project(standin, scoring={"scorers": [{"python": "nothing.py:nothing"}]}))
    assert ran.code == 2 and "no scorer gave a value on any example" in ran.err


def test_a_candidate_that_cannot_be_run_costs_nothing(standin: Standin, command: Command) -> None:
    config = project(standin, proposers={"demos": {}})
    Path("new.yaml").write_text("instructions: x\ndemonstrations: '{'")
    ran = command("evaluate", config, "--candidate", "new.yaml")
    assert ran.code == 2 and "demonstration" in ran.err and calls(standin) == 0


def test_warnings_of_the_candidate_are_told(standin: Standin, command: Command) -> None:
    Path("misspelt.txt").write_text("Answer the {questoin}.")
    ran = command("evaluate", project(standin), "--candidate", "misspelt.txt")
    assert ran.code == 0 and "did you mean {question}?" in ran.err


def test_runs_and_evaluations_are_kept_apart(standin: Standin, command: Command) -> None:
    config = project(standin)
    assert command("evaluate", config, "--out", "here").code == 0
    ran = command("run", config, "--out", "here")
    assert ran.code == 2 and "is the directory of evaluations" in ran.err
    for reading in (("front", "here"), ("compare", "here", "here"), ("resume", "here"), ("run", config, "--out", "here", "--resume")):
        ran = command(*reading)
        assert ran.code == 2 and "evaluations" in ran.err and "resume here" not in ran.err
    assert command("run", config, "--no-progress").code == 0
    kept = Path("runs/parcel-run/result.json").read_text()
    ran = command("evaluate", config, "--out", "runs/parcel-run")
    assert ran.code == 2 and "is the directory of a run" in ran.err and Path("runs/parcel-run/result.json").read_text() == kept
