"""What `evaluate` and `compare` found, for people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from optimizer.report.console import say, show_table
from optimizer.report.rows import Row, rows
from optimizer.report.words import UNKNOWN, count, from_here, interval, met, points, signed, used

OPTIMISTIC = "val is where they were selected, which flatters them: the difference is optimistic"
ADJUSTED = "p of objectives and of models is adjusted for being read side by side (Holm)"
UPSHOTS = {"improved": "B is better", "worse": "B is worse", "not distinguishable": "Not distinguishable"}


def show_evaluation(told: Mapping[str, Any], folder: Path, console: Console) -> None:
    """`told`: what `evaluation` gives; `folder`: where it is kept."""
    overall, n, of = told["overall"], told["examples"]["met"], told["examples"]["of"]
    where = count(of, f"{told['split']} example") if n == of else f"the first {n} of {count(of, told['split'] + ' example')}"
    level = f"{points(overall['mean'])} of 100 (95% interval {_span(overall)})" if overall["n"] else "nothing is known"
    say(console, f"{told['candidate']['id']} on {where}: {level}", style="bold")
    means = [[each.title, points(each.fields["mean"]), _span(each.fields), str(each.fields["n"])] for each in rows(told)]
    show_table(console, ("", "mean", "95% interval", "n"), means)
    for name, each in told["constraints"].items():
        say(console, f"constraint {name} {each['constraint']}: {met(each['met'])}")
    for line in _account(told, folder):
        say(console, line)


def show_comparison(told: Mapping[str, Any], console: Console, folder: Path | None = None) -> None:
    """`told`: what `comparison` gives, or `compare` makes of two runs; `folder`: where it is kept, if anything was run."""
    overall, split, examples = told["overall"], told["split"], told["examples"]
    if overall["n"] == 0:
        say(console, f"Nothing is known: no {split} example has a score of both.", style="bold")
    else:
        gain = f"{signed(overall['difference'])} points (95% interval {_ends(overall)}, p {_p(overall)})"
        say(console, f"{UPSHOTS[told['verdict']]}: {gain} on {count(overall['n'], f'{split} example')}", style="bold")
    heads = ("", "A", "B", "difference", "95% interval", "p", "n", "verdict")
    show_table(console, heads, [_compared(each) for each in rows(told)])
    for side in ("a", "b"):
        say(console, f"{side.upper()}: {from_here(told[side]['name'])}, candidate {told[side]['id']}")
    if told["a"]["id"] == told["b"]["id"]:
        say(console, "A and B are the same texts")
    each = f"A was run on {examples['a']:,}, B on {examples['b']:,}"
    say(console, f"compared on {count(examples['common'], f'{split} example')} that both were run on ({each})")
    if told["optimistic"]:
        say(console, OPTIMISTIC)
    if len(told["objectives"]) > 1:
        say(console, ADJUSTED)
    for line in () if folder is None else _account(told, folder):
        say(console, line)


def _compared(row: Row) -> list[str]:
    each = row.fields
    gain = UNKNOWN if each["difference"] is None else f"{signed(each['difference'])} points"
    words = each["verdict"] if each["n"] else UNKNOWN
    return [row.title, points(each["a"]), points(each["b"]), gain, _ends(each), _p(each), str(each["n"]), words]


def _ends(each: Mapping[str, Any]) -> str:
    return interval(each["low"], each["high"])


def _span(each: Mapping[str, Any]) -> str:
    return f"{points(each['low'])} to {points(each['high'])}" if each["n"] else UNKNOWN


def _p(each: Mapping[str, Any]) -> str:
    p = each["p"] if each["p_holm"] is None else each["p_holm"]
    if p is None:
        return UNKNOWN
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def _account(told: Mapping[str, Any], folder: Path) -> Iterator[str]:
    yield "spent: " + used(told["spent"], f"{told['made']:,} of them made now")
    if told["failed_cells"]:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in told["failed_cells"].items())
        yield f"failed cells: {kinds}; they count for nobody, and the same command tries them again"
    if told["look"] is not None:
        yield f"look at the sealed test split: {told['look']}"
    yield f"kept in {from_here(str(folder))}"
