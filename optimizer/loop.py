"""The loop: jobs start in order and commit in order, and only a commit changes what the next jobs see (invariant I2).

Every job has a place in the order of commits: a run its index, a proposal one behind that, since a reflection takes
long and what follows need not wait for it. Until its place comes it is in flight (flight.py); at its commit its cells enter the table and
its proposal enters the pool. So what a job sees depends on the jobs before its place, and neither on timing nor on the size of the budget.

When the place of a proposal comes that was put off, and it is too late for it, the runs that are under way are taken in without the
proposals before them. That is the end's doing and no commit: with a larger budget these proposals are made, and their places come.
"""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from adapters.candidate import Candidate
from adapters.split import SearchData
from optimizer.budget import Claim, Ledger, shown
from optimizer.config import ObjectivesConfig
from optimizer.desk import Desk
from optimizer.errors import BudgetError, PlacedError
from optimizer.evaluate import Cell, Evaluator, emitted
from optimizer.events import Diverged, JobCommitted, Observer, Outcome, StageStarted
from optimizer.flight import ROLLOUTS, Flight
from optimizer.journal import AWAITED, CLOSING, COMMIT, CandidateRow, Journal
from optimizer.noise import is_noisy, measured
from optimizer.policy import Objectives
from optimizer.pool import Composing, Pool
from optimizer.propose.guards import Guards
from optimizer.propose.proposer import Proposer
from optimizer.schedule import BLOCK, PATIENCE, SEED_JOB, Job, Rules, Schedule
from optimizer.table import Table, check_failures

LINES = "lines"
"""The name of what makes candidates of known lines."""
REPEATED = 0.2
"""The part of a limit that may be set aside for running the report's examples more than once."""
NOTHING_LEFT, NO_PROPOSALS = "nothing left to improve", "nothing left to try"


