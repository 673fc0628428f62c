"""How long a run's calls take: exact where all calls last the same, and bounded by what no order of work can beat."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.pace import GOOD_WIDTHS, Pace, Work
from optimizer.schedule import BLOCK, CYCLE, LAG, OPENING

SECONDS = st.lists(st.floats(0.01, 30), min_size=1, max_size=20)


def test_blocks_one_after_the_other() -> None:
    """No proposals, room for all: the seed's second, one for each block, one for the report."""
    pace = Pace([1.0], [9.0], width=100)
    assert pace.seconds(Work(60, 10, 20, proposing=False), in_flight=1) == pytest.approx(12)
    assert pace.seconds(Work(60, 10, 20, proposing=False), in_flight=5) == pytest.approx(4)
    assert pace.seconds(Work(60, 10, 0, proposing=False), in_flight=5) == pytest.approx(3)


def test_cells_wait_for_one_another() -> None:
    """Ten calls in flight at most: 60 cells take six times as long as one."""
    assert Pace([1.0], [1.0], width=10).seconds(Work(60, 0, 0, proposing=False), in_flight=1) == pytest.approx(6)


def test_the_opening_takes_as_long_as_one_proposal() -> None:
    """All of it is under way at the same time, whatever may be in flight."""
    pace, work = Pace([1.0], [5.0], width=1000), Work(0, 1, 0, proposing=True)
    assert work.jobs() == [True] * (OPENING + 1) + [False]
    assert pace.seconds(work, in_flight=1) == pytest.approx(5 + 5), "a proposal is under way at the end, and waited for"
    assert pace.seconds(work, in_flight=OPENING + 2) == pytest.approx(5)


@pytest.mark.parametrize(("slow", "lost"), [(1.0, 0.0), (3.0, 0.0), (5.0, 1.0), (9.0, 3.0)])
def test_a_proposal_keeps_nothing_waiting_before_its_place(slow: float, lost: float) -> None:
    """One block after the other, and a proposal for every three: it may last as long as they do at no cost; beyond, it costs half."""
    assert LAG == len(CYCLE) == 4
    pace = Pace([1.0], [slow], width=1000)
    short, long = (pace.seconds(Work(0, blocks, 0, proposing=True), in_flight=1) for blocks in (30, 60))
    assert long - short == pytest.approx(30 + 10 * lost)


def test_one_job_in_four_proposes() -> None:
    jobs = Work(0, 30, 0, proposing=True).jobs()
    assert jobs.count(False) == 30 and jobs[OPENING:].count(True) == pytest.approx(10, abs=1)


@given(SECONDS, SECONDS, st.integers(0, 30), st.booleans())
def test_more_in_flight_is_never_slower_where_there_is_room(
    cells: list[float], proposals: list[float], blocks: int, proposing: bool
) -> None:
    work = Work(60, blocks, 40, proposing)
    free = Pace(cells, proposals, width=64 * BLOCK)
    times = [free.seconds(work, in_flight) for in_flight in (1, 2, 3, 4, 8, 16)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(times))


@given(SECONDS, SECONDS, st.integers(1, 64), st.integers(1, 8))
def test_no_calls_run_beyond_the_width(cells: list[float], proposals: list[float], width: int, in_flight: int) -> None:
    work = Work(60, 20, 40, proposing=False)
    even = [sum(cells) / len(cells)]
    assert Pace(even, proposals, width).seconds(work, in_flight) >= Pace(even, proposals, width).busy(work) / width - 1e-9


@given(SECONDS, SECONDS, st.integers(1, 64), st.booleans())
def test_advice_is_the_least_that_is_nearly_as_fast_as_any(cells: list[float], proposals: list[float], width: int, proposing: bool) -> None:
    pace, work = Pace(cells, proposals, width), Work(60, 20, 40, proposing)
    advised = pace.advised(work)
    best = min(pace.seconds(work, each) for each in GOOD_WIDTHS)
    assert pace.seconds(work, advised) * 0.9 <= best
    assert all(pace.seconds(work, each) * 0.9 > best for each in range(1, advised))


def test_advice_follows_the_room_that_there_is() -> None:
    work = Work(60, 40, 40, proposing=False)
    assert Pace([1.0], [1.0], width=BLOCK).advised(work) == 1, "one block fills it"
    assert Pace([1.0], [1.0], width=1000).advised(work) == max(GOOD_WIDTHS)
