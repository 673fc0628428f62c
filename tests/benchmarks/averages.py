"""How often the 95% interval of a single mean (scoring.averages) holds the truth, and how wide it is, beside Student's t.

    python tests/benchmarks/averages.py [--samples 1000] [--sizes 10,20,50,200]

A line for each world: for each number of examples (in the last two, of groups) the share of the intervals that hold the truth, ours and t's
over the groups' means, and how many times as wide as t's ours is on average. About ten minutes. docs/statistics.md has what was
measured.
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from scoring import average

Array = NDArray[np.float64]
Sample = tuple[Array, NDArray[np.int64]]
"""The scores, and the group of each."""


def alone(scores: NDArray[np.generic]) -> Sample:
    return scores.astype(np.float64), np.arange(len(scores))


def grouped(n: int, sizes: NDArray[np.int64], rng: np.random.Generator) -> Sample:
    """Scores of 0 or 1; the groups' shares differ as widely as can be without being 0 or 1."""
    labels = np.repeat(np.arange(n), sizes)
    return (rng.random(len(labels)) < rng.random(n)[labels]).astype(float), labels


WORLDS: dict[str, tuple[float, Callable[[int, np.random.Generator], Sample]]] = {
    "5% right": (0.05, lambda n, rng: alone(rng.binomial(1, 0.05, n))),
    "20% right": (0.2, lambda n, rng: alone(rng.binomial(1, 0.2, n))),
    "50% right": (0.5, lambda n, rng: alone(rng.binomial(1, 0.5, n))),
    "90% right": (0.9, lambda n, rng: alone(rng.binomial(1, 0.9, n))),
    "graded": (0.5, lambda n, rng: alone(rng.beta(2, 2, n))),
    "graded, mostly high": (8 / 9, lambda n, rng: alone(rng.beta(4, 0.5, n))),
    "in thirds": (0.5, lambda n, rng: alone(rng.integers(0, 4, n) / 3)),
    "groups of 4": (0.5, lambda n, rng: grouped(n, np.full(n, 4), rng)),
    "groups of 1 to 7": (0.5, lambda n, rng: grouped(n, rng.integers(1, 8, n), rng)),
}


def usual(scores: Array, groups: NDArray[np.int64]) -> tuple[float, float]:
    means = np.bincount(groups, scores) / np.bincount(groups)
    reach = stats.t.ppf(0.975, len(means) - 1) * means.std(ddof=1) / len(means) ** 0.5
    return float(means.mean() - reach), float(means.mean() + reach)


def told(name: str, n: int, samples: int) -> str:
    truth, draw = WORLDS[name]
    rng, held, width = np.random.default_rng([n, len(name)]), np.zeros(2), np.zeros(2)
    for number in range(samples):
        scores, groups = draw(n, rng)
        found = average(scores, [str(group) for group in groups], rng_seed=number)
        for k, (low, high) in enumerate(((found.low or 0.0, found.high or 0.0), usual(scores, groups))):
            held[k] += low <= truth <= high
            width[k] += high - low
    ours, t = held / samples
    return f"{ours:.3f} {t:.3f} {width[0] / width[1]:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--sizes", default="10,20,50,200")
    options = parser.parse_args()
    for name in WORLDS:
        print(f"{name:20}", *(told(name, int(n), options.samples) for n in options.sizes.split(",")), sep="   ", flush=True)


if __name__ == "__main__":
    main()
