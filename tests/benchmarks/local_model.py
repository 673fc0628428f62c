"""What the embedded model does on this machine: how fast, how exactly repeatable, and what demonstrations are worth.

    python tests/benchmarks/local_model.py speed|exact|demonstrations [--sets 12] [--servers 2] [--flash-attention]

Prints JSON Lines. docs/local-model.md reports one run.
"""

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients import llama_server
from adapters.clients.client import Request
from adapters.clients.llama import LlamaClient, LlamaServers
from adapters.dataset import Row, input_names, load_dataset
from adapters.demonstrations import demonstration_of, dump_demonstrations
from adapters.example import Example
from adapters.prompt import PromptAdapter

DATA = Path(__file__).parents[2] / "configs/quickstart/dates.jsonl"
INSTRUCTIONS = {
    "seed": "Give the date in ISO form.",
    "longer": "Find the date in the text and write it as YYYY-MM-DD. Answer with the date only, nothing else.",
}
TOGETHER = 16
"""Requests under way at once, as in a run."""


class Bench:
    def __init__(self, path: Path, servers: int) -> None:
        rows: Sequence[Row] = load_dataset(path)
        self.examples = {part: [row.example for row in rows if row.split == part] for part in ("train", "val", "test")}
        self.adapter = PromptAdapter(system="{instructions}", user="{text}", inputs=input_names(row.example for row in rows))
        self.client = LlamaClient(max_tokens=16, servers=LlamaServers(servers))

    def requests(self, instructions: str, shown: Sequence[Example], asked: Sequence[Example]) -> list[Request]:
        demonstrations = [made for made in map(demonstration_of, shown) if made]
        candidate = Candidate({"instructions": instructions, DEMONSTRATIONS: dump_demonstrations(demonstrations)})
        return [self.adapter.requests(candidate, example)[0] for example in asked]

    async def texts(self, requests: Sequence[Request]) -> list[str]:
        gate = asyncio.Semaphore(TOGETHER)

        async def one(request: Request) -> str:
            async with gate:
                return (await self.client.complete(request)).text

        return list(await asyncio.gather(*map(one, requests)))

    async def accuracy(self, instructions: str, shown: Sequence[Example], asked: Sequence[Example]) -> float:
        texts = await self.texts(self.requests(instructions, shown, asked))
        return statistics.fmean(text.strip() == example.expected for text, example in zip(texts, asked, strict=True))


def with_flash_attention() -> None:
    usual = llama_server._params

    def changed(xllamacpp: Any, path: Path) -> Any:
        params = usual(xllamacpp, path)
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
        return params

    llama_server._params = changed


def say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


async def speed(bench: Bench, sets: int) -> None:
    """Evaluations per second: minibatches of ten, each behind its own four demonstrations, four of them under way at once."""
    rng = random.Random(0)
    await bench.texts(bench.requests("Hello.", [], bench.examples["val"][:4]))
    batches = [
        bench.requests(INSTRUCTIONS["seed"], rng.sample(bench.examples["train"], 4), rng.sample(bench.examples["val"], 10))
        for _ in range(sets)
    ]
    begin, busy = time.perf_counter(), time.process_time()
    for first in range(0, sets, 4):
        await asyncio.gather(*map(bench.texts, batches[first : first + 4]))
    seconds = time.perf_counter() - begin
    cpu = time.process_time() - busy
    say(
        what="speed",
        evaluations=10 * sets,
        seconds=round(seconds, 1),
        per_second=round(10 * sets / seconds, 2),
        cpu_seconds_each=round(cpu / (10 * sets), 3),
    )


async def exact(bench: Bench, sets: int) -> None:
    """Texts that change when the same requests are asked in another order and at another concurrency."""
    rng = random.Random(0)
    requests = [
        request
        for size in (0, 2, 4, 8, 20)
        for request in bench.requests(
            INSTRUCTIONS["longer"], rng.sample(bench.examples["train"], size), rng.sample(bench.examples["val"], 4 * sets)
        )
    ]
    begin = time.perf_counter()
    alone = [(await bench.client.complete(request)).text for request in requests]
    shuffled = rng.sample(range(len(requests)), len(requests))
    mixed = await bench.texts([requests[i] for i in shuffled])
    differ = sum(alone[i] != text for i, text in zip(shuffled, mixed, strict=True))
    say(what="exact", requests=len(requests), texts_that_differ=differ, seconds=round(time.perf_counter() - begin, 1))


async def demonstrations(bench: Bench, sets: int) -> None:
    """Accuracy on test: each instruction alone, then the seed's with random sets of demonstrations."""
    test = bench.examples["test"]
    for name, text in INSTRUCTIONS.items():
        say(what="alone", instructions=name, accuracy=await bench.accuracy(text, [], test))
    for size in (2, 4, 8):
        rng = random.Random(size)
        found = [await bench.accuracy(INSTRUCTIONS["seed"], rng.sample(bench.examples["train"], size), test) for _ in range(sets)]
        spread = {"mean": statistics.fmean(found), "deviation": statistics.stdev(found), "low": min(found), "high": max(found)}
        say(what="random sets", size=size, sets=sets, **{name: round(value, 3) for name, value in spread.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "exact", "demonstrations"))
    parser.add_argument("--sets", type=int, default=12, help="random sets of demonstrations, at least 2")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--flash-attention", action="store_true", help="as llama.cpp would do it, and the client does not")
    given = parser.parse_args()
    if given.flash_attention:
        with_flash_attention()
    work = {"speed": speed, "exact": exact, "demonstrations": demonstrations}[given.what]

    async def run() -> None:
        bench = Bench(given.data, given.servers)
        await work(bench, given.sets)
        await bench.client.close()

    asyncio.run(run())


if __name__ == "__main__":
    main()
