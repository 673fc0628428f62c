"""How much of the best is data, in words."""

import pytest

from optimizer.report.overlap import LITTLE, overlap_line


def told(train: float, val: float, best: str = "b") -> list[str]:
    return overlap_line({"overlap": {"train": train, "val": val}, "seed": {"id": "s"}, "best": {"id": best}})


def test_a_little_is_not_worth_a_line() -> None:
    assert told(0.0, LITTLE) == []


@pytest.mark.parametrize(("best", "who"), [("b", "the best"), ("s", "the seed")])
def test_more_is_told_of_each_split(best: str, who: str) -> None:
    assert told(0.124, 0.5, best) == [
        f"overlap: 12% of the words in {who} stand in train examples, 8 or more in a row: it may know these by heart, and be no better on "
        "others",
        f"overlap: 50% of the words in {who} stand in val examples, 8 or more in a row: what the search saw of it on val is too good",
    ]
