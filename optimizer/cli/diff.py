"""`diff DIR A B`: two candidates beside each other."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from difflib import unified_diff
from typing import Annotated

from optimizer.cli.options import AsJson, RunFolder, emit, named
from optimizer.cli.output import console

FEW = 5
"""Common examples that a difference needs before it can tell anything."""
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def command(folder: RunFolder, a: Annotated[str, named("A")], b: Annotated[str, named("B")], as_json: AsJson = False) -> None:
    """Show how two candidates differ. In their texts, and in their scores on what both have met."""
    from optimizer.cli.reading import read_run
    from optimizer.cli.scores import behind, comparisons, spelled
    from optimizer.report.console import say, show_table
    from optimizer.report.words import points, signed

    run = read_run(folder)
    left, right = run.find(a), run.find(b)
    changed = {name: list(lines) for name, lines in _changes(left.components, right.components)}
    ours, theirs, places, wanted = run.cells(left), run.cells(right), run.places(), run.wanted.config
    scores = list(comparisons(ours, theirs))
    gaps = {left.id: behind(ours, theirs, wanted, places), right.id: behind(theirs, ours, wanted, places)}
    if as_json:
        texts = {name: "\n".join(lines) for name, lines in changed.items()}
        told = {name: [asdict(each) for each in found] for name, found in gaps.items()}
        emit({"a": left.id, "b": right.id, "components": texts, "scores": [asdict(each) for each in scores], "behind": told})
        return
    out = console()
    for line in (line for lines in changed.values() for line in lines):
        say(out, line, style=STYLES.get(line[:1], ""))
    rows = [
        [each.objective, each.split, points(each.a), points(each.b), f"{signed(each.difference)} points", str(each.n), *_caution(each.n)]
        for each in scores
    ]
    show_table(out, ("", "", left.id, right.id, "difference", "n", ""), rows)
    if not scores:
        say(out, "no example has scores of both, so nothing tells them apart")
    for name, found in gaps.items():
        for line in spelled(found):
            say(out, f"{name} behind on {line}")


def _caution(n: int) -> list[str]:
    return ["too few to tell anything" if n < FEW else ""]


def _changes(left: Mapping[str, str], right: Mapping[str, str]) -> Iterator[tuple[str, Iterator[str]]]:
    """The unified diff of every component that is not the same in both."""
    for name in sorted(left.keys() | right.keys()):
        before, after = left.get(name, ""), right.get(name, "")
        if before != after:
            yield name, unified_diff(before.split("\n"), after.split("\n"), f"a/{name}", f"b/{name}", lineterm="")
