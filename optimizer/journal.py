"""The journal: one SQLite file that holds everything a run has paid for and decided.

`calls` and `scores` are outcomes: the run is a pure function of config, data, seed number and these, and a run that is
started again is answered from them (invariant I1). `candidates`, `cells` and `decisions` follow from them; they are written for
those who read, and compared when a run is derived again. Every write is in the file before its effect is seen: a
run that is killed loses none. (A power failure may take the last ones, but never one without those after it.)
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from adapters.answer import Usage
from adapters.clients.client import Completion, ErrorKind, ModelError
from adapters.digest import canonical
from optimizer.errors import JournalError

T = TypeVar("T")

FILE = "journal.sqlite"
FORMAT = "3"
"""Also of what decisions hold, and of what follows from them: raise it where a journal of before cannot be read or derived again."""
NO_JOB = -1
TASK = "task"
"""The role of calls that run candidates."""
WRITTEN_OFF = "written off"
OPENED = "test opened for "
"""The kind of the report's decision to open the test split, up to the candidate that it was opened for."""
STANDING = "standing"
"""The kind of what the last job left: how the candidates stand."""
COMMIT, CLOSING = "commit", "closing"
"""The kinds of what came of a job (or of the report), and of a run that was taken in at the search's end, before its place had come."""
AWAITED = "awaited"
"""The kind of the decision to end the search while a proposal's place has not come: it is paid for, and not taken in."""
REPORT_JOB = 2**31
"""The job of the final report: after every job of the search."""
REPORTED, UNSEALED = "test", "report"
"""The split that cells of a report are noted under: where there is a test split, and where it is made on val."""

FAILED = "failed:"
"""The beginning of the key under which a failure to score stands beside the scores."""
SCORER_FAILURES = f"key GLOB '{FAILED}*'"

UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What SQLite raises; the second where the words of its own error quote the damage."""
SURROUNDINGS = frozenset({sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN})
"""SQLite's errors that say nothing against the file."""

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE calls (
  key TEXT PRIMARY KEY, job INTEGER NOT NULL, role TEXT NOT NULL, model TEXT NOT NULL, request TEXT NOT NULL,
  error TEXT, message TEXT, text TEXT, finish_reason TEXT,
  input_tokens INTEGER, output_tokens INTEGER, usd REAL, seconds REAL, at REAL NOT NULL
) STRICT;
CREATE TABLE scores (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE candidates (
  id TEXT PRIMARY KEY, components TEXT NOT NULL, parents TEXT NOT NULL, proposer TEXT NOT NULL, born INTEGER NOT NULL,
  outcome TEXT NOT NULL
) STRICT;
CREATE TABLE cells (
  candidate TEXT NOT NULL, example TEXT NOT NULL, model TEXT NOT NULL, repeat INTEGER NOT NULL, split TEXT NOT NULL,
  failed TEXT, body TEXT NOT NULL, PRIMARY KEY (candidate, example, model, repeat, split)
) STRICT, WITHOUT ROWID;
CREATE TABLE decisions (job INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (job, kind)) STRICT;
CREATE TABLE sittings (id INTEGER PRIMARY KEY, started REAL NOT NULL, seconds REAL NOT NULL) STRICT;
"""


@dataclass(frozen=True)
class CandidateRow:
    """`born`: the job that made it, 0 for the seed. `outcome`: `seed`, `proposed` (by a proposer) or `composed` (of known lines);
    in a journal of evaluations `given` (by hand)."""

    id: str
    components: Mapping[str, str]
    parents: Sequence[str]
    proposer: str
    born: int
    outcome: str


@dataclass(frozen=True)
class CellRow:
    """`failed`: the error kind, or None; `body`: values, correct, failure_kind, outcome, feedback, text."""

    candidate: str
    example: str
    model: str
    repeat: int
    split: str
    failed: str | None
    body: Mapping[str, Any]


class WrittenOff(NamedTuple):
    """What a run had paid when its budget was changed. `rollouts` and `cells`: those of its reports; `calls`: all, by key; `jobs`: those of
    the search that have nothing left to pay."""

    rollouts: int
    cells: frozenset[tuple[str, str, str, int]]
    calls: Mapping[str, Usage]
    jobs: frozenset[int]


class Answered(NamedTuple):
    """A call that was answered, and the seconds that it took."""

    role: str
    model: str
    seconds: float
    usage: Usage


class Journal:
    """Opened by `write` or `read`; whoever opens it closes it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db, self.path = connection, path
        self._sitting: int | None = None
        self._started = 0.0

    @classmethod
    def write(cls, folder: Path) -> Self:
        """The journal of a run directory, made where there is none. The caller holds the directory's lock."""
        path = folder / FILE
        with _named(path):
            db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            try:
                db.execute("PRAGMA journal_mode=WAL")
                db.execute("PRAGMA synchronous=NORMAL")
                if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                    db.executescript(f"BEGIN;{SCHEMA}INSERT INTO meta VALUES ('format', '{FORMAT}');COMMIT;")
                _check_format(db, path)
            except (*UNREADABLE, JournalError):
                db.close()
                raise
        return cls(db, path)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """For looking only: also while a run is writing."""
        path = folder / FILE
        if not path.exists():
            raise JournalError(f"{folder} is no run directory: it has no {FILE}. Give the directory that `run` wrote to.")
        with _named(path):
            db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            try:
                _check_format(db, path)
            except (*UNREADABLE, JournalError):
                db.close()
                raise
        return cls(db, path)

    def close(self) -> None:
        self._db.close()

    def copy_to(self, folder: Path) -> None:
        """A copy of the whole journal in another directory. JournalError where that has one: nothing is written over."""
        path = folder / FILE
        if path.exists():
            raise JournalError(f"{folder} has a {FILE} already. Give another directory.")
        with _named(path), closing(sqlite3.connect(path)) as copy:
            self._db.backup(copy)

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is written inside is written as a whole or not at all."""
        self._run("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # SQLite itself has rolled back where, say, the disk was full
                self._run("ROLLBACK")
            raise
        self._run("COMMIT")

    # --- outcomes -------------------------------------------------------------------------------------------------

    def call(self, key: str) -> Completion | ModelError | None:
        """The recorded outcome of a call, or None where it was never made."""
        row = self._one(
            "SELECT model, error, message, text, finish_reason, input_tokens, output_tokens, usd, seconds FROM calls WHERE key = ?",
            key,
        )
        if row is None:
            return None
        model, error, message, text, finish, into, out, usd, seconds = row
        if error is not None:
            return ModelError(self._decoded(ErrorKind, error), model, message)
        return Completion(text, finish, Usage(into, out, usd), seconds)

    def record_call(self, key: str, job: int, role: str, model: str, request: str, outcome: Completion | ModelError) -> None:
        """The outcome of a call that had none."""
        if isinstance(outcome, ModelError):
            rest: tuple[object, ...] = (str(outcome.kind), outcome.message, None, None, None, None, None, None)
        else:
            used = outcome.usage
            rest = (None, None, outcome.text, outcome.finish_reason, used.input_tokens, used.output_tokens, used.usd, outcome.seconds)
        self._run(
            "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            key,
            job,
            role,
            model,
            request,
            *rest,
            time.time(),
        )

    def answered(self) -> list[Answered]:
        """All calls that were answered, in the order of their answers."""
        rows = self._all("SELECT role, model, seconds, input_tokens, output_tokens, usd FROM calls WHERE error IS NULL ORDER BY at, key")
        return [Answered(role, model, seconds, Usage(*used)) for role, model, seconds, *used in rows]

    def share_failure(self, key: str, job: int) -> None:
        """Another job met the failure too. It belongs to the first of them, and is kept once that has committed."""
        self._run("UPDATE calls SET job = min(job, ?) WHERE key = ? AND error IS NOT NULL", job, key)

    def forget_failures(self) -> int:
        """Drop the failed outcomes that neither a committed job nor the search's end rests on, so that they are tried again; returns how
        many calls there were."""
        rested = f"SELECT job FROM decisions WHERE kind IN ('{COMMIT}', '{CLOSING}', '{AWAITED}')"
        self._run(f"DELETE FROM scores WHERE {SCORER_FAILURES} AND json_extract(body, '$.job') NOT IN ({rested})")
        return self._run(f"DELETE FROM calls WHERE error IS NOT NULL AND job NOT IN ({rested})").rowcount

    def score(self, key: str) -> dict[str, Any] | None:
        row = self._one("SELECT body FROM scores WHERE key = ?", key)
        return None if row is None else self._json(row[0])

    def record_score(self, key: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Record a score where there was none; returns the one that holds from now on."""
        known, text = self.score(key), canonical(body)
        if known is not None:
            return known
        self._run("INSERT INTO scores VALUES (?, ?)", key, text)
        recorded: dict[str, Any] = json.loads(text)
        return recorded

    def scorer_failure(self, key: str, job: int) -> dict[str, Any] | None:
        """The recorded failure to score, now also `job`'s: like a call's it belongs to the first job that met it."""
        least = "json_set(body, '$.job', min(json_extract(body, '$.job'), ?))"
        self._run(f"UPDATE scores SET body = {least} WHERE key = ?", job, FAILED + key)
        return self.score(FAILED + key)

    def record_scorer_failure(self, key: str, job: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Record a failure to score where there was neither that nor a score."""
        return self.record_score(FAILED + key, {**body, "job": job})

    # --- what follows from them -----------------------------------------------------------------------------------

    def decide(self, job: int, kind: str, body: Mapping[str, Any]) -> str | None:
        """Record a decision. Where another was recorded in its place, returns that one: the run has left its former path."""
        text = canonical(body)
        row = self._one("SELECT body FROM decisions WHERE job = ? AND kind = ?", job, kind)
        if row is not None and row[0] == text:
            return None
        self._run("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?)", job, kind, text)
        return None if row is None else str(row[0])

    def withdraw(self, job: int, kind: str) -> None:
        """Take a decision back: failures that only it rests on are tried again when the run is started anew."""
        self._run("DELETE FROM decisions WHERE job = ? AND kind = ?", job, kind)

    def decision(self, job: int, kind: str) -> dict[str, Any] | None:
        row = self._one("SELECT body FROM decisions WHERE job = ? AND kind = ?", job, kind)
        return None if row is None else self._json(row[0])

    def decisions(self, kind: str | None = None) -> list[tuple[int, str, dict[str, Any]]]:
        """(job, kind, body), in order of jobs."""
        rows = self._all("SELECT job, kind, body FROM decisions WHERE ? IS NULL OR kind = ? ORDER BY job, kind", kind, kind)
        return [(job, name, self._json(body)) for job, name, body in rows]

    def stand(self, job: int, body: Mapping[str, Any]) -> None:
        """How the candidates stand after this job, in place of how they stood before: what is believed at different times does not
        compare."""
        self._run("DELETE FROM decisions WHERE kind = ?", STANDING)
        self.decide(job, STANDING, body)

    def last_job(self) -> int:
        """The highest job of the search that has made a call or committed; -1 where none has."""
        query = "SELECT max(job) FROM (SELECT job FROM calls UNION ALL SELECT job FROM decisions) WHERE job < ?"
        row = self._one(query, REPORT_JOB)
        return -1 if row is None or row[0] is None else int(row[0])

    def add_candidate(self, row: CandidateRow) -> None:
        self._run(
            "INSERT OR REPLACE INTO candidates VALUES (?, ?, ?, ?, ?, ?)",
            row.id, canonical(dict(row.components)), canonical(list(row.parents)), row.proposer, row.born, row.outcome,
        )  # fmt: skip

    def candidates(self) -> list[CandidateRow]:
        """In order of birth."""
        rows = self._all("SELECT id, components, parents, proposer, born, outcome FROM candidates ORDER BY born, id")
        return [CandidateRow(i, self._json(texts), self._json(parents), who, born, what) for i, texts, parents, who, born, what in rows]

    def add_cells(self, rows: Sequence[CellRow]) -> None:
        values = [(r.candidate, r.example, r.model, r.repeat, r.split, r.failed, canonical(r.body)) for r in rows]
        with _named(self.path):
            self._db.executemany("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def cells(self, candidate: str, split: str | None = None) -> list[CellRow]:
        query = "SELECT * FROM cells WHERE candidate = ? AND (? IS NULL OR split = ?) ORDER BY split, example, model, repeat"
        rows = self._all(query, candidate, split, split)
        return [CellRow(who, example, model, n, part, failed, self._json(body)) for who, example, model, n, part, failed, body in rows]

    def write_off_end(self) -> None:
        """Before a run goes on with another budget: what it has paid so far stays spent, its report too, whatever candidate the next one is
        on; and what its search did not take in, or only since it was the end, has a place again, so what failed there is tried again.

        Where the report was broken off, calls that were answered when nobody scored them any more are rollouts too."""
        ended = f"SELECT job FROM decisions WHERE job < {REPORT_JOB} AND kind IN ('{COMMIT}', '{CLOSING}', '{AWAITED}') ORDER BY job"
        jobs = {job for (job,) in self._all(ended)}
        self._run("DELETE FROM decisions WHERE kind IN (?, ?)", AWAITED, CLOSING)
        committed = f"SELECT job FROM decisions WHERE kind = '{COMMIT}'"
        again = self._all(
            f"SELECT job FROM calls WHERE error IS NOT NULL AND job NOT IN ({committed}) UNION "
            f"SELECT json_extract(body, '$.job') AS job FROM scores WHERE {SCORER_FAILURES} AND job NOT IN ({committed})"
        )
        calls = self._all("SELECT key FROM calls WHERE job != ? AND error IS NULL ORDER BY key", NO_JOB)
        cells = self._all(
            f"SELECT candidate, example, model, repeat FROM cells WHERE split IN ('{REPORTED}', '{UNSEALED}') ORDER BY 1, 2, 3, 4"
        )
        tasks = self._all("SELECT 1 FROM calls WHERE job = ? AND role = ? AND error IS NULL", REPORT_JOB, TASK)
        noted = {
            "rollouts": max(len(cells), len(tasks)),
            "cells": [list(cell) for cell in cells],
            "calls": [key for (key,) in calls],
            "jobs": sorted(jobs - {job for (job,) in again}),
        }
        self.decide(REPORT_JOB, WRITTEN_OFF, noted)

    def written_off(self) -> WrittenOff:
        """As `write_off_end` has noted it; nothing where it has not."""
        noted = self.decision(REPORT_JOB, WRITTEN_OFF) or {}
        outcomes = {key: self.call(key) for key in noted.get("calls", ())}
        calls = {key: outcome.usage for key, outcome in outcomes.items() if isinstance(outcome, Completion)}
        cells = frozenset((candidate, example, model, repeat) for candidate, example, model, repeat in noted.get("cells", ()))
        return WrittenOff(noted.get("rollouts", len(cells)), cells, calls, frozenset(noted.get("jobs", ())))

    def forget_derived(self) -> None:
        """Before a run with a changed config: the outcomes stay, as no job's any more, and what followed from them goes. What stays too is
        the memory of a look at the test split."""
        with self.together():
            for table in ("candidates", "cells"):
                self._run(f"DELETE FROM {table}")
            self._run("DELETE FROM decisions WHERE kind NOT LIKE ?", f"{OPENED}%")
            self._run("UPDATE calls SET job = ?", NO_JOB)
            self._run(f"DELETE FROM scores WHERE {SCORER_FAILURES}")

    # --- time -----------------------------------------------------------------------------------------------------

    def sit_down(self) -> None:
        """Begin a sitting: from now on its seconds count."""
        self._started = time.monotonic()
        self._sitting = self._run("INSERT INTO sittings (started, seconds) VALUES (?, 0)", time.time()).lastrowid

    def seconds(self) -> float:
        """Working time over all sittings, this one included and noted."""
        if self._sitting is not None:
            self._run("UPDATE sittings SET seconds = ? WHERE id = ?", time.monotonic() - self._started, self._sitting)
        row = self._one("SELECT total(seconds) FROM sittings")
        return 0.0 if row is None else float(row[0])

    # --- plumbing -------------------------------------------------------------------------------------------------

    def _run(self, query: str, *values: object) -> sqlite3.Cursor:
        with _named(self.path):
            return self._db.execute(query, values)

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        with _named(self.path):
            row: tuple[Any, ...] | None = self._db.execute(query, values).fetchone()
        return row

    def _json(self, text: str) -> Any:
        return self._decoded(json.loads, text)

    def _decoded(self, decode: Callable[[str], T], text: str) -> T:
        try:
            return decode(text)
        except (TypeError, ValueError) as error:
            raise _damaged(self.path, error) from error

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with _named(self.path):
            return self._db.execute(query, values).fetchall()


def _check_format(db: sqlite3.Connection, path: Path) -> None:
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    if row is None or row[0] != FORMAT:
        found = "none" if row is None else row[0]
        way = "Use the version that wrote it, or start in another directory with --out."
        raise JournalError(f"{path} has journal format {found}; this version of promptfront reads format {FORMAT}. {way}")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """SQLite's errors, with the file's name and the way out."""
    try:
        yield
    except UNREADABLE as error:
        # The low byte is the kind; the errors that Python itself raises have no code.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in SURROUNDINGS:
            raise _damaged(path, error) from error
        raise JournalError(
            f"{path} cannot be used ({error}). Check that its directory is there, may be written to and has room, and that no other "
            "program holds the file."
        ) from error


def _damaged(path: Path, error: Exception) -> JournalError:
    return JournalError(
        f"{path} cannot be used ({error}). If it is damaged, put a copy of it back, or start in another directory with --out: "
        "what the damaged file holds is not read."
    )
