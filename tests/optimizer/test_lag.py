"""Proposals that do not hold up the search: where they commit, what goes on meanwhile, and what becomes of them at the end (I1 to I3)."""

import asyncio
import random
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from pieces import Model, ask, candidate, example, failure

from adapters.candidate import Candidate
from adapters.clients.client import Completion, Request
from adapters.prompt import PromptAdapter
from adapters.split import SearchData
from optimizer.budget import Claim, Ledger, Used
from optimizer.compose import Composer
from optimizer.config import BudgetConfig, ObjectivesConfig
from optimizer.desk import Desk
from optimizer.evaluate import Evaluator, TaskModel
from optimizer.events import Diverged, Event, JobCommitted
from optimizer.journal import AWAITED, CLOSING, COMMIT, SCHEMA, Journal
from optimizer.loop import Search
from optimizer.order import OPENING, PROPOSE, Order, aim_of
from optimizer.pool import Composing
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Proposal, Task
from optimizer.schedule import BLOCK, Rules, first_cells
from scoring.exact import Exact
from scoring.suite import Suite

SEED = candidate("Say.")
TRAIN = [example(f"t{number}", text=f"train {number}") for number in range(40)]
VAL = [example(f"v{number}", text=f"val {number}") for number in range(24)]

Turns = Callable[[], int]
"""How many turns of the event loop the next call takes."""


def at_once() -> int:
    return 0


async def nothing(_: int) -> None:
    pass


class Shuffled(Model):
    """Right on more examples the more rules its prompt has; its calls end in any order."""

    def __init__(self, turns: Turns) -> None:
        super().__init__(self._says)
        self._turns = turns

    def _says(self, request: Request) -> str:
        rules, asked = request.messages[0].content.count("Rule"), request.messages[-1].content
        return "yes" if int(sha1(asked.encode()).hexdigest(), 16) % 10 < 3 + min(rules, 3) else "no"

    async def complete(self, request: Request) -> Completion:
        for _ in range(self._turns()):
            await asyncio.sleep(0)
        return await super().complete(request)


@dataclass
class Slow:
    """Adds a rule. `before`: waited for with the number of the proposal, the first being 1, before its model is asked; `claims`: the
    calls that it says it may make; `failing`: the numbers of those whose call fails."""

    turns: Turns = at_once
    before: Callable[[int], Awaitable[None]] = nothing
    claims: int = 1
    failing: frozenset[int] = frozenset()
    begun: int = 0
    failed: set[str] = field(default_factory=set)
    name: str = "slow"
    minibatch: int = 5

    def __post_init__(self) -> None:
        self.model = Model(lambda request: failure() if request.messages[0].content in self.failed else "a rule", name="slow")

    def claim(self, parent: Candidate, priced: bool) -> Claim:
        return Claim(calls=self.claims)

    async def propose(self, task: Task) -> Proposal:
        self.begun += 1
        rule = f"Rule {task.rng.randrange(10**6)}"
        if self.begun in self.failing:
            self.failed.add(rule)
        await self.before(self.begun)
        for _ in range(self.turns()):
            await asyncio.sleep(0)
        line = task.caller(self.model)
        await line.complete(ask(rule))
        child = task.parent.replace(instructions=f"{task.parent.components['instructions']}\n{rule}")
        problem = task.problem(child)
        return Proposal(None if problem else child, problem or "a rule", Used(0, line.used, line.uses))


@dataclass
class Trail:
    """What a search did: its commits in their order, as (job, what was decided); and what was taken in at its end."""

    commits: list[tuple[int, dict[str, Any]]]
    closing: list[tuple[int, dict[str, Any]]]
    diverged: bool
    rollouts: int
    calls: int
    stopped_by: str

    @property
    def jobs(self) -> list[int]:
        return [job for job, _ in self.commits]


async def searched(
    journal: Journal,
    budget: BudgetConfig,
    in_flight: int,
    proposer: Slow | None = None,
    model: Model | None = None,
    seed: int = 0,
    time_is_up: Callable[[], bool] = lambda: False,
) -> Trail:
    data, desk, suite = SearchData(tuple(TRAIN), tuple(VAL)), Desk(journal), Suite([Exact()])
    adapter = PromptAdapter(system="{instructions}", user="{text}", inputs=["text"])
    before, events = journal.written_off(), list[Event]()
    ledger = Ledger(budget, Used(before.rollouts, before.calls, 0))
    found = await Search(
        SEED,
        data,
        evaluator=Evaluator(adapter, [TaskModel("small", model or Shuffled(at_once))], suite, desk, journal, 0, lambda _: None),
        proposers=[proposer or Slow()],
        guards=Guards(adapter.placeholders, 5000, data.train),
        composing=Composing((), Composer(adapter.placeholders, 0), lambda _, __: None),
        desk=desk,
        ledger=ledger,
        journal=journal,
        observer=events.append,
        objectives=ObjectivesConfig(),
        dimensions=suite.dimensions,
        rules=Rules(Order(in_flight), random_seed=seed, max_failed_share=0.2, priced=False, report_share=0.0),
        time_is_up=time_is_up,
        paid=before.jobs,
    ).run()
    told = [event.index for event in events if isinstance(event, JobCommitted)]
    committed, closing = ({job: body for job, _, body in journal.decisions(kind) if job} for kind in (COMMIT, CLOSING))
    assert told == sorted(committed, key=told.index) + sorted(closing), "what is taken in at the end comes last"
    spent = ledger.spent()
    diverged = any(isinstance(event, Diverged) for event in events)
    commits, ended = ([(job, found[job]) for job in told if job in found] for found in (committed, closing))
    return Trail(commits, ended, diverged, spent.rollouts, spent.calls, found.stopped_by)


