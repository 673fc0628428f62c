"""Self-agreement: how far a judge says the same of the same answer when it is asked several times."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

RUBRIC = "rubric"


@dataclass(frozen=True)
class Agreement:
    """`share`: of the pairs of votes on one answer, those that say the same, 0..1; the mean over `answers` answers."""

    share: float
    answers: int


def agreement(votes: Sequence[object]) -> float | None:
    """The share of pairs that are the same. None for fewer than two votes; a vote that is None was not valid, and does not count."""
    pairs = list(combinations([vote for vote in votes if vote is not None], 2))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def self_agreement(details: Iterable[Mapping[str, Any]]) -> dict[str, Agreement]:
    """Trait → agreement, over the `details` of scores that a rubric has a part in. A trait without two valid votes on any answer
    is left out."""
    shares: dict[str, list[float]] = {}
    for each in details:
        # A score of several scorers has their details under their names.
        for name, told in each.get(RUBRIC, each).get("traits", {}).items():
            share = agreement(told.get("votes", ()))
            if share is not None:
                shares.setdefault(name, []).append(share)
    return {name: Agreement(sum(found) / len(found), len(found)) for name, found in shares.items()}
