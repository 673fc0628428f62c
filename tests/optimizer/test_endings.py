"""How a search comes to its end: by its limits, its clock, its failures or its user, and what is kept then."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from journalled import made_from
from pieces import Model, Reply, candidate, example
from standin import Behaviour, Standin, write_project
from test_run import SMALL, Watcher, but_for_time, replayed, sit, task_calls

from adapters.answer import Usage
from adapters.candidate import Candidate
from adapters.clients.client import Completion, Request
from adapters.example import Example
from adapters.prompt import PromptAdapter
from adapters.split import SearchData
from optimizer.budget import Claim, Ledger, Used
from optimizer.cli.reading import read_run
from optimizer.clients import Door
from optimizer.compose import Composer
from optimizer.config import BudgetConfig, ObjectivesConfig
from optimizer.desk import Desk
from optimizer.errors import BudgetError, PlacedError, ProviderError
from optimizer.evaluate import Evaluator, TaskModel
from optimizer.events import CellFilled, Event, StageStarted, Warned
from optimizer.journal import Journal
from optimizer.loop import Search
from optimizer.order import Order
from optimizer.pool import Composing
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Proposal, Task
from optimizer.schedule import Rules
from scoring.exact import Exact
from scoring.functions import FunctionScorer
from scoring.score import Score
from scoring.scorer import Scorer
from scoring.suite import Suite

SEED, CHILD = candidate("Say."), candidate("Say!")
VAL = [example(f"v{i}", "yes" if i else "no") for i in range(4)]


class Always:
    """Proposes the same child to every job."""

    name, minibatch = "always", 1

    def __init__(self, child: Candidate) -> None:
        self._child = child

    def claim(self, parent: Candidate, priced: bool) -> Claim:
        return Claim()

    async def propose(self, task: Task) -> Proposal:
        reason = task.problem(self._child)
        return Proposal(None, reason) if reason else Proposal(self._child, "always")


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.write(tmp_path)) as journal:
        yield journal


def says(request: Request) -> str:
    """What the child asks for in a louder voice is done."""
    return "yes" if "!" in request.messages[0].content else "no"


def search(
    journal: Journal,
    *,
    model: Model | None = None,
    train: Sequence[Example] = (),
    scorer: Scorer | None = None,
    in_flight: int = 1,
    report_share: float = 0.0,
    ledger: Ledger | None = None,
    child: Candidate = CHILD,
) -> Search:
    data, desk, suite = SearchData(tuple(train) or (example("t"),), tuple(VAL)), Desk(journal), Suite([scorer or Exact()])
    adapter = PromptAdapter(system="{instructions}", user="{text}", inputs=["text"])
    return Search(
        SEED,
        data,
        evaluator=Evaluator(adapter, [TaskModel("small", model or Model(says))], suite, desk, journal, 0, lambda _: None),
        proposers=[Always(child)],
        guards=Guards(adapter.placeholders, 5000, data.train),
        composing=Composing((), Composer(adapter.placeholders, 0), lambda _, __: None),
        desk=desk,
        ledger=ledger or Ledger(BudgetConfig(rollouts=1000)),
        journal=journal,
        observer=lambda _: None,
        objectives=ObjectivesConfig(),
        dimensions=suite.dimensions,
        rules=Rules(Order(in_flight), random_seed=0, max_failed_share=0.2, priced=True, report_share=report_share),
        time_is_up=lambda: False,
    )


async def test_a_child_that_two_jobs_propose_at_once_stays_what_the_first_made_of_it(journal: Journal, tmp_path: Path) -> None:
    await search(journal, in_flight=3).run()
    commits = [body for job, _, body in journal.decisions("commit") if job > 0]
    assert [body["outcome"] for body in commits[:3]] == ["proposed", "refused", "refused"]
    assert [body["candidate"] for body in commits[:3]] == [CHILD.id, None, None]
    assert commits[1]["reason"] == "the same text was proposed at the same time"
    made_from(tmp_path, "small")
    listed = {each.id: each for each in read_run(tmp_path).candidates}
    assert listed[CHILD.id].objectives["small:template"] > listed[SEED.id].objectives["small:template"] and listed[CHILD.id].on_frontier
    assert listed[SEED.id].best, "five examples make nobody sure"


async def test_a_limit_that_lets_the_first_job_down_comes_before_the_first_comparison(journal: Journal) -> None:
    """The check before the first call cannot know how long the first proposal will be."""
    model, long = Model(says, max_tokens=3), candidate("Say!" + " loud" * 500)
    with pytest.raises(BudgetError, match=r"the limit on tokens came before the first comparison.*Raise budget\.tokens"):
        await search(journal, model=model, child=long, ledger=Ledger(BudgetConfig(tokens=400))).run()
    assert len(model.asked) == 1 + len(VAL)


async def test_the_report_keeps_all_that_it_may_take_where_the_seed_has_shown_no_price(journal: Journal) -> None:
    def unpriced(request: Request) -> Reply:
        return Completion(says(request), "stop", Usage(10, 1, None), 0.0)

    ledger, held = Ledger(BudgetConfig(usd=1000.0)), []
    seeker = search(journal, model=Model(unpriced), ledger=ledger, report_share=1.0)
    ceiling = (4 * len("Say." + "text of v0") + len("Say." + "text of t") + 5 * 100) * 0.001
    seeker._observer = lambda event: held.append(ledger.wanted(Claim()).usd) if event == StageStarted("search", None) else None
    await seeker.run()
    assert held == [pytest.approx(2 * ceiling)], "what the seed may have cost, and the report"


async def test_scorers_that_give_no_value_end_the_run_at_the_seed(journal: Journal) -> None:
    model = Model(says)
    with pytest.raises(PlacedError, match=r"scoring\.scorers: no scorer gave the seed a value"):
        await search(journal, model=model, scorer=FunctionScorer(silent)).run()
    assert len(model.asked) == 1 + len(VAL)


def silent(example: object, answer: object) -> Score:
    return Score({})


# --- whole runs -------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, standin: Standin) -> Path:
    return write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 110, "minutes": 30}, sizes=SMALL)


def test_a_run_that_another_limit_has_ended_was_not_ended_by_the_clock(project: Path, tmp_path: Path) -> None:
    result = sit(project, tmp_path / "run")
    assert result["stopped_by"] == "rollouts"
    assert replayed(project, tmp_path / "run") == []
    assert sit(project, tmp_path / "run", "budget.minutes=0.0001")["stopped_by"] == "rollouts"


class Storm(Watcher):
    """Makes the stand-in fail as soon as the report begins."""

    def __init__(self, standin: Standin, share: float) -> None:
        super().__init__()
        self._standin, self._share = standin, share

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        if isinstance(event, StageStarted) and event.stage == "report":
            self._standin.reset(Behaviour(faults={"server_error": self._share}))


def test_a_report_with_too_many_failures_is_none_and_is_made_when_they_are_over(project: Path, tmp_path: Path, standin: Standin) -> None:
    calm = sit(project, tmp_path / "calm", "models.a.attempts=1")
    with pytest.raises(ProviderError, match=r"cells failed \(\d+ with server_error\).*run the same command"):
        sit(project, tmp_path / "run", "models.a.attempts=1", watcher=Storm(standin, 0.5))
    assert not (tmp_path / "run/result.json").exists()
    standin.reset()
    assert but_for_time(sit(project, tmp_path / "run", "models.a.attempts=1")) == but_for_time(calm)


def test_the_failures_of_a_second_report_do_not_rest_on_the_first(project: Path, tmp_path: Path, standin: Standin) -> None:
    assert sit(project, tmp_path / "run", "models.a.attempts=1", "budget.rollouts=110")["look"] == 1
    larger, storm = ("models.a.attempts=1", "budget.rollouts=200"), Storm(standin, 0.5)
    with pytest.raises(ProviderError):
        sit(project, tmp_path / "run", *larger, watcher=storm)
    assert any(isinstance(event, Warned) and "this is look 2" in event.message for event in storm.events), (
        "another best, or this tests nothing"
    )
    standin.reset()
    result = sit(project, tmp_path / "run", *larger)
    assert (result["failed_cells"], result["look"]) == ({}, 2)


def test_ctrl_c_begins_no_call(tmp_path: Path, standin: Standin) -> None:
    sizes = {"train": 20, "val": 80, "test": 16}
    config = write_project(tmp_path / "project", standin.api_base, budget={"rollouts": 400}, sizes=sizes, concurrency=2)
    standin.reset(Behaviour(latency=0.3))
    command = [sys.executable, "-m", "optimizer", "run", str(config), "--out", str(tmp_path / "run"), "--no-progress"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ) as process:
        while task_calls(standin) < 4 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        before = task_calls(standin)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert task_calls(standin) <= before + 2, "a call may have been on its way"
    assert standin.stats()["abandoned"] == 0


async def test_a_shut_door_lets_nobody_through_and_nobody_wait() -> None:
    door, through = Door(1), []

    async def call(name: str) -> None:
        async with door:
            through.append(name)
            await asyncio.sleep(0)

    calls = [asyncio.create_task(call(name)) for name in "abc"]
    await asyncio.sleep(0)
    door.shut(asyncio.CancelledError())
    await asyncio.wait(calls)
    assert through == ["a"]
    assert [each.cancelled() for each in calls] == [False, True, True]


async def test_what_was_spent_before_is_not_taken_for_what_the_seed_takes(journal: Journal) -> None:
    """A former report's usage stands in the ledger from the start; the next report's share follows the seed's cells alone."""
    held: list[list[float]] = []
    for number, before in enumerate((0, 100_000)):
        ledger = Ledger(BudgetConfig(tokens=1_000_000))
        ledger.settle(ledger.hold(Claim()), [Used(1, {"a call of a former report": Usage(before, 0, 0.0)}, 1)])
        seeker = search(journal, model=Model(says, name=f"m{number}"), ledger=ledger, report_share=1.0)
        seen: list[float] = []
        held.append(seen)

        def look(event: object, ledger: Ledger = ledger, seen: list[float] = seen) -> None:
            if event == StageStarted("search", None):
                seen.append(ledger.wanted(Claim()).tokens)

        seeker._observer = look
        await seeker.run()
    assert held[1][0] - held[0][0] == 100_000


