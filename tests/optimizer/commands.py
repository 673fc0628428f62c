"""Commands as their users meet them: arguments in; exit code, stdout and stderr out."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from optimizer.__main__ import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Command = Callable[..., Ran]


def commander(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs `python -m optimizer …` in this process."""

    def command(*arguments: Any) -> Ran:
        monkeypatch.setattr(sys, "argv", ["optimizer", *map(str, arguments)])
        monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        return Ran(left.value.code if isinstance(left.value.code, int) else 0, out, err)

    return command
