"""Runs whose answers a judge scores, through LiteLLM and HTTP: its calls are the run's calls, paid once and never again."""

from pathlib import Path
from typing import Any

import pytest
from sittings import check_a_scorers_model, rows, sit
from standin import Behaviour, Standin, write_project

from optimizer.build import prepare
from optimizer.configfile import load_config
from optimizer.errors import PlacedError, ProviderError
from optimizer.report.agreement import agreement_line

SIZES = {"train": 8, "val": 6, "test": 6}
TRAITS = [
    {"name": "right", "kind": "score", "min": 0, "max": 4, "description": "How many of the codes are right."},
    {"name": "whole", "kind": "boolean", "description": "Every code is right."},
    {"name": "json", "kind": "regex", "pattern": r"^\{.*\}$"},
]
PRICE = {"input": 1.0, "output": 4.0}


def project(folder: Path, standin: Standin, budget: dict[str, float], **settings: Any) -> Path:
    judge: dict[str, Any] = {"model": "openai/parcel-judge", "api_base": standin.api_base, "api_key_env": "STANDIN_KEY", "price": PRICE}
    if settings.get("votes", 1) > 1:
        judge["temperature"] = 1.0
    scoring = {"scorers": [{"rubric": {"judge": judge, "traits": TRAITS, **settings}}]}
    return write_project(folder / "project", standin.api_base, budget=budget, sizes=SIZES, scoring=scoring)


def judged(standin: Standin) -> int:
    calls: dict[str, int] = standin.stats()["calls"]
    return calls.get("parcel-judge", 0)


def test_a_judges_calls_are_journaled_counted_and_never_made_again(tmp_path: Path, standin: Standin) -> None:
    config, out = project(tmp_path, standin, {"rollouts": 60}), tmp_path / "run"
    result = sit(config, out)
    assert list(result["objectives"]) == ["a:right", "a:whole", "a:json"]
    check_a_scorers_model(config, out, result, standin, "parcel-judge")


@pytest.mark.parametrize("calls", [5, 30, 31, 60])
def test_a_run_that_broke_off_goes_on_without_asking_twice(calls: int, tmp_path: Path, standin: Standin) -> None:
    config, out = project(tmp_path, standin, {"rollouts": 60}, votes=2), tmp_path / "run"
    standin.reset(Behaviour(plan=["ok"] * calls + ["wrong_key"]))
    one_by_one = "concurrency=1"  # what is under way to a model that is out of reach is given up, and made again
    with pytest.raises(ProviderError):
        sit(config, out, one_by_one)
    result = sit(config, out, one_by_one)
    assert standin.stats()["repeated"] == 0 and standin.stats()["abandoned"] == 0
    standin.reset()
    straight = sit(config, tmp_path / "straight")
    spent = {"seconds": None, "cached": None}
    assert {**result, "spent": result["spent"] | spent} == {**straight, "spent": straight["spent"] | spent}


def test_a_judges_calls_count_against_the_budget(tmp_path: Path, standin: Standin) -> None:
    config = project(tmp_path, standin, {"calls": 200}, votes=2)
    result = sit(config, tmp_path / "run", "proposers.demos={max: 3}")  # the judge gives no clue to rewrite by
    calls = standin.stats()["calls"]
    assert result["stopped_by"] == "calls" and result["spent"]["calls"] == sum(calls.values()) <= 200
    assert calls["parcel-judge"] > calls["parcel-a"]


def test_the_result_tells_how_far_the_judge_agrees_with_itself(tmp_path: Path, standin: Standin) -> None:
    """The stand-in's judge goes by the answer alone, so it always does."""
    out = tmp_path / "run"
    result = sit(project(tmp_path, standin, {"rollouts": 60}, votes=2), out)
    told = result["judge_agreement"]
    assert list(told) == ["right", "whole"] and {trait["share"] for trait in told.values()} == {1.0}
    ((answers,),) = rows(out, "SELECT count(*) FROM scores")
    assert {trait["answers"] for trait in told.values()} == {answers}
    assert agreement_line(result) == [
        f"votes of the judge that agree: right 100.0% on {answers} answers, whole 100.0% on {answers} answers"
    ]
    once = sit(project(tmp_path / "once", standin, {"rollouts": 40}), tmp_path / "once/run")
    assert "judge_agreement" not in once and agreement_line(once) == []


def test_replies_that_cannot_be_read_leave_traits_missing_and_the_run_whole(tmp_path: Path, standin: Standin) -> None:
    """Half of all replies are cut in two, so that a quarter of the answers cannot be judged."""
    standin.reset(Behaviour(faults={"truncated": 0.5}))
    out = tmp_path / "run"
    result = sit(project(tmp_path, standin, {"rollouts": 60}), out)
    assert result["failed_cells"] == {}
    values = rows(out, "SELECT body ->> '$.values.right', body ->> '$.values.json' FROM cells")
    assert {value is None for value, _ in values} == {True, False} and None not in {value for _, value in values}


def test_a_judge_that_is_out_of_reach_ends_the_run(tmp_path: Path, standin: Standin) -> None:
    config = project(tmp_path, standin, {"rollouts": 60})
    head, judge, tail = config.read_text().partition("openai/parcel-judge")
    config.write_text(head + judge + tail.replace("STANDIN_KEY", "NO_SUCH_KEY", 1))
    with pytest.raises(ProviderError, match=r"openai/parcel-judge is out of reach.*NO_SUCH_KEY"):
        sit(config, tmp_path / "run")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"judge": {"model": "openai/x", "temprature": 1}}, r"scoring.scorers.0.*judge: temprature: .*did you mean .*temperature"),
        ({"judge": "openai/x"}, "judge is 'openai/x'; a model is a mapping"),
        ({"trait": []}, "has no setting 'trait'; did you mean 'traits'"),
    ],
)
def test_mistakes_in_a_rubric_are_told_with_their_place(settings: dict[str, Any], told: str, tmp_path: Path, standin: Standin) -> None:
    loaded = load_config(project(tmp_path, standin, {"rollouts": 60}, **settings), ())
    with pytest.raises(PlacedError, match=told):
        prepare(loaded.config, loaded.folder)
