"""Self-agreement: how far a judge says the same of the same answer when it is asked several times."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

RUBRIC = "rubric"
OF_RUBRIC = re.compile(rf"{RUBRIC}( \d+)?")
"""Under what a rubric's details stand among those of several scorers, see scoring.score.merge."""


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
        for name, votes in _votes(each):
            share = agreement(votes)
            if share is not None:
                shares.setdefault(name, []).append(share)
    return {name: Agreement(sum(found) / len(found), len(found)) for name, found in shares.items()}


def _votes(details: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[object]]]:
    """Trait and votes. Other scorers' details may look like anything."""
    named = [part for name, part in details.items() if OF_RUBRIC.fullmatch(name)]  # a score of several scorers has them under their names
    for rubric in named or [details]:
        traits = rubric.get("traits") if isinstance(rubric, Mapping) else None
        for name, told in traits.items() if isinstance(traits, Mapping) else ():
            votes = told.get("votes") if isinstance(told, Mapping) else None
            if isinstance(votes, list | tuple):
                yield name, votes
