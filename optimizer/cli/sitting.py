"""One sitting of a run: prepared, watched, interruptible, reported."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from rich.console import Console

from optimizer.build import Prepared, prepare
from optimizer.cli.options import emit
from optimizer.config import Config
from optimizer.configfile import config_from_manifest, resolved
from optimizer.errors import RequirementError, StoppedError
from optimizer.events import Warned
from optimizer.report.console import say
from optimizer.report.progress import Watcher, watched
from optimizer.report.terminal import show_result
from optimizer.report.words import from_here, visible
from optimizer.run import run
from optimizer.rundir import MANIFEST, has_ended, read_manifest
from optimizer.trial import check_dimensions

T = TypeVar("T")
Work = Callable[[Prepared, Watcher], Awaitable[T]]

STOPPING = "stopping: the calls under way are waited for, since they are paid for; once more to stop at once"


def sit(
    config: Config,
    folder: Path,
    out: Path,
    *,
    allow_changes: bool = False,
    require_improvement: bool = False,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """`folder`: where the config's paths start; `out`: the run directory. Raises StoppedError after Ctrl-C or SIGTERM."""
    console = Console(stderr=True, highlight=False)

    async def searched(prepared: Prepared, watcher: Watcher) -> dict[str, Any]:
        return await run(prepared, out, watcher, allow_changes=allow_changes)

    ended = has_ended(out, resolved(config))
    if ended:
        say(console, from_here(f"{out}: this run is finished; its result is derived again from its journal, and nothing is called"))
    result = attended(config, folder, searched, lambda: _way_back(out), console, quiet=quiet or ended)
    show_result(result, out, console, config.budget.rollouts)
    if as_json:
        emit(result)
    if require_improvement and result["verdict"] != "improved":
        raise RequirementError(f"an improvement was required, and the verdict is: {result['verdict']}")


def attended(config: Config, folder: Path, work: Work[T], way_back: Callable[[], str], console: Console, *, quiet: bool = False) -> T:
    """What `work` makes of the prepared config while somebody watches, who may stop it. `way_back`: how to go on then, in words.

    Raises StoppedError after Ctrl-C or SIGTERM."""

    async def stoppable(prepared: Prepared, watcher: Watcher) -> T:
        with _brake(lambda: say(console, STOPPING), lambda: _leave(way_back())):
            await check_dimensions(prepared)
            return await work(prepared, watcher)

    try:
        with watched(console, config.budget, quiet=quiet) as watcher:
            prepared = prepare(config, folder, watcher.retried)
            for warning in prepared.warnings:
                watcher(Warned(warning))
            return asyncio.run(stoppable(prepared, watcher))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise StoppedError(way_back()) from None


def recorded(out: Path) -> tuple[Config, Path]:
    """The config of a run directory, and the folder that its paths start from."""
    manifest = read_manifest(out)
    return config_from_manifest(manifest["config"]), Path(manifest["folder"])


def _leave(way_back: str) -> NoReturn:
    """At once, whatever hangs: a run can be killed at any moment. Written past Python's buffers, whose locks may be held just now."""
    os.write(sys.stderr.fileno(), f"\n{visible(from_here(way_back))}\n".encode())
    os._exit(StoppedError.exit_code)


def _way_back(out: Path) -> str:
    if not (out / MANIFEST).exists():
        return "interrupted before the run began"
    return f"interrupted: state kept in {out}; continue with: python -m optimizer resume {shlex.quote(str(out))}"


@contextmanager
def _brake(tell: Callable[[], None], leave: Callable[[], NoReturn]) -> Iterator[None]:
    """Inside, the first Ctrl-C or SIGTERM cancels this task, which keeps what is paid for; a second one ends it there and then."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    pressed = False

    def stop() -> None:
        tell()
        if task is not None:
            task.cancel()

    def press(*_: object) -> None:
        nonlocal pressed
        if pressed:
            leave()
        pressed = True
        loop.call_soon_threadsafe(stop)

    # A signal that the process was started to ignore, as in the background of a script, stays ignored.
    heeded = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, press) for each in heeded}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
