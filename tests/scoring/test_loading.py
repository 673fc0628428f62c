"""Loading scorers by name, from files, from modules and from installed packages."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adapters.answer import TracedAnswer
from adapters.example import Example
from scoring.answer import AnswerContains
from scoring.exact import Exact
from scoring.fields import Fields
from scoring.loading import load_scorer
from scoring.score import Score
from scoring.scorer import ScorerConfigError, ScorerError

EXAMPLE = Example("e1", {}, "yes")
ANSWER = TracedAnswer("one two three")

SCORERS = """
from helper import LIMIT

words = 3

def brevity(example, answer):
    return len(answer.text.split()) <= LIMIT

class Short:
    def __init__(self, most, unit="words"):
        if most < 1:
            raise ValueError("most has to be 1 or more")
        self.most = most

    def __call__(self, example, answer):
        return len(answer.text.split()) <= self.most

class Full:
    name, dimensions, version = "full", ("a", "b"), "1"

    async def score(self, example, answer):
        return None
"""

PLUGIN = """
class Tone:
    def __init__(self, at=0.5):
        self.at = at

    def __call__(self, example, answer):
        return self.at
"""

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")

    return write


@pytest.fixture
def scorers(write: Write) -> None:
    write("own/scorers.py", SCORERS)
    write("own/helper.py", "LIMIT = 5")


@pytest.mark.parametrize(
    ("spec", "scorer"),
    [
        ("exact", Exact()),
        ("answer_contains", AnswerContains()),
        ("fields", Fields()),
        ({"fields": {"partial": True}}, Fields(partial=True)),
        ({"exact": None}, Exact()),
        ({"exact": {}}, Exact()),
    ],
)
def test_built_in_scorers(spec: Any, scorer: object, tmp_path: Path) -> None:
    assert load_scorer(spec, tmp_path) == scorer


@pytest.mark.usefixtures("scorers")
async def test_a_function_in_a_file(tmp_path: Path) -> None:
    path = list(sys.path)
    scorer = load_scorer({"python": "own/scorers.py:brevity"}, tmp_path)
    assert scorer.name == "brevity"
    assert await scorer.score(EXAMPLE, ANSWER) == Score({"brevity": 1.0})
    assert sys.path == path


@pytest.mark.usefixtures("scorers")
async def test_a_class_in_a_file_takes_settings(tmp_path: Path) -> None:
    def short(most: int) -> Any:
        return load_scorer({"python": "own/scorers.py:Short", "settings": {"most": most}}, tmp_path)

    assert await short(2).score(EXAMPLE, ANSWER) == Score({"Short": 0.0})
    assert await short(3).score(EXAMPLE, ANSWER) == Score({"Short": 1.0})
    assert short(2).version == short(2).version != short(3).version


@pytest.mark.usefixtures("scorers")
def test_a_whole_scorer_in_a_file(tmp_path: Path) -> None:
    assert load_scorer({"python": "own/scorers.py:Full"}, tmp_path).dimensions == ("a", "b")


async def test_an_edited_file_is_read_again_and_has_a_new_version(write: Write, tmp_path: Path) -> None:
    spec = {"python": "one.py:rate"}
    write("one.py", "def rate(example, answer): return 0.1")
    first = load_scorer(spec, tmp_path)
    write("one.py", "def rate(example, answer): return 0.2")
    second = load_scorer(spec, tmp_path)
    assert first.version != second.version
    assert (await second.score(EXAMPLE, ANSWER)).values == {"rate": 0.2}


def test_a_file_runs_once_for_all_its_scorers(write: Write, tmp_path: Path) -> None:
    write(
        "two.py",
        "from pathlib import Path\nPath(__file__).with_suffix('.ran').open('a').write('x')\n"
        + "def a(example, answer): return 1\ndef b(example, answer): return 1",
    )
    load_scorer({"python": "two.py:a"}, tmp_path)
    load_scorer({"python": "two.py:b"}, tmp_path)
    assert (tmp_path / "two.ran").read_text() == "x"


async def test_dataclasses_and_errors_work_in_a_loaded_file(write: Write, tmp_path: Path) -> None:
    text = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Rate:
    at: float = 0.5

    def __call__(self, example, answer):
        return self.at / example.metadata["n"]
"""
    write("three.py", text)
    scorer = load_scorer({"python": "three.py:Rate"}, tmp_path)
    assert await scorer.score(Example("e", {}, metadata={"n": 2}), ANSWER) == Score({"Rate": 0.25})
    with pytest.raises(ScorerError, match=r"example 'e1': it raised KeyError: 'n' \(three.py, line 10\)"):
        await scorer.score(EXAMPLE, ANSWER)


async def test_a_module_beside_the_config(write: Write, tmp_path: Path) -> None:
    write("pf_scorers_beside/__init__.py", "")
    write("pf_scorers_beside/rates.py", "def rate(example, answer): return 0.5")
    scorer = load_scorer({"python": "pf_scorers_beside.rates:rate"}, tmp_path)
    assert await scorer.score(EXAMPLE, ANSWER) == Score({"rate": 0.5})


