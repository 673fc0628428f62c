"""The command itself: what it imports, how it fails, and with which code."""

import json
import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from commands import Command, commander

from adapters.adapter import AdapterError
from adapters.clients.client import ErrorKind, ModelError
from adapters.formats import DatasetError
from optimizer.configfile import schema
from optimizer.errors import (
    BudgetError,
    ConfigError,
    JournalError,
    LockedError,
    ProviderError,
    ReplayError,
    RequirementError,
    StoppedError,
)
from scoring.scorer import ScorerConfigError, ScorerError

ROOT = Path(__file__).parents[2]
COMMANDS = ("run", "resume", "replay", "front", "show", "diff", "evaluate", "compare", "check", "schema", "init")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return commander(capsys, monkeypatch)


def test_help_names_every_command(command: Command) -> None:
    ran = command("--help")
    assert ran.code == 0
    assert [line.split()[0] for line in ran.out.partition("Commands:\n")[2].splitlines()] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(command: Command, name: str) -> None:
    ran = command(name, "--help")
    assert ran.code == 0
    assert f" {name} [OPTIONS]" in ran.out.splitlines()[0]


def test_schema_prints_what_the_configs_folder_holds(command: Command) -> None:
    ran = command("schema")
    assert json.loads(ran.out) == schema()
    kept = (ROOT / "configs" / "schema.json").read_text(encoding="utf-8")
    assert ran.out == kept, "run: python -m optimizer schema > configs/schema.json"


def test_the_version_is_that_of_the_package(command: Command) -> None:
    ran = command("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"promptfront {version('promptfront')}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["schema"]])
def test_what_needs_no_model_is_quick(arguments: list[str]) -> None:
    """In processor time, which on an idle machine is the time one waits; on a busy one it still says what the command costs."""

    def seconds() -> float:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "optimizer", *arguments], check=True, capture_output=True, cwd=ROOT, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.5


def test_heavy_libraries_are_left_to_those_who_need_them() -> None:
    code = "import sys, optimizer.__main__; print([m for m in ('litellm', 'numpy', 'rich.progress', 'xllamacpp') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n"


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("optimizer.configfile.schema", fail)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("no"), 2),
        (JournalError("no"), 2),
        (LockedError("no"), 2),
        (DatasetError("no"), 2),
        (AdapterError("no"), 2),
        (ScorerError("mine", "e1", "no"), 2),
        (ScorerConfigError("no"), 2),
        (ProviderError("no"), 3),
        (BudgetError("no"), 4),
        (RequirementError("no"), 5),
        (ReplayError("no"), 1),
        (OSError(28, "No space left on device", "x"), 1),
        (StoppedError("no"), 130),
    ],
)
def test_what_a_user_can_mend_is_told_in_words(command: Command, monkeypatch: pytest.MonkeyPatch, error: Exception, code: int) -> None:
    raising(monkeypatch, error)
    ran = command("schema")
    assert (ran.code, ran.out, ran.err) == (code, "", f"{error}\n")


def test_a_models_failure_is_the_providers(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    raising(monkeypatch, ModelError(ErrorKind.AUTH, "openai/x", "wrong key \x1b[31m"))
    ran = command("schema")
    assert (ran.code, ran.err) == (3, "openai/x: auth: wrong key \\x1b[31m\n")


def test_anything_else_is_called_a_bug_and_shown_whole() -> None:
    code = (
        "import optimizer.configfile\n"
        "def fail(): raise RuntimeError('surprise')\n"
        "optimizer.configfile.schema = fail\n"
        "import sys; sys.argv = ['optimizer', 'schema']\n"
        "from optimizer.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "RuntimeError: surprise" in done.stderr
    assert done.stderr.endswith("This is a bug in promptfront, not in your files. Please report it with the lines above.\n")


def test_wrong_usage(command: Command) -> None:
    for arguments in (["rnu"], ["run"], ["show", "x"], ["schema", "--josn"]):
        ran = command(*arguments)
        assert ran.code == 2
        assert "Usage:" in ran.err
        assert "Traceback" not in ran.err


def test_no_command_is_a_request_for_help(command: Command) -> None:
    ran = command()
    assert "Commands:" in ran.out + ran.err


def test_what_an_encoding_lacks_is_spelled_out() -> None:
    code = (
        "import typer; from rich.console import Console; from optimizer import __main__ as m\n"
        "typer.main.get_command = lambda _: lambda: Console().print('\\u20ac \\ud800')\n"
        "m.main()"
    )
    env = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT, env=env)
    assert done.stdout == rb"\u20ac \ud800" + b"\n"
