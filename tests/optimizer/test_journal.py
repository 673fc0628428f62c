"""The journal keeps what was paid for, whatever happens to the process or the file."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from journalled import cell, completion, record, row
from pieces import failure

from adapters.answer import Usage
from adapters.clients.client import Completion, ErrorKind, ModelError
from optimizer.errors import JournalError
from optimizer.journal import REPORT_JOB, STANDING, Journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.write(tmp_path)
    yield journal
    journal.close()


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
    journal.add_candidate(row("a", 10, "composed"))
    assert [each.outcome for each in journal.candidates()] == ["proposed", "proposed", "composed"]


def test_only_the_last_standing_is_kept(journal: Journal) -> None:
    """A run that is derived again with fewer jobs before it would else be read as it stood in another life."""
    for job in (0, 1, 7, 2):
        journal.decide(job, "commit", {"best": "a"})
        journal.stand(job, {"best": f"after {job}"})
    assert journal.decisions(STANDING) == [(2, STANDING, {"best": "after 2"})]
    assert [job for job, _, _ in journal.decisions("commit")] == [0, 1, 2, 7]


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
