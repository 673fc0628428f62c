"""What a report without a test split claims, in hidden worlds where the truth is known (worlds.py). Calls nothing outside this process.

    python tests/benchmarks/unsealed.py [--world null] [--budgets 300,600] [--runs 100] [--first 0] [--anyhow]

Every world is searched once, with a tenth of the budget set aside, and the report is made on val: on the examples that
optimizer.report.ground gives (`as reported`, and by their kind), and on all that the search has seen and the budget pays for (`all of
val`). `bias`: the mean of the claimed difference less the true one, in points of 100, ± its standard error; `holds`: the share of the 95%
intervals that hold the truth; `improved`: how often that is said. Only runs that choose another candidate than the seed are told of: the
others claim nothing. `--anyhow`: the candidate that looks best is chosen, however unsure, which is where chance flatters most. Run it
with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from search_worlds import WORLDS, Bench, changed, constant
from worlds import SEED, World

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.budget import Ledger
from optimizer.compose import Composer
from optimizer.config import BudgetConfig, ObjectivesConfig
from optimizer.evaluate import everywhere
from optimizer.journal import REPORT_JOB, SCHEMA, Journal
from optimizer.loop import Found, Search
from optimizer.order import Order
from optimizer.plan import UNSEALED_PART
from optimizer.pool import Composing
from optimizer.report.ground import FRESH, OPTIMISTIC, ground
from optimizer.schedule import Rules, first_cells
from scoring.improvement import Difference, paired_difference, verdict


@dataclass(frozen=True)
class Claim:
    """`kind`: of the examples of the report."""

    truth: float
    kind: str
    reported: Difference
    everything: Difference


async def claim(bench: Bench, budget: int) -> Claim | None:
    """None where the seed is kept."""
    found = await searched(bench, budget)
    sides = [found.seed, found.best]
    if found.seed == found.best:
        return None
    world, val = bench.world, bench.data.val
    cells = {
        cell.key[:2]: cell.score.values["codes"]
        for who in sides
        for cell in await bench.evaluator.fill(who, everywhere(val, bench.evaluator.models), REPORT_JOB)
        if cell.score is not None
    }
    met = {(cell.candidate, cell.example.id) for cell in found.table.all()}

    def difference(examples: Sequence[Example]) -> Difference:
        left, paid = budget // UNSEALED_PART, []
        for each in examples:
            left -= sum((who.id, each.id) not in met for who in sides)
            paid += [each.id] if left >= 0 else []
        seed, best = ([cells[who.id, each] for each in paid] for who in sides)
        return paired_difference(seed, best, rng_seed=0)

    fresh, kind = ground(found.table, sides, val)
    mostly = sorted(val, key=lambda each: -sum((who.id, each.id) in met for who in sides))
    truth = world.worth(found.best.components["system"]) - world.worth(SEED)
    return Claim(truth, kind, difference(fresh), difference(mostly))


async def searched(bench: Bench, budget: int) -> Found:
    seed, guards = Candidate({"system": SEED}), bench.guards
    share = min(2 * len(bench.data.val), budget // UNSEALED_PART) / first_cells(seed, bench.data)
    search = Search(
        seed,
        bench.data,
        rules=Rules(Order(4), 0, 1.0, priced=False, report_share=share, repeats=dict.fromkeys(bench.evaluator.models, 1)),
        evaluator=bench.evaluator,
        proposers=[bench.proposer(20)],
        guards=guards,
        composing=Composing((), Composer(guards.placeholders, 0), lambda old, new: guards.problem(old, new, frozenset())),
        desk=bench.desk,
        ledger=Ledger(BudgetConfig(rollouts=budget)),
        journal=bench.journal,
        observer=lambda _: None,
        objectives=ObjectivesConfig(),
        dimensions=("codes",),
        time_is_up=lambda: False,
    )
    return await search.run()


def run(number: int, name: str, budget: int) -> Claim | None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        bench = Bench(World(number, WORLDS[name], ["model0"]), Journal(connection, Path(":memory:")), 0)
        return asyncio.run(claim(bench, budget))


def tell(name: str, claims: Sequence[tuple[float, Difference]]) -> None:
    if len(claims) < 2:
        print(f"    {name:12} {len(claims)} runs")
        return
    bias = [100 * ((found.difference or 0.0) - truth) for truth, found in claims]
    error = float(np.std(bias, ddof=1)) / len(bias) ** 0.5
    holds = float(np.mean([(found.low or 0.0) - 1e-9 <= truth <= (found.high or 0.0) + 1e-9 for truth, found in claims]))
    width = 100 * float(np.mean([(found.high or 0.0) - (found.low or 0.0) for _, found in claims]))
    said = float(np.mean([verdict(found) == "improved" for _, found in claims]))
    n = float(np.mean([found.n for _, found in claims]))
    print(
        f"    {name:12} {len(claims):3} runs, bias {np.mean(bias):+5.1f} ± {error:.1f}, holds {holds:.2f}, width {width:.0f}, "
        f"improved {said:.2f}, {n:.0f} examples",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--world", choices=list(WORLDS), default="null")
    parser.add_argument("--budgets", default="300,600")
    parser.add_argument("--runs", type=int, default=100, help="worlds")
    parser.add_argument("--first", type=int, default=0, help="number of the first world")
    parser.add_argument("--anyhow", action="store_true")
    asked = parser.parse_args()
    for budget in map(int, asked.budgets.split(",")):
        with changed(constant("SURE", float("-inf")) if asked.anyhow else []):
            made = [run(number, asked.world, budget) for number in range(asked.first, asked.first + asked.runs)]
        claims = [each for each in made if each is not None]
        print(f"{asked.world}, {budget} rollouts: another than the seed in {len(claims)} of {asked.runs}")
        tell("as reported", [(each.truth, each.reported) for each in claims])
        for kind in (FRESH, OPTIMISTIC):
            tell(kind, [(each.truth, each.reported) for each in claims if each.kind == kind])
        tell("all of val", [(each.truth, each.everything) for each in claims])


if __name__ == "__main__":
    main()
