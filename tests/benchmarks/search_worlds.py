"""What the search is worth in hidden worlds (worlds.py), where the truth is known. Calls nothing outside this process.

    python tests/benchmarks/search_worlds.py worth --budgets 300,600 --runs 30 [--world plain] [--models 3] [--in-flight 1,4,8,16]
        [--without composing,relevance] [--set HEAT=1] [--classic]
    python tests/benchmarks/search_worlds.py sure --world null --budgets 300,600 --runs 60 --sure 2,2.4,2.8,3.2 [--strength 0.2]

`worth`: the true worth of the chosen prompt, in points of 100, mean ± standard error over the worlds, in brackets the paired difference to
the full search in the same worlds; `unsure`: the same for the candidate that is believed to be the best, whether or not that is sure enough
to choose it; what was spent. `--without`: parts of the search, each alone left out; `--set`: another constant; `--classic`: a loop of
GEPA's kind. `sure`: how often another candidate than the seed is chosen, and the worth, by pool.SURE, with all of `--set` together. Run it
with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from worlds import Client, Options, World

from adapters.answer import TracedAnswer
from adapters.candidate import Candidate
from adapters.clients.client import ModelClient
from adapters.example import Example
from adapters.prompt import PromptAdapter
from adapters.split import SearchData
from optimizer.budget import Ledger
from optimizer.compose import Composer
from optimizer.config import BudgetConfig, ObjectivesConfig
from optimizer.desk import Caller, Desk
from optimizer.evaluate import Cell, Evaluator, TaskModel, everywhere
from optimizer.journal import SCHEMA, Journal
from optimizer.loop import Search
from optimizer.noise import repeatable
from optimizer.order import Order
from optimizer.policy import Array
from optimizer.pool import Composing, Pool
from optimizer.propose.guards import Guards
from optimizer.propose.overlap import Overlap
from optimizer.propose.proposer import Task
from optimizer.propose.reflection import Reflection
from optimizer.schedule import Rules
from optimizer.words import Words
from scoring.score import Score
from scoring.suite import Suite

WORLDS = {
    "plain": Options(),
    "noise": Options(noise=0.1),
    "reword": Options(reword=True),
    "paragraph": Options(paragraph=True),
    "opaque": Options(opaque=True),
    "fickle": Options(fickle=True),
    "few": Options(fickle=True, examples=16),
    "defective": Options(paragraph=True, defective=True),
    "defective-lines": Options(defective=True),
    "null": Options(base=0.6, strength=0.0),
}
MINIBATCH = 20
"""Examples that one reflection reads: the product's default. The classic loop's is CLASSIC."""
CLASSIC = 10


WORDS = Words.relevance

Change = tuple[object, str, object]
"""A module or class of the optimizer, a name in it, and what is put there."""


def constant(name: str, value: object) -> list[Change]:
    """In every module of the optimizer that has it, defined or imported."""
    modules = [module for path, module in sorted(sys.modules.items()) if path.startswith("optimizer.")]
    found: list[Change] = [(module, name, value) for module in modules if hasattr(module, name)]
    if not found:
        raise SystemExit(f"no module of the optimizer has a {name}; --set takes names of constants, like HEAT=1")
    return found


def _as_it_is(_composer: Composer, _units: object, start: Sequence[int], *_: object) -> tuple[int, ...]:
    return tuple(start)


def _unrelated(words: Words, _text: str) -> Array:
    found: Array = WORDS(words, "")  # no word is in common with nothing
    return found


ANYHOW = float("-inf")
"""The value of SURE with which the seed is only kept where it is believed to be the best."""
PARTS: Mapping[str, Callable[[], list[Change]]] = {
    "composing": lambda: [(Composer, "climb", _as_it_is)],
    "relevance": lambda: [(Words, "relevance", _unrelated), *constant("IDLE", 0.0)],
    "opening": lambda: constant("OPENING", 0),
    "anew": lambda: constant("ANEW_EVERY", 10**9),
    "confirm": lambda: constant("CYCLE", ("explore", "explore", "explore", "propose")),
    "doubt": lambda: [(Pool, "confirmed", lambda pool, _cells: pool.favourite())],
    "thompson": lambda: constant("HEAT", 0.0),
    "own": lambda: constant("OWN", 1e-6),
    "hard": lambda: constant("HARD", 1e-6),
}
"""Part of the search → what makes it be left out."""


@contextmanager
def changed(changes: Sequence[Change]) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, value in changes:
            stack.enter_context(patch.object(owner, name, value))
        yield


class Codes:
    """The scorer: 1 where all codes are right, else 0."""

    name, dimensions, version = "codes", ("codes",), "1"

    async def score(self, example: Example, answer: TracedAnswer) -> Score:
        got, expected = json.loads(answer.text), example.expected
        if not isinstance(expected, Mapping):
            raise TypeError(f"the example {example.id} has no codes")
        wrong = [str(code) for thing, code in expected.items() if got.get(thing) != code]
        return Score({"codes": float(not wrong)}, not wrong, feedback=f"wrong: {', '.join(wrong)} was expected" if wrong else "right")


@dataclass(frozen=True)
class Ran:
    """One run. `moved`: by pool.SURE where asked for, the worth of the chosen candidate, and whether it is another than the seed."""

    text: str
    worth: float
    rollouts: int
    reflections: int
    seconds: float
    moved: Mapping[float, tuple[float, bool]]

    @property
    def favourite(self) -> float:
        """The worth of what is believed to be the best, however unsure."""
        return self.moved[ANYHOW][0]


class Bench:
    """The parts that a run takes, in one world."""

    def __init__(self, world: World, journal: Journal, seed: int) -> None:
        train, val = (tuple(world.splits[split]) for split in ("train", "val"))
        self.world, self.journal, self.data = world, journal, SearchData(train, val)
        self.desk = Desk(journal)
        adapter = PromptAdapter(system="{system}", user="{request}", inputs={"request"})
        self.guards = Guards(adapter.placeholders, 20_000, train, Overlap(train, val))
        models, suite = [TaskModel(model, Client(world, model), world.options.fickle) for model in world.models], Suite([Codes()])
        self.evaluator = Evaluator(adapter, models, suite, self.desk, journal, seed, lambda _: None)
        self.repeats = repeatable("auto", models, suite, train)
        self.reflection = Client(world, "reflection")

    def proposer(self, minibatch: int) -> Reflection:
        return Reflection(self.reflection, self.guards, minibatch, True, ObjectivesConfig())


Way = Callable[[Bench, int, int, Sequence[float]], Awaitable[tuple[str, int, dict[float, tuple[float, bool]]]]]
"""From a bench, a budget, a width and values of SURE: the chosen text, the rollouts spent, and Ran.moved. The seed number is 0, for the
worlds differ."""


async def searched(bench: Bench, budget: int, in_flight: int, sures: Sequence[float]) -> tuple[str, int, dict[float, tuple[float, bool]]]:
    ledger, guards = Ledger(BudgetConfig(rollouts=budget)), bench.guards
    composing = Composing((), Composer(guards.placeholders, 0), lambda old, new: guards.problem(old, new, frozenset()))
    search = Search(
        Candidate({"system": bench.world.seed}),
        bench.data,
        rules=Rules(Order(in_flight), 0, 1.0, priced=False, report_share=0.0, repeats=bench.repeats),
        evaluator=bench.evaluator,
        proposers=[bench.proposer(MINIBATCH)],
        guards=guards,
        composing=composing,
        desk=bench.desk,
        ledger=ledger,
        journal=bench.journal,
        observer=lambda _: None,
        objectives=ObjectivesConfig(),
        dimensions=Codes.dimensions,
        time_is_up=lambda: False,
    )
    found = await search.run()
    moved = {}
    for sure in sures:  # it only decides who is chosen, not where the search goes
        with changed(constant("SURE", sure)):
            best = search._pool.best()
        moved[sure] = bench.world.worth(best.components["system"]), best != found.seed
    return found.best.components["system"], ledger.spent().rollouts, moved


async def classic(bench: Bench, budget: int, in_flight: int, sures: Sequence[float]) -> tuple[str, int, dict[float, tuple[float, bool]]]:
    """About GEPA's rules (Agrawal et al. 2025): a parent from the Pareto front over val, one minibatch for parent and child, full val for
    a child that is better there. Strictly one after the other."""
    models, rng, proposer = bench.evaluator.models, random.Random(0), bench.proposer(CLASSIC)
    size = CLASSIC // len(models) or 1
    pool_: list[tuple[Candidate, list[float]]] = []
    spent, job = 0, 0

    async def fill(candidate: Candidate, examples: Sequence[Example]) -> list[Cell]:
        nonlocal spent
        spent += len(examples) * len(models)
        return await bench.evaluator.fill(candidate, everywhere(examples, models), job)

    seed = Candidate({"system": bench.world.seed})
    pool_.append((seed, _values(await fill(seed, bench.data.val))))
    while spent + (2 * size + len(bench.data.val)) * len(models) <= budget:
        job += 1
        parent = _pareto([values for _, values in pool_], rng)
        batch = rng.sample(bench.data.train, size)
        cells = await fill(pool_[parent][0], batch)
        if all(_values(cells)):
            continue

        def caller(client: ModelClient) -> Caller:
            return Caller(bench.desk, client, job, "reflection")  # noqa: B023  (used up within this round)

        problem = _problem(bench.guards, pool_[parent][0], {each.id for each, _ in pool_})
        child = (await proposer.propose(Task(pool_[parent][0], cells, (), problem, caller, rng))).child
        if child is not None and sum(_values(await fill(child, batch))) > sum(_values(cells)):
            pool_.append((child, _values(await fill(child, bench.data.val))))
    best = max(pool_, key=lambda each: sum(each[1]))[0]
    return best.components["system"], spent, {}


def _problem(guards: Guards, parent: Candidate, known: set[str]) -> Callable[[Candidate], str | None]:
    return lambda child: guards.problem(parent, child, known)


def _values(cells: Sequence[Cell]) -> list[float]:
    return [cell.score.values["codes"] if cell.score else 0.0 for cell in cells]


def _pareto(values: Sequence[Sequence[float]], rng: random.Random) -> int:
    """One of those that are best on some example, by the number of these."""
    table = np.array(values)
    wins = (table == table.max(axis=0)).sum(axis=1)
    return rng.choices(range(len(values)), wins.tolist())[0]


def run(way: Way, world: World, budget: int, in_flight: int, sures: Sequence[float] = ()) -> Ran:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        bench = Bench(world, Journal(connection, Path(":memory:")), 0)
        started = time.process_time()
        text, rollouts, moved = asyncio.run(_awaited(way(bench, budget, in_flight, sures)))
        return Ran(text, world.worth(text), rollouts, bench.reflection.calls, time.process_time() - started, moved)


async def _awaited(made: Awaitable[tuple[str, int, dict[float, tuple[float, bool]]]]) -> tuple[str, int, dict[float, tuple[float, bool]]]:
    return await made


# --- telling ------------------------------------------------------------------------------------------------------


def _points(values: Sequence[float], sign: str = "") -> str:
    """Mean ± standard error, in points of 100."""
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{100 * float(np.mean(values)):{sign}5.1f} ± {100 * error:.1f}"


def _variants(asked: argparse.Namespace) -> Iterator[tuple[str, Way, int, Sequence[Change]]]:
    """What is told of, how it is run, in which width, and with what changed. The first is the full search."""
    widths = [int(width) for width in asked.in_flight.split(",")]
    yield from ((f"full, in flight {width}", searched, width, ()) for width in widths)
    for part in filter(None, asked.without.split(",")):
        yield f"without {part}", searched, widths[0], _part(part)()
    for setting in asked.set:
        yield setting, searched, widths[0], _setting(setting)
    if asked.classic:
        yield "classic loop", classic, 1, ()


def _setting(text: str) -> list[Change]:
    name, value = text.split("=")
    return constant(name, json.loads(value))


def _part(name: str) -> Callable[[], list[Change]]:
    if name not in PARTS:
        raise SystemExit(f"{name} is no part of the search that can be left out; the parts are {', '.join(PARTS)}")
    return PARTS[name]


def _worlds(asked: argparse.Namespace) -> list[World]:
    options = WORLDS[asked.world]
    if asked.strength is not None:
        options = replace(options, strength=asked.strength)
    models = [f"model{n}" for n in range(asked.models)]
    return [World(asked.first + number, options, models) for number in range(asked.runs)]


def _title(asked: argparse.Namespace, worlds: Sequence[World]) -> str:
    seeds = _points([world.worth(world.seed) for world in worlds])
    return f"{asked.world}, {asked.models} model(s), {asked.runs} worlds: seed {seeds}"


def worth(asked: argparse.Namespace) -> None:
    worlds = _worlds(asked)
    best = f", best that was found with the rules known {_points([world.best for world in worlds])}" if asked.best else ""
    print(f"{_title(asked, worlds)}{best}")
    full: dict[int, list[Ran]] = {}
    for name, way, width, changes in _variants(asked):
        for budget in map(int, asked.budgets.split(",")):
            with changed(changes):
                ran = [run(way, world, budget, width, [ANYHOW]) for world in worlds]
            base = full.setdefault(budget, ran)
            told = [_beside([each.worth for each in ran], [each.worth for each in base])]
            if way is searched:
                told.append(f"unsure {_beside([each.favourite for each in ran], [each.favourite for each in base])}")
            means = (float(np.mean([getattr(each, part) for each in ran])) for part in ("rollouts", "reflections", "seconds"))
            kept = sum(each.text == world.seed for each, world in zip(ran, worlds, strict=True))
            told.append("rollouts {:.0f}, reflections {:.1f}, {:.2f} s, seed kept {}".format(*means, kept))
            print(f"{name:24} {budget:5}  {' | '.join(told)}", flush=True)


def _beside(got: Sequence[float], base: Sequence[float]) -> str:
    return f"{_points(got)} ({_points([a - b for a, b in zip(got, base, strict=True)], '+')})"


def sure(asked: argparse.Namespace) -> None:
    worlds, sures = _worlds(asked), [float(value) for value in asked.sure.split(",")]
    print(_title(asked, worlds))
    for budget in map(int, asked.budgets.split(",")):
        with changed([change for setting in asked.set for change in _setting(setting)]):
            ran = [run(searched, world, budget, int(asked.in_flight.split(",")[0]), sures) for world in worlds]
        for value in sures:
            moved = [each.moved[value] for each in ran]
            print(
                f"{budget:5}  SURE {value}: not the seed {_points([m for _, m in moved])} %, worth {_points([w for w, _ in moved])}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["worth", "sure"])
    parser.add_argument("--budgets", default="300,600")
    parser.add_argument("--runs", type=int, default=30, help="worlds; each is searched once")
    parser.add_argument("--first", type=int, default=0, help="number of the first world")
    parser.add_argument("--world", choices=list(WORLDS), default="plain")
    parser.add_argument("--strength", type=float, help="how much prompts matter, 0..1")
    parser.add_argument("--models", type=int, default=1)
    parser.add_argument("--in-flight", default="4")
    parser.add_argument("--without", default="", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON")
    parser.add_argument("--classic", action="store_true")
    parser.add_argument("--best", action="store_true", help="also the worth of the best set of rules")
    parser.add_argument("--sure", default="2,2.4,2.8,3.2")
    asked = parser.parse_args()
    {"worth": worth, "sure": sure}[asked.what](asked)


if __name__ == "__main__":
    main()
