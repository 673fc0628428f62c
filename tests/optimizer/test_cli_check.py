"""check and init: what is known before a call, and a project to start from."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Command, Ran, commander
from standin import write_project

from adapters.answer import TracedAnswer
from adapters.example import Example
from optimizer.configfile import load_config, schema
from scoring.loading import load_scorer

SIZES = {"train": 20, "val": 10, "test": 15}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("STANDIN_KEY", "no key that anybody knows")
    return commander(capsys, monkeypatch)


def unfolded(ran: Ran) -> str:
    """How long the paths are in it decides where a line is broken."""
    return ran.out.replace("\n  ", " ")


def project(folder: Path, budget: dict[str, float], **changes: Any) -> Path:
    return write_project(folder, "http://127.0.0.1:1/v1", budget=budget, sizes=SIZES, models=("a", "b"), **changes)


def test_check_tells_what_a_run_will_cost_without_a_call(tmp_path: Path, command: Command) -> None:
    config = project(tmp_path, {"rollouts": 300})
    ran = command("check", config)
    assert (ran.code, ran.err) == (0, "")
    told = dict(line.split(": ", 1) for line in unfolded(ran).splitlines())
    assert told[str(config)] == "no mistakes found"
    assert told["models"] == "a (openai/parcel-a), b (openai/parcel-b)"
    assert told["examples"] == "20 train, 10 val, 15 test"
    assert told["limits"] == "300 rollouts"
    assert told["rollouts"] == "30 for the seed, 60 for the report, the rest for the search; 102 to compare anything"
    assert told["a rollout"].endswith("at most, with the seed")
    assert told["can be shown by 15 test examples"].startswith("gains from 56.7 points on, by 60 from 27.")
    assert told["which means"].startswith("in 80% of runs, whatever the seed has")


def test_check_keeps_to_lines_that_can_be_read(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with what makes them long: a warning, advice, and an absolute path to what lies below."""
    here = tmp_path / ("folder" * 30)
    sizes, seed = {"train": 20, "val": 10, "test": 5}, {"instructions": "Answer {qestion} " + "now " * 40}
    config = write_project(here, "http://127.0.0.1:1/v1", budget={"rollouts": 300, "tokens": 9000}, sizes=sizes, seed=seed)
    ran = command("check", config)
    assert max(map(len, ran.out.splitlines())) > 200, "the path, whole, since it lies elsewhere"
    monkeypatch.chdir(here)
    ran = command("check", config)
    lines = [*ran.out.splitlines(), *ran.err.splitlines()]
    assert lines[0] == "config.yaml: no mistakes found" and str(here) not in ran.out + ran.err
    assert any(line.startswith("advice: do not run") for line in lines) and any(line.startswith("  ") for line in lines)
    assert ran.err.count("warning: ") == 2 and max(map(len, lines)) <= 140
    assert str(here) in json.dumps(json.loads(command("check", config, "--json").out)["scorers"])


def test_check_tells_what_a_report_on_val_takes(tmp_path: Path, command: Command) -> None:
    """The most that a tenth of the rollouts pays for, and the run refuses the same budgets."""
    config = write_project(tmp_path, "http://127.0.0.1:1/v1", budget={"rollouts": 60}, sizes={"train": 20, "val": 12})
    told = command("check", config).out
    assert "30 for the seed, 6 for the report, the rest for the search; 48 to compare anything" in told
    assert command("check", config, "--set", "budget.rollouts=45").code == 4


def test_check_for_other_programs(tmp_path: Path, command: Command) -> None:
    plan = json.loads(command("check", project(tmp_path, {"rollouts": 300}), "--json").out)
    assert plan["examples"] == {"train": 20, "val": 10, "test": 15}
    assert plan["usd"] is None and plan["rollouts_usd"] == pytest.approx(300 * plan["rollout"]["usd"])
    # 1 USD a million input tokens, 4 for output.
    assert plan["rollout"]["usd"] == pytest.approx((plan["rollout"]["input_tokens"] + 4 * plan["rollout"]["output_tokens"]) / 1e6)
    assert plan["warnings"] == []
    assert (plan["run"], plan["advice"], plan["outlook"]["seen"]) == (True, [], None) and "estimate" not in plan


def test_a_report_on_too_few_examples_is_refused_in_words(tmp_path: Path, command: Command) -> None:
    config = write_project(tmp_path, "http://127.0.0.1:1/v1", budget={"rollouts": 300}, sizes={"train": 20, "val": 10, "test": 5})
    ran = command("check", config)
    assert ran.code == 0
    assert "advice: do not run: the report is made on 5 independent test examples, and with fewer than 6" in ran.out
    assert json.loads(command("check", config, "--json").out)["run"] is False


