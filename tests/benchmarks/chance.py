"""How often chance is called a difference: p-values where there is none, and families of objectives.

    python tests/benchmarks/chance.py p [--samples 1000] [--sizes 20,50,200]
    python tests/benchmarks/chance.py families [--samples 1000] [--sizes 20,50,200]

`p`: worlds where the two sides are alike on average; the share of the sign-flip test's p-values that are at most 0.01, 0.05, 0.2 and 0.5,
which is to be that much, or less where few outcomes are possible; and the largest excess of the shares of all values over them. In worlds
that are marked "uneven" the differences have the mean 0 and are not symmetric, which the test takes them to be. `families`: six objectives,
of which all or three do not differ, alike to a degree; how often any of those is called a difference, by p alone, by p_holm, and by the
verdict (p_holm and the interval), and how many of those that do differ are found. Run it with OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse

import numpy as np
from coverage import UNEVEN, Sample, World, binary, graded, grouped, objectives, repeated

from scoring.improvement import LEVEL, as_family, paired_difference, verdict
from scoring.signflip import sign_flip

AT_MOST = (0.01, 0.05, 0.2, 0.5)
EVEN = [
    binary(0.05, 0.05),
    binary(0.25, 0.25),
    graded("graded, even", 0.0, lambda n, rng: rng.normal(0.0, 0.1, n)),
    graded("graded, in quarters", 0.0, lambda n, rng: (rng.binomial(4, 0.5, n) - rng.binomial(4, 0.5, n)) / 4),
    grouped(0.2, 0.2, 0.5, 4),
    objectives(0.2, 0.2, 0.3, 0.1),
    repeated(0.0, 3),
    *UNEVEN,
]
SIX = 6


def contributions(sample: Sample) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What each group adds to the overall difference, as scoring.improvement has it."""
    known = np.isfinite(sample.differences)
    by_example = (np.nan_to_num(sample.differences) / known.sum(axis=0)).mean(axis=1)
    return np.bincount(sample.groups, by_example).astype(np.float64)


def p_values(world: World, n: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    drawn = (world.draw(n, np.random.default_rng([n, index])) for index in range(count))
    return np.array([sign_flip(contributions(sample), rng_seed=index).p for index, sample in enumerate(drawn)])


def tell_p(n: int, count: int) -> None:
    print(f"\nn = {n}".ljust(44) + "".join(f"{f'p <= {most:g}':>11}" for most in AT_MOST) + f"{'excess':>9}")
    for world in EVEN:
        found = np.sort(p_values(world, n, count))
        excess = float(np.max(np.searchsorted(found, found + 1e-12, side="right") / count - found))
        cells = "".join(f"{float((found <= most + 1e-12).mean()):>11.3f}" for most in AT_MOST)
        print(f"{world.name:<43}{cells}{excess:>9.3f}", flush=True)


def family(n: int, likeness: float, gains: int, rng: np.random.Generator) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """n × SIX binary differences; the first so many objectives gain 25 points, the others nothing."""
    shares = np.array([[0.35, 0.1] if k < gains else [0.15, 0.15] for k in range(SIX)])
    luck = np.where(rng.random((n, SIX)) < likeness, rng.random((n, 1)), rng.random((n, SIX)))
    won, lost = luck < shares[:, 0], luck > 1 - shares[:, 1]
    return won.astype(np.float64) - lost


def tell_families(n: int, count: int) -> None:
    print(f"\nn = {n}".ljust(34) + "".join(f"{word:>14}" for word in ("any: p", "any: p_holm", "any: verdict", "found")))
    for gains in (0, 3):
        for likeness in (0.0, 0.7):
            wrong, found = np.zeros(3), 0
            for index in range(count):
                sample = family(n, likeness, gains, np.random.default_rng([n, gains, int(10 * likeness), index]))
                after = np.clip(sample, 0, None)
                single = {str(k): paired_difference(after[:, k] - sample[:, k], after[:, k], rng_seed=index) for k in range(SIX)}
                told = list(as_family(single).values())
                null = told[gains:]
                wrong += [
                    any((each.p or 1.0) <= LEVEL for each in null),
                    any((each.p_holm or 1.0) <= LEVEL for each in null),
                    any(verdict(each) != "not distinguishable" for each in null),
                ]
                found += sum(verdict(each) == "improved" for each in told[:gains])
            power = f"{found / count / gains:>14.3f}" if gains else f"{'':>14}"
            print(
                f"{gains} of {SIX} differ, {likeness:g} alike".ljust(33) + "".join(f"{each / count:>14.3f}" for each in wrong) + power,
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["p", "families"])
    parser.add_argument("--samples", type=int)
    parser.add_argument("--sizes", default="20,50,200", help="examples in a sample, or groups where the world has groups")
    asked = parser.parse_args()
    for n in map(int, asked.sizes.split(",")):
        if asked.what == "p":
            tell_p(n, asked.samples or 1000)
        else:
            tell_families(n, asked.samples or 1000)


if __name__ == "__main__":
    main()
