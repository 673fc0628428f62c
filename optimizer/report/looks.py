"""Looks at a test split: for how many candidates it was opened. The more looks, the more the best of them flatters."""

from collections.abc import Set

from optimizer.journal import OPENED, REPORT_JOB, Journal


def note_opening(journal: Journal, candidate: str, data: str) -> None:
    """`data`: the hash of all examples, by which looks at the same test split are known."""
    journal.decide(REPORT_JOB, OPENED + candidate, {"data": data})


def opened_for(journal: Journal, data: str) -> set[str]:
    """The ids of the candidates for which the test split of this data was opened."""
    noted = [(kind, body) for job, kind, body in journal.decisions() if job == REPORT_JOB and kind.startswith(OPENED)]
    return {kind.removeprefix(OPENED) for kind, body in noted if body.get("data") == data}


def looks(opened: Set[str], seed: str) -> int:
    """How many looks these are, at least 1: that at the seed is none of its own."""
    return max(1, len(opened - {seed}))
