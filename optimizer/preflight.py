"""What a run will take, told by a handful of its own first calls: they are in its journal, so the run does not pay for them again."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np

from adapters.answer import Usage
from optimizer.budget import Ledger
from optimizer.build import Prepared
from optimizer.configfile import resolved
from optimizer.desk import Desk
from optimizer.errors import BudgetError, ProviderError
from optimizer.evaluate import Cell, Spot
from optimizer.journal import TASK, Answered, Journal
from optimizer.judging import ROLE as JUDGE
from optimizer.noise import Noise, measured
from optimizer.outlook import Minibatch, Outlook, is_open, minibatch, objectives_of, outlook, proof, seen
from optimizer.pace import GOOD_WIDTHS, Pace, Work
from optimizer.plan import plan, report_cells
from optimizer.run import evaluator_of, hang_up, rules_of
from optimizer.rundir import holds_another_run, locked, manifest
from optimizer.schedule import BLOCK, SEED_JOB, first_spots

HANDFUL = 8
"""Cells of the seed for each model."""
AGAIN = 4
"""Of these, for a model that may vary, so many at most that the run fills twice, to measure noise."""
WIDE = (8, 16)
"""More jobs in flight than are advised, for comparison: they cost quality."""
BY_DEFAULT = 8
"""How many times as long as a task call a proposal is taken to last, as long as none was made: its answer is a whole prompt."""
BLOCKS = 50
"""Taken for the search's blocks where no limit says how many there may be."""


@dataclass(frozen=True)
class RoleCalls:
    """The answered calls of one role to one model. `median`, `p95`: seconds; `tokens`, `usd`: of one call on average, `usd` None where a
    price is unknown."""

    role: str
    model: str
    calls: int
    median: float
    p95: float
    tokens: float
    usd: float | None


@dataclass(frozen=True)
class Expected:
    """What the run takes in one role; tokens and money None where they are not known, and so are `seconds`, of all calls one after the
    other."""

    calls: int
    tokens: int | None
    usd: float | None
    seconds: float | None


@dataclass(frozen=True)
class Preflight:
    """`made`: calls that were answered just now; `failed`: kind → how many of the seed's cells failed; `measured`: what the journal holds.

    `in_flight` is advised, and `concurrency`, the most calls that so many jobs have under way. `seconds`: jobs in flight → how long the
    run's calls take; `busy`: all calls one after the other; `expected`: by role. These are empty, or None, where no limit says how many
    rollouts there may be. `assumed`: whether the time of a proposal is not known yet, but taken for `BY_DEFAULT` times that of a cell.

    `outlook`: what the run can show; `minibatch`: None where no proposer reads one; `noise`: by model, of those that may vary."""

    made: int
    failed: Mapping[str, int]
    measured: Sequence[RoleCalls]
    in_flight: int
    concurrency: int
    seconds: Mapping[int, float]
    busy: float | None
    expected: Mapping[str, Expected]
    assumed: bool
    outlook: Outlook
    minibatch: Minibatch | None
    noise: Mapping[str, Noise]


async def preflight(prepared: Prepared, out: Path) -> Preflight:
    """Runs the seed on its first few examples, as the run in `out` will, or has; on all of the first ones, if these leave it open whether
    anything can be shown. That directory gets no manifest: a run with other settings may still begin there, and uses the calls that it
    has in common.

    Raises JournalError where `out` holds another run, BudgetError where not even that fits, ProviderError where nothing is answered."""
    with locked(out), closing(Journal.write(out)) as journal:
        holds_another_run(out, manifest(resolved(prepared.config), prepared.folder, prepared.hashes), allow_changes=False)
        before = len(journal.answered())
        cells = await _first_cells(prepared, journal)
        answered = journal.answered()
    failed = Counter(cell.failed for cell in cells if cell.failed is not None)
    if not any(call.role == TASK for call in answered):
        kinds = ", ".join(f"{n} with {kind}" for kind, n in failed.most_common())
        raise ProviderError(f"no call was answered ({kinds}), so nothing is known of the run. Mend that and give the same command again.")
    return _told(prepared, answered, len(answered) - before, cells, failed)


