"""Looks at a test split: for how many candidates it was opened. The more looks, the more the best of them flatters."""

from collections.abc import Set

from optimizer.journal import OPENED, REPORT_JOB, Journal


def note_opening(journal: Journal, candidate: str, marks: Set[str]) -> None:
    """`marks`: the test split's, by which looks at the same examples are known, also where others have come, gone or changed since."""
    known = journal.decision(REPORT_JOB, OPENED + candidate) or {}
    journal.decide(REPORT_JOB, OPENED + candidate, {"marks": sorted(marks | set(known.get("marks", ())))})


def opened_for(journal: Journal, marks: Set[str]) -> set[str]:
    """The ids of the candidates for which any of these examples was opened."""
    noted = [(kind, body) for job, kind, body in journal.decisions() if job == REPORT_JOB and kind.startswith(OPENED)]
    return {kind.removeprefix(OPENED) for kind, body in noted if not marks.isdisjoint(body.get("marks", ()))}


def looks(opened: Set[str], seed: str) -> int:
    """How many looks these are, at least 1: that at the seed is none of its own."""
    return max(1, len(opened - {seed}))