def test_a_limit_on_money_is_the_most_that_it_costs(tmp_path: Path, command: Command) -> None:
    assert "cost at most: $2.50" in command("check", project(tmp_path, {"rollouts": 300, "usd": 2.5})).out


def test_limits_are_told_in_their_units(tmp_path: Path, command: Command) -> None:
    ran = command("check", project(tmp_path, {"rollouts": 3000, "usd": 2.5, "minutes": 20}))
    assert "limits: 3,000 rollouts, $2.50, 20 minutes" in ran.out and not ran.err


@pytest.mark.parametrize(("limit", "little", "ample"), [("usd", 0.01, 3.0), ("tokens", 1000, 900_000)])
def test_check_warns_of_money_and_tokens_that_a_run_may_refuse(
    tmp_path: Path, command: Command, limit: str, little: float, ample: float
) -> None:
    """They are claimed by the longest answers that there may be, so a run would end before anything is paid for."""
    config = project(tmp_path, {"rollouts": 300, limit: little})
    ran = command("check", config)
    assert ran.code == 0 and f"warning: budget.{limit}: " in ran.err and "are claimed for 102 rollouts" in ran.err
    assert command("run", config, "--out", tmp_path / "out").code == 4
    assert not command("check", config, "--set", f"budget.{limit}={ample}").err


def test_nothing_bounds_the_cost_of_minutes(tmp_path: Path, command: Command) -> None:
    assert "cost: no limit bounds it" in command("check", project(tmp_path, {"minutes": 5})).out


def test_an_unknown_price_is_no_zero(tmp_path: Path, command: Command) -> None:
    model = {"id": "x", "model": "openai/of-my-own", "api_base": "http://127.0.0.1:1/v1"}
    config = project(tmp_path, {"rollouts": 300})
    config.write_text(yaml.safe_dump({**yaml.safe_load(config.read_text()), "models": [model]}))
    ran = command("check", config)
    assert "cost: a price is unknown" in ran.out
    assert "price unknown at most, with the seed" in ran.out


def test_check_takes_overrides(tmp_path: Path, command: Command) -> None:
    ran = command("check", project(tmp_path, {"rollouts": 300}), "--set", "budget.rollouts=nine")
    assert ran.code == 2
    assert ran.err == "--set budget.rollouts=nine: budget.rollouts: expected a whole number, not the text 'nine'\n"


def test_init_writes_a_project_that_passes_the_check(tmp_path: Path, command: Command) -> None:
    folder = tmp_path / "new one" / "x"
    ran = command("init", folder)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines() == [
        f"wrote config.yaml, examples.jsonl, schema.json, scorers.py to {folder}",
        f"run it: python -m optimizer run '{folder}/config.yaml'",
    ]
    assert json.loads((folder / "schema.json").read_text()) == schema()
    checked = command("check", folder / "config.yaml")
    assert (checked.code, checked.err) == (0, "")
    assert "limits: 300 rollouts" in checked.out


