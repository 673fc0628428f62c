"""The result, for the person who waited for it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from optimizer.report.agreement import agreement_line
from optimizer.report.console import say, show_table
from optimizer.report.words import UNKNOWN, count, duration, interval, money, points, signed
from scoring.improvement import Difference, verdict

SPLITS = {
    "test": "never seen by the search",
    "val": "where the best was selected, which flatters it: give the data a test split for a number to rely on",
}
VERDICTS = {
    "improved": "Improved",
    "worse": "Worse than the seed",
    "not distinguishable": "Not distinguishable from the seed",
}


def show_result(result: Mapping[str, Any], out: Path, console: Console) -> None:
    """`result`: what `run` returns and `result.json` holds; `out`: the run directory."""
    say(console, headline(result), style="bold")
    lower = result["lower_is_better"]
    means = {"overall": result["overall"], **result["models"]}
    rows = [_row(name if name == "overall" else f"{name} (mean)", fields) for name, fields in means.items()]
    rows += [_row(name, fields, lower=name in lower) for name, fields in result["objectives"].items()]
    show_table(console, ("", "seed", "best", "difference", "95% interval", "n", "verdict"), rows)
    for line in _account(result, out):
        say(console, line)


def headline(result: Mapping[str, Any]) -> str:
    """What came of the run, in a sentence or two."""
    overall, split = result["overall"], result["split"]
    if _chosen(result) == {result["seed"]["id"]}:
        return _kept(result["unproven"])
    if overall["n"] == 0:
        return f"Nothing is known: no {split} example has an answer of both the seed and the best."
    gain = f"{_gain(overall)} (95% interval {interval(overall['low'], overall['high'])})"
    told = f"{VERDICTS[result['verdict']]}: {gain} on {count(overall['n'], f'{split} example')}, {SPLITS[split]}."
    missed = [f"{name} {each['constraint']}" for name, each in result["constraints"].items() if each["best"] is False]
    return f"{told} It does not meet {' and '.join(missed)} there." if missed else told


def _kept(unproven: Mapping[str, Any] | None) -> str:
    if unproven is None:
        return "The seed is the best that was found: no candidate looked better."
    return (
        f"The seed is kept: no candidate was surely better. {unproven['id']} looked best, by an estimated {points(unproven['gain'])} "
        "points, which may be chance."
    )


def _chosen(result: Mapping[str, Any]) -> set[str]:
    if result["best_by"] == "per_model":
        return {each["id"] for each in result["best_per_model"].values()}
    return {result["best"]["id"]}


def _row(name: str, fields: Mapping[str, Any], *, lower: bool = False) -> list[str]:
    words = verdict(Difference(**fields), lower_is_better=lower) if fields["n"] else UNKNOWN
    ends = interval(fields["low"], fields["high"])
    return [
        f"{name} (lower is better)" if lower else name,
        points(fields["seed"]),
        points(fields["best"]),
        _gain(fields),
        ends,
        str(fields["n"]),
        words,
    ]


def _gain(fields: Mapping[str, Any]) -> str:
    return UNKNOWN if fields["difference"] is None else f"{signed(fields['difference'])} points"


def _account(result: Mapping[str, Any], out: Path) -> list[str]:
    spent, failed = result["spent"], result["failed_cells"]
    tokens = f"{spent['input_tokens']:,} tokens in, {spent['output_tokens']:,} out"
    work = [count(spent["rollouts"], "rollout"), f"{count(spent['calls'], 'call')} (and {spent['cached']:,} from memory)", tokens]
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in failed.items())
    return [
        f"stopped by: {result['stopped_by']}",
        *_own_best(result),
        *(_constraint(name, told) for name, told in result["constraints"].items()),
        f"spent: {', '.join([*work, money(spent['usd']), duration(spent['seconds'])])}",
        *agreement_line(result),
        *([f"failed cells: {kinds}; they count for nobody"] if failed else []),
        f"frontier: {count(len(result['frontier']), 'candidate')}; see: python -m optimizer front {shlex.quote(str(out))}",
        f"files: {out / 'result.json'}, {out / 'best'}",
    ]


def _constraint(name: str, told: Mapping[str, Any]) -> str:
    words = {True: "met", False: "not met", None: "not known"}
    return f"constraint {name} {told['constraint']}: {words[told['best']]} by the best, {words[told['seed']]} by the seed"


def _own_best(result: Mapping[str, Any]) -> list[str]:
    """What a model gains on val by a candidate of its own: the price of sharing one."""
    own = {model: each for model, each in result["best_per_model"].items() if each["id"] != result["best"]["id"]}
    shared = "with the one that is best for all"
    return [
        f"{model} does best with {each['id']}: {points(each['val'])} on val, {points(each['val_of_best'])} {shared}"
        for model, each in own.items()
    ]
