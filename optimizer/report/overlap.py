"""How much of the best is data, told where it is more than a little."""

from collections.abc import Mapping
from typing import Any

from adapters.ngrams import RUN

LITTLE = 0.05
"""The share of the words up to which it may be a turn of phrase."""
MEANS = {
    "train": "it may know these by heart, and be no better on others",
    "val": "what the search saw of it on val is too good",
}


def overlap_line(result: Mapping[str, Any]) -> list[str]:
    return [
        f"overlap: {share:.0%} of the words in {_who(result)} stand in {split} examples, {RUN} or more in a row: {MEANS[split]}"
        for split, share in result["overlap"].items()
        if share > LITTLE
    ]


def _who(result: Mapping[str, Any]) -> str:
    return "the seed" if result["best"]["id"] == result["seed"]["id"] else "the best"
