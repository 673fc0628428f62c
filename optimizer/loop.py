"""The loop: jobs start in order and commit in order, and only a commit changes what the next jobs see (invariant I2).

Job i is drawn when job i - w has committed (w: proposals in flight): its parent, its minibatch, its cost at most. It starts as soon as the
budget has room for that, runs on its own and touches nothing that others see; at its commit its cells enter the table, its child is
judged, and what it did not use goes back to the budget. So what a job sees depends on the jobs before it, and neither on timing nor on the
size of the budget.
"""

import asyncio
import math
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from adapters.answer import Usage
from adapters.candidate import Candidate
from adapters.clients.client import ModelClient, ModelError
from adapters.digest import digest
from adapters.example import Example
from adapters.split import SearchData
from optimizer.accept import accept
from optimizer.budget import Claim, Ledger, Used
from optimizer.config import ObjectivesConfig
from optimizer.desk import Desk, Line
from optimizer.errors import BudgetError, PlacedError, ProviderError
from optimizer.evaluate import Cell, Evaluator
from optimizer.events import Diverged, JobCommitted, Observer, Outcome, StageStarted
from optimizer.journal import CandidateRow, Journal
from optimizer.minibatch import minibatch
from optimizer.policy import ROUNDING, Objectives
from optimizer.pool import Member, Pool
from optimizer.propose.demos import unshown
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import NO_PROPOSAL, Attempt, Other, Proposal, Proposer, Task
from optimizer.table import Table

SEED_JOB = 0
PATIENCE = 12
"""Proposals in a row that could not be used, after which the search ends: its proposers have nothing more to offer."""
MARGIN = 2.0
"""Room for the best candidate's longer prompts, in what is set aside for the report's tokens and money."""
NOTHING_LEFT, NO_PROPOSALS, CLOCK = "nothing left to improve", "no usable proposals", "minutes"


@dataclass(frozen=True)
class Rules:
    """What of the config decides the search. `priced`: tokens or money are limited; `report_share`: the report's cells relative to the
    seed's on val."""

    in_flight: int
    random_seed: int
    max_failed_share: float
    priced: bool
    report_share: float


@dataclass(frozen=True)
class Job:
    """One attempt at a new candidate, as far as it got.

    The first fields are fixed when it is drawn, by what is known then; `ticket` when the budget admits it; `cells` (the parent's new ones
    and the child's) and `proposal` are what came of it.
    """

    index: int
    parent: Member
    proposer: Proposer
    batch: Sequence[Example]
    known_cells: Sequence[Cell]
    missing: Sequence[Example]
    known: frozenset[str]
    others: Sequence[Other]
    attempts: Sequence[Attempt]
    claim: Claim
    ticket: int = 0
    cells: Sequence[Cell] = ()
    proposal: Proposal = NO_PROPOSAL


@dataclass(frozen=True)
class Found:
    """What the search ends with. `best`: the best of all on val; `chosen`: model → the candidate to run it with; `specialists`: model →
    the best where only that model counts, its worth there on val and that of `best`; `frontier` tells each one's means there."""

    seed: Candidate
    best: Candidate
    chosen: Mapping[str, Candidate]
    specialists: Mapping[str, tuple[Candidate, float, float]]
    frontier: Sequence[tuple[Candidate, Mapping[str, float]]]
    table: Table
    stopped_by: str