async def _first_cells(prepared: Prepared, journal: Journal) -> list[Cell]:
    config = prepared.config
    desk = Desk(journal, halt=prepared.clients.shut)
    evaluator = evaluator_of(prepared, desk, journal, lambda _: None, lambda _: None)
    rules = rules_of(prepared, report_cells(prepared))
    first = first_spots(prepared.seed, prepared.data, rules, evaluator.models)
    spots = _handful(first, evaluator.models)

    def limit(some: Sequence[Spot]) -> str | None:
        return Ledger(config.budget).refusal(evaluator.claim(prepared.seed, some, rules.priced))

    if (name := limit(spots)) is not None:
        raise BudgetError(f"the limit on {name} has no room for the {len(spots)} rollouts of an estimate. Raise budget.{name}.")
    journal.forget_failures()
    try:
        cells = await evaluator.fill(prepared.seed, spots, SEED_JOB)
        if is_open(proof(prepared), seen(prepared, cells)) and limit(first) is None:
            cells += await evaluator.fill(prepared.seed, [spot for spot in first if spot not in spots], SEED_JOB)
        return cells
    finally:
        await hang_up(prepared, desk, journal)


def _handful(first: Sequence[Spot], models: Sequence[str]) -> list[Spot]:
    """A few of the first spots for each model: those that it meets twice before others."""
    found: list[Spot] = []
    for model in models:
        own = [spot for spot in first if spot.model == model]
        again = [spot for spot in own if spot.repeat][:AGAIN]
        twice = [spot._replace(repeat=0) for spot in again]
        once = [spot for spot in own if not spot.repeat and spot not in twice]
        found += [*twice, *once[: HANDFUL - len(twice)], *again]
    return found


def _told(prepared: Prepared, answered: Sequence[Answered], made: int, cells: Sequence[Cell], failed: Mapping[str, int]) -> Preflight:
    tasks = [call.seconds for call in answered if call.role == TASK]
    judging = sum(call.seconds for call in answered if call.role == JUDGE) / len(tasks)
    proposers = {proposer.name for proposer in prepared.proposers}
    proposals = [call.seconds for call in answered if call.role in proposers]
    whole = [seconds + judging for seconds in tasks]
    pace = Pace(whole, proposals or [BY_DEFAULT * median(whole)], _width(prepared))
    planned = plan(prepared)
    bound = planned.rollouts
    blocks = BLOCKS if bound is None else max(0, bound - planned.seed - planned.report) // BLOCK
    work = Work(planned.seed, blocks, planned.report, bool(proposers))
    advised, shown = pace.advised(work), seen(prepared, cells)
    return Preflight(
        made=made,
        failed=dict(failed),
        measured=_measured(answered),
        in_flight=advised,
        concurrency=advised * BLOCK,
        seconds={} if bound is None else {width: pace.seconds(work, width) for width in (*GOOD_WIDTHS, *WIDE)},
        busy=None if bound is None else pace.busy(work, prepared.config.in_flight),
        expected={} if bound is None else _expected(answered, proposers, bound, work.proposals(prepared.config.in_flight)),
        assumed=bool(proposers) and not proposals,
        outlook=outlook(proof(prepared), shown),
        minibatch=None if shown is None else minibatch(prepared, shown),
        noise=measured(cells, objectives_of(prepared, cells)),
    )


def _width(prepared: Prepared) -> int:
    """Calls in flight at most, over all models and to each."""
    most = prepared.config.concurrency
    return min(most, sum(model.concurrency or most for model in prepared.config.models))


def _measured(answered: Sequence[Answered]) -> list[RoleCalls]:
    found = []
    for role, model in dict.fromkeys((call.role, call.model) for call in answered):
        calls = [call for call in answered if (call.role, call.model) == (role, model)]
        middle, p95 = (float(each) for each in np.quantile([call.seconds for call in calls], (0.5, 0.95)))
        mean = _mean(calls)
        found.append(RoleCalls(role, model, len(calls), middle, p95, *mean))
    return found


def _expected(answered: Sequence[Answered], proposers: Set[str], rollouts: int, proposals: int) -> dict[str, Expected]:
    """By what calls have taken so far; candidates that grow longer take more."""
    calls = {role: [call for call in answered if call.role == role] for role in (TASK, JUDGE, *sorted(proposers))}
    numbers = {role: round(rollouts * len(calls[role]) / len(calls[TASK])) for role in (TASK, JUDGE)}
    numbers |= dict.fromkeys(sorted(proposers), proposals)
    found = {}
    for role, n in numbers.items():
        if calls[role]:
            (tokens, usd), seconds = _mean(calls[role]), fmean(call.seconds for call in calls[role])
            found[role] = Expected(n, round(n * tokens), None if usd is None else n * usd, n * seconds)
        else:
            found[role] = Expected(n, None, None, None)
    return {role: each for role, each in found.items() if each.calls}


def _mean(calls: Sequence[Answered]) -> tuple[float, float | None]:
    """Tokens and money of one call."""
    total = sum((call.usage for call in calls), Usage())
    return (total.input_tokens + total.output_tokens) / len(calls), None if total.usd is None else total.usd / len(calls)
