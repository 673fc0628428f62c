"""A limit is a limit: whatever is claimed, held and settled in whatever order, none is passed."""

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from adapters.answer import Usage
from optimizer.budget import Claim, Ledger, Used
from optimizer.config import BudgetConfig

NAMES = ("rollouts", "calls", "tokens", "usd")
SLACK = 1e-9


def ledger(**limits: float) -> Ledger:
    return Ledger(BudgetConfig.model_validate(limits))


def used(cells: int = 1, uses: int | None = None, **calls: Usage) -> Used:
    return Used(cells, calls, len(calls) if uses is None else uses)


def spend(ledger: Ledger, *work: Used, claim: Claim | None = None) -> None:
    ledger.settle(ledger.hold(claim or Claim()), work)


# --- claims -----------------------------------------------------------------------------------------------------------


def test_claims_add_up_part_by_part() -> None:
    assert Claim(1, 2, 3, 0.5) + Claim(10, 20, 30, 0.25) == Claim(11, 22, 33, 0.75)
    assert sum([Claim(1), Claim(2)], Claim()) == Claim(3)


@pytest.mark.parametrize(
    ("n", "rollouts"), [(0, 0), (1, 10), (0.1, 1), (0.11, 2), (2 / 3, 7), (1.1, 11), (3, 30)], ids=lambda value: str(value)[:5]
)
def test_a_multiple_of_a_claim_is_rounded_up_but_not_for_rounding_errors(n: float, rollouts: int) -> None:
    """10 × 1.1 is 11.000000000000002."""
    assert Claim(10, 10, 10, 1.0).times(n) == Claim(rollouts, rollouts, rollouts, n)


@given(st.integers(0, 10_000), st.integers(1, 500), st.integers(1, 500))
def test_a_multiple_is_never_too_small(size: int, test: int, val: int) -> None:
    assert Claim(size).times(test / val).rollouts >= size * test / val - 1e-6


# --- booking ----------------------------------------------------------------------------------------------------------


def test_a_call_is_counted_once_whoever_uses_it() -> None:
    book = ledger(rollouts=100)
    call = Usage(10, 2, 0.5)
    spend(book, used(k=call), used(k=call, other=Usage(1, 1, 0.25)))
    spend(book, used(k=call))
    spent = book.spent(seconds=1.5)
    assert (spent.rollouts, spent.calls, spent.cached) == (3, 2, 2)
    assert (spent.input_tokens, spent.output_tokens, spent.usd, spent.seconds) == (11, 3, 0.75, 1.5)


def test_what_is_spent_before_counts_and_is_not_paid_again() -> None:
    call = Usage(10, 2, 0.5)
    book = Ledger(BudgetConfig(rollouts=8, usd=1.0), Used(7, {"k": call}, 0))
    assert (book.spent().rollouts, book.spent().calls, book.spent().cached, book.spent().usd) == (7, 1, 0, 0.5)
    assert (book.refusal(Claim(rollouts=2)), book.refusal(Claim(usd=0.6)), book.refusal(Claim(1, usd=0.5))) == ("rollouts", "usd", None)
    spend(book, used(k=call, other=Usage(1, 1, 0.25)))
    assert (book.spent().rollouts, book.spent().calls, book.spent().cached, book.spent().usd) == (8, 2, 0, 0.75)


def test_a_cell_that_failed_costs_a_rollout_and_no_call() -> None:
    book = ledger(rollouts=100)
    spend(book, used())
    assert (book.spent().rollouts, book.spent().calls, book.spent().usd) == (1, 0, 0.0)


def test_an_unknown_price_makes_the_sum_unknown_never_zero() -> None:
    book = ledger(rollouts=100)
    spend(book, used(known=Usage(1, 1, 0.5)))
    assert book.spent().usd == 0.5
    spend(book, used(unknown=Usage(1, 1, None)))
    assert book.spent().usd is None
    spend(book, used(later=Usage(1, 1, 0.5)))
    assert book.spent().usd is None
    assert book.spent().input_tokens == 3