@contextmanager
def memory() -> Iterator[Journal]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        yield Journal(connection, Path(":memory:"))


def awaited(journal: Journal) -> list[int]:
    return [job for job, _, _ in journal.decisions(AWAITED)]


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(80, 300), st.integers(0, 150), st.integers(0, 3))
@given_settings(max_examples=8)
def test_neither_timing_nor_the_budget_changes_what_is_committed(timing: int, in_flight: int, budget: int, more: int, seed: int) -> None:
    draw = random.Random(timing)
    with memory() as calm, memory() as wild:
        one = asyncio.run(searched(calm, BudgetConfig(rollouts=budget + more), in_flight, seed=seed))
        turns = lambda: draw.choice((0, 0, 3, 40))  # noqa: E731
        slow = Slow(turns=lambda: draw.choice((0, 400)))
        other = asyncio.run(searched(wild, BudgetConfig(rollouts=budget), in_flight, slow, Shuffled(turns), seed))
        assert other.commits == one.commits[: len(other.commits)]
        assert other.rollouts <= budget and other.stopped_by == "rollouts"
        wild.write_off_end()
        more_of_it = asyncio.run(searched(wild, BudgetConfig(rollouts=budget + more), in_flight, Slow(), seed=seed))
        assert (more_of_it.commits, more_of_it.closing) == (one.commits, one.closing) and not more_of_it.diverged


@given(st.integers(1, 16), st.integers(100, 300), st.lists(st.integers(0, 60), min_size=1, max_size=4), st.integers(0, 3))
@given_settings(max_examples=8)
def test_a_raised_limit_on_calls_is_kept_and_nothing_paid_leaves_the_account(
    in_flight: int, budget: int, more: list[int], seed: int
) -> None:
    with memory() as journal:
        before = asyncio.run(searched(journal, BudgetConfig(calls=budget), in_flight, seed=seed))
        for step in more:
            budget += step
            journal.write_off_end()
            after = asyncio.run(searched(journal, BudgetConfig(calls=budget), in_flight, seed=seed))
            assert len(journal.answered()) == after.calls <= budget, "as many as were ever paid for"
            assert after.commits[: len(before.commits)] == before.commits and after.rollouts >= before.rollouts and not after.diverged
            before = after


@pytest.mark.parametrize(
    ("in_flight", "first"),
    [
        (1, [9, 10, 12, 13, 11, 14]),
        (2, [9, 10, 12, 13, 14, 11, 16]),
        (4, [9, 10, 12, 13, 14, 11, 16]),
        (32, [9, 10, 12, 13, 14, 16, 17, 11, 18]),
    ],
)
def test_a_proposal_commits_behind_its_turn_and_a_run_in_it(in_flight: int, first: list[int]) -> None:
    with memory() as journal:
        trail = asyncio.run(searched(journal, BudgetConfig(rollouts=500), in_flight))
    places = [Order(in_flight).place(job, body["aim"] == PROPOSE) for job, body in trail.commits]
    assert places == sorted(places)
    assert trail.jobs[: OPENING + len(first)] == [*range(1, OPENING + 1), *first]


@given(st.integers(1, 20), st.integers(80, 400))
@given_settings(max_examples=10)
def test_no_proposal_is_made_that_nothing_could_follow_from(in_flight: int, budget: int) -> None:
    order, proposer = Order(in_flight), Slow()
    with memory() as journal:
        trail = asyncio.run(searched(journal, BudgetConfig(rollouts=budget), in_flight, proposer))
        assert not awaited(journal)
    made = [job for job, body in trail.commits if body["aim"] == PROPOSE]
    ran = {job for job, body in [*trail.commits, *trail.closing] if body["aim"] != PROPOSE}
    assert proposer.begun == len(made)
    assert all(order.heir(job) <= max(ran) for job in made if job > OPENING)
    skipped = [job for job in range(1, max(ran)) if job not in ran and job not in made]
    assert all(aim_of(job) == PROPOSE and order.place(job, proposing=True)[0] > max(trail.jobs) for job in skipped)


