"""How long a run's calls take: exact where all calls last the same, and bounded by what no order of work can beat."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.order import CYCLE, OPENING, PROPOSE, Order, aim_of
from optimizer.pace import FAR, GOOD_WIDTHS, Pace, Work
from optimizer.schedule import BLOCK

SECONDS = st.lists(st.floats(0.01, 30), min_size=1, max_size=20)


def test_blocks_one_after_the_other() -> None:
    """No proposals, room for all: the seed's second, one for each block, one for the report; a wider flight is not so at once."""
    pace = Pace([1.0], [9.0], width=100)
    assert pace.seconds(Work(60, 10, 20, proposing=False), in_flight=1) == pytest.approx(12)
    assert pace.seconds(Work(60, 10, 20, proposing=False), in_flight=5) == pytest.approx(1 + 8 + 1)
    assert pace.seconds(Work(60, 10, 0, proposing=False), in_flight=5) == pytest.approx(1 + 8)


def test_cells_wait_for_one_another() -> None:
    """Ten calls in flight at most: 60 cells take six times as long as one."""
    assert Pace([1.0], [1.0], width=10).seconds(Work(60, 0, 0, proposing=False), in_flight=1) == pytest.approx(6)


def test_the_opening_takes_as_long_as_one_proposal() -> None:
    """All of it is under way at the same time, whatever may be in flight; and nothing that comes to nothing is waited for."""
    pace, work = Pace([1.0], [5.0], width=1000), Work(0, 1, 0, proposing=True)
    first = next(index for index in range(OPENING, 2 * OPENING) if aim_of(index) != PROPOSE)
    assert [*work.jobs(1)] == [*range(1, OPENING + 1), first]
    assert pace.seconds(work, in_flight=1) == pace.seconds(work, in_flight=64) == pytest.approx(5 + 1)


@pytest.mark.parametrize(("slow", "lost"), [(1.0, 0.0), (3.0, 0.0), (5.0, 2.0), (9.0, 6.0)])
def test_a_proposal_keeps_nothing_waiting_before_its_place(slow: float, lost: float) -> None:
    """One block after the other, and a proposal for every three: it may last as long as they do at no cost."""
    pace = Pace([1.0], [slow], width=1000)
    short, long = (pace.seconds(Work(0, blocks, 0, proposing=True), in_flight=1) for blocks in (30, 60))
    assert long - short == pytest.approx(30 + 10 * lost)


def test_one_job_in_four_proposes_and_none_that_comes_too_late() -> None:
    for in_flight in (1, 16):
        jobs = Work(0, 30, 0, proposing=True).jobs(in_flight)
        later = [index for index, proposal in jobs.items() if proposal and index > OPENING]
        assert sum(not proposal for proposal in jobs.values()) == 30
        assert later[0] <= OPENING + len(CYCLE) and {after - before for before, after in pairwise(later)} == {len(CYCLE)}
        assert Order(in_flight).heir(later[-1]) <= max(jobs) < Order(in_flight).heir(later[-1] + len(CYCLE))


def test_a_long_run_is_reckoned_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """And at once: a limit on rollouts that is none is given as a number without end."""
    pace, long = Pace([0.3, 0.5, 1.0], [2.0, 4.0], width=32), Work(60, 3 * FAR, 40, proposing=True)
    told, proposals = {width: pace.seconds(long, width) for width in (1, 4)}, {width: long.proposals(width) for width in (1, 4)}
    assert pace.seconds(Work(60, 10**13, 40, proposing=True), in_flight=4) > 10**12
    monkeypatch.setattr("optimizer.pace.FAR", 10 * FAR)
    assert told == pytest.approx({width: pace.seconds(long, width) for width in (1, 4)}, rel=0.05)
    assert proposals == pytest.approx({width: long.proposals(width) for width in (1, 4)}, abs=1)


@given(SECONDS, SECONDS, st.integers(0, 60))
def test_more_runs_in_flight_are_never_slower_where_all_calls_have_room(cells: list[float], proposals: list[float], blocks: int) -> None:
    """With proposals they may be: which of them are made, and where they take their places, is another with every width."""
    work = Work(60, blocks, 40, proposing=False)
    free = Pace(cells, proposals, width=10**9)
    times = [free.seconds(work, in_flight) for in_flight in (1, 2, 3, 4, 8, 16)]
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(times))


@given(SECONDS, SECONDS, st.integers(1, 64), st.integers(1, 8))
def test_no_calls_run_beyond_the_width(cells: list[float], proposals: list[float], width: int, in_flight: int) -> None:
    work = Work(60, 20, 40, proposing=False)
    even = [sum(cells) / len(cells)]
    assert Pace(even, proposals, width).seconds(work, in_flight) >= Pace(even, proposals, width).busy(work, in_flight) / width - 1e-9


@given(SECONDS, SECONDS, st.integers(1, 64), st.booleans())
def test_advice_is_the_least_that_is_nearly_as_fast_as_any(cells: list[float], proposals: list[float], width: int, proposing: bool) -> None:
    pace, work = Pace(cells, proposals, width), Work(60, 20, 40, proposing)
    advised = pace.advised(work)
    best = min(pace.seconds(work, each) for each in GOOD_WIDTHS)
    assert pace.seconds(work, advised) * 0.9 <= best
    assert all(pace.seconds(work, each) * 0.9 > best for each in GOOD_WIDTHS if each < advised)


def test_advice_follows_the_room_that_there_is() -> None:
    work = Work(60, 40, 40, proposing=False)
    assert Pace([1.0], [1.0], width=BLOCK).advised(work) == 1, "one block fills it"
    long = Work(60, 200, 40, proposing=False)
    assert Pace([1.0], [1.0], width=1000).advised(long) == max(GOOD_WIDTHS)
