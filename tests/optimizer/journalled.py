"""Records that tests of the journal write, with what does not matter filled in."""

from pathlib import Path

from adapters.answer import Usage
from adapters.clients.client import Completion, ModelError
from optimizer.config import Config
from optimizer.configfile import resolved
from optimizer.journal import CandidateRow, CellRow, Journal
from optimizer.rundir import manifest, write_manifest


def completion(text: str = "yes", usd: float | None = 0.25) -> Completion:
    return Completion(text, "stop", Usage(10, 2, usd), 0.5)


def record(journal: Journal, key: str, job: int = 0, outcome: Completion | ModelError | None = None) -> None:
    journal.record_call(key, job, "task", "small", "{}", completion() if outcome is None else outcome)


def cell(candidate: str = "c", example: str = "e", split: str = "val", failed: str | None = None, **body: object) -> CellRow:
    return CellRow(candidate, example, "small", 0, split, failed, body)


def row(name: str, born: int = 0, outcome: str = "proposed") -> CandidateRow:
    return CandidateRow(name, {"instructions": f"text of {name}"}, ["p"], "reflection", born, outcome)


def made_from(out: Path, *models: str, **changes: object) -> None:
    """The manifest of a run with these task models."""
    config = {
        "version": 1,
        "name": "made",
        "seed": {"instructions": "Do it."},
        "adapter": {"user": "{instructions} {text}"},
        "models": [{"id": model, "model": "local/smollm2"} for model in models],
        "data": {"path": "rows.jsonl"},
        "scoring": {"scorers": ["exact"]},
        "proposers": {"demos": {}},
        "budget": {"rollouts": 100},
        **changes,
    }
    write_manifest(out, manifest(resolved(Config.model_validate(config)), Path("folder"), {}))
