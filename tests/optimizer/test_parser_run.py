"""Runs whose answers a parser model reads, through LiteLLM and HTTP: its calls are the run's calls, paid once and never again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sittings import check_a_scorers_model, rows, sit
from standin import Behaviour, Standin, write_project

from optimizer.build import prepare
from optimizer.configfile import load_config
from optimizer.errors import PlacedError, ProviderError
from optimizer.run import replay
from optimizer.trial import try_scorers

SIZES = {"train": 8, "val": 6, "test": 6}
ADAPTER = {"kind": "prompt", "system": "{instructions} Answer in words.", "user": "{question}"}


def project(folder: Path, standin: Standin, budget: dict[str, float], **parser: Any) -> Path:
    asked = {"api_base": standin.api_base, "api_key_env": "STANDIN_KEY", "price": {"input": 1.0, "output": 4.0}, **parser}
    scoring = {"scorers": [{"fields": {"partial": True, "parser": {"model": "openai/parcel-parser", "max_tokens": 200, **asked}}}]}
    return write_project(folder / "project", standin.api_base, budget=budget, sizes=SIZES, scoring=scoring, adapter=ADAPTER)


def test_a_parsers_calls_are_journaled_counted_and_never_made_again(tmp_path: Path, standin: Standin) -> None:
    config, out = project(tmp_path, standin, {"rollouts": 60}), tmp_path / "run"
    result = sit(config, out)
    assert result["failed_cells"] == {} and result["overall"]["seed"] > 0
    check_a_scorers_model(config, out, result, standin, "parcel-parser")


@pytest.mark.parametrize("calls", [4, 25])
def test_a_run_that_broke_off_goes_on_without_asking_twice(calls: int, tmp_path: Path, standin: Standin) -> None:
    config, out = project(tmp_path, standin, {"rollouts": 60}), tmp_path / "run"
    standin.reset(Behaviour(plan=["ok"] * calls + ["wrong_key"]))
    with pytest.raises(ProviderError):
        sit(config, out, "concurrency=1")
    result = sit(config, out, "concurrency=1")
    assert standin.stats()["repeated"] == 0
    straight = sit(config, tmp_path / "straight")
    assert {**result, "spent": None} == {**straight, "spent": None}


def test_a_parsers_calls_count_against_the_budget(tmp_path: Path, standin: Standin) -> None:
    result = sit(project(tmp_path, standin, {"calls": 120}), tmp_path / "run", "proposers.demos={max: 3}")
    calls = standin.stats()["calls"]
    assert result["stopped_by"] == "calls" and result["spent"]["calls"] == sum(calls.values()) <= 120
    assert calls["parcel-parser"] > 0


def test_a_parser_that_is_out_of_reach_ends_the_run_and_scores_nothing(tmp_path: Path, standin: Standin) -> None:
    with pytest.raises(ProviderError, match=r"openai/parcel-parser is out of reach.*NO_SUCH_KEY"):
        sit(project(tmp_path, standin, {"rollouts": 60}, api_key_env="NO_SUCH_KEY"), tmp_path / "run")
    assert rows(tmp_path / "run", "SELECT count(*) FROM scores") == [(0,)]


def test_replies_that_cannot_be_read_fail_the_cell(tmp_path: Path, standin: Standin) -> None:
    config, out = project(tmp_path, standin, {"rollouts": 60}), tmp_path / "run"
    standin.reset(Behaviour(faults={"truncated": 0.5}))
    result = sit(config, out, "failures.max_share=1")
    told = rows(out, "SELECT DISTINCT failed, body ->> '$.problem' FROM cells WHERE failed IS NOT NULL")
    assert set(result["failed_cells"]) == {"unreadable_reply"} == {kind for kind, _ in told}
    assert all("the parser's reply cannot be read" in problem for _, problem in told)
    loaded = load_config(config, ["failures.max_share=1"])
    assert asyncio.run(replay(prepare(loaded.config, loaded.folder), out)) == []


def test_a_parser_that_is_never_understood_ends_the_run_with_the_cause(tmp_path: Path, standin: Standin) -> None:
    standin.reset(Behaviour(faults={"truncated": 1.0}))
    told = r"with unreadable_reply.*One of them: the parser's reply cannot be read.*raise the parser's max_tokens"
    with pytest.raises(ProviderError, match=told):
        sit(project(tmp_path, standin, {"rollouts": 60}), tmp_path / "run")


def test_a_trial_of_scorers_asks_no_parser_and_tries_fields_without_one(tmp_path: Path, standin: Standin) -> None:
    config = project(tmp_path, standin, {"rollouts": 60})
    loaded = load_config(config, ())
    assert asyncio.run(try_scorers(prepare(loaded.config, loaded.folder))) == []
    plain = load_config(config, ["scoring.scorers=[fields]"])
    assert [trial.scorer for trial in asyncio.run(try_scorers(prepare(plain.config, plain.folder)))] == ["fields", "fields"]
    assert standin.stats()["calls"] == {}


def test_mistakes_in_a_parser_are_told_with_their_place(tmp_path: Path, standin: Standin) -> None:
    loaded = load_config(project(tmp_path, standin, {"rollouts": 60}, max_tokns=3), ())
    with pytest.raises(PlacedError, match=r"scoring.scorers.0.*parser: max_tokns: .*did you mean .*max_tokens"):
        prepare(loaded.config, loaded.folder)