@dataclass(frozen=True)
class Found:
    """What the search ends with. `best`: the best of all; `chosen`: model → the candidate to run it with; `specialists`: model →
    the best where only that model counts, its worth there and that of `best`; `frontier` tells each one's levels; `unproven`: who looks
    better than the seed where that is the best, and by how much; `repeats`: model → how often the report may run an example with it."""

    seed: Candidate
    best: Candidate
    chosen: Mapping[str, Candidate]
    specialists: Mapping[str, tuple[Candidate, float, float]]
    frontier: Sequence[tuple[Candidate, Mapping[str, float]]]
    unproven: tuple[Candidate, float] | None
    table: Table
    stopped_by: str
    repeats: Mapping[str, int]


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
        composing: Composing,
        desk: Desk,
        ledger: Ledger,
        journal: Journal,
        observer: Observer,
        objectives: ObjectivesConfig,
        dimensions: Sequence[str] | None,
        time_is_up: Callable[[], bool],
        paid: Set[int] = frozenset(),
    ) -> None:
        """`dimensions`: what the scorers emit; None where only the seed's scores tell. `paid`: jobs whose calls the ledger has booked."""
        self._seed, self._data, self._rules = seed, data, rules
        self._evaluator, self._proposers = evaluator, proposers
        self._ledger, self._journal, self._observer = ledger, journal, observer
        self._wanted, self._dimensions, self._paid = objectives, dimensions, paid
        examples = [*data.train, *data.val]
        self._table = Table(examples, self._objectives(()))
        self._pool = Pool(seed, self._table, examples, data.val, composing)
        self._in_vain = 0
        self._committed = False
        self._schedule = Schedule(seed, data, rules, evaluator.models, proposers, self._table, self._pool, objectives)
        self._flight = Flight(
            self._schedule,
            len(examples),
            rules=rules,
            evaluator=evaluator,
            guards=guards,
            desk=desk,
            ledger=ledger,
            journal=journal,
            time_is_up=time_is_up,
            paid=paid,
        )
        self._stopped_by: str | None = None

    async def run(self) -> Found:
        """Raises BudgetError when not even the seed and one comparison fit the budget, ProviderError when too many cells failed,
        PlacedError when the scorers give no values."""
        report = await self._score_seed()
        self._observer(StageStarted("search", None))
        try:
            await self._search()
        finally:
            await self._flight.cancel()
        stopped_by = self._stopped_by or NO_PROPOSALS
        if not self._committed and stopped_by not in (NOTHING_LEFT, NO_PROPOSALS):
            raise BudgetError(
                f"the limit on {stopped_by} came before the first comparison; what is paid for is kept. Raise "
                f"budget.{stopped_by}, or use fewer examples."
            )
        self._ledger.settle(report, ())
        pool = self._pool
        frontier = [(candidate, pool.objectives(candidate)) for candidate in pool.frontier()]
        repeats = self._schedule.repeats
        return Found(
            self._seed, pool.best(), pool.chosen(), pool.specialists(), frontier, pool.unproven(), self._table, stopped_by, repeats
        )

    def _objectives(self, cells: Sequence[Cell]) -> Objectives:
        return Objectives.wanted(self._evaluator.models, self._wanted, self._dimensions, emitted(cells))

    async def _search(self) -> None:
        flight = self._flight
        self._go_on()
        while (job := flight.next) is not None:
            if flight.comes_to_nothing(job):
                self._stopped_by = self._stopped_by or ROLLOUTS
                break
            if self._stopped_by is None:
                flight.admit_late(job)
            if flight.has_started(job):
                await self._take_in(job, COMMIT)
            elif not await flight.make_room():
                break
            self._go_on()
        for job in [job for job in flight.under_way if job.proposer is None]:
            await self._take_in(job, CLOSING)
        await flight.make_room()
        for job in flight.under_way:
            self._journal.decide(job.index, AWAITED, {})

    def _go_on(self) -> None:
        """With what can be drawn and started now."""
        self._stopped_by = self._exhausted()
        if self._stopped_by is None:
            self._flight.draw()
            self._stopped_by = self._flight.admit()

    def _exhausted(self) -> str | None:
        """Why the search has come to its end by itself, if it has."""
        if self._pool.perfect():
            return NOTHING_LEFT
        return NO_PROPOSALS if self._in_vain >= PATIENCE else None

    # --- the seed -------------------------------------------------------------------------------------------------

    async def _score_seed(self) -> int:
        """Returns the ticket of what is set aside for the report."""
        spots = self._schedule.first()
        claim = self._evaluator.claim(self._seed, spots, self._rules.priced)
        share = self._rules.report_share * sum(not spot.repeat for spot in spots) / len(spots)
        report = self._ledger.hold(claim.times(share))
        if SEED_JOB not in self._paid:
            self._check_budget(
                claim, self._evaluator.claim(self._seed, spots[:BLOCK], self._rules.priced), "another candidate on a few examples"
            )
            for proposer in self._proposers:
                self._check_budget(claim, proposer.claim(self._seed, self._rules.priced), f"one proposal by {proposer.name}")
        ticket = self._ledger.hold(self._flight.due(SEED_JOB, claim))
        self._observer(StageStarted("seed", claim.rollouts))
        cells = await self._evaluator.fill(self._seed, spots, SEED_JOB)
        self._schedule.forget(SEED_JOB)
        self._table.objectives = self._objectives(cells)
        used = [cell.used for cell in self._table.add(cells)]
        self._ledger.settle(ticket, used)
        check_failures(self._table, self._rules.max_failed_share)
        if not any(cell.score is not None and cell.score.values for cell in cells):
            raise PlacedError("scoring.scorers", "no scorer gave the seed a value on any example, so nothing can be compared")
        self._pool.learn()
        with self._journal.together():
            self._journal.add_candidate(CandidateRow(self._seed.id, self._seed.components, [], "seed", SEED_JOB, "seed"))
            self._add_cells(cells)
            self._record(SEED_JOB, COMMIT, {"candidate": self._seed.id, "best": self._seed.id})
        self._ledger.settle(report, ())
        if is_noisy(measured(self._table.all(), self._table.objectives)):
            self._schedule.repeats = self._rules.repeats
        return self._set_aside(shown(claim, used).times(share))

    def _set_aside(self, report: Claim) -> int:
        """The ticket of what is set aside for the report: for as many repeats as there may be and the budget has room for."""
        for repeats in range(max(self._schedule.repeats.values()), 1, -1):
            if self._ledger.part(report.times(repeats - 1)) <= REPEATED and self._ledger.refusal(report.times(repeats)) is None:
                return self._ledger.hold(report.times(repeats))
        return self._ledger.hold(report)

    def _check_budget(self, seed: Claim, step: Claim, what: str) -> None:
        """Before anything is paid for: the step after the seed has to fit, or the seed is paid for in vain."""
        limit = self._ledger.refusal(seed + step)
        if limit is not None:
            need = math.ceil(getattr(self._ledger.wanted(seed + step), limit) * 10_000) / 10_000
            less = "fewer examples" if limit in ("rollouts", "calls") else "a smaller max_tokens, or fewer examples"
            raise BudgetError(
                f"the limit on {limit} would come before the first comparison: the seed, {what}, and the final report may take "
                f"{need:,.9g}. Raise budget.{limit} to that at least, or use {less}."
            )

    # --- a job's commit -------------------------------------------------------------------------------------------

    async def _take_in(self, job: Job, kind: str) -> None:
        """Let what follows see what came of it."""
        job = await self._flight.land(job)
        self._schedule.forget(job.index)
        new = self._table.add(job.cells)
        self._flight.settle(job, new)
        check_failures(self._table, self._rules.max_failed_share)
        outcome, reason, candidate = self._outcome(job)
        row = None if candidate is None else self._birth(job, candidate)
        self._committed = self._committed or job.proposer is None
        self._in_vain = self._in_vain + 1 if outcome == "refused" else 0
        self._pool.learn()
        parents = list(row.parents) if row is not None else [job.candidate.id] if job.proposer is not None else []
        body = {
            "aim": job.aim,
            "candidate": candidate.id if candidate else None,
            "outcome": outcome,
            "reason": reason,
            "parents": parents,
            "examples": [example.id for example in job.examples],
            "best": self._pool.best().id,
        }
        with self._journal.together():
            if row is not None:
                self._journal.add_candidate(row)
            self._add_cells(new)
            self._record(job.index, kind, body)
        self._tell(job, outcome, reason, candidate)

    def _birth(self, job: Job, candidate: Candidate) -> CandidateRow | None:
        """Take it into the pool; None where it is there already."""
        if candidate in self._pool:
            return None
        if job.proposer is not None:
            parent, made_by, how = job.candidate, job.proposer.name, "proposed"
        else:
            parent, made_by, how = self._pool.nearest(candidate), LINES, "composed"
        # A text that was written anew tells nothing of what rewrites keep.
        self._pool.add(candidate, None if job.proposer is None or job.anew else parent)
        return CandidateRow(candidate.id, candidate.components, [parent.id], made_by, job.index, how)

    def _outcome(self, job: Job) -> tuple[Outcome, str, Candidate | None]:
        """What came of it, why, and the candidate that it is about."""
        if job.proposer is None:
            if not job.spots:
                return "refused", "there is no example left to run it on", None
            return "run", f"on {len(job.spots)} examples, to {job.aim}", job.candidate
        child = job.proposal.child
        if child is None:
            return "refused", job.proposal.reason, None
        if child in self._pool:
            return "refused", "the same text was proposed at the same time", None  # it belongs to the job that committed it
        return "proposed", job.proposal.reason, child

    def _add_cells(self, cells: Sequence[Cell]) -> None:
        train = {example.id for example in self._data.train}
        self._journal.add_cells([cell.row("train" if cell.example.id in train else "val") for cell in cells])

    def _record(self, job: int, kind: str, body: Mapping[str, object]) -> None:
        if self._journal.decide(job, kind, body) is not None:
            self._observer(Diverged(f"job {job} ended otherwise than it was recorded; the run goes on from what it finds now"))
        pool = self._pool
        settled, names = pool.settled(), self._table.objectives.names
        self._journal.stand(
            job,
            {
                "best": pool.best().id,
                "frontier": [each.id for each in pool.frontier()],
                "levels": {each.id: pool.objectives(each) for each in settled},
                "deviations": {
                    each.id: dict(zip(names, row[:-1].tolist(), strict=True))
                    for each, row in zip(settled, pool.deviations(settled), strict=True)
                },
            },
        )

    def _tell(self, job: Job, outcome: Outcome, reason: str, candidate: Candidate | None) -> None:
        objectives, reached = self._table.objectives, self._pool.reached()
        seed, best = self._pool.deviations([self._seed, self._pool.best()])[:, -1].tolist()
        self._observer(
            JobCommitted(
                index=job.index,
                proposer=LINES if job.proposer is None else job.proposer.name,
                outcome=outcome,
                reason=reason,
                candidate=candidate.id if candidate else None,
                pool=len(self._pool.members),
                frontier=len(self._pool.frontier()),
                seed_overall=self._pool.overall(self._seed),
                best_overall=objectives.overall(reached),
                seed_deviation=seed,
                best_deviation=best if len(set(self._pool.chosen().values())) == 1 else None,
                objectives=objectives.raw(reached),
                spent=self._ledger.spent(self._journal.seconds()),
            )
        )