def test_the_end_waits_for_no_proposal() -> None:
    """Runs that stand behind one are taken in without it; with a larger budget it is made, and then they follow it."""
    with memory() as journal:
        trail = asyncio.run(searched(journal, BudgetConfig(rollouts=300), 16))
        ended = [job for job, _ in trail.closing]
        assert ended and ended == sorted(ended) and {body["outcome"] for _, body in trail.closing} == {"run"}
        journal.write_off_end()
        further = asyncio.run(searched(journal, BudgetConfig(rollouts=500), 16))
        assert set(ended) < set(further.jobs) and not further.diverged and further.commits[: len(trail.commits)] == trail.commits
    skipped = set(range(1, max(ended))) - set(trail.jobs) - set(ended)
    assert any(job in further.jobs and further.jobs.index(job) < further.jobs.index(max(ended)) for job in skipped)


async def test_blocks_are_run_while_a_proposal_is_out() -> None:
    """With one job in flight too: else this waits for ever."""
    met, enough = 0, asyncio.Event()

    def turns() -> int:
        nonlocal met
        met += 1
        if met == first_cells(SEED, SearchData(tuple(TRAIN), tuple(VAL))) + 2 * BLOCK:
            enough.set()
        return 0

    async def before(number: int) -> None:
        if number > OPENING:
            await enough.wait()

    with memory() as journal:
        proposer = Slow(before=before)
        await asyncio.wait_for(searched(journal, BudgetConfig(rollouts=150), 1, proposer, Shuffled(turns)), timeout=30)
    assert proposer.begun > OPENING


async def test_the_opening_is_made_at_the_same_time() -> None:
    opening = asyncio.Barrier(OPENING)

    async def before(number: int) -> None:
        if number <= OPENING:
            await opening.wait()

    with memory() as journal:
        await asyncio.wait_for(searched(journal, BudgetConfig(rollouts=150), 1, Slow(before=before)), timeout=30)


def test_no_proposal_is_begun_when_the_time_is_up() -> None:
    """Not even one that was put off, and whose place comes then."""
    order = Order(4)
    with memory() as journal:
        over = lambda: len(journal.decisions(COMMIT)) > OPENING + 4  # noqa: E731
        trail = asyncio.run(searched(journal, BudgetConfig(rollouts=142), 4, time_is_up=over))
        assert trail.stopped_by == "minutes" and max(trail.jobs) > OPENING
        begun = {job for (job,) in journal._all("SELECT DISTINCT job FROM calls")}
        late = [job for job in range(OPENING + 1, max(begun)) if aim_of(job) == PROPOSE and order.place(job, True)[0] > OPENING + 4]
        assert late and not begun & set(late)
        again = asyncio.run(searched(journal, BudgetConfig(rollouts=142), 4, time_is_up=lambda: True))
        assert (again.commits, again.closing) == (trail.commits, trail.closing) and not again.diverged


async def test_what_proposals_claim_and_do_not_use_does_not_end_the_search() -> None:
    """One that is out claims more than a third of the limit; only what is used counts in the end."""
    most = 240
    with memory() as journal:
        trail = await searched(journal, BudgetConfig(calls=most), 2, Slow(claims=90))
        assert trail.stopped_by == "calls" and most - 90 < trail.calls <= most
        with memory() as free:
            wide = await searched(free, BudgetConfig(rollouts=400), 2)
        assert trail.commits == wide.commits[: len(trail.commits)]


async def test_a_failure_of_a_proposal_that_the_end_left_out_is_tried_again_with_a_larger_budget() -> None:
    small, large = BudgetConfig(calls=185), BudgetConfig(calls=300)
    with memory() as journal:
        first = await searched(journal, small, 4)
        (left,), proposals = awaited(journal), [job for job, body in first.commits if body["outcome"] == "proposed"]
    with memory() as journal:
        broken = await searched(journal, small, 4, Slow(failing=frozenset({len(proposals) + len([left])})))
        assert broken.commits == first.commits and awaited(journal) == [left]
        assert journal.forget_failures() == 0, "the end rests on it"
        silent = Slow(failing=frozenset(range(1, 100)))
        again = await searched(journal, small, 4, silent)
        assert (again, silent.model.asked) == (broken, []), "a finished run is derived again for nothing"
        journal.write_off_end()
        assert (awaited(journal), journal.forget_failures()) == ([], 1)
        further = await searched(journal, large, 4)
        assert further.commits[: len(first.commits)] == first.commits and not further.diverged
        assert dict(further.commits)[left]["outcome"] == "proposed"
