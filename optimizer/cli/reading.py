"""What the reading commands know of a run: its candidates, as its journal holds them. No code of the user's is imported."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import typer

from adapters.dataset import DatasetError
from adapters.example import Example
from adapters.hub import SCHEME
from adapters.nearest import nearest
from optimizer.budget import Used
from optimizer.configfile import config_from_manifest
from optimizer.data import rows_of
from optimizer.errors import ConfigError, JournalError
from optimizer.evaluate import Cell
from optimizer.journal import CLOSING, COMMIT, REPORT_JOB, STANDING, CandidateRow, CellRow, Journal
from optimizer.policy import Objectives
from optimizer.report.words import from_here, visible
from optimizer.rundir import MANIFEST, RESULT, is_evaluation, read_manifest, read_result
from optimizer.standing import Standing
from optimizer.table import Table
from scoring.score import Score


@dataclass(frozen=True)
class Listed(CandidateRow):
    """`reason`: what its last job says of it; `objectives`: the levels that it is believed to have after the last job of all, none where
    it has met too little; `deviations`: their standard deviations."""

    reason: str
    objectives: Mapping[str, float]
    deviations: Mapping[str, float]
    on_frontier: bool
    best: bool

    @property
    def story(self) -> str:
        """How it came about and what it is, in a line."""
        origin = f"proposed by {self.proposer}" if self.outcome == "proposed" else "composed of known lines"
        made = "the seed" if self.outcome == "seed" else f"{origin} in job {self.born} (last: {self.reason})"
        return made + ", best" * self.best + ", on the frontier" * self.on_frontier


@dataclass(frozen=True)
class RunRecord:
    """A run as far as it has got, its candidates in order of birth."""

    folder: Path
    candidates: Sequence[Listed]
    wanted: Objectives

    def pool(self) -> list[Listed]:
        """Those that have levels."""
        return [candidate for candidate in self.candidates if candidate.objectives]

    def places(self) -> dict[str, str]:
        """Example → file and line, as the data is now; nothing for data of a hub, and, with a word about it, where it cannot be read."""
        manifest = read_manifest(self.folder)
        data = config_from_manifest(manifest["config"]).data
        if data.path is not None and SCHEME in data.path:
            return {}
        try:
            rows = rows_of(data, Path(manifest["folder"]))
        except DatasetError as error:
            typer.echo(visible(from_here(f"rows are not named, since the data cannot be read any more: {error}")), err=True)
            return {}
        return {row.example.id: row.place for row in rows}

    def standing(self) -> Standing:
        """How the pool, row by row, stands on the val examples, from the cells that the journal holds."""
        with closing(Journal.read(self.folder)) as journal:
            rows = [row for candidate in self.pool() for row in journal.cells(candidate.id, "val")]
        examples = {row.example: Example(row.example, {}) for row in rows}
        table = Table(list(examples.values()), self.wanted)
        table.add(read_cell(row, examples[row.example]) for row in rows)
        standing = Standing(table, list(examples.values()))
        for candidate in self.pool():
            standing.add(candidate.id)
        return standing

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
        decided = [body for job, _, body in journal.decisions(COMMIT) if job < REPORT_JOB]
        decided += [body for _, _, body in journal.decisions(CLOSING)]
        commits = {body["candidate"]: body for body in decided if body["candidate"]}
        rows = [row for row in journal.candidates() if row.id in commits]  # a run that had left its path may have left others
        standing = next((body for _, _, body in journal.decisions(STANDING)), None)
    if standing is None:
        if (folder / MANIFEST).is_file() and is_evaluation(read_manifest(folder)):
            raise JournalError(f"{folder} holds evaluations, and no run. Give the directory that `run` wrote to.")
        if not (folder / MANIFEST).is_file():
            raise JournalError(
                f"{folder} has no candidate yet: no run has begun there, only an estimate was made. Begin one: "
                f"python -m optimizer run CONFIG --out {quote(str(folder))}"
            )
        raise JournalError(
            f"{folder} has no candidate yet: its seed was not scored to the end. Continue: python -m optimizer resume {quote(str(folder))}"
        )
    # The report may have refuted what the search had chosen.
    best = read_result(folder)["best"]["id"] if (folder / RESULT).is_file() else standing["best"]
    listed = [
        Listed(
            **vars(row),
            reason=commits[row.id].get("reason", ""),
            objectives=standing["levels"].get(row.id, {}),
            deviations=standing["deviations"].get(row.id, {}),
            on_frontier=row.id in standing["frontier"],
            best=row.id == best,
        )
        for row in rows
    ]
    return RunRecord(folder, listed, _objectives(folder, standing["levels"]))


def read_cell(row: CellRow, example: Example) -> Cell:
    """What the journal keeps of a cell that says how the candidate did."""
    score = Score(row.body["values"]) if "values" in row.body else None
    return Cell(row.candidate, example, row.model, None, score, row.failed, Used(1, {}, 0), repeat=row.repeat)


def _objectives(folder: Path, pool: Mapping[str, Mapping[str, float]]) -> Objectives:
    """As the run's config has them. Dimensions that were undeclared are those of its candidates."""
    config = config_from_manifest(read_manifest(folder)["config"])
    names = (name.rpartition(":")[2] for values in pool.values() for name in values)
    return Objectives.wanted([model.id for model in config.models], config.objectives, None, names)
