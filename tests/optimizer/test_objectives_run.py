"""Runs with several models and several aims: what is chosen, what is compared, and how it is told."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import commander
from sittings import rows
from standin import Standin, write_project

SMALL = {"train": 20, "val": 12, "test": 16}
SCORER = '''
import json

def _codes(answer):
    try:
        return json.loads(answer.text)
    except ValueError:
        return {}

def codes(example, answer):
    given = _codes(answer)
    wrong = [name for name, code in example.expected.items() if given.get(name) != code]
    return not wrong, "; ".join(example.metadata["hints"][name] for name in wrong)

def missed(example, answer):
    """1 where not every code is right."""
    return _codes(answer) != example.expected

def guesses(example, answer):
    """The share of codes that are made up; the fewer the better."""
    given = _codes(answer)
    return sum(str(code).startswith("?") for code in given.values()) / max(1, len(given))
'''
SCORERS = {"scorers": [{"python": "aims.py:codes"}, {"python": "aims.py:guesses"}]}
OBJECTIVES: dict[str, Any] = {
    "dimensions": {"codes": {"weight": 2}, "guesses": {"direction": "minimize", "constraint": "<= 0.5"}},
    "models": {"a": 3},
}


@pytest.fixture
def project(tmp_path: Path, standin: Standin) -> Path:
    path = write_project(
        tmp_path / "project",
        standin.api_base,
        budget={"rollouts": 560},
        sizes=SMALL,
        models=("a", "b", "c"),
        scoring=SCORERS,
        objectives=OBJECTIVES,
    )
    (path.parent / "aims.py").write_text(SCORER)
    return path


def ran(config: Path, out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *more: str) -> dict[str, Any]:
    run = commander(capsys, monkeypatch)("run", config, "--out", out, "--no-progress", "--json", *more)
    assert run.code == 0, run.err
    result: dict[str, Any] = json.loads(run.out)
    return result


def test_a_dimension_that_is_to_be_small_is_made_small(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = ran(project, tmp_path / "run", capsys, monkeypatch)
    assert result["verdict"] == "improved" and result["best_by"] == "mean"
    assert result["lower_is_better"] == ["a:guesses", "b:guesses", "c:guesses"]
    guesses = result["objectives"]["a:guesses"]
    assert guesses["best"] < guesses["seed"] and guesses["difference"] < 0 and guesses["low"] <= guesses["difference"] <= guesses["high"]
    # The overall mean is the weighted one, with guesses turned so that more is better.
    for side in ("seed", "best"):
        parts = [
            (models * weight, 1 - each[side] if lower else each[side])
            for model, models in (("a", 3), ("b", 1), ("c", 1))
            for dimension, weight, lower in (("codes", 2, False), ("guesses", 1, True))
            for each in [result["objectives"][f"{model}:{dimension}"]]
        ]
        assert result["overall"][side] == pytest.approx(sum(w * v for w, v in parts) / sum(w for w, _ in parts))
    assert list(result["models"]) == ["a", "b", "c"]
    told = result["constraints"]["a:guesses"]
    assert told == {"constraint": "<= 0.5", "seed": guesses["seed"] <= 0.5, "best": guesses["best"] <= 0.5}

    command = commander(capsys, monkeypatch)
    again = command("run", project, "--out", tmp_path / "run", "--no-progress")
    assert "a:guesses (lower is better)" in again.err and "constraint a:guesses <= 0.5: met by the best" in again.err
    front = {each["id"]: each for each in json.loads(command("front", tmp_path / "run", "--json").out)["candidates"]}
    assert front.keys() == {each["id"] for each in result["frontier"]}
    assert front[result["best"]["id"]]["best"]
    assert command("replay", tmp_path / "run").code == 0


def test_what_is_as_large_as_can_be_and_should_be_small_is_a_failure_to_learn_from(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, standin: Standin
) -> None:
    content = yaml.safe_load(project.read_text())
    wanted = {"scoring": {"scorers": [{"python": "aims.py:missed"}]}, "objectives": {"dimensions": {"missed": {"direction": "minimize"}}}}
    project.write_text(yaml.safe_dump({**content, **wanted, "models": content["models"][:1], "budget": {"rollouts": 300}}))
    result = ran(project, tmp_path / "run", capsys, monkeypatch)
    assert result["objectives"]["a:missed"]["seed"] == 1.0
    assert sum(n for name, n in standin.stats()["calls"].items() if name.endswith("reflect")) > 0
    asked = rows(tmp_path / "run", "SELECT request FROM calls WHERE role = 'reflection' ORDER BY at LIMIT 1")
    assert "a:missed 100 of 100 (lower is better)" in asked[0][0]


def test_each_model_gets_its_own_best_where_that_is_the_policy(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, standin: Standin
) -> None:
    result = ran(project, tmp_path / "run", capsys, monkeypatch, "--set", "objectives.best=per_model")
    own = result["best_per_model"]
    assert list(own) == ["a", "b", "c"]
    assert all(each["val"] >= each["val_of_best"] for each in own.values())
    for model, each in own.items():
        assert (tmp_path / "run/best" / model / "instructions.txt").read_text() == each["components"]["instructions"]
    assert (tmp_path / "run/best/instructions.txt").read_text() == result["best"]["components"]["instructions"]
    assert result["spent"]["rollouts"] == sum(n for name, n in standin.stats()["calls"].items() if not name.endswith("reflect"))
    # The test cells of each chosen candidate are those of its own model, and no other.
    command = commander(capsys, monkeypatch)
    for model, each in own.items():
        scores = json.loads(command("show", tmp_path / "run", each["id"], "--json").out)["scores"]
        tested = {score["objective"].partition(":")[0]: score for score in scores if score["split"] == "test"}
        assert tested[model]["mean"] == pytest.approx(result["objectives"][f"{model}:{tested[model]['objective'][2:]}"]["best"])
        assert tested.keys() == {name for name, other in own.items() if other["id"] == each["id"]}
    again = ran(project, tmp_path / "run", capsys, monkeypatch, "--resume")
    assert again["best_by"] == "mean" and not (tmp_path / "run/best/a/instructions.txt").exists()


@pytest.mark.parametrize(
    ("objectives", "message"),
    [
        ({"dimensions": {"coeds": {}}}, "objectives.dimensions.coeds: no scorer gives the dimension 'coeds'; did you mean 'codes'?"),
        ({"models": {"d": 2}}, "objectives.models.d: no model has the id 'd'"),
        ({"dimensions": {"codes": {"constraint": "<= 1"}}}, "a constraint begins with >="),
        ({"dimensions": {"codes": {"weight": 0}}}, "every dimension has weight 0"),
        ({"dimensions": {"codes": {"weight": 1e-200}}}, "objectives.dimensions.codes.weight: must be 0, or at least 1e-06, not 1e-200"),
        ({"models": {"a": 1e-200}}, "objectives.models.a: must be at least 1e-06, not 1e-200"),
        ({"dimensions": {}}, "needs at least 1"),
        ({"best": "median"}, "mean"),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_mistakes_are_found_before_anything_is_paid_for(
    project: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    standin: Standin,
    objectives: dict[str, Any],
    message: str,
    command: str,
) -> None:
    content = yaml.safe_load(project.read_text())
    project.write_text(yaml.safe_dump({**content, "objectives": objectives}))
    monkeypatch.chdir(tmp_path)
    failed = commander(capsys, monkeypatch)(command, project)
    assert failed.code == 2 and message in failed.err and f"{project.relative_to(tmp_path)}:" in failed.err
    assert standin.stats()["calls"] == {}


def test_the_worst_model_can_be_what_counts(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = ran(project, tmp_path / "run", capsys, monkeypatch, "--set", "objectives.best=worst_model", "--set", "objectives.models={}")

    def worst(levels: dict[str, float]) -> float:
        return min(2 * levels[f"{model}:codes"] + 1 - levels[f"{model}:guesses"] for model in "abc")

    chosen = next(each for each in result["frontier"] if each["id"] == result["best"]["id"])
    assert worst(chosen["objectives"]) == pytest.approx(max(worst(each["objectives"]) for each in result["frontier"]))
