"""Records that tests of the journal write, with what does not matter filled in."""

from adapters.answer import Usage
from adapters.clients.client import Completion, ModelError
from optimizer.journal import CandidateRow, CellRow, Journal


def completion(text: str = "yes", usd: float | None = 0.25) -> Completion:
    return Completion(text, "stop", Usage(10, 2, usd), 0.5)


def record(journal: Journal, key: str, job: int = 0, outcome: Completion | ModelError | None = None) -> None:
    journal.record_call(key, job, "task", "small", "{}", completion() if outcome is None else outcome)


def cell(candidate: str = "c", example: str = "e", split: str = "val", failed: str | None = None, **body: object) -> CellRow:
    return CellRow(candidate, example, "small", 0, split, failed, body)


def row(name: str, born: int = 0, outcome: str = "accepted") -> CandidateRow:
    return CandidateRow(name, {"instructions": f"text of {name}"}, ["p"], "demos", born, outcome)
