"""`front DIR`: the candidates that no other dominates, or those that are best at something."""

from collections import Counter
from dataclasses import asdict
from itertools import compress
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from optimizer.cli.options import AsJson, RunFolder, emit
from optimizer.cli.output import console

if TYPE_CHECKING:
    from optimizer.cli.reading import Listed, RunRecord

ESTIMATED = "levels are estimated from all cells of the search, ± standard deviation; what was measured, `show` tells"

Shown = Literal["pareto", "objective", "instance", "hybrid", "cartesian"]


def command(
    folder: RunFolder,
    view: Annotated[
        Shown,
        typer.Option(
            help="pareto: whom no other dominates. The others list who is best at something, dominated or not: objective: at an "
            "objective; instance: on an example; hybrid: at either; cartesian: on an example, for an objective.",
        ),
    ] = "pareto",
    everything: Annotated[bool, typer.Option("--all", help="All candidates, also those that have met too little to be judged.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the candidates on the frontier. Their levels are estimates."""
    from optimizer.cli.reading import read_run

    run = read_run(folder)
    winners = [] if view == "pareto" else _winners(run, view)
    wins = Counter(name for each in winners for name in each["candidates"])
    shown = [c for c in run.candidates if everything or (c.on_frontier if view == "pareto" else wins[c.id])]
    if as_json:
        emit({"view": view, "candidates": [asdict(c) for c in shown], "winners": winners, **_measures(run)})
        return
    _show(shown, None if view == "pareto" else wins, everything or view != "pareto")


def _winners(run: "RunRecord", view: Literal["objective", "instance", "hybrid", "cartesian"]) -> list[dict[str, Any]]:
    """What there is to win, and who is best at it: at an objective by estimated levels, on an example by its scores there."""
    found = _leaders(run) if view in ("objective", "hybrid") else []
    if view == "objective":
        return found
    standing, on = run.standing(), view if view == "cartesian" else "instance"
    names = [candidate.id for candidate in run.pool()]
    return found + [
        {"example": example, "objective": objective, "candidates": list(compress(names, column))}
        for (example, objective), column in zip(standing.keys(on), standing.wins(on).T.tolist(), strict=True)
    ]


def _leaders(run: "RunRecord") -> list[dict[str, Any]]:
    """Of each objective, who has the best level."""
    pool = run.pool()
    levels = [dict(zip(run.wanted.names, run.wanted.levels(each.objectives).tolist(), strict=True)) for each in pool]
    best = {name: max((each[name] for each in levels if not isnan(each[name])), default=None) for name in run.wanted.names}
    return [
        {"example": None, "objective": name, "candidates": [who.id for who, each in zip(pool, levels, strict=True) if each[name] == top]}
        for name, top in best.items()
    ]


def _measures(run: "RunRecord") -> dict[str, Any]:
    """`hypervolume` of the frontier's oriented levels above 0, and its `growth` from candidate to candidate in order of birth (those that
    meet the constraints; all, where none does); None where the frontier is too large for it. `knee`: the id of the candidate there, None
    where nobody has every level. All three over the objectives that anybody has a level in."""
    import numpy as np

    from optimizer.frontier import knee
    from optimizer.hypervolume import HypervolumeError, growth

    pool = run.pool()
    levels = np.array([run.wanted.levels(candidate.objectives) for candidate in pool])
    meets = run.wanted.meets(levels)
    levels = levels[:, ~np.isnan(levels).all(axis=0)]
    try:
        volumes = growth(levels[meets] if meets.any() else levels)
    except HypervolumeError as error:
        typer.echo(f"no hypervolume: {error}", err=True)
        volumes = None
    front = [index for index, candidate in enumerate(pool) if candidate.on_frontier]
    at = knee(levels[front])
    return {
        "hypervolume": None if volumes is None else volumes[-1],
        "growth": volumes,
        "knee": None if at is None else pool[front[at]].id,
    }


def _show(listed: "list[Listed]", wins: Counter[str] | None, told_apart: bool) -> None:
    """`wins`: how many keys each is best at, where that is what is shown. `told_apart`: who is on the frontier is marked."""
    from optimizer.report.console import say, show_table
    from optimizer.report.words import estimated

    names = list(dict.fromkeys(name for candidate in listed for name in candidate.objectives))
    rows = []
    for each in listed:
        marks = ["seed"] * (each.outcome == "seed") + ["best"] * each.best + ["frontier"] * (told_apart and each.on_frontier)
        scores = [estimated(each.objectives.get(name), each.deviations.get(name)) for name in names]
        won = [] if wins is None else [str(wins[each.id])]
        rows.append([each.id, *scores, *won, ", ".join(marks), each.proposer, str(each.born), " ".join(each.parents)])
    heads = ("candidate", *names, *([] if wins is None else ["wins"]), "", "by", "job", "parents")
    out = console()
    say(out, ESTIMATED, style="dim")
    show_table(out, heads, rows)