@pytest.fixture
def installed(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("site/pf_plugin.py", PLUGIN)
    write("site/pf_plugin-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: pf-plugin\nVersion: 1\n")
    write("site/pf_plugin-1.dist-info/entry_points.txt", "[promptfront.scorers]\ntone = pf_plugin:Tone\ngone = pf_plugin:Gone\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


@pytest.mark.usefixtures("installed")
async def test_installed_scorers(tmp_path: Path) -> None:
    assert await load_scorer("tone", tmp_path).score(EXAMPLE, ANSWER) == Score({"Tone": 0.5})
    assert await load_scorer({"tone": {"at": 1}}, tmp_path).score(EXAMPLE, ANSWER) == Score({"Tone": 1.0})
    with pytest.raises(ScorerConfigError, match=r"the installed scorer 'gone' \(pf_plugin:Gone\) cannot be loaded: AttributeError"):
        load_scorer("gone", tmp_path)
    with pytest.raises(ScorerConfigError, match="there is no scorer 'tones'; did you mean 'tone'"):
        load_scorer("tones", tmp_path)


@pytest.mark.usefixtures("scorers")
@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("exakt", "there is no scorer 'exakt'; did you mean 'exact'"),
        ("qqq", "there is no scorer 'qqq'; there is exact, answer_contains, numeric"),
        ("own/scorers.py:brevity", "for a file or a module write {python: 'own/scorers.py:brevity'}"),
        ({"fields": {"partail": True}}, "the scorer 'fields' has no setting 'partail'; did you mean 'partial'"),
        ({"fields": {"partial": "no"}}, "fields: partial is 'no'"),
        ({"fields": [1]}, r"the scorer 'fields': the settings are \[1\]; they have to be a mapping"),
        ({"exact": {"a": 1}}, "the scorer 'exact' has no setting 'a'"),
        ({"exact": {}, "fields": {}}, "cannot be read; a scorer is name, {name: {settings}}"),
        ({}, "cannot be read; a scorer is"),
        ({"python": "own/scorers.py"}, "write 'file.py:attribute' or 'module:attribute'"),
        ({"python": ":brevity"}, "write 'file.py:attribute' or 'module:attribute'"),
        ({"python": 3}, "write 'file.py:attribute' or 'module:attribute'"),
        ({"python": "own/scorers.py:brevity", "setting": {}}, "unknown key 'setting'; did you mean 'settings'"),
        ({"python": "own/scores.py:brevity"}, r"the scorer file .*scores.py cannot be read: No such file"),
        ({"python": "own/scorers.py:brevty"}, "own/scorers.py has no 'brevty'; did you mean 'brevity'"),
        ({"python": "own/scorers.py:words"}, "the scorer 'own/scorers.py:words': the scorer 'int' cannot be called"),
        ({"python": "own/scorers.py:brevity", "settings": {"a": 1}}, "takes no settings: only a class does"),
        ({"python": "own/scorers.py:Short"}, "the scorer 'own/scorers.py:Short': missing a required argument: 'most'"),
        ({"python": "own/scorers.py:Short", "settings": {"mots": 1}}, "has no setting 'mots'; did you mean 'most'"),
        (
            {"python": "own/scorers.py:Short", "settings": {"most": 0}},
            r"cannot be made: ValueError: most has to be 1 or more \(scorers.py, line 12\)",
        ),
        ({"python": "pf_no_such_module:rate"}, "the module 'pf_no_such_module' cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_specs_that_lead_nowhere(spec: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(ScorerConfigError, match=told):
        load_scorer(spec, tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ny = 1 / 0\n", r"bad.py cannot be loaded: ZeroDivisionError: division by zero \(bad.py, line 2\)"),
        ("x = 1\ndef rate(example:\n", r"bad.py cannot be loaded: SyntaxError: .* \(bad.py, line 2\)"),
        ("import pf_no_such_module\n", r"ModuleNotFoundError: No module named 'pf_no_such_module' \(bad.py, line 1\)"),
        ("x = '\0'", r"bad.py cannot be loaded: .*null bytes"),
    ],
)
def test_a_file_that_fails_is_told_with_its_line(text: str, told: str, write: Write, tmp_path: Path) -> None:
    write("bad.py", text)
    with pytest.raises(ScorerConfigError, match=told):
        load_scorer({"python": "bad.py:rate"}, tmp_path)
    assert not [name for name in sys.modules if name.startswith("bad_")]


def test_a_file_may_tamper_with_the_path(write: Write, tmp_path: Path) -> None:
    write("four.py", "import sys\nsys.path.pop(0)\ndef rate(example, answer): return 1")
    assert load_scorer({"python": "four.py:rate"}, tmp_path).name == "rate"


def test_importing_scoring_imports_nothing_heavy() -> None:
    heavy = "{'litellm', 'scipy', 'moocore', 'numpy', 'pydantic'}"
    code = f"import sys, scoring.loading, scoring.suite; print(sorted({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
