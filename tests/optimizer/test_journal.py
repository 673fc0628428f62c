"""The journal keeps what was paid for, whatever happens to the process or the file."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pieces import failure

from adapters.answer import Usage
from adapters.clients.client import Completion, ErrorKind, ModelError
from optimizer.errors import JournalError
from optimizer.journal import FILE, REPORT_JOB, CandidateRow, CellRow, Journal, as_row


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.write(tmp_path)
    yield journal
    journal.close()


def completion(text: str = "yes", usd: float | None = 0.25) -> Completion:
    return Completion(text, "stop", Usage(10, 2, usd), 0.5)


def record(journal: Journal, key: str, job: int = 0, outcome: Completion | ModelError | None = None) -> None:
    journal.record_call(key, job, "task", "small", "{}", completion() if outcome is None else outcome)


def cell(candidate: str = "c", example: str = "e", split: str = "val", failed: str | None = None, **body: object) -> CellRow:
    return CellRow(candidate, example, "small", 0, split, failed, body)


def row(name: str, born: int = 0, outcome: str = "accepted") -> CandidateRow:
    return CandidateRow(name, {"instructions": f"text of {name}"}, ["p"], "demos", born, outcome)


# --- outcomes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "yes", "zeile\r\nzwei\n", "nul \0 inside", "\u2028 \x85", "汉字 🦜", "x" * 1_000_000], ids=lambda text: repr(text[:8])
)
def test_a_completion_comes_back_as_it_was(journal: Journal, text: str) -> None:
    made = Completion(text, "length", Usage(3, 4, 0.1 + 0.2), 1 / 3)
    record(journal, "k", outcome=made)
    assert journal.call("k") == made


def test_an_unknown_price_stays_unknown_and_nothing_is_free_by_mistake(journal: Journal) -> None:
    record(journal, "unknown", outcome=completion(usd=None))
    record(journal, "free", outcome=completion(usd=0.0))
    unknown, free = journal.call("unknown"), journal.call("free")
    assert isinstance(unknown, Completion) and unknown.usage.usd is None
    assert isinstance(free, Completion) and free.usage.usd == 0.0


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_a_failure_comes_back_with_its_kind_and_message(journal: Journal, kind: ErrorKind) -> None:
    record(journal, "k", outcome=failure(kind, "slow down"))
    back = journal.call("k")
    assert isinstance(back, ModelError)
    assert (back.kind, back.model, back.message) == (kind, "small", "slow down")


def test_what_was_never_asked_is_none(journal: Journal) -> None:
    record(journal, "k")
    assert journal.call("other") is None
    assert journal.score("k") is None
    assert journal.decision(0, "commit") is None


def test_an_outcome_is_never_written_over(journal: Journal) -> None:
    record(journal, "k", outcome=completion("first"))
    with pytest.raises(JournalError):
        record(journal, "k", outcome=completion("second"))
    assert journal.call("k") == completion("first")


def test_failures_are_forgotten_where_no_commit_rests_on_them(journal: Journal) -> None:
    for job in range(5):
        record(journal, f"good {job}", job)
        record(journal, f"bad {job}", job, failure())
    for job in range(3):
        journal.decide(job, "commit", {})
    assert journal.forget_failures() == 2
    assert [job for job in range(5) if journal.call(f"bad {job}") is None] == [3, 4]
    assert all(journal.call(f"good {job}") for job in range(5))
    assert journal.forget_failures() == 0


def test_a_shared_failure_belongs_to_the_first_job_that_met_it(journal: Journal) -> None:
    record(journal, "bad", 7, failure())
    record(journal, "good", 7)
    journal.share_failure("bad", 9)
    journal.share_failure("bad", 4)
    journal.share_failure("good", 4)
    assert journal.last_job() == 7, "an answer stays with the job that paid for it"
    journal.decide(4, "commit", {})
    assert journal.forget_failures() == 0


def test_a_forgotten_call_can_be_recorded_again(journal: Journal) -> None:
    record(journal, "k", 3, failure())
    journal.forget_failures()
    record(journal, "k", 3)
    assert journal.call("k") == completion()


def test_scores_come_back_and_the_first_one_holds(journal: Journal) -> None:
    body = {"values": {"template": 1 / 3}, "feedback": "‘größer’ \0", "details": {"n": None}}
    assert journal.record_score("k", body) == body
    assert journal.record_score("k", {"values": {}}) == body
    assert journal.score("k") == body
    assert journal.record_score("tuple", {"details": {"pair": (1, 2)}}) == {"details": {"pair": [1, 2]}}, "new or recorded, it is the same"


# --- what follows from them -------------------------------------------------------------------------------------------


def test_a_decision_made_again_is_the_same_unless_it_differs(journal: Journal) -> None:
    assert journal.decide(1, "commit", {"a": 1, "b": [0.1]}) is None
    assert journal.decide(1, "commit", {"b": [0.1], "a": 1}) is None, "the order of keys is no difference"
    older = journal.decide(1, "commit", {"a": 2})
    assert older == '{"a":1,"b":[0.1]}'
    assert journal.decision(1, "commit") == {"a": 2}
    assert journal.decide(1, "report", {"a": 3}) is None, "another kind is another decision"


def test_decisions_are_listed_by_job(journal: Journal) -> None:
    for job, kind in ((10, "commit"), (2, "commit"), (REPORT_JOB, "test opened"), (2, "blame")):
        journal.decide(job, kind, {"job": job})
    assert journal.decisions() == [
        (2, "blame", {"job": 2}),
        (2, "commit", {"job": 2}),
        (10, "commit", {"job": 10}),
        (REPORT_JOB, "test opened", {"job": REPORT_JOB}),
    ]
    assert [job for job, _, _ in journal.decisions("commit")] == [2, 10]
    assert journal.decisions("nothing") == []


def test_the_last_job_is_the_last_that_called_or_committed(journal: Journal) -> None:
    assert journal.last_job() == -1
    record(journal, "seed", 0)
    assert journal.last_job() == 0
    journal.decide(0, "commit", {})
    record(journal, "k", 5)
    journal.decide(3, "commit", {})
    journal.decide(4, "blame", {})
    assert journal.last_job() == 5
    journal.decide(6, "commit", {})
    assert journal.last_job() == 6


def test_the_report_is_no_job_of_the_search(journal: Journal) -> None:
    record(journal, "k", REPORT_JOB)
    journal.decide(REPORT_JOB, "test opened", {})
    assert journal.last_job() == -1


def test_candidates_are_listed_by_birth(journal: Journal) -> None:
    for name, born in (("z", 0), ("a", 10), ("b", 9)):
        journal.add_candidate(row(name, born))
    assert [each.id for each in journal.candidates()] == ["z", "b", "a"]
    assert journal.candidates()[0] == row("z", 0)
    journal.add_candidate(row("a", 10, "rejected"))
    assert [each.outcome for each in journal.candidates()] == ["accepted", "accepted", "rejected"]


def test_cells_are_kept_for_each_split(journal: Journal) -> None:
    cells = [cell(example="b"), cell(example="a", failed="timeout"), cell(example="a", split="train", values={"template": 0.0})]
    journal.add_cells([*cells, cell("other")])
    assert journal.cells("c") == [cells[2], cells[1], cells[0]]
    assert journal.cells("c", "val") == [cells[1], cells[0]]
    assert journal.cells("c", "test") == []
    journal.add_cells([])


def test_forgetting_what_was_derived_keeps_what_was_paid_for(journal: Journal) -> None:
    record(journal, "k")
    journal.record_score("k", {"values": {}})
    journal.decide(0, "commit", {})
    journal.add_candidate(row("a"))
    journal.add_cells([cell()])
    journal.forget_derived()
    assert (journal.candidates(), journal.cells("c"), journal.decisions()) == ([], [], [])
    assert journal.call("k") and journal.score("k")


def test_rows_have_a_form_in_json() -> None:
    assert as_row(row("a"))["components"] == {"instructions": "text of a"}
    assert as_row(cell(text="t"))["body"] == {"text": "t"}


# --- whole or not at all ----------------------------------------------------------------------------------------------


def test_what_is_written_together_is_written_as_a_whole(journal: Journal, tmp_path: Path) -> None:
    with closing(Journal.read(tmp_path)) as reader:
        with journal.together():
            journal.add_candidate(row("a"))
            assert reader.candidates() == []
        assert len(reader.candidates()) == 1


@pytest.mark.parametrize("kind", [KeyError, KeyboardInterrupt])
def test_what_breaks_off_leaves_nothing(journal: Journal, kind: type[BaseException]) -> None:
    with pytest.raises(kind), journal.together():
        journal.add_candidate(row("a"))
        raise kind
    assert journal.candidates() == []
    with journal.together():
        journal.add_candidate(row("b"))
    assert [each.id for each in journal.candidates()] == ["b"]


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    """SQLite rolls back by itself then; the cause must not be hidden by a second rollback."""
    journal = Journal.write(tmp_path)
    with closing(journal):
        journal._db.execute("PRAGMA max_page_count = 20")
        with pytest.raises(JournalError, match=r"full.*has room"), journal.together():
            for n in range(100):
                record(journal, str(n), outcome=completion("x" * 4000))
        assert journal.call("0") is None
        record(journal, "small")
        assert journal.call("small") == completion()


# --- other readers, copies, other processes ---------------------------------------------------------------------------


def test_every_write_is_seen_by_a_second_reader_at_once(journal: Journal, tmp_path: Path) -> None:
    with closing(Journal.read(tmp_path)) as reader:
        record(journal, "k")
        assert reader.call("k") == completion()
        journal.record_score("s", {"values": {}})
        assert reader.score("s") == {"values": {}}
        journal.decide(0, "commit", {"a": 1})
        assert reader.decision(0, "commit") == {"a": 1}
        assert reader.last_job() == 0
        journal.add_candidate(row("a"))
        assert reader.candidates() == [row("a")]
        journal.add_cells([cell()])
        assert reader.cells("c") == [cell()]
    with closing(Journal.read(tmp_path)) as later:
        assert later.call("k") == completion()


def test_a_reader_writes_nothing(journal: Journal, tmp_path: Path) -> None:
    with closing(Journal.read(tmp_path)) as reader, pytest.raises(JournalError, match=r"readonly.*may be written to"):
        record(reader, "k")


@pytest.mark.parametrize("name", ["plain", "with space", "odd ?mode=memory#%41", "üñí"])
def test_a_directory_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    with closing(Journal.write(folder)) as journal:
        record(journal, "k")
    with closing(Journal.read(folder)) as reader:
        assert reader.call("k") == completion()
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {FILE}
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_journal_goes_on_where_it_was(tmp_path: Path) -> None:
    for n in range(3):
        with closing(Journal.write(tmp_path)) as journal:
            record(journal, str(n), n)
            assert journal.last_job() == n
    with closing(Journal.read(tmp_path)) as reader:
        assert all(reader.call(str(n)) for n in range(3))


def test_a_copy_is_whole_and_on_its_own(journal: Journal, tmp_path: Path) -> None:
    record(journal, "k")
    journal.decide(0, "commit", {})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with closing(Journal.read(tmp_path)) as reader:
        reader.copy_to(elsewhere)
    record(journal, "later")
    with closing(Journal.write(elsewhere)) as copy:
        assert copy.call("k") == completion() and copy.decision(0, "commit") is not None
        assert copy.call("later") is None
        record(copy, "own")
    assert journal.call("own") is None


def test_a_copy_is_written_over_nothing(journal: Journal, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with closing(Journal.write(other)) as kept:
        record(kept, "precious")
        with pytest.raises(JournalError, match="already"):
            journal.copy_to(other)
        assert kept.call("precious") == completion()
    with pytest.raises(JournalError, match="Check that its directory is there"):
        journal.copy_to(tmp_path / "missing")


WRITER = """
import sys
from pathlib import Path
from adapters.answer import Usage
from adapters.clients.client import Completion
from optimizer.journal import CandidateRow, Journal
journal = Journal.write(Path(sys.argv[1]))
for n in range(1_000_000):
    journal.record_call(str(n), n, "task", "small", "{}", Completion("x" * 500, "stop", Usage(1, 1), 0.1))
    with journal.together():
        journal.add_candidate(CandidateRow(str(n), {}, [], "demos", n, "accepted"))
        journal.decide(n, "commit", {"n": n})
    print(n, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_process_leaves_every_finished_record(tmp_path: Path) -> None:
    for last in (1, 40):
        folder = tmp_path / str(last)
        folder.mkdir()
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                if int(line) == last:
                    process.send_signal(signal.SIGKILL)
                    break
            told = [last, *(int(line) for line in lines)]
        process.wait()
        with closing(Journal.read(folder)) as reader:
            _check_whole(reader, told[-1])
        with closing(Journal.write(folder)) as again:
            _check_whole(again, told[-1])
            record(again, "after", 2_000_000)
            assert again.last_job() == 2_000_000


def _check_whole(journal: Journal, told: int) -> None:
    """All that the process said it had written is there, and of what came next either all or nothing."""
    assert all(journal.call(str(n)) for n in range(told + 1))
    born = [each.born for each in journal.candidates()]
    assert born == list(range(len(born))) == [job for job, _, _ in journal.decisions("commit")]
    assert told + 1 <= len(born) <= told + 2


def test_a_killed_start_can_be_started_again(tmp_path: Path) -> None:
    """What a process leaves that was killed before the tables were there: an empty file, or one with a header only."""
    (tmp_path / FILE).touch()
    with pytest.raises(JournalError, match="no such table"):
        Journal.read(tmp_path)
    with closing(Journal.write(tmp_path)) as journal:
        record(journal, "k")
    header = tmp_path / "header"
    header.mkdir()
    with closing(sqlite3.connect(header / FILE)) as db:
        db.execute("PRAGMA journal_mode=WAL")
    with closing(Journal.write(header)) as journal:
        record(journal, "k")


# --- files that are none ----------------------------------------------------------------------------------------------


def test_a_directory_without_a_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"is no run directory: it has no journal\.sqlite"):
        Journal.read(tmp_path)
    with pytest.raises(JournalError, match="is no run directory"):
        Journal.read(tmp_path / "missing")
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"unable to open.*Check that its directory is there, may be written to"):
        Journal.write(tmp_path / "missing")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(JournalError, match="may be written to"):
            Journal.write(tmp_path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("content", [b"this is no database, it is a letter to the reader" * 100, bytes(5000)], ids=["text", "zeros"])
@pytest.mark.parametrize("way", [Journal.read, Journal.write])
def test_another_file_is_refused_and_left_as_it_is(tmp_path: Path, way: type[Journal], content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(JournalError, match=rf"{FILE} cannot be used \(.*--out"):
        way(tmp_path)  # type: ignore[call-arg, arg-type]
    assert (tmp_path / FILE).read_bytes() == content


def test_another_format_is_refused_by_name(tmp_path: Path) -> None:
    Journal.write(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as db:
        db.execute("UPDATE meta SET value = '99'")
        for way in (Journal.read, Journal.write):
            with pytest.raises(JournalError, match="journal format 99; this version of promptfront reads format 1"):
                way(tmp_path)
        db.execute("DELETE FROM meta")
        with pytest.raises(JournalError, match="journal format none"):
            Journal.read(tmp_path)


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        db.execute("CREATE TABLE calls (number TEXT)")
    for way in (Journal.read, Journal.write):
        with pytest.raises(JournalError, match="table"):
            way(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("calls",)]


def test_two_writers_are_told_of_each_other(journal: Journal, tmp_path: Path) -> None:
    """The directory's lock keeps them apart; where it fails, nothing is lost silently."""
    with closing(Journal.write(tmp_path)) as second, journal.together():
        second._db.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(JournalError, match=r"locked.*no other program"):
            record(second, "k")


def _everything(journal: Journal) -> None:
    for n in range(40):
        journal.call(str(n))
        journal.score(str(n))
        journal.cells(str(n))
    journal.candidates()
    journal.decisions()
    journal.last_job()
    journal.seconds()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a journal with some of everything in it."""
    folder = tmp_path_factory.mktemp("sound")
    with closing(Journal.write(folder)) as journal:
        for n in range(40):
            record(journal, str(n), n, failure() if n % 3 == 0 else completion("text " * n))
            journal.record_score(str(n), {"values": {"template": n / 40}})
            journal.decide(n, "commit", {"n": n})
            journal.add_candidate(row(str(n), n))
            journal.add_cells([cell(str(n), values={"template": 1})])
    return (folder / FILE).read_bytes()


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 200))
def test_damage_is_told_or_does_no_harm(sound: bytes, tmp_path_factory: pytest.TempPathFactory, seed: int, size: int) -> None:
    """Random bytes anywhere in the file end in a JournalError or in nothing, never in another error."""
    folder = tmp_path_factory.mktemp("damaged")
    draw = random.Random(seed)
    start = draw.randrange(len(sound))
    (folder / FILE).write_bytes((sound[:start] + draw.randbytes(size) + sound[start + size :])[: len(sound)])
    try:
        with closing(Journal.read(folder)) as journal:
            _everything(journal)
    except JournalError as error:
        assert str(folder / FILE) in str(error)


def test_a_cut_off_file_is_told(sound: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(sound[: len(sound) // 2])
    with pytest.raises(JournalError, match="damaged"), closing(Journal.read(tmp_path)) as journal:
        _everything(journal)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE calls SET text = CAST(x'ff' AS TEXT) WHERE error IS NULL",
        "UPDATE calls SET error = 'tiemout' WHERE error IS NOT NULL",
        "UPDATE scores SET body = '{'",
        "UPDATE decisions SET body = 'x'",
        "UPDATE candidates SET parents = ''",
        "UPDATE cells SET body = '[1'",
    ],
)
def test_damage_inside_a_record_is_told(sound: bytes, tmp_path: Path, damage: str) -> None:
    (tmp_path / FILE).write_bytes(sound)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as db:
        db.execute(damage)
    with pytest.raises(JournalError, match="damaged"), closing(Journal.read(tmp_path)) as journal:
        _everything(journal)
        journal.decision(1, "commit")


# --- time -------------------------------------------------------------------------------------------------------------


def test_time_adds_up_over_sittings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("optimizer.journal.time.monotonic", lambda: now[0])
    for length, total in ((30.0, 30.0), (12.5, 42.5)):
        with closing(Journal.write(tmp_path)) as journal:
            before = journal.seconds()
            journal.sit_down()
            assert journal.seconds() == before
            now[0] += length
            assert journal.seconds() == total
        now[0] += 1000  # nobody works
    with closing(Journal.read(tmp_path)) as reader:
        assert reader.seconds() == 42.5
