"""How often the search's blocks find the best of thirty whole prompts, beside evaluating all of them on everything.

    python tests/benchmarks/race.py [--tables 100] [--spread 0.08] [--level 0.5] [--shared 0.5] [--share 0.35]

Tables of 30 candidates x 200 examples of scores that are 0 or 1, with known truth: candidate c is right on example e where
a(c) + sqrt(shared) * e + sqrt(1 - shared) * noise is above 0, all normal; a(c) is such that true means lie around `level` with the
standard deviation `spread`. Nobody proposes anything and nothing is composed: what is measured is who is run where, and the choice.
`full`: how often the best mean over the whole table is the true best; `ours`: how often the search's is, after `share` of the cells.
Run it with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from adapters.candidate import Candidate
from adapters.example import Example
from optimizer.asktell import Block, Lesson, Study

CANDIDATES, EXAMPLES, VAL = 30, 200, 100
"""Of the examples, so many are val."""

Array = NDArray[np.float64]


def table(rng: np.random.Generator, spread: float, level: float, shared: float) -> tuple[Array, Array]:
    """The true means, and scores: candidates × examples."""
    means = np.clip(rng.normal(level, spread, CANDIDATES), 0.02, 0.98)
    height = np.array([NormalDist().inv_cdf(float(mean)) for mean in means])
    luck = np.sqrt(shared) * rng.standard_normal(EXAMPLES) + np.sqrt(1 - shared) * rng.standard_normal((CANDIDATES, EXAMPLES))
    return means, (height[:, None] + luck > 0).astype(np.float64)


def searched(scores: Array, cells: int) -> tuple[int, int]:
    """Who is believed to be the best after at most so many cells, and how many there were."""
    examples = [Example(str(n), {"text": f"example number {n}"}, None, {}) for n in range(EXAMPLES)]
    candidates = [Candidate({"prompt": f"text {'i' * (n + 1)}"}) for n in range(CANDIDATES)]
    study = Study(candidates[0], examples[VAL:], examples[:VAL], minibatch=0)
    number = {candidate.id: n for n, candidate in enumerate(candidates)}
    for candidate in candidates[1:]:
        problem = study.propose(candidate, Lesson(candidates[0], (), ()))
        if problem is not None:
            raise SystemExit(f"a candidate was refused: {problem}")
    while study.rollouts < cells and isinstance(asked := study.ask(), Block):
        for spot in asked.spots[: cells - study.rollouts]:
            study.tell(asked.candidate, spot.example, float(scores[number[asked.candidate.id], int(spot.example.id)]))
    looked_better = study.unproven() or study.best()
    return number[looked_better.candidate.id], study.rollouts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--tables", type=int, default=100)
    for name, usual in (("spread", 0.08), ("level", 0.5), ("shared", 0.5), ("share", 0.35)):
        parser.add_argument(f"--{name}", type=float, default=usual)
    asked = parser.parse_args()
    full, ours, lost, cells = [], [], [], []
    for n in range(asked.tables):
        means, scores = table(np.random.default_rng(n), asked.spread, asked.level, asked.shared)
        whole = int(np.argmax(scores.mean(axis=1)))
        found, spent = searched(scores, int(asked.share * scores.size))
        best = int(np.argmax(means))
        full.append(whole == best)
        ours.append(found == best)
        lost.append(means[whole] - means[found])
        cells.append(spent / scores.size)
    error = float(np.std(lost, ddof=1)) / len(lost) ** 0.5
    print(
        f"spread {asked.spread}, level {asked.level}, shared {asked.shared}: full {np.mean(full):.3f}, ours {np.mean(ours):.3f} "
        f"= {np.mean(ours) / np.mean(full):.2f} of it, at {np.mean(cells):.3f} of the cells; "
        f"worth lost against full {100 * float(np.mean(lost)):.2f} ± {100 * error:.2f} points"
    )


if __name__ == "__main__":
    main()
