"""Numbers and texts as people read them."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.report.words import WIDTH, count, duration, folded, from_here, interval, money, points, signed, visible


def test_scores_are_points() -> None:
    assert points(0.4123) == "41.2"
    assert points(0.0) == "0.0"
    assert points(None) == "–"
    assert signed(0.123) == "+12.3"
    assert signed(-0.05) == "-5.0"
    assert signed(-0.0001) == "+0.0"
    assert signed(None) == "–"
    assert interval(-0.01, 0.2) == "-1.0 to +20.0"
    assert interval(None, 0.2) == interval(0.2, None) == "–"


@pytest.mark.parametrize(
    ("usd", "words"),
    [(None, "price unknown"), (0.0, "$0.00"), (0.1, "$0.10"), (12.345, "$12.35"), (0.0123, "$0.012"), (0.0000012, "$1.2e-06")],
)
def test_money_is_never_nothing_unless_it_is(usd: float | None, words: str) -> None:
    assert money(usd) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min 00 s"),
        (200, "3 min 20 s"),
        (3599.6, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_time_in_units_that_people_count_in(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_counts() -> None:
    assert [count(n, "call") for n in (0, 1, 12345)] == ["0 calls", "1 call", "12,345 calls"]


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert visible("a\x1b[31mb\rc\x07\x9b\u202e\u2028\ud800") == r"a\x1b[31mb\rc\x07\x9b\u202e\u2028\ud800"
    assert visible("ä [bold]\n\t€ 漢") == "ä [bold]\n\t€ 漢"


@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    left = visible(text).replace("\n", "").replace("\t", "")
    assert not {unicodedata.category(char) for char in left} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_paths_are_told_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "a b"
    here.mkdir()
    monkeypatch.chdir(here)
    told = from_here(f"{here}/x.jsonl:3: see ({here}/y), '{here}/c d' and --out={here}/z")
    assert told == "x.jsonl:3: see (y), 'c d' and --out=z"
    for other in (f"{tmp_path}/x", f"/up{here}/x", f"{here}s/x", f"in {here}", "runs/x"):
        assert from_here(other) == other
    monkeypatch.chdir("/")
    assert from_here("see /x and https://y") == "see /x and https://y"


@given(st.lists(st.text("ab", min_size=1, max_size=30), min_size=1).map(" ".join))
def test_long_lines_are_folded_and_lose_no_word(text: str) -> None:
    lines = folded(f"{text}\n  short").split("\n")
    assert lines.pop() == "  short" and all(len(line) <= WIDTH for line in lines)
    assert " ".join(lines).split() == text.split() and all(line.startswith("  ") for line in lines[1:])
    path = "/x" * WIDTH
    assert path in folded(f"see {path} there").split("\n")[1]