def test_a_price_of_zero_is_known() -> None:
    book = ledger(rollouts=100)
    spend(book, used(free=Usage(1, 1, 0.0)))
    assert book.spent().usd == 0.0


def test_money_is_limited_even_where_a_price_is_unknown() -> None:
    """What was claimed for the work with the unknown price counts, once, and what is known still does."""
    book = ledger(usd=1.0)
    spend(book, used(a=Usage(1, 1, 0.25)), claim=Claim(usd=0.25))
    unknown = used(b=Usage(1, 1, None)), used(c=Usage(1, 1, None)), used(b=Usage(1, 1, None))
    spend(book, *unknown, claim=Claim(usd=0.5))
    assert book.refusal(Claim(usd=0.25)) is None
    assert book.refusal(Claim(usd=0.26)) == "usd"


@given(st.lists(st.floats(0, 10), max_size=30), st.randoms(use_true_random=False))
def test_sums_are_exact_in_any_order(prices: list[float], shuffle: random.Random) -> None:
    keys = list(range(len(prices)))
    shuffle.shuffle(keys)
    book = ledger(usd=1)
    for key in keys:
        spend(book, Used(1, {str(key): Usage(1, 0, prices[key])}, 1))
    assert book.spent().usd == math.fsum(prices)


def test_a_ticket_is_settled_once() -> None:
    book = ledger(rollouts=1)
    ticket = book.hold(Claim(1))
    book.settle(ticket, [])
    with pytest.raises(KeyError):
        book.settle(ticket, [])


# --- refusing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_may_be_reached_but_not_passed(name: str) -> None:
    book = ledger(**{name: 10})
    assert book.refusal(Claim(**{name: 10})) is None
    assert book.refusal(Claim(**{name: 11})) == name
    book.hold(Claim(**{name: 9}))
    assert book.refusal(Claim(**{name: 1})) is None
    assert book.refusal(Claim(**{name: 2})) == name
    assert book.refusal(Claim(**{other: 10**9 for other in NAMES if other != name})) is None


@pytest.mark.parametrize("name", NAMES)
def test_what_is_spent_leaves_no_room_for_more(name: str) -> None:
    book = ledger(**{name: 10})
    spend(book, Used(6, {str(n): Usage(1, 0, 1.0) for n in range(6)}, 6))
    assert book.refusal(Claim(4, 4, 4, 4.0)) is None
    assert book.refusal(Claim(5, 5, 5, 5.0)) == name


def test_what_was_claimed_and_not_used_comes_back() -> None:
    book = ledger(rollouts=10)
    ticket = book.hold(Claim(10))
    assert book.refusal(Claim(1)) == "rollouts"
    book.settle(ticket, [used()])
    assert book.refusal(Claim(9)) is None
    assert book.refusal(Claim(10)) == "rollouts"


def test_ten_tenths_fill_a_limit_of_one() -> None:
    book = ledger(usd=1.0)
    for _ in range(10):
        claim = Claim(usd=0.1)
        assert book.refusal(claim) is None
        book.hold(claim)
    assert book.refusal(Claim(usd=0.000001)) == "usd"


def test_the_first_limit_without_room_is_named() -> None:
    assert ledger(rollouts=1, calls=1, tokens=1, usd=1).refusal(Claim(1, 2, 3, 4.0)) == "calls"
    assert ledger(minutes=1).refusal(Claim(10**9, 10**9, 10**9, 1e9)) is None


# --- any order --------------------------------------------------------------------------------------------------------

PRICES = {f"k{n}": Usage(n % 7, n % 3, [None, 0.0, 0.1, 1 / 3, 0.7][n % 5]) for n in range(40)}
HIDDEN_PRICE = 0.6
"""What a call whose price nobody knows has cost."""


def cost(keys: Mapping[str, object] | set[str]) -> Claim:
    """What calls have really used."""
    usages = [PRICES[key] for key in keys]
    usd = math.fsum(HIDDEN_PRICE if usage.usd is None else usage.usd for usage in usages)
    return Claim(0, len(usages), sum(usage.input_tokens + usage.output_tokens for usage in usages), usd)


