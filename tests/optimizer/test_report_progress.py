"""Progress: what is shown, where, and how often."""

import io
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from optimizer.config import BudgetConfig
from optimizer.events import CellFilled, JobCommitted, Spent, StageStarted, Warned
from optimizer.report.progress import State, Watcher, watched

LIMITS = BudgetConfig(rollouts=100)


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def watching(time: Time, *, quiet: bool = False, terminal: bool = False) -> Iterator[tuple[Watcher, io.StringIO]]:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=200, color_system=None, highlight=False)
    with watched(console, LIMITS, quiet=quiet, clock=time) as watcher:
        yield watcher, out


def filled(rollouts: int, failed: str | None = None, usd: float | None = 0.0) -> CellFilled:
    return CellFilled(Spent(rollouts=rollouts, calls=rollouts, usd=usd), failed)


def committed(calls: int = 0, deviation: float | None = 0.03) -> JobCommitted:
    return JobCommitted(
        1,
        "lines",
        "run",
        "on 12 examples, to explore",
        "abc",
        2,
        3,
        0.4,
        0.55,
        0.021,
        deviation,
        {},
        Spent(rollouts=1, calls=calls, usd=0.5),
    )


def test_a_line_when_a_stage_begins_and_every_few_seconds() -> None:
    time = Time()
    with watching(time) as (watcher, out):
        watcher(StageStarted("seed", 40))
        for second in range(12):
            time.now += 1
            watcher(filled(second + 1))
        watcher(StageStarted("search", None))
    assert out.getvalue().splitlines() == [
        "scoring the seed: 0/100 rollouts · 0.0/s · $0.00",
        "scoring the seed: 5/100 rollouts · 1.2/s · $0.00",
        "scoring the seed: 10/100 rollouts · 1.1/s · $0.00",
        "searching: 12/100 rollouts · 1.1/s · $0.00",
    ]


def test_warnings_are_always_shown_and_never_obeyed() -> None:
    for quiet in (True, False):
        with watching(Time(), quiet=quiet) as (watcher, out):
            watcher(StageStarted("seed", 1)) if quiet else None
            watcher(Warned("[red]odd\x1b"))
        assert out.getvalue() == "warning: [red]odd\\x1b\n"


def test_a_bar_on_a_terminal_which_leaves_nothing_behind() -> None:
    time = Time()
    with watching(time, terminal=True) as (watcher, out):
        watcher(StageStarted("search", None))
        watcher(filled(50))
        watcher(committed())
        watcher.retried("openai/x", "rate_limit", 3.0)
        watcher(Warned("odd"))
    text = out.getvalue()
    assert "warning: odd" in text
    assert "searching" in text
    assert (
        "50/100 rollouts · 1.0/s · $0.00 · estimated: best 55.0 ± 3.0, seed 40.0 ± 2.1 · frontier 3 · tried again: 1 × openai/x rate_limit"
        in text
    )
    assert text.endswith("\x1b[2K")


def test_failures_are_counted_and_no_zero_stands_for_an_unknown_price() -> None:
    state = State(BudgetConfig(usd=2.0), Time())
    state.take(filled(1, "timeout", usd=None))
    state.take(filled(2, "timeout", usd=None))
    assert state.text() == "2 rollouts · 2.0/s · price unknown · 2 cells failed"


def test_the_rate_is_that_of_the_last_seconds() -> None:
    time = Time()
    state = State(LIMITS, time)
    for _ in range(100):
        state.take(filled(1))
    time.now += 100
    for n in range(20):
        time.now += 0.5
        state.take(filled(n))
    assert "2.1/s" in state.text()
    time.now += 11
    assert "0.0/s" in state.text()


def test_the_nearest_limit_fills_the_bar() -> None:
    state = State(BudgetConfig(rollouts=100, tokens=1000, minutes=10), Time())
    state.take(CellFilled(Spent(rollouts=10, calls=10, input_tokens=300, output_tokens=200, seconds=60), None))
    assert state.share() == 0.5
    state.take(CellFilled(Spent(rollouts=11, calls=11, input_tokens=900, output_tokens=200, seconds=60), None))
    assert state.share() == 1.0


def test_cells_tell_what_is_used_and_commits_what_came_of_it() -> None:
    state = State(LIMITS, Time())
    state.take(filled(30))
    state.take(committed(calls=20))
    assert state.text().startswith("30/100 rollouts · 1.0/s · $0.00")
    assert "estimated: best 55.0 ± 3.0, seed 40.0 ± 2.1" in state.text()
    state.take(committed(deviation=None))
    assert "estimated: best 55.0, seed 40.0 ± 2.1" in state.text()


def test_an_evaluation_ends_with_its_cells_and_not_with_the_budget() -> None:
    state = State(LIMITS, Time())
    state.take(StageStarted("evaluation", 40))
    state.take(filled(10))
    assert state.stage == "evaluating" and state.share() == 0.25 and state.text().startswith("10/40 rollouts")
    state.take(StageStarted("search", None))
    assert state.share() == 0.1 and state.text().startswith("10/100 rollouts")
