"""What `show` and `diff` tell of cells that were repeated: an example counts once."""

from optimizer.cli.scores import behind, comparisons, summaries
from optimizer.config import ObjectivesConfig
from optimizer.journal import CellRow


def row(example: str, repeat: int, right: float) -> CellRow:
    return CellRow("c", example, "m", repeat, "val", None, {"values": {"right": right}})


OURS = [row("e", 0, 1.0), row("e", 1, 0.0), row("f", 0, 1.0)]
THEIRS = [row("e", 0, 1.0), row("f", 0, 1.0), row("f", 1, 0.5)]


def test_repeats_are_averaged_inside_an_example() -> None:
    (told,) = summaries(OURS)
    assert (told.mean, told.scored) == (0.75, 2)


def test_examples_are_paired_whatever_their_repeats() -> None:
    (told,) = comparisons(OURS, THEIRS)
    assert (told.a, told.b, told.difference, told.n) == (0.75, 0.875, 0.125, 2)
    gaps = behind(OURS, THEIRS, ObjectivesConfig(), {})
    assert [(each.example, each.gap) for each in gaps] == [("e", 0.5)]
