"""The command `python -m optimizer`, and `promptfront` for the same."""

import io
import sys
import traceback
from types import TracebackType

import typer

from adapters.adapter import AdapterError
from adapters.clients.client import ModelError
from adapters.formats import DatasetError
from optimizer.cli.app import app
from optimizer.errors import ConfigError, PromptfrontError, ProviderError
from optimizer.report.words import from_here, visible
from scoring.scorer import ScorerConfigError, ScorerError


def main() -> None:
    """Runs one command and leaves with its exit code. What a user can mend is told in words, anything else as the bug that it is."""
    sys.excepthook = _tell_bug
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the encoding lacks is spelled out, and ends no command
    try:
        typer.main.get_command(app)()
    except PromptfrontError as error:
        _leave(error, error.exit_code)
    except (DatasetError, AdapterError, ScorerConfigError, ScorerError) as error:
        _leave(error, ConfigError.exit_code)
    except ModelError as error:
        _leave(error, ProviderError.exit_code)
    except OSError as error:
        _leave(error, PromptfrontError.exit_code)


def _leave(error: Exception, code: int) -> None:
    typer.echo(visible(from_here(str(error))), err=True)
    raise SystemExit(code) from None


def _tell_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    traceback.print_exception(kind, error, trace)
    typer.echo("\nThis is a bug in promptfront, not in your files. Please report it with the lines above.", err=True)


if __name__ == "__main__":
    main()
