"""Users' code: whatever it raises becomes an error of ours that names the line, and what it is gets a version."""

import inspect
import traceback
from asyncio import CancelledError, current_task
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from adapters.clients.client import ModelError
from adapters.digest import digest
from scoring.scorer import ScorerConfigError, ScorerError

_OURS = str(Path(__file__).parent)


@contextmanager
def users_code(blame: Callable[[str], Exception], file: str | None = None) -> Iterator[None]:
    """Around a call of users' code: what it raises is raised again as `blame(text)`, where the text holds the error and its
    line, in `file` if it came through there. An interruption from outside stays one."""
    try:
        yield
    except (ScorerError, ScorerConfigError, ModelError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # also sys.exit(), which must not end the run as if it had succeeded, and panics of compiled code
        if isinstance(error, CancelledError) and _is_cancelled():
            raise
        raise blame(f"{type(error).__name__}: {_told(error)}{_place(error, file)}") from error


def _is_cancelled() -> bool:
    """Whether the task that this runs in is to end; code that waits for a task of its own, which is cancelled, raises the same error."""
    try:
        task = current_task()
    except RuntimeError:  # no event loop is running
        return False
    return task is not None and task.cancelling() > 0


def _told(error: BaseException) -> str:
    try:
        return (error.msg if isinstance(error, SyntaxError) else str(error)) or "no message"
    except Exception as second:  # noqa: BLE001  (its message is users' code too)
        return f"no message, for that raises {type(second).__name__}"


def source_file(thing: object) -> str | None:
    """The file that a function, a class, a module or an object's class is written in; None where there is none to read."""
    known = inspect.isroutine(thing) or inspect.isclass(thing) or inspect.ismodule(thing)
    try:
        file = inspect.getsourcefile(thing if known else type(thing))  # type: ignore[arg-type]
    except TypeError:
        return None
    return file if file is not None and Path(file).is_file() else None


def source_version(*things: object, settings: Mapping[str, object] | None = None) -> str:
    """A hash of the whole files that the things are written in, and of settings. Raises ScorerConfigError without a file."""
    texts = []
    for thing in things:
        file = source_file(thing)
        if file is None:
            raise ScorerConfigError(
                f"the source of {getattr(thing, '__name__', thing)!r} cannot be read, and stored scores are told apart by it; "
                "define the scorer in a file"
            )
        texts.append(Path(file).read_text(encoding="utf-8", errors="backslashreplace"))
    return digest(texts, settings or {})


def _place(error: BaseException, file: str | None) -> str:
    """` (scorers.py, line 3)`: the deepest line in `file`, or else the deepest outside this package."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name}, line {error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(Path(frame.filename).parent) != _OURS]
    inside = [frame for frame in frames if frame.filename == file] or frames
    return f" ({Path(inside[-1].filename).name}, line {inside[-1].lineno})" if inside else ""
