"""The tables of docs/benchmarks.md, from the lines that embedded.py has written. Shares of right answers on test, in points of 100."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = Mapping[str, Any]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """The lines of one task."""

    rows: Sequence[Row]

    def by(self, who: str) -> list[Row]:
        return sorted((row for row in self.rows if row["who"] == who), key=lambda row: row["number"])

    def at_random(self, size: int) -> list[Row]:
        """What prompts with as many demonstrations are compared with; without any, the seed's prompt."""
        return self.by(f"random {size}") if size else self.by("seed")


def tables(rows: Sequence[Row], tasks: Sequence[str]) -> Iterator[str]:
    for task in tasks:
        found = Found([row for row in rows if row["task"] == task])
        if found.rows:
            lines = [*prompts(found), *sets(found)]
            yield "\n".join([f"### {task}, {len(found.rows[0]['test'])} test examples", "", *lines, "", *differences(found)])


def prompts(found: Found) -> Iterator[str]:
    yield "| prompt | right, run by run | mean ± standard error | rollouts | reflections |"
    yield "|---|---|---|---|---|"
    for who in dict.fromkeys(row["who"] for row in found.rows):
        rows = found.by(who)
        if not who.startswith("random"):
            each = ", ".join(f"{share(row):.1f}" + (f" ({row['shown']} shown)" if row["shown"] else "") for row in rows)
            yield f"| {who} | {each} | {spread(rows)} | {several(rows, 'rollouts')} | {several(rows, 'reflections')} |"


def sets(found: Found) -> Iterator[str]:
    for who in sorted({row["who"] for row in found.rows if row["who"].startswith("random")}):
        rows = found.by(who)
        low, high = min(map(share, rows)), max(map(share, rows))
        yield f"| {who} | {len(rows)} sets, from {low:.1f} to {high:.1f} | {spread(rows)} | 0 | |"


def differences(found: Found) -> Iterator[str]:
    """Ours minus what is drawn at random with as many demonstrations: run by run, and over all runs."""
    pairs = [(row, found.at_random(row["shown"])) for row in found.by("ours")]
    pairs = [(row, drawn) for row, drawn in pairs if drawn]
    if len(pairs) < 2:
        return
    each = np.array([share(row) - np.mean([share(other) for other in drawn]) for row, drawn in pairs])
    examples = np.mean([signs(row) - np.mean([signs(other) for other in drawn], axis=0) for row, drawn in pairs], axis=0)
    over_sets, over_runs, over_examples = sets_error([drawn for _, drawn in pairs]), error(each), error(100 * examples)
    runs = ", ".join(f"{difference:+.1f}" for difference in each)
    yield (
        f"Ours minus the mean of random sets of the same size: {runs}; mean {each.mean():+.1f}, standard error over sets {over_sets:.1f}, "
        f"over runs {over_runs:.1f}, of both {np.hypot(over_sets, over_runs):.1f}; over test examples {over_examples:.1f}."
    )


def sets_error(drawn: Sequence[Sequence[Row]]) -> float:
    """Of the mean over runs of the mean of the sets that each is compared with; runs of one size share their sets."""
    shown = [rows[0]["shown"] for rows in drawn]
    parts = {size: shown.count(size) / len(shown) * error(np.array([share(row) for row in drawn[shown.index(size)]])) for size in shown}
    return float(np.hypot.reduce(list(parts.values())))


def spread(rows: Sequence[Row]) -> str:
    shares = np.array([share(row) for row in rows])
    return f"{shares.mean():.1f} ± {error(shares):.1f}" if len(rows) > 1 else f"{shares.mean():.1f}"


def several(rows: Sequence[Row], name: str) -> str:
    return ", ".join(str(row[name]) for row in rows if name in row)


def share(row: Row) -> float:
    return 100 * float(signs(row).mean())


def signs(row: Row) -> Array:
    return np.array([float(sign) for sign in row["test"]])


def error(values: Array) -> float:
    """The standard error of the mean; 0 for a single value, which is not drawn at random."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