@dataclass
class Work:
    ticket: int
    claim: Claim
    used: list[Used] = field(default_factory=list)


work = st.lists(st.sets(st.sampled_from(sorted(PRICES)), max_size=3), max_size=4)
slack = st.builds(Claim, st.integers(0, 2), st.integers(0, 2), st.integers(0, 5), st.floats(0, 1))
most: dict[str, st.SearchStrategy[float]] = {
    "rollouts": st.integers(1, 20),
    "calls": st.integers(1, 20),
    "tokens": st.integers(1, 60),
    "usd": st.floats(0.1, 6),
}
limits = st.sets(st.sampled_from(NAMES), min_size=1).flatmap(
    lambda names: st.fixed_dictionaries({name: most[name] for name in sorted(names)})
)


class Spending(RuleBasedStateMachine):
    """Jobs claim, work and settle in any order; each asks before it claims, and none uses more than it claimed."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: dict[str, float] = {}
        self.open: list[Work] = []
        self.keys: set[str] = set()
        self.cells = self.uses = 0

    @precondition(lambda self: not self.limits)
    @rule(limits=limits)
    def begin(self, limits: dict[str, float]) -> None:
        self.limits, self.ledger = limits, ledger(**limits)

    @precondition(lambda self: bool(self.limits))
    @rule(work=work, slack=slack)
    def claim(self, work: list[set[str]], slack: Claim) -> None:
        done = [Used(1, {key: PRICES[key] for key in keys}, len(keys)) for keys in work]
        claim = sum((cost(keys) for keys in work), Claim(len(work))) + slack
        if self.ledger.refusal(claim) is None:
            self.open.append(Work(self.ledger.hold(claim), claim, done))

    @precondition(lambda self: bool(self.open))
    @rule(which=st.integers(0), part=st.integers(0, 4))
    def settle(self, which: int, part: int) -> None:
        """All of the work was done, or only some."""
        work = self.open.pop(which % len(self.open))
        done = work.used[:part]
        self.ledger.settle(work.ticket, iter(done))
        self.keys |= {key for each in done for key in each.calls}
        self.cells += len(done)
        self.uses += sum(each.uses for each in done)

    @invariant()
    def no_limit_is_passed(self) -> None:
        want = sum((work.claim for work in self.open), cost(self.keys) + Claim(self.cells))
        assert all(getattr(want, name) <= limit + 2 * SLACK for name, limit in self.limits.items())

    @invariant()
    def the_books_are_right(self) -> None:
        if not self.limits:
            return
        spent, true = self.ledger.spent(), cost(self.keys)
        assert (spent.rollouts, spent.calls, spent.cached) == (self.cells, len(self.keys), self.uses - len(self.keys))
        assert spent.input_tokens + spent.output_tokens == true.tokens
        known = all(PRICES[key].usd is not None for key in self.keys)
        assert spent.usd == (true.usd if known else None)

    @invariant()
    def only_a_limit_is_a_reason_to_refuse(self) -> None:
        if not self.limits:
            return
        want = sum((work.claim for work in self.open), cost(self.keys) + Claim(self.cells))
        for name in ("rollouts", "calls", "tokens"):
            room = self.limits.get(name, math.inf) - getattr(want, name)
            assert (self.ledger.refusal(Claim(**{name: 3})) == name) == (room < 3)


Spending.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestSpending = Spending.TestCase


def test_a_part_is_the_largest_of_those_that_are_limited() -> None:
    claim = Claim(rollouts=10, calls=30, tokens=1000, usd=0.5)
    assert Ledger(BudgetConfig(rollouts=100, calls=100, usd=2.0)).part(claim) == 0.3
    assert Ledger(BudgetConfig(usd=2.0)).part(claim) == 0.25
    assert Ledger(BudgetConfig(minutes=1.0)).part(claim) == 0.0
