"""The journal's file: read beside its writer, copied, killed, damaged, or none at all."""

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
from journalled import cell, completion, record, row
from pieces import failure

from optimizer.errors import JournalError
from optimizer.journal import FILE, Journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.write(tmp_path)
    yield journal
    journal.close()


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
        journal.add_candidate(CandidateRow(str(n), {}, [], "reflection", n, "proposed"))
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
            with pytest.raises(JournalError, match=r"journal format 99; this version .* reads format 3.*another directory"):
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
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal's file with some of everything in it."""
    folder = tmp_path_factory.mktemp("sound")
    with closing(Journal.write(folder)) as journal:
        for n in range(40):
            record(journal, str(n), n, failure() if n % 3 == 0 else completion("text " * n))
            journal.record_score(str(n), {"values": {"template": n / 40}})
            journal.decide(n, "commit", {"n": n})
            journal.add_candidate(row(str(n), n))
            journal.add_cells([cell(str(n), values={"template": 1})])
    return folder / FILE


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 200))
def test_damage_is_told_or_does_no_harm(sound: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, size: int) -> None:
    """Random bytes anywhere in the file end in a JournalError or in nothing, never in another error."""
    folder = tmp_path_factory.mktemp("damaged")
    draw = random.Random(seed)
    content = bytearray(sound.read_bytes())
    start = draw.randrange(len(content) - size)
    content[start : start + size] = draw.randbytes(size)
    (folder / FILE).write_bytes(content)
    try:
        with closing(Journal.read(folder)) as journal:
            _everything(journal)
    except JournalError as error:
        assert str(folder / FILE) in str(error)


def test_damage_in_the_words_of_an_error_is_told(sound: Path, tmp_path: Path) -> None:
    """SQLite names the table that it cannot read, whose name is no UTF-8 here, and Python cannot read the name."""
    content = sound.read_bytes()
    assert b"tablemetameta" in content
    (tmp_path / FILE).write_bytes(content.replace(b"tablemetameta", b"table\xabetameta"))
    for way in (Journal.read, Journal.write):
        with pytest.raises(JournalError, match="damaged"):
            way(tmp_path)


def test_a_cut_off_file_is_told(sound: Path, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(sound.read_bytes()[: sound.stat().st_size // 2])
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
def test_damage_inside_a_record_is_told(sound: Path, tmp_path: Path, damage: str) -> None:
    (tmp_path / FILE).write_bytes(sound.read_bytes())
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as db:
        db.execute(damage)
    with pytest.raises(JournalError, match="damaged"), closing(Journal.read(tmp_path)) as journal:
        _everything(journal)
        journal.decision(1, "commit")