async def test_a_door_that_is_shut_for_a_cause_says_so_to_all_who_wait() -> None:
    door, cause = Door(1), ProviderError("out of reach")
    await door.acquire()
    waiting = [asyncio.create_task(door.acquire()) for _ in range(3)]
    await asyncio.sleep(0)
    door.shut(cause)
    door.shut(asyncio.CancelledError())
    door.release()
    assert await asyncio.gather(*waiting, return_exceptions=True) == [cause] * 3, "the first cause stays"


class Unplugged(Watcher):
    """Ends the run in the middle of its report, as a kill does: some cells are filled, and other calls are on their way."""

    def __init__(self, cells: int) -> None:
        super().__init__()
        self._left, self._reporting = cells, False

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        self._reporting = self._reporting or event == StageStarted("report", 2 * SMALL["test"])
        self._left -= self._reporting and isinstance(event, CellFilled)
        if self._reporting and self._left == 0:
            raise ProviderError("the plug was pulled")


def test_what_a_report_took_that_was_broken_off_stays_spent_under_a_larger_budget(project: Path, tmp_path: Path, standin: Standin) -> None:
    with pytest.raises(ProviderError, match="the plug was pulled"):
        sit(project, tmp_path / "run", "concurrency=4", watcher=Unplugged(20))
    watcher = Watcher()
    result = sit(project, tmp_path / "run", "budget.rollouts=200", watcher=watcher)
    assert result["look"] == 2, "another best, or this tests nothing"
    assert task_calls(standin) <= 200
    assert task_calls(standin) <= result["spent"]["rollouts"] <= 200
    assert result["spent"]["calls"] == sum(standin.stats()["calls"].values())
