"""The jobs between their draw and their commit: those that wait for room, and those that are under way, with what they may cost at most.

A job is drawn when all that it is to know have committed (order.py): which candidate is run where, or which one a proposal is made from,
and its cost at most. It starts as soon as the budget has room for that, runs on its own and touches nothing that others see. What it did
not use goes back to the budget in the end.

Where the rollouts will be used up before anything much is drawn that knows of a proposal, it is put off: it starts when its place comes
and enough is left after all.
"""

import asyncio
from bisect import insort
from collections import deque
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from adapters.candidate import Candidate
from adapters.clients.client import ModelClient, ModelError
from optimizer.budget import Claim, Ledger
from optimizer.desk import Caller, Desk
from optimizer.evaluate import Cell, Evaluator
from optimizer.journal import Journal
from optimizer.order import OPENING
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Proposal, Task
from optimizer.schedule import BLOCK, Job, Rules, Schedule

WORTHWHILE = 2
"""Blocks that there have to be rollouts for, or a later proposal is not made: with fewer, what it says could not be confirmed on val."""
CLOCK, ROLLOUTS = "minutes", "rollouts"


class Flight:
    """The jobs of one search that are drawn and have not committed."""

    def __init__(
        self,
        schedule: Schedule,
        examples: int,
        *,
        rules: Rules,
        evaluator: Evaluator,
        guards: Guards,
        desk: Desk,
        ledger: Ledger,
        journal: Journal,
        time_is_up: Callable[[], bool],
        paid: Set[int],
    ) -> None:
        """`examples`: how many a candidate can meet; `paid`: jobs whose calls the ledger has booked."""
        self._schedule, self._rules, self._evaluator, self._guards = schedule, rules, evaluator, guards
        self._desk, self._ledger, self._journal = desk, ledger, journal
        self._time_is_up, self._paid = time_is_up, paid
        self._block = min(BLOCK, examples * len(evaluator.models))
        self._order: list[Job] = []
        """All of them, by their places."""
        self._waiting: deque[Job] = deque()
        """Those that have not started, by their indexes."""
        self._tasks: dict[int, asyncio.Task[Job]] = {}
        """Those that have, and below what they have claimed."""
        self._tickets: dict[int, int] = {}
        self._late: set[int] = set()
        """Proposals that are put off."""

    @property
    def next(self) -> Job | None:
        """The one that is to commit before all others."""
        return self._order[0] if self._order else None

    @property
    def under_way(self) -> list[Job]:
        """Those that have started, by their places."""
        return [job for job in self._order if job.index in self._tasks]

    def has_started(self, job: Job) -> bool:
        """Whether it is under way."""
        return job.index in self._tasks

    def due(self, job: int, claim: Claim) -> Claim:
        """What of a claim is not booked already. Rollouts are booked when they are derived."""
        return Claim(rollouts=claim.rollouts) if job in self._paid else claim

    def draw(self) -> None:
        """Fix what the next jobs are about. To be drawn after every commit, whatever the budget says, so a larger one draws the same."""
        known_to = self._rules.order.known_to
        while not self._order or known_to(self._schedule.next) < self._order[0].place[0]:
            job = self._schedule.draw()
            job = replace(job, claim=self._claim(job))
            self._waiting.append(job)
            insort(self._order, job, key=lambda each: each.place)

    def admit(self) -> str | None:
        """Start those that wait, in the order of their indexes, as far as the budget goes; returns the limit that has no room for more."""
        stopped_by = None
        while stopped_by is None and self._waiting:
            job = self._waiting[0]
            if self.comes_to_nothing(job, self._rules.order.runs_before_heir(job.index)):
                self._late.add(self._waiting.popleft().index)
                continue
            # The clock comes last: where another limit ends the run it does so again, whatever the clock says by then.
            if job.index not in self._paid:
                stopped_by = self._ledger.refusal(job.claim) or self._clock(job.index)
            if stopped_by is None:
                self._start(self._waiting.popleft())
        return stopped_by

    def admit_late(self, job: Job) -> None:
        """Start it where it was put off and there is room after all."""
        if job.index in self._late and self._ledger.refusal(job.claim) is None:
            self._late.remove(job.index)
            self._start(job)

    def comes_to_nothing(self, job: Job, before: int = 0) -> bool:
        """Whether it is a proposal that is not paid, and there are no rollouts for what would have to follow from it, once so many other
        runs have used theirs."""
        if job.proposer is None or job.index in self._paid:
            return False
        blocks = before + (1 if job.index <= OPENING else WORTHWHILE)
        return self._ledger.refusal(Claim(rollouts=blocks * self._block)) == ROLLOUTS

    async def land(self, job: Job) -> Job:
        """With what came of it. It is none of these any more."""
        self._order.remove(job)
        return await self._tasks.pop(job.index)

    def settle(self, job: Job, cells: Sequence[Cell]) -> None:
        """Once: a proposal may have been settled before its place came. `cells`: those of it that are new."""
        ticket = self._tickets.pop(job.index, None)
        if ticket is not None:
            self._ledger.settle(ticket, [*(cell.used for cell in cells), job.proposal.used])

    async def make_room(self) -> bool:
        """Settle the proposals under way before their place has come, since they claim much more than they use. Whether there were any."""
        early = [job.index for job in self._order if job.proposer is not None and job.index in self._tickets]
        for index in early:
            self.settle(await self._tasks[index], ())
        return bool(early)

    async def cancel(self) -> None:
        """All that are under way."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _claim(self, job: Job) -> Claim:
        if job.proposer is None:
            return self.due(job.index, self._evaluator.claim(job.candidate, job.spots, self._rules.priced))
        return self.due(job.index, job.proposer.claim(job.candidate, self._rules.priced))

    def _start(self, job: Job) -> None:
        self._tickets[job.index] = self._ledger.hold(job.claim)
        self._tasks[job.index] = asyncio.create_task(self._attempt(job))

    def _clock(self, job: int) -> str | None:
        # A job that called before was started then, so it is started again, whatever the clock says now.
        return CLOCK if self._time_is_up() and job > self._journal.last_job() else None

    async def _attempt(self, job: Job) -> Job:
        """Runs beside other jobs: reads what its draw has fixed, and changes nothing."""
        proposer, parent = job.proposer, job.candidate
        if proposer is None:
            return replace(job, cells=await self._evaluator.fill(parent, job.spots, job.index))

        desk, guards = self._desk, self._guards  # and not all of the flight: what a proposer is handed leads to no example of val

        def caller(client: ModelClient) -> Caller:
            return Caller(desk, client, job.index, proposer.name)

        def problem(child: Candidate) -> str | None:
            return guards.problem(parent, child, job.known, job.examples)

        task = Task(parent, job.lessons, job.others, problem, caller, self._rules.stream("proposal", job.index), job.anew)
        try:
            return replace(job, proposal=await proposer.propose(task))
        except ModelError as error:
            return replace(job, proposal=Proposal(None, f"the proposer's model failed: {error.kind}"))
