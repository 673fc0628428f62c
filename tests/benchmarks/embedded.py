"""The search on the embedded model, beside gepa and beside random demonstrations: two tasks of configs/, judged on one test split.

    python tests/benchmarks/embedded.py ours   [--tasks dates,messages] [--seeds 0,1,2]
    python tests/benchmarks/embedded.py random [--sizes 4,8] [--sets 10]
    python tests/benchmarks/embedded.py gepa   [--seeds 0,1,2] [--shown 8]
    python tests/benchmarks/embedded.py table

`ours`: the run that the config describes. `random`: sets of demonstrations drawn from train, by default of the sizes that ours has found;
and the seed alone. `gepa`: with as many rollouts as ours may search with; `--shown`: its seed holds so many random demonstrations as text.
Each line of DIR/results.jsonl is one prompt, judged on test. The same command again goes on where it was killed: ours inside a
run, the others with the next line. docs/benchmarks.md reports one measurement.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients import llama
from adapters.demonstrations import demonstration_of, dump_demonstrations, parse_demonstrations
from adapters.example import Example
from optimizer.build import Prepared, prepare
from optimizer.configfile import load_config
from optimizer.events import Event
from optimizer.plan import report_cells
from optimizer.run import run

HERE = Path(__file__).parent
CONFIGS = HERE.parents[1] / "configs"
ONE_MODEL = (
    "models=[{id: steady, model: local/smollm2, temperature: 0, max_tokens: 8}]",
    "scoring.scorers=[exact]",
    "objectives={}",
    "budget.rollouts=640",
)
"""Of multi_model.yaml, the model that always gives the same answer, being right as the only thing wanted, and the quickstart's budget."""
TASKS: Mapping[str, tuple[str, Sequence[str]]] = {"dates": ("quickstart.yaml", ()), "messages": ("multi_model.yaml", ONE_MODEL)}
"""Task → config, and what is changed in it."""

Row = dict[str, Any]


class Rows:
    """The lines of results.jsonl. One prompt has one line: by task, who has made it, and which of theirs it is."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "results.jsonl"

    def all(self) -> list[Row]:
        return [json.loads(line) for line in self._path.read_text(encoding="utf-8").splitlines()] if self._path.exists() else []

    def has(self, task: str, who: str, number: int) -> bool:
        return any((row["task"], row["who"], row["number"]) == (task, who, number) for row in self.all())

    def add(self, row: Row) -> None:
        """Whole or not at all, as far as one write goes."""
        with self._path.open("ab", buffering=0) as file:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


@dataclass(frozen=True)
class Bench:
    """`servers`: of one thread each; they change the speed, not the answers."""

    folder: Path
    rows: Rows
    servers: int

    def prepared(self, task: str, seed: int = 0) -> Prepared:
        name, overrides = TASKS[task]
        loaded = load_config(CONFIGS / name, [*overrides, f"random_seed={seed}"])
        with patch.object(llama, "LlamaServers", partial(llama.LlamaServers, self.servers)):
            return prepare(loaded.config, loaded.folder)

    def judge(self, task: str) -> "Judge":
        return Judge(task, self.prepared(task), self.rows)


class Judge:
    """Every prompt is run by the config's adapter and scored by its scorers, whoever has made it."""

    def __init__(self, task: str, prepared: Prepared, rows: Rows) -> None:
        self.task, self.prepared, self._rows = task, prepared, rows
        self._test = prepared.test.open("the benchmark")

    async def note(self, candidate: Candidate, who: str, number: int, **more: object) -> None:
        """Judge it, and write its line."""
        test = await self._rights(candidate, self._test)
        shown = len(parse_demonstrations(candidate.components.get(DEMONSTRATIONS, "")))
        row = {"task": self.task, "who": who, "number": number, "shown": shown, "test": test}
        self._rows.add({**row, **more, "commit": commit(), "components": dict(candidate.components)})

    async def close(self) -> None:
        await self.prepared.clients.close()

    async def _rights(self, candidate: Candidate, examples: Iterable[Example]) -> str:
        """A sign for each example: 1 for right, 0 for wrong."""
        return "".join(await asyncio.gather(*(self._right(candidate, example) for example in examples)))

    async def _right(self, candidate: Candidate, example: Example) -> str:
        answer = await self.prepared.adapter.run(candidate, example, self.prepared.models[0].client)
        score = await self.prepared.suite.score(example, answer)
        return "1" if score.correct else "0"


