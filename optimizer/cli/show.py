"""`show DIR CANDIDATE`: one candidate, where it came from and how it did."""

from dataclasses import asdict
from typing import Annotated

from optimizer.cli.options import AsJson, RunFolder, emit, named
from optimizer.cli.output import console


def command(folder: RunFolder, candidate: Annotated[str, named("CANDIDATE")], as_json: AsJson = False) -> None:
    """Show a candidate's texts, its lineage and its scores."""
    from optimizer.cli.reading import read_run
    from optimizer.cli.scores import lost, spelled, summaries
    from optimizer.report.console import say, show_table
    from optimizer.report.words import estimated, points

    run = read_run(folder)
    found = run.find(candidate)
    ancestors = run.ancestors(found)
    cells = run.cells(found)
    scores, gaps = list(summaries(cells)), lost(cells, run.wanted.config, run.places())
    if as_json:
        emit(
            {
                **asdict(found),
                "lineage": [each.id for each in ancestors],
                "scores": [asdict(each) for each in scores],
                "lost": [asdict(each) for each in gaps],
            }
        )
        return
    out = console()
    say(out, f"{found.id}: {found.story}", style="bold")
    for each in ancestors:
        say(out, f"from {each.id}: {each.story}")
    for name, text in found.components.items():
        say(out, f"\n{name}", style="bold")
        say(out, text)
    if found.objectives:
        say(out, "\nestimated over all examples of the search, ± standard deviation", style="bold")
        levels = [[name, estimated(level, found.deviations[name])] for name, level in found.objectives.items()]
        show_table(out, ("", ""), levels)
    say(out, "\nmeasured where it was run", style="bold")
    rows = [[each.objective, each.split, points(each.mean), str(each.scored), str(each.failed)] for each in scores]
    show_table(out, ("", "", "mean", "scored", "failed"), rows)
    if gaps:
        say(out, "\npoints lost, most first", style="bold")
    for line in spelled(gaps):
        say(out, line)
