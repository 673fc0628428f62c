"""Where a command's output goes: results to stdout, and all else to stderr, what the user's own code prints as well."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TextIO

if TYPE_CHECKING:
    from rich.console import Console

Given = ParamSpec("Given")

_STDOUT: ContextVar[TextIO] = ContextVar("stdout")


def kept_apart(command: Callable[Given, None]) -> Callable[Given, None]:
    """The command, with stdout for what is given to `stdout` alone: scorers and adapters may print while it works."""

    @wraps(command)
    def run(*args: Given.args, **options: Given.kwargs) -> None:
        before = _STDOUT.set(sys.stdout)
        try:
            with redirect_stdout(sys.stderr):
                command(*args, **options)
        finally:
            _STDOUT.reset(before)

    return run


def stdout() -> TextIO:
    """For results."""
    return _STDOUT.get()


def console() -> "Console":
    """For results that people read."""
    from rich.console import Console

    return Console(file=stdout(), highlight=False)