class Search:
    """One run's search. It knows train and val; the test split is not within its reach."""

    def __init__(
        self,
        seed: Candidate,
        data: SearchData,
        *,
        rules: Rules,
        evaluator: Evaluator,
        proposers: Sequence[Proposer],
        guards: Guards,
        desk: Desk,
        ledger: Ledger,
        journal: Journal,
        observer: Observer,
        objectives: ObjectivesConfig,
        dimensions: Sequence[str] | None,
        time_is_up: Callable[[], bool],
    ) -> None:
        """`dimensions`: what the scorers emit; None where only the seed's scores tell."""
        self._seed, self._data, self._rules = seed, data, rules
        self._evaluator, self._proposers, self._guards = evaluator, proposers, guards
        self._desk, self._ledger, self._journal, self._observer = desk, ledger, journal, observer
        self._wanted, self._time_is_up = objectives, time_is_up
        self._dimensions = dimensions if objectives.dimensions is None else tuple(objectives.dimensions)
        self._table = Table([*data.train, *data.val], self._objectives(self._dimensions or ()))
        self._pool = Pool(seed, self._table, data.val)
        self._known = {seed.id}
        self._in_vain = 0
        self._committed = False
        self._next = SEED_JOB + 1
        self._drawn: deque[Job] = deque()
        self._flights: deque[asyncio.Task[Job]] = deque()
        self._stopped_by: str | None = None

    async def run(self) -> Found:
        """Raises BudgetError when not even the seed and one comparison fit the budget, ProviderError when too many cells failed,
        PlacedError when the scorers give no values."""
        report = await self._score_seed()
        self._observer(StageStarted("search", None))
        try:
            await self._search()
        finally:
            for flight in self._flights:
                flight.cancel()
            await asyncio.gather(*self._flights, return_exceptions=True)
        stopped_by = self._stopped_by or NO_PROPOSALS
        if not self._committed and stopped_by != NOTHING_LEFT:
            raise BudgetError(
                f"the limit on {stopped_by} came before the first comparison; what is paid for is kept. Raise "
                f"budget.{stopped_by}, or use fewer examples."
            )
        self._ledger.settle(report, ())
        frontier = [(candidate, self._pool.objectives(candidate)) for candidate in self._pool.frontier()]
        pool = self._pool
        return Found(self._seed, pool.best(), pool.chosen(), pool.specialists(), frontier, self._table, stopped_by)

    def _objectives(self, dimensions: Sequence[str]) -> Objectives:
        return Objectives([model.id for model in self._evaluator.models], dimensions, self._wanted)

    async def _search(self) -> None:
        for _ in range(self._rules.in_flight):
            self._draw()
        self._admit()
        while self._flights:
            await self._commit(await self._flights.popleft())
            self._draw()
            self._admit()

    # --- the seed -------------------------------------------------------------------------------------------------

    async def _score_seed(self) -> int:
        """Returns the ticket of what is set aside for the report."""
        val = self._data.val
        claim = self._evaluator.claim(self._seed, val, self._rules.priced)
        first = self._proposers[(SEED_JOB + 1) % len(self._proposers)]
        batch = self._data.train[: first.minibatch]
        report = self._ledger.hold(claim.times(self._rules.report_share))
        least = claim + self._claim(self._seed, batch, batch, first)
        limit = self._ledger.refusal(least)
        if limit is not None:
            need = getattr(self._ledger.wanted(least), limit)
            raise BudgetError(
                f"the limit on {limit} would come before the first comparison: the seed and one child on {len(val)} val examples, their "
                f"minibatch and the final report may take {need:,.9g}. Raise budget.{limit} to that at least, or use fewer examples."
            )
        ticket = self._ledger.hold(claim)
        self._observer(StageStarted("seed", claim.rollouts))
        cells = await self._evaluator.fill(self._seed, val, SEED_JOB)
        dimensions = self._dimensions or list(dict.fromkeys(d for c in cells if c.score for d in c.score.values))
        self._table.objectives = self._objectives(dimensions)
        used = [cell.used for cell in self._table.add(cells)]
        self._ledger.settle(ticket, used)
        check_failures(self._table, self._rules.max_failed_share)
        if math.isnan(self._pool.overall(self._seed)):
            raise PlacedError("scoring.scorers", "no scorer gave the seed a value on any val example, so nothing can be compared")
        with self._journal.together():
            self._journal.add_candidate(CandidateRow(self._seed.id, self._seed.components, [], "seed", SEED_JOB, "seed"))
            self._journal.add_cells([cell.row("val") for cell in cells])
            self._record(SEED_JOB, {"candidate": self._seed.id, "objectives": self._pool.objectives(self._seed)})
        self._ledger.settle(report, ())
        return self._ledger.hold(_shown(claim, used).times(self._rules.report_share))

    # --- a job's start --------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Fix what the next job is about. Drawn at every commit, whatever the budget says, so a larger budget draws the same jobs."""
        if self._exhausted() is not None:
            return
        index = self._next
        self._next += 1
        proposer = self._proposers[index % len(self._proposers)]
        rng = np.random.default_rng(int(digest(self._rules.random_seed, "parent", index), 16))
        parent = self._pool.parent(rng)
        train = unshown(parent.candidate, self._data.train)
        stream = random.Random(f"{self._rules.random_seed}/minibatch/{index}")
        batch = minibatch(parent.candidate.id, train, proposer.minibatch, self._table, stream)
        missing = [example for example in batch if not self._table.knows(parent.candidate.id, example)]
        claim = self._claim(parent.candidate, batch, missing, proposer)
        cells = self._table.cells(parent.candidate.id, batch)
        known, others, attempts = frozenset(self._known), self._pool.others(parent, batch), tuple(parent.attempts)
        self._drawn.append(Job(index, parent, proposer, batch, cells, missing, known, others, attempts, claim))

    def _admit(self) -> None:
        """Start the drawn jobs, in their order, as far as the budget goes."""
        self._stopped_by = self._exhausted()
        while self._stopped_by is None and self._drawn and len(self._flights) < self._rules.in_flight:
            job = self._drawn[0]
            # The clock comes last: where another limit ends the run it does so again, whatever the clock says by then.
            self._stopped_by = self._ledger.refusal(job.claim) or self._clock(job.index)
            if self._stopped_by is None:
                started = replace(self._drawn.popleft(), ticket=self._ledger.hold(job.claim))
                self._flights.append(asyncio.create_task(self._attempt(started)))

    def _exhausted(self) -> str | None:
        """Why the search has come to its end by itself, if it has."""
        objectives, reached = self._table.objectives, self._pool.reached()
        if objectives.overall(reached) >= 1 - ROUNDING and not objectives.shortfall(reached):
            return NOTHING_LEFT
        return NO_PROPOSALS if self._in_vain >= PATIENCE else None

    def _clock(self, job: int) -> str | None:
        # A job that called before was started then, so it is started again, whatever the clock says now.
        return CLOCK if self._time_is_up() and job > self._journal.last_job() else None

    def _claim(self, parent: Candidate, batch: Sequence[Example], missing: Sequence[Example], proposer: Proposer) -> Claim:
        """The parent's missing cells, the proposal, the child's cells, and its validation: without that a child would be for nothing."""
        largest = proposer.largest(parent) if self._rules.priced else parent
        claim = self._evaluator.claim(parent, missing, self._rules.priced) + proposer.claim(parent, self._rules.priced)
        return claim + self._evaluator.claim(largest, [*batch, *self._data.val], self._rules.priced)

    # --- a job on its own -----------------------------------------------------------------------------------------

    async def _attempt(self, job: Job) -> Job:
        """Runs beside other jobs: reads what its start has fixed, and changes nothing."""
        parent = job.parent.candidate
        new = await self._evaluator.fill(parent, job.missing, job.index)
        cells = [*job.known_cells, *new]
        if job.proposer.needs_failures and not any(_lost(cell, self._wanted) for cell in cells):
            return replace(job, cells=new, proposal=Proposal(None, "the minibatch holds no failure to learn from"))

        def line(client: ModelClient) -> Line:
            return Line(self._desk, client, job.index, job.proposer.name)

        def problem(child: Candidate) -> str | None:
            return self._guards.problem(parent, child, job.known, job.batch)

        stream = random.Random(f"{self._rules.random_seed}/proposal/{job.index}")
        task = Task(parent, job.batch, cells, job.others, job.attempts, problem, line, stream)
        try:
            proposal = await job.proposer.propose(task)
        except ModelError as error:
            return replace(job, cells=new, proposal=Proposal(None, f"the proposer's model failed: {error.kind}"))
        if proposal.child is not None:
            new = [*new, *await self._evaluator.fill(proposal.child, job.batch, job.index)]
        return replace(job, cells=new, proposal=proposal)

    # --- a job's commit -------------------------------------------------------------------------------------------

    async def _commit(self, job: Job) -> None:
        """Judge the child and let the next jobs see what came of it."""
        self._committed = True
        new = self._table.add(job.cells)
        used = [*(cell.used for cell in new), job.proposal.used]
        val_cells: list[Cell] = []
        child, parent = job.proposal.child, job.parent.candidate
        outcome: Outcome = "refused"
        reason = job.proposal.reason
        if child is not None and child.id in self._known:
            child, reason = None, "the same text was proposed at the same time"  # it belongs to the job that committed it
        if child is not None:
            self._known.add(child.id)
            before, after = (self._table.values(each.id, job.batch) for each in (parent, child))
            verdict = accept(before, after, self._table.objectives)
            outcome, reason = ("accepted" if verdict.accepted else "rejected"), verdict.reason
            if verdict.accepted:
                val_cells = self._table.add(await self._evaluator.fill(child, self._data.val, job.index))
                used += [cell.used for cell in val_cells]
                self._pool.add(child)
            else:
                job.parent.attempts.append(Attempt(child, reason))
        self._in_vain = self._in_vain + 1 if outcome == "refused" else 0
        self._ledger.settle(job.ticket, used)
        check_failures(self._table, self._rules.max_failed_share)
        with self._journal.together():
            if child is not None:
                row = CandidateRow(child.id, child.components, [parent.id], job.proposer.name, job.index, outcome)
                self._journal.add_candidate(row)
            self._journal.add_cells([*(cell.row("train") for cell in new), *(cell.row("val") for cell in val_cells)])
            body: dict[str, object] = {"parent": parent.id, "proposer": job.proposer.name, "batch": [example.id for example in job.batch]}
            body |= {"candidate": child.id if child else None, "outcome": outcome, "reason": reason}
            self._record(job.index, {**body, "objectives": self._pool.objectives(child) if child and outcome == "accepted" else {}})
        self._tell(job, outcome, reason)

    def _record(self, job: int, body: dict[str, object]) -> None:
        if self._journal.decide(job, "commit", body) is not None:
            self._observer(Diverged(f"job {job} ended otherwise than it was recorded; the run goes on from what it finds now"))

    def _tell(self, job: Job, outcome: Outcome, reason: str) -> None:
        objectives, reached = self._table.objectives, self._pool.reached()
        child = job.proposal.child
        self._observer(
            JobCommitted(
                index=job.index,
                proposer=job.proposer.name,
                outcome=outcome,
                reason=reason,
                candidate=child.id if child else None,
                pool=len(self._pool.members),
                frontier=len(self._pool.frontier()),
                seed_overall=self._pool.overall(self._seed),
                best_overall=objectives.overall(reached),
                objectives=objectives.raw(reached),
                spent=self._ledger.spent(self._journal.seconds()),
            )
        )


def _shown(claim: Claim, used: Sequence[Used]) -> Claim:
    """What the seed's cells have shown that as many cells take, in place of the most that they could take."""
    calls = {key: usage for each in used for key, usage in each.calls.items()}
    total = sum(calls.values(), Usage())
    tokens = min(claim.tokens, round((total.input_tokens + total.output_tokens) * MARGIN))
    usd = claim.usd if total.usd is None else min(claim.usd, total.usd * MARGIN)
    return Claim(claim.rollouts, claim.calls, tokens, usd)


def check_failures(table: Table, most: float) -> None:
    """`most`: the share of the table's cells that may have failed, 0..1. Raises ProviderError beyond it."""
    cells, failed = table.counts()
    if failed.total() > most * cells:
        kinds = ", ".join(f"{n} with {kind}" for kind, n in failed.most_common())
        raise ProviderError(
            f"{failed.total()} of {cells} cells failed ({kinds}), more than failures.max_share allows. What is paid for is kept: "
            "when their cause is mended, run the same command to go on."
        )


def _lost(cell: Cell, wanted: ObjectivesConfig) -> bool:
    return cell.score is not None and any(value < 1 for value in wanted.oriented(cell.score.values).values())
