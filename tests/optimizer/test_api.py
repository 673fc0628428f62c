"""The Python API: optimize is the command run, with a typed result; its examples are those of the manual."""

import asyncio
import inspect
import json
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from commands import Command, commander
from parcels import SEED_TEXT, rows
from pydantic import ValidationError
from standin import Standin, write_project

import optimizer
from adapters.answer import TracedAnswer
from adapters.dataset import DatasetError
from adapters.example import Example
from optimizer import (
    BudgetError,
    Config,
    ConfigError,
    Event,
    JobCommitted,
    JournalError,
    PromptfrontError,
    RunResult,
    Warned,
    optimize,
    optimize_async,
)
from optimizer.api import _loaded, warn
from optimizer.runresult import run_result
from scoring.functions import scorer

DOCS = Path(__file__).parents[2] / "docs" / "api.md"
SIZES = {"train": 12, "val": 12, "test": 10}


def codes(example: Example, answer: TracedAnswer) -> tuple[float, str]:
    """The share of codes that are right, and the clues to the others."""
    try:
        given = json.loads(answer.text)
    except ValueError:
        given = {}
    wrong = [aspect for aspect, code in example.expected.items() if given.get(aspect) != code]
    return 1 - len(wrong) / len(example.expected), "; ".join(example.metadata["hints"][aspect] for aspect in wrong)


@scorer(dimensions=["short"])
def short(example: Example, answer: TracedAnswer) -> dict[str, bool]:
    return {"short": len(answer.text) < 60}


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


@pytest.fixture(autouse=True)
def in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def content(standin: Standin, **changes: Any) -> dict[str, Any]:
    """A config as a mapping, with functions and rows in it."""
    endpoint = {"api_base": standin.api_base, "api_key_env": "STANDIN_KEY"}
    made = {
        "version": 1,
        "name": "parcels",
        "seed": {"instructions": SEED_TEXT},
        "adapter": {"kind": "prompt", "system": "{instructions}", "user": "{question}"},
        "models": [{"id": "a", "model": "openai/parcel-a", **endpoint}],
        "data": {"rows": [row for split, size in SIZES.items() for row in rows(split, size)]},
        "scoring": {"scorers": [codes, short]},
        "proposers": {"reflection": {"model": "openai/parcel-reflect", **endpoint}},
        "budget": {"rollouts": 90},
        **changes,
    }
    return {name: value for name, value in made.items() if value is not None}


# --- a run -----------------------------------------------------------------------------------------------------------


def test_a_file_runs_as_from_the_command_line(standin: Standin, command: Command, tmp_path: Path) -> None:
    config = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 80}, sizes=SIZES)
    result = optimize(config, out=tmp_path / "run", overrides=["budget.rollouts=90"])
    asked = standin.stats()["answered"]
    assert result.spent.rollouts <= 90 and result.split == "test" and result.overall.n == SIZES["test"]
    assert result.out == tmp_path / "run"
    again = command("run", config, "--out", tmp_path / "run", "--set", "budget.rollouts=90", "--json", "--no-progress")
    assert again.code == 0
    assert standin.stats()["answered"] == asked  # nothing is paid for twice, whoever goes on
    told = json.loads(again.out)
    assert told["best"]["components"] == result.best.components and told["verdict"] == result.verdict


def test_a_mapping_may_hold_functions_and_rows(standin: Standin, command: Command, tmp_path: Path) -> None:
    events: list[Event] = []
    result = optimize(content(standin), on_event=events.append)
    assert result.out == Path("runs") / "parcels"
    assert set(result.objectives) == {"a:codes", "a:short"}
    assert any(isinstance(event, JobCommitted) for event in events)
    asked = standin.stats()["answered"]
    assert optimize(content(standin), on_event=events.append).model_dump(exclude={"spent"}) == result.model_dump(exclude={"spent"})
    manifest = json.loads((result.out / "manifest.json").read_text())
    assert manifest["config"]["scoring"]["scorers"] == [{"python": f"{__name__}:codes"}, {"python": f"{__name__}:short"}]
    assert command("resume", result.out, "--no-progress").code == 0  # by name it finds the same functions, and the rows
    replayed = command("replay", result.out)
    assert (replayed.code, standin.stats()["answered"]) == (0, asked), replayed.err


def test_a_config_object_runs_like_its_mapping(standin: Standin, tmp_path: Path) -> None:
    (tmp_path / "scorer.py").write_text(inspect.getsource(codes).replace("Example", "object").replace("TracedAnswer", "object"))
    (tmp_path / "scorer.py").write_text("import json\n\n\n" + (tmp_path / "scorer.py").read_text())
    plain = content(standin, scoring={"scorers": [{"python": "scorer.py:codes"}]}, budget={"rollouts": 80})
    result = optimize(Config.model_validate(plain), out="run")
    assert result.spent.rollouts <= 80 and list(result.objectives) == ["a:codes"]