def test_init_never_overwrites(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scorers.py").write_text("mine")
    ran = command("init")
    assert ran.code == 2
    assert ran.err == ". has scorers.py already, and nothing was written; give another folder\n"
    assert [path.name for path in tmp_path.iterdir()] == ["scorers.py"]


async def test_the_starters_own_scorer(tmp_path: Path, command: Command) -> None:
    command("init", tmp_path)
    specs = load_config(tmp_path / "config.yaml").config.scoring.scorers
    scorer = load_scorer(specs[1], tmp_path)
    example = Example("1", {"note": "x"}, expected="12.50")
    told = [await scorer.score(example, TracedAnswer(text)) for text in ("12.50", "It was 12,50 €", "10", "100", "two", "12 or 13")]
    assert [score.values["closeness"] for score in told] == pytest.approx([1.0, 1.0, 0.8, 0.0, 0.0, 0.0])
    assert [score.feedback for score in told][2:5] == ["10, and 12.5 was paid", "100, and 12.5 was paid", "0 numbers instead of one"]


def test_the_starters_examples_are_all_different_and_hold_what_is_expected(tmp_path: Path, command: Command) -> None:
    command("init", tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len({row["note"] for row in rows}) == len(rows) == 90
    assert all(row["expected"].partition(".")[2].lstrip("0") in row["note"] for row in rows)


def test_the_starter_finds_something_on_the_embedded_model(tmp_path: Path, command: Command) -> None:
    """A smaller part of it: on half of the examples, with demonstrations that are shorter to read."""
    pytest.importorskip("xllamacpp")
    pytest.importorskip("gguf")
    command("init", tmp_path)
    data = tmp_path / "examples.jsonl"
    data.write_text("".join(data.read_text(encoding="utf-8").splitlines(keepends=True)[:48]), encoding="utf-8")
    small = ("--set", "budget.rollouts=130", "--set", "proposers.demos={max: 2}", "--out", tmp_path / "run", "--no-progress")
    ran = command("run", tmp_path / "config.yaml", *small, "--json")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert result["verdict"] == "improved" and result["overall"]["difference"] > 0.2


def test_warnings_are_told_before_anything_is_paid(tmp_path: Path, command: Command) -> None:
    config = project(tmp_path, {"rollouts": 300}, seed={"instructions": "Answer {qestion}"})
    ran = command("check", config)
    assert ran.code == 0
    assert ran.err == "warning: component 'instructions': {qestion} stays as it is; did you mean {question}?\n"
    assert json.loads(command("check", config, "--json").out)["warnings"] == [ran.err.removeprefix("warning: ").rstrip("\n")]


def test_that_there_is_no_test_split_is_said_in_advance(tmp_path: Path, command: Command) -> None:
    config = write_project(tmp_path, "http://127.0.0.1:1/v1", budget={"rollouts": 300}, sizes={"train": 20, "val": 10})
    assert "examples: 20 train, 10 val, 0 test: the result will be on val, which flatters it" in command("check", config).out


def test_check_refuses_a_budget_that_a_run_would_refuse(tmp_path: Path, command: Command) -> None:
    """30 for the seed's first cells, 12 for another candidate's, 60 for the report."""
    config = project(tmp_path, {"rollouts": 40})
    checked = command("check", config)
    assert checked.code == 4 and "would come before the first comparison" in checked.err
    least = re.search(r"takes (\d+)", checked.err)
    assert least is not None and least[1] == "102"
    assert command("check", config, "--set", "budget.rollouts=101").code == 4
    assert command("check", config, "--set", f"budget.rollouts={least[1]}").code == 0


def test_check_lets_no_name_rule_the_terminal(tmp_path: Path, command: Command) -> None:
    ran = command("check", project(tmp_path, {"rollouts": 300}), "--set", 'models.0.model="local/\\e[31mx"')
    assert "\\x1b[31m" in ran.out + ran.err and "\x1b" not in ran.out + ran.err


SCORERS = """
import itertools

count = itertools.count()

def steady(example, answer):
    return {"steady": bool(answer.text), "brief": 1.0}

def moody(example, answer):
    return next(count) % 7 / 10

def broken(example, answer):
    return 1 / len(answer.text)
"""


def with_scorers(folder: Path, *names: str, **more: str) -> Path:
    config = project(folder, {"rollouts": 300})
    (folder / "mine.py").write_text(SCORERS)
    scoring = {"scorers": [{"python": f"mine.py:{name}"} for name in names], **more}
    config.write_text(yaml.safe_dump({**yaml.safe_load(config.read_text()), "scoring": scoring}))
    return config


def test_check_tries_the_scorers(tmp_path: Path, command: Command) -> None:
    plan = json.loads(command("check", with_scorers(tmp_path, "steady", "moody"), "--json").out)
    steady, moody = plan["scorers"][0], plan["scorers"][2]
    assert len(plan["scorers"]) == 4, "two scorers on two examples"
    assert (steady["expected"], steady["empty"]) == ({"steady": 1.0, "brief": 1.0}, {"steady": 0.0, "brief": 1.0})
    assert steady["repeatable"] and not moody["repeatable"]
    told = unfolded(command("check", with_scorers(tmp_path, "moody")))
    assert "scorer moody on example" in told and "it does not say the same twice" in told


def test_check_finds_a_scorer_that_cannot_score_silence(tmp_path: Path, command: Command) -> None:
    checked = command("check", with_scorers(tmp_path, "broken"))
    assert checked.code == 2
    assert "scorer 'broken', example " in checked.err and "ZeroDivisionError" in checked.err and "mine.py, line 13" in checked.err


def test_a_scorer_may_fail_where_the_run_goes_on(tmp_path: Path, command: Command) -> None:
    config = with_scorers(tmp_path, "broken", on_error="fail_cell")
    checked = command("check", config)
    assert checked.code == 0 and "no score for an empty one" in unfolded(checked) and "ZeroDivisionError" in checked.out
    assert command("check", config, "--set", "objectives.dimensions={broken: {}}").code == 0, "the expected answer has a score"
    unknown = command("check", config, "--set", "objectives.dimensions={brooken: {}}")
    assert unknown.code == 2 and "did you mean 'broken'? What a scorer gives for some answers only has to be declared" in unknown.err
    assert ". What a scorer gives" in command("check", config, "--set", "objectives.dimensions={other: {}}").err


def test_check_warns_of_a_key_that_is_not_there(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STANDIN_KEY")
    ran = command("check", project(tmp_path, {"rollouts": 300}))
    assert (ran.code, ran.err) == (0, "warning: the environment variable STANDIN_KEY is not set, and a run needs the key in it\n")
