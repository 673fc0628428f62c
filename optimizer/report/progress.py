"""Progress: what a run is doing, as a bar on a terminal, as a line now and then elsewhere, or not at all."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from optimizer.config import BudgetConfig
from optimizer.events import CellFilled, Event, JobCommitted, Spent, StageStarted, Warned
from optimizer.report.console import say
from optimizer.report.words import count, estimated, from_here, money

WINDOW = 10.0
"""Seconds that the rate is measured over."""
EVERY = 5.0
"""Seconds between two lines where there is no terminal."""

STAGES = {"seed": "scoring the seed", "search": "searching", "report": "meeting the test examples", "evaluation": "evaluating"}

Clock = Callable[[], float]


class Watcher:
    """Observes one run. `refresh` shows the state anew; it is told whether a stage has just begun."""

    def __init__(self, console: Console, state: "State", refresh: Callable[[bool], None]) -> None:
        self._console, self._state, self._refresh = console, state, refresh

    def __call__(self, event: Event) -> None:
        self._state.take(event)
        if isinstance(event, Warned):
            say(self._console, f"warning: {from_here(event.message)}", style="yellow")
        self._refresh(isinstance(event, StageStarted))

    def retried(self, model: str, kind: str, _seconds: float) -> None:
        """A call to the model failed and will be tried again after a wait."""
        self._state.retries[f"{model} {kind}"] += 1
        self._refresh(False)


@contextmanager
def watched(console: Console, limits: BudgetConfig, *, quiet: bool, clock: Clock = time.monotonic) -> Iterator[Watcher]:
    """`quiet`: nothing is shown but warnings. `clock`: seconds since any moment."""
    state = State(limits, clock)
    if quiet:
        yield Watcher(console, state, lambda _: None)
    elif console.is_terminal and not console.is_dumb_terminal:
        with _bar(console, state) as refresh:
            yield Watcher(console, state, refresh)
    else:
        yield Watcher(console, state, _lines(console, state, clock))


class State:
    """What the events so far amount to."""

    def __init__(self, limits: BudgetConfig, clock: Clock) -> None:
        self.stage = "starting"
        self.retries: Counter[str] = Counter()
        self._limits, self._clock = limits, clock
        self._filled: deque[float] = deque()
        self._spent = Spent()
        self._last: JobCommitted | None = None
        self._failed = 0
        self._total: int | None = None
        """The rollouts of an evaluation, which ends with them; None for a run, which ends by its limits."""

    def take(self, event: Event) -> None:
        match event:
            case StageStarted():
                self.stage = STAGES[event.stage]
                self._total = event.total if event.stage == "evaluation" else None
            case CellFilled():
                self._spent = event.spent
                self._failed += event.failed is not None
                self._filled.append(self._clock())
            case JobCommitted():
                self._last = event

    def share(self) -> float:
        """How much of the budget is used, 0..1: of the limit that is nearest. Of an evaluation, how much is done."""
        spent, limits = self._spent, self._limits
        if self._total is not None:
            return spent.rollouts / self._total
        used = {
            "rollouts": spent.rollouts,
            "calls": spent.calls,
            "tokens": spent.input_tokens + spent.output_tokens,
            "usd": spent.usd or 0.0,
            "minutes": spent.seconds / 60,
        }
        return min(1.0, max(float(used[name] / limit) for name, limit in limits if limit is not None))

    def text(self) -> str:
        most = self._total or self._limits.rollouts
        limit = "" if most is None else f"/{most:,}"
        told = [f"{self._spent.rollouts:,}{limit} rollouts", f"{self._rate():.1f}/s", money(self._spent.usd)]
        if self._last is not None:
            best = estimated(self._last.best_overall, self._last.best_deviation)
            seed = estimated(self._last.seed_overall, self._last.seed_deviation)
            told += [f"estimated: best {best}, seed {seed}", f"frontier {self._last.frontier}"]
        if self._failed:
            told.append(f"{count(self._failed, 'cell')} failed")
        if self.retries:
            told.append(f"tried again: {', '.join(f'{n} × {what}' for what, n in sorted(self.retries.items()))}")
        return " · ".join(told)

    def _rate(self) -> float:
        """Rollouts a second, lately."""
        now = self._clock()
        while self._filled and self._filled[0] < now - WINDOW:
            self._filled.popleft()
        return len(self._filled) / max(1.0, now - self._filled[0]) if self._filled else 0.0


@contextmanager
def _bar(console: Console, state: State) -> Iterator[Callable[[bool], None]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[told]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as progress:
        task = progress.add_task(state.stage, total=1.0, told="")

        def refresh(_: bool) -> None:
            progress.update(task, description=state.stage, completed=state.share(), told=state.text())

        yield refresh


def _lines(console: Console, state: State, clock: Clock) -> Callable[[bool], None]:
    last = clock()

    def refresh(stage_began: bool) -> None:
        nonlocal last
        if stage_began or clock() - last >= EVERY:
            last = clock()
            say(console, f"{state.stage}: {state.text()}")

    return refresh