def test_the_result_has_every_word_of_the_file(standin: Standin) -> None:
    result = optimize(content(standin))
    told = json.loads((result.out / "result.json").read_text())
    unnamed = told.keys() - RunResult.model_fields.keys()
    assert not unnamed, f"result.json has {sorted(unnamed)}, which optimizer/runresult.py and docs/api.md do not name"
    assert RunResult.model_fields.keys() - told.keys() <= {"out", "judge_agreement", "noise"}
    assert result.best.components == told["best"]["components"]
    assert (result.overall.low, result.overall.n) == (told["overall"]["low"], told["overall"]["n"])
    for name in RunResult.model_fields:
        assert f"`{name}`" in DOCS.read_text(), f"docs/api.md does not explain {name}"
    with pytest.raises(ValidationError):
        result.verdict = "improved"


def test_a_result_of_another_kind_is_told(standin: Standin) -> None:
    result = optimize(content(standin))
    told = json.loads((result.out / "result.json").read_text())
    told["overall"]["low"] = "far below"
    with pytest.raises(JournalError, match=r"overall\.low: .*number.*paid for is kept"):
        run_result(told, result.out)
    assert run_result({**told, "overall": {**told["overall"], "low": None}, "later": 3}, result.out).later == 3  # type: ignore[attr-defined]


async def test_in_a_running_loop_it_is_awaited(standin: Standin) -> None:
    with pytest.raises(PromptfrontError, match=r"`await optimize_async\(\.\.\.\)`"):
        optimize(content(standin))
    result = await optimize_async(content(standin, budget={"rollouts": 80}))
    assert result.spent.rollouts <= 80


async def test_cancelled_it_keeps_what_is_paid_for(standin: Standin) -> None:
    cells: list[Event] = []

    def stop(event: Event) -> None:
        cells.append(event)
        if len(cells) == 10:
            task.cancel()

    task = asyncio.create_task(optimize_async(content(standin, repeats=1), on_event=stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    await optimize_async(content(standin, repeats=1))
    assert standin.stats()["repeated"] == 0


# --- what can be wrong -----------------------------------------------------------------------------------------------


def test_mistakes_are_told_by_their_keys(standin: Standin) -> None:
    with pytest.raises(ConfigError, match=r"^config: models\.0\.model: this key is missing$"):
        optimize(content(standin, models=[{"id": "a"}]))
    with pytest.raises(ConfigError, match=r"^config: budget\.rollout: .*rollouts"):
        optimize(content(standin, budget={"rollout": 5}))
    with pytest.raises(ConfigError, match=r"^--set budget\.rollouts=many: budget\.rollouts: expected a whole number"):
        optimize(content(standin), overrides=["budget.rollouts=many"])
    with pytest.raises(ConfigError, match=r"^config: data: give a path, or the rows themselves; one of them$"):
        optimize(content(standin, data={}))
    with pytest.raises(ConfigError, match=r"^config: scoring: this key is missing$"):
        optimize(content(standin, scoring=None))
    with pytest.raises(ConfigError, match=r"^config: objectives\.dimensions\.code: .*no scorer gives the dimension 'code'; did you mean"):
        optimize(content(standin, objectives={"dimensions": {"code": {}}}))
    with pytest.raises(BudgetError, match="the limit on rollouts would come before the first comparison"):
        optimize(content(standin, budget={"rollouts": 5}))
    with pytest.raises(ConfigError, match="a path, a mapping or a Config, not nothing"):
        optimize(None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"budget\.rollouts: expected a whole number, not a value of type tuple"):
        optimize(content(standin, budget={"rollouts": (5,)}))
    with pytest.raises(ConfigError, match=r"seed\.\w+: the text holds half of a surrogate pair|seed: the text holds half of a surrogate"):
        optimize(content(standin, seed={"instructions": "Say \ud83d"}))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"q": 1, "expected": object()}], r"data\.rows: row 1\.expected: a value of type object has no form in JSON"),
        ([{"q": float("nan")}], r"data\.rows: row 1\.q: nan is not a number that JSON has"),
        ([{"expected": "x", "split": "train"}], r"^row 1: the row has no inputs"),
        (
            [{"q": 1, "id": "x", "split": "train"}, {"q": 2, "id": "x", "split": "val"}],
            r"^row 2: the id 'x' is that of row 1 already",
        ),
        ([{"q": 1, "split": "tran"}], r"data: row 1, split: unknown split 'tran'; did you mean 'train'\?"),
        ([], r"data\.rows: needs at least 1, has 0"),
    ],
)
def test_rows_are_checked_like_those_of_a_file(standin: Standin, rows: list[dict[str, Any]], told: str) -> None:
    with pytest.raises((ConfigError, DatasetError), match=told):
        optimize(content(standin, data={"rows": rows}))