def commit() -> str:
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True)
    return told.stdout.strip()


def drawn(task: str, prepared: Prepared, size: int, number: int) -> Candidate:
    """The seed with a random set of demonstrations."""
    sample = random.Random(f"{task} {size} {number}").sample(prepared.data.train, size)
    shown = [made for made in map(demonstration_of, sample) if made]
    return prepared.seed.replace(**{DEMONSTRATIONS: dump_demonstrations(shown)})


def unwatched(event: Event) -> None:
    """Nobody looks on."""


async def ours(bench: Bench, given: argparse.Namespace) -> None:
    for seed in given.seeds:
        for task in given.tasks:
            if not bench.rows.has(task, "ours", seed):
                await our_run(bench, task, seed)


async def our_run(bench: Bench, task: str, seed: int) -> None:
    prepared = bench.prepared(task, seed)
    result = await run(prepared, bench.folder / "ours" / f"{task}-{seed}", unwatched)
    best, spent = Candidate(result["best"]["components"]), result["spent"]
    reported = len(prepared.test) * (1 if best == prepared.seed else 2)
    judge = bench.judge(task)
    await judge.note(best, "ours", seed, rollouts=spent["rollouts"] - reported, seconds=spent["seconds"], verdict=result["verdict"])
    await judge.close()


async def at_random(bench: Bench, given: argparse.Namespace) -> None:
    for task in given.tasks:
        judge = bench.judge(task)
        if not bench.rows.has(task, "seed", 0):
            await judge.note(judge.prepared.seed, "seed", 0)
        for size in given.sizes or sizes_found(bench.rows, task):
            for number in range(given.sets):
                if not bench.rows.has(task, f"random {size}", number):
                    await judge.note(drawn(task, judge.prepared, size, number), f"random {size}", number)
        await judge.close()


def sizes_found(rows: Rows, task: str) -> list[int]:
    """How many demonstrations what ours has found shows."""
    return sorted({row["shown"] for row in rows.all() if (row["task"], row["who"]) == (task, "ours")} - {0})


async def by_gepa(bench: Bench, given: argparse.Namespace) -> None:
    who = f"gepa with {given.shown} as text" if given.shown else "gepa"
    for seed in given.seeds:
        for task in given.tasks:
            if not bench.rows.has(task, who, seed):
                await gepa_run(bench, task, who, seed, given.shown)


async def gepa_run(bench: Bench, task: str, who: str, seed: int, shown: int) -> None:
    from embedded_gepa import search, served, with_text

    judge = bench.judge(task)
    prepared = judge.prepared
    begin = with_text(prepared, drawn(task, prepared, shown, seed)) if shown else prepared.seed
    rollouts = (prepared.config.budget.rollouts or 0) - report_cells(prepared)
    start = time.monotonic()
    with served() as endpoint:
        best, more = search(prepared, begin, endpoint, rollouts, seed)
    seconds = round(time.monotonic() - start, 1)
    await judge.note(best, who, seed, seconds=seconds, rewritten=best != begin, **more)
    await judge.close()


async def table(bench: Bench, given: argparse.Namespace) -> None:
    from embedded_table import tables

    print("\n\n".join(tables(bench.rows.all(), given.tasks)))


WORK = {"ours": ours, "random": at_random, "gepa": by_gepa, "table": table}


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WORK)
    parser.add_argument("--out", type=Path, default=Path("runs/embedded"), metavar="DIR")
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=list(TASKS))
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--sizes", type=numbers, help="demonstrations in random sets; without it, as many as what ours has found")
    parser.add_argument("--sets", type=int, default=10, help="random sets of each size")
    parser.add_argument("--shown", type=int, default=0, help="demonstrations in the text of gepa's seed")
    parser.add_argument("--servers", type=int, default=1, help="of one thread each, for ours and for judging")
    given = parser.parse_args()
    asyncio.run(WORK[given.what](Bench(given.out, Rows(given.out), given.servers), given))


if __name__ == "__main__":
    main()
