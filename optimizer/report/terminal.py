"""The result, for the person who waited for it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from optimizer.loop import NO_PROPOSALS, NOTHING_LEFT
from optimizer.report.agreement import agreement_line
from optimizer.report.console import say, show_table
from optimizer.report.decision import OVERALL, gained
from optimizer.report.ground import FRESH, OPTIMISTIC
from optimizer.report.noise import noise_line
from optimizer.report.overlap import overlap_line
from optimizer.report.rows import Row, rows
from optimizer.report.words import UNKNOWN, count, from_here, interval, met, points, signed, used
from scoring.improvement import Difference, verdict

GROUNDS = {
    None: "never seen by the search",
    FRESH: "on which neither was run before the best was chosen",
    OPTIMISTIC: "where the best was selected, which flatters it: give the data a test split for a number to rely on",
}
LOST = "Worse where it must not be"
VERDICTS = {
    "improved": "Improved",
    "worse": "Worse than the seed",
    "not distinguishable": "Not distinguishable from the seed",
}


def show_result(result: Mapping[str, Any], out: Path, console: Console, rollouts: int | None) -> None:
    """`result`: what `run` returns and `result.json` holds; `out`: the run directory; `rollouts`: the limit on them, if there is one."""
    say(console, headline(result), style="bold")
    if _kept(result):
        show_table(console, ("", "seed", "n"), [_level(each) for each in rows(result)])
        say(console, _advice(result["stopped_by"]))
    else:
        heads = ("", "seed", "best", "difference", "95% interval", "n", "verdict")
        show_table(console, heads, [_compared(each) for each in rows(result)])
    for line in _account(result, out, rollouts):
        say(console, from_here(line))


def headline(result: Mapping[str, Any]) -> str:
    """What came of the run, in a sentence or two."""
    overall, split = result["overall"], result["split"]
    if _kept(result):
        return _why_kept(result["unproven"])
    if overall["n"] == 0:
        return f"Nothing is known: no {split} example has an answer of both the seed and the best."
    gain = f"{_gain(overall)} (95% interval {interval(overall['low'], overall['high'])})"
    words = LOST if _lost(result) else VERDICTS[result["verdict"]]
    told = f"{words}: {gain} on {count(overall['n'], f'{split} example')}, {GROUNDS[result['correction']]}."
    missed = [f"{name} {each['constraint']}" for name, each in result["constraints"].items() if each["best"] is False]
    looks = result["look"] or 1
    again = f" Look {looks} at these examples, each for another candidate: the more looks, the more it flatters." if looks > 1 else ""
    short = f" It does not meet {' and '.join(missed)} there." if missed else ""
    return f"{told}{again}{short}{_upshot(result)}"


def _upshot(result: Mapping[str, Any]) -> str:
    """What follows for best/, where it is not plain."""
    if result["refuted"] is not None:
        return f"{''.join(f' {_lost_there(result, name)}' for name in _lost(result))} So the seed is kept, and best/ holds it."
    won = [f"{name} {result['constraints'][name]['constraint']}" for name in gained(result["constraints"])]
    if won and result["verdict"] != "improved":
        return f" best/ holds it, since it meets {' and '.join(won)}, and the seed does not."
    if result["verdict"] == "not distinguishable":
        return " These examples alone do not show that it is better; best/ holds it, as the search chose it."
    return ""


def _lost(result: Mapping[str, Any]) -> list[str]:
    """The objectives with a broken floor that speak against the best."""
    return [name for name in (result["refuted"] or {"against": ()})["against"] if name != OVERALL]


def _lost_there(result: Mapping[str, Any], name: str) -> str:
    loss = abs(result["objectives"][name]["difference"])
    return f"{name} is {points(loss)} points worse than the seed, and its floor allows {points(result['floors'][name]['floor'])}."


def _kept(result: Mapping[str, Any]) -> bool:
    """Whether the seed is what the search chose, for every model."""
    if result["refuted"] is not None:
        return False
    if result["best_by"] == "per_model":
        return {each["id"] for each in result["best_per_model"].values()} == {result["seed"]["id"]}
    return bool(result["best"]["id"] == result["seed"]["id"])


def _why_kept(unproven: Mapping[str, Any] | None) -> str:
    if unproven is None:
        return "The seed is kept: no candidate that has met enough val examples to be judged looked better."
    return (
        f"The seed is kept: no better prompt was found surely enough. {unproven['id']} looked best, by an estimated "
        f"{points(unproven['gain'])} points, which may be chance."
    )


def _advice(stopped_by: str) -> str:
    if stopped_by == NOTHING_LEFT:
        return "what may help: harder examples, since the seed is right on all of val"
    more = [] if stopped_by == NO_PROPOSALS else [f"a larger budget.{stopped_by} (with it the same command goes on from here)"]
    return f"what may help: {' and '.join([*more, 'more examples'])}"


def _level(row: Row) -> list[str]:
    return [row.title, points(row.fields["seed"]), str(row.fields["n"])]


def _compared(row: Row) -> list[str]:
    fields = row.fields
    words = verdict(Difference(**fields), lower_is_better=row.lower) if fields["n"] else UNKNOWN
    ends = interval(fields["low"], fields["high"])
    return [row.title, points(fields["seed"]), points(fields["best"]), _gain(fields), ends, str(fields["n"]), words]


def _gain(fields: Mapping[str, Any]) -> str:
    return UNKNOWN if fields["difference"] is None else f"{signed(fields['difference'])} points"


def _account(result: Mapping[str, Any], out: Path, rollouts: int | None) -> list[str]:
    spent, failed = result["spent"], result["failed_cells"]
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in failed.items())
    return [
        f"stopped by: {result['stopped_by']}{_left(result, rollouts)}",
        *_too_likely(result),
        *_own_best(result),
        *(_constraint(name, told) for name, told in result["constraints"].items()),
        *(f"floor {name}, {points(told['floor'])} points below the seed: {told['state']}" for name, told in result["floors"].items()),
        "spent: " + used(spent, f"and {spent['cached']:,} from memory"),
        *agreement_line(result),
        *noise_line(result),
        *overlap_line(result),
        *([f"failed cells: {kinds}; they count for nobody"] if failed else []),
        f"frontier: {count(len(result['frontier']), 'candidate')}; see: python -m optimizer front {shlex.quote(str(out))}",
        f"finished: {_end(result)}; files: {out / 'result.json'}, {out / 'best'}",
    ]


def _too_likely(result: Mapping[str, Any]) -> list[str]:
    """Where the interval alone would say more than the verdict does."""
    found = []
    for name, fields, _ in rows(result):
        one = Difference(**fields)
        beyond = one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
        if beyond and verdict(one) == "not distinguishable":
            p = f"p = {one.p:.2f}" if one.p_holm is None else f"p = {one.p_holm:.2f}, counting that several are read side by side"
            found.append(f"{name}: the interval leaves out 0, but chance alone does that too often ({p})")
    return found


def _end(result: Mapping[str, Any]) -> str:
    return "the seed is kept" if _kept(result) or result["refuted"] is not None else str(result["verdict"])


def _left(result: Mapping[str, Any], rollouts: int | None) -> str:
    """Why rollouts are left although they ended the search."""
    left = (rollouts or 0) - result["spent"]["rollouts"]
    if result["stopped_by"] != "rollouts" or left <= 0:
        return ""
    return f"; {left:,} of {rollouts:,} are left: another step would not have fitted beside what was set aside for the report"


def _constraint(name: str, told: Mapping[str, Any]) -> str:
    return f"constraint {name} {told['constraint']}: {met(told['best'])} by the best, {met(told['seed'])} by the seed"


def _own_best(result: Mapping[str, Any]) -> list[str]:
    """What a model is believed to gain by a candidate of its own: the price of sharing one."""
    own = {model: each for model, each in result["best_per_model"].items() if each["id"] != result["best"]["id"]}
    shared = "with the one that is best for all"
    return [
        f"{model} does best with {each['id']}: an estimated {points(each['val'])}, {points(each['val_of_best'])} {shared}"
        for model, each in own.items()
    ]
