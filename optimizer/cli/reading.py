"""What the reading commands know of a run: its candidates, as its journal holds them. No code of the user's is imported."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from adapters.nearest import nearest
from optimizer.errors import ConfigError, JournalError
from optimizer.journal import REPORT_JOB, CandidateRow, CellRow, Journal
from optimizer.rundir import RESULT, read_result
from scoring.pareto import pareto_front


@dataclass(frozen=True)
class Listed(CandidateRow):
    """`reason`: of its outcome; `objectives`: levels on val, none where it was rejected."""

    reason: str
    objectives: Mapping[str, float]
    on_frontier: bool
    best: bool

    @property
    def story(self) -> str:
        """How it came about and what it is, in a line."""
        made = "the seed" if self.outcome == "seed" else f"made by {self.proposer} in job {self.born}, {self.outcome} ({self.reason})"
        return made + ", best" * self.best + ", on the frontier" * self.on_frontier


@dataclass(frozen=True)
class RunRecord:
    """A run as far as it has got, its candidates in order of birth."""

    folder: Path
    candidates: Sequence[Listed]

    def find(self, name: str) -> Listed:
        """By the words seed or best, or by the beginning of an id. Raises ConfigError where that is none, or more than one."""
        if name == "seed":
            return self.candidates[0]
        found = [c for c in self.candidates if (c.best if name == "best" else c.id.startswith(name))]
        if len(found) > 1:
            raise ConfigError(f"{name!r} begins {len(found)} ids: {', '.join(c.id for c in found[:5])}; give more of it")
        if not found:
            names = ["seed", "best", *(c.id for c in self.candidates)]
            raise ConfigError(f"{self.folder} has no candidate {name!r}{nearest(name, names)}")
        return found[0]

    def ancestors(self, candidate: Listed) -> list[Listed]:
        """Its parents, their parents and so on, in order of birth."""
        wanted = set(candidate.parents)
        for each in reversed(self.candidates):
            if each.id in wanted:
                wanted |= set(each.parents)
        return [each for each in self.candidates if each.id in wanted]

    def cells(self, candidate: Listed) -> list[CellRow]:
        with closing(Journal.read(self.folder)) as journal:
            return journal.cells(candidate.id)


def read_run(folder: Path) -> RunRecord:
    """Also while the run goes on. Raises JournalError where the directory is none of a run, or of one that has no candidate yet."""
    with closing(Journal.read(folder)) as journal:
        commits = {body["candidate"]: body for job, _, body in journal.decisions("commit") if job < REPORT_JOB and body["candidate"]}
        rows = [row for row in journal.candidates() if row.id in commits]  # a run that had left its path may have left others
    if not rows:
        raise JournalError(
            f"{folder} has no candidate yet: its seed was not scored to the end. Continue: python -m optimizer resume {quote(str(folder))}"
        )
    pool = {name: body["objectives"] for name, body in commits.items() if body["objectives"]}
    frontier, best = pareto_front(pool), _best(folder, pool)
    listed = [
        Listed(
            **vars(row),
            reason=commits[row.id].get("reason", ""),
            objectives=pool.get(row.id, {}),
            on_frontier=row.id in frontier,
            best=row.id == best,
        )
        for row in rows
    ]
    return RunRecord(folder, listed)


def _best(folder: Path, objectives: Mapping[str, Mapping[str, float]]) -> str | None:
    """The best of the result; while there is none, the highest mean on val so far."""
    if (folder / RESULT).exists():
        best: str = read_result(folder)["best"]["id"]
        return best
    return max(objectives, key=lambda candidate: mean(objectives[candidate]), default=None)


def mean(objectives: Mapping[str, float]) -> float:
    return sum(objectives.values()) / len(objectives)
