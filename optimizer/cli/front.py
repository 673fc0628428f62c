"""`front DIR`: the candidates that no other dominates."""

from dataclasses import asdict
from typing import Annotated

import typer

from optimizer.cli.options import AsJson, RunFolder, emit


def command(
    folder: RunFolder,
    everything: Annotated[bool, typer.Option("--all", help="All candidates, the rejected ones too.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the candidates on the frontier, with their objectives on val."""
    from rich.console import Console

    from optimizer.cli.reading import read_run
    from optimizer.report.console import show_table
    from optimizer.report.words import points

    listed = [candidate for candidate in read_run(folder).candidates if everything or candidate.on_frontier]
    if as_json:
        emit([asdict(candidate) for candidate in listed])
        return
    names = list(dict.fromkeys(name for candidate in listed for name in candidate.objectives))
    rows = []
    for each in listed:
        marks = [each.outcome] * (each.outcome != "accepted") + ["best"] * each.best + ["frontier"] * (everything and each.on_frontier)
        scores = [points(each.objectives.get(name)) for name in names]
        rows.append([each.id, *scores, ", ".join(marks), each.proposer, str(each.born), " ".join(each.parents)])
    show_table(Console(highlight=False), ("candidate", *names, "", "by", "job", "parents"), rows)
