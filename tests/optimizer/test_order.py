"""The order of commits: what is known when, for every width (invariant I2)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.order import CYCLE, GRADUAL, OPENING, PROPOSE, Order, aim_of

ORDERS = st.builds(Order, st.integers(1, 64))
INDEXES = st.integers(OPENING + 1, 500)


@given(ORDERS)
def test_the_opening_is_drawn_before_any_of_it_has_committed_and_all_others_after_all_of_it(order: Order) -> None:
    places = {order.place(index, proposing=True)[0] for index in range(1, OPENING + 1)}
    assert places == {OPENING} and all(order.known_to(index) < OPENING for index in range(1, OPENING + 1))
    assert order.known_to(OPENING + 1) == OPENING


@given(ORDERS, INDEXES)
def test_no_job_waits_for_itself_or_for_a_later_one(order: Order, index: int) -> None:
    assert OPENING <= order.known_to(index) < index
    assert order.known_to(index) <= order.known_to(index + 1)


@given(ORDERS, INDEXES)
def test_no_more_is_under_way_than_may_be_in_flight(order: Order, index: int) -> None:
    under_way = index - order.known_to(index)
    assert 1 <= under_way <= order.in_flight
    assert under_way <= 1 + max(order.in_flight, GRADUAL) / 64 * (index + 2), "a small part of what is known"


@pytest.mark.parametrize("in_flight", [1, 2, 16, 32, 64])
def test_all_that_may_be_are_in_flight_in_the_end(in_flight: int) -> None:
    assert 500 - Order(in_flight).known_to(500) == in_flight


def test_a_flight_of_sixteen_grows_by_one_with_every_fourth_job() -> None:
    widths = [index - Order(16).known_to(index) for index in range(OPENING + 1, OPENING + 59)]
    assert widths[:12] == [1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5] and widths[-1] == 16


@given(ORDERS, INDEXES, st.booleans(), st.booleans())
def test_places_are_in_the_order_of_indexes_among_runs_and_among_proposals(order: Order, index: int, one: bool, other: bool) -> None:
    earlier, later = (order.place(each, proposing=one) for each in (index, index + 1))
    assert earlier < later
    assert order.place(index, proposing=False) <= order.place(index, proposing=other)


@given(ORDERS, INDEXES)
def test_an_heir_is_the_first_run_that_knows_of_the_proposal(order: Order, index: int) -> None:
    heir, (place, _) = order.heir(index), order.place(index, proposing=True)
    assert aim_of(heir) != PROPOSE and order.known_to(heir) >= place
    assert all(aim_of(each) == PROPOSE or order.known_to(each) < place for each in range(index, heir))
    between = range(index + 1, heir)
    assert order.runs_before_heir(index) == len([each for each in between if aim_of(each) != PROPOSE])


def test_one_job_in_four_proposes_after_the_opening() -> None:
    aims = [aim_of(index) for index in range(OPENING + 1, OPENING + 1 + 5 * len(CYCLE))]
    assert aims.count(PROPOSE) == 5 and not any(one == other == PROPOSE for one, other in pairwise(aims))
