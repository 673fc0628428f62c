"""How long the belief takes to learn from all cells, to draw the next candidate, and to say who is best and how surely all are known.

    python tests/benchmarks/belief_speed.py [--examples 1000] [--models 3] [--candidates 300] [--lines 600] [--each 15] [--cells 4000]
        [--new 0.5]

Candidates are made of `each` lines out of `lines`, and have met examples at random; scores are 0 or 1. With `--new`, they are made by
rewording: each keeps the lines of one before it, but for this share of them, which are new (1: all). Median of a few, in seconds of
processor time; run it with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from adapters.answer import TracedAnswer
from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.budget import Used
from optimizer.compose import Composer
from optimizer.evaluate import Cell
from optimizer.policy import Objectives
from optimizer.pool import Composing, Pool
from optimizer.table import Table
from scoring.score import Score

ANSWER, USED = TracedAnswer("yes"), Used(1, {}, 0)
VOCABULARY = 2000


def world(asked: argparse.Namespace) -> Pool:
    rng = np.random.default_rng(0)

    def text(words: int) -> str:
        return " ".join(f"w{n}" for n in (rng.random(words) ** 2 * VOCABULARY).astype(int).tolist())

    examples = [Example(f"e{n}", {"text": text(30)}) for n in range(asked.examples)]
    lines = [text(12) for _ in range(asked.lines)]
    picks = [sorted(rng.choice(asked.lines, asked.each, replace=False).tolist()) for _ in range(asked.candidates)]
    texts, parents = [[lines[n] for n in pick] for pick in picks], [0] * asked.candidates
    for number in range(1, asked.candidates if asked.new else 0):
        parents[number] = int(rng.integers(number))
        texts[number] = [text(12) if rng.random() < asked.new else line for line in texts[parents[number]]]
    candidates = [Candidate({"instructions": "\n".join(each)}) for each in texts]
    table = Table(examples, Objectives([f"m{n}" for n in range(asked.models)], ["right"]))
    pool = Pool(candidates[0], table, examples, examples[::2], Composing((), Composer(lambda _: frozenset(), 0), lambda *_: None))
    for each, parent in zip(candidates, parents, strict=True):
        pool.add(each, candidates[parent] if asked.new else None)
    for _ in range(asked.cells):
        who, where, model = (rng.integers(n) for n in (asked.candidates, asked.examples, asked.models))
        score = Score({"right": float(rng.random() < 0.5 + who / asked.candidates / 3)})
        table.add([Cell(candidates[who].id, examples[where], f"m{model}", ANSWER, score, None, USED)])
    return pool


def timed(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name, default in (("examples", 1000), ("models", 3), ("candidates", 300), ("lines", 600), ("each", 15), ("cells", 4000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--new", type=float, default=0.0)
    asked = parser.parse_args()
    pool, rng = world(asked), np.random.default_rng(0)
    works: dict[str, tuple[Callable[[], object], int]] = {
        "learn": (pool.learn, 3),
        "draw": (lambda: pool.draw(rng, frozenset()), 5),
        "best": (pool.best, 3),
        "deviations": (lambda: pool.deviations(pool.settled()), 3),
    }
    for name, (work, times) in works.items():
        print(f"{name} {timed(work, times):.3f} s", flush=True)


if __name__ == "__main__":
    main()