def test_functions_that_nobody_could_find_again_are_refused(standin: Standin) -> None:
    def inner(example: Example, answer: TracedAnswer) -> bool:
        return True

    class Made:
        name, dimensions, version = "made", ("made",), "1"

        def score(self, example: Example, answer: TracedAnswer) -> bool:
            return True

    for thing in (inner, scorer(inner), lambda example, answer: True, Made(), Made):
        with pytest.raises(ConfigError, match=r"scoring\.scorers\.1: .* is no function at the top level of a file"):
            optimize(content(standin, scoring={"scorers": [codes, thing]}))
    cell: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed_in(example, answer): return True", cell)
    with pytest.raises(ConfigError, match=r"scoring\.scorers\.0: the source of 'typed_in' cannot be read.*define the scorer in a file"):
        optimize(content(standin, scoring={"scorers": [cell["typed_in"]]}))
    with pytest.raises(ConfigError, match=r"scoring\.scorers\.0: the scorer 'loads' cannot be called with \(example, answer\)"):
        optimize(content(standin, scoring={"scorers": [json.loads]}))


def test_an_override_takes_a_functions_place(standin: Standin) -> None:
    loaded, live = _loaded(content(standin), ["scoring.scorers.0=exact"])
    assert loaded.config.scoring.scorers[0] == "exact"
    assert list(live) == [1]
    assert _loaded(content(standin), ["scoring.scorers=[exact]"])[1] == {}


def test_a_run_with_another_scorer_is_another_run(standin: Standin) -> None:
    optimize(content(standin, budget={"rollouts": 80}), out="run")
    with pytest.raises(JournalError, match=r"what differs: scoring\.scorers"):
        optimize(content(standin, budget={"rollouts": 80}, scoring={"scorers": [codes]}), out="run")
    assert optimize(content(standin, budget={"rollouts": 80}, scoring={"scorers": [codes]}), out="run", resume=True).verdict


def test_warnings_are_not_lost(standin: Standin) -> None:
    made = [row for split, size in SIZES.items() for row in rows(split, size)]
    twice = {**made[0], "id": "again", "split": "val"}
    with pytest.warns(UserWarning, match="val: 1 example has the same inputs as in train"):
        optimize(content(standin, data={"rows": [*made, twice]}, budget={"rollouts": 80}), out="run")
    with pytest.warns(UserWarning, match="mind this"):
        warn(Warned("mind this"))


# --- the package and its manual --------------------------------------------------------------------------------------


def test_every_name_is_its_modules() -> None:
    for name, module in optimizer._HOME.items():
        assert getattr(optimizer, name) is getattr(import_module(module), name)
        assert name in dir(optimizer)
    assert sorted(optimizer._HOME) == sorted(optimizer.__all__)
    with open(optimizer.__file__, encoding="utf-8") as file:  # noqa: PTH123
        lines = [line.split() for line in file if re.match(r"    from \w+\.", line)]
    assert {line[5]: line[1] for line in lines} == optimizer._HOME
    with pytest.raises(AttributeError, match="module 'optimizer' has no attribute 'optimise'"):
        optimizer.optimise  # type: ignore[attr-defined]  # noqa: B018


def test_importing_is_cheap() -> None:
    code = "import sys, optimizer; sys.exit(', '.join({'pydantic', 'numpy', 'litellm', 'yaml', 'asyncio'} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")


def test_the_manual_runs(standin: Standin, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *study = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    tickets = [{"ticket": f"Ticket {n}: my invoice is wrong", "expected": "billing"} for n in range(30)]
    (tmp_path / "tickets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tickets))
    served = f'", "api_base": "{standin.api_base}", "api_key_env": "STANDIN_KEY'
    for name, model in (("anthropic/claude-haiku-4-5", "openai/parcel-a"), ("anthropic/claude-sonnet-4-5", "openai/parcel-reflect")):
        assert name in first
        first = first.replace(name, model + served)
    (tmp_path / "run.py").write_text(first)
    runpy.run_path(str(tmp_path / "run.py"), run_name="__main__")
    assert "not distinguishable 0.0 (0.0, 0.0)" in capsys.readouterr().out  # the stand-in knows nothing of tickets
    (tmp_path / "study.py").write_text("\n".join(study))
    left = runpy.run_path(str(tmp_path / "study.py"), run_name="__main__")
    assert sorted(left["best"].candidate.components["instructions"].split("\n"))[:4] == [
        "A crash belongs to bug.",
        "A invoice belongs to billing.",
        "A login belongs to account.",
        "A refund belongs to billing.",
    ]
    assert "improved 1.0" in capsys.readouterr().out
