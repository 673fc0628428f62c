"""The desk makes each paid call once, records it before anyone sees it, and knows when a model is out of reach."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pieces import Model, Reply, ask, failure, in_turn

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, ErrorKind, ModelError, Request
from optimizer.desk import COLD_PATIENCE, WARM_PATIENCE, Caller, Desk
from optimizer.errors import JournalError, ProviderError, ReplayError
from optimizer.journal import Journal

RETRIED = [ErrorKind.RATE_LIMIT, ErrorKind.TIMEOUT, ErrorKind.CONNECTION, ErrorKind.SERVER_ERROR]
OF_CONTENT = [ErrorKind.CONTENT_FILTER, ErrorKind.CONTEXT_LENGTH]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.write(tmp_path)
    yield journal
    journal.close()


@pytest.fixture
def desk(journal: Journal) -> Desk:
    return Desk(journal)


async def call(desk: Desk, model: Model, text: str, job: int = 0) -> Completion | ModelError:
    return (await desk.call(model, ask(text), job, "task"))[1]


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


# --- once -------------------------------------------------------------------------------------------------------------


async def test_a_recorded_answer_is_never_called_for_again(tmp_path: Path) -> None:
    first, second = Model(), Model(in_turn())
    with closing(Journal.write(tmp_path)) as journal:
        made = await call(Desk(journal), first, "a")
        assert await call(Desk(journal), second, "a") == made
    with closing(Journal.write(tmp_path)) as journal:
        assert await call(Desk(journal), second, "a") == made
    assert len(first.asked) == 1


async def test_what_the_caller_sees_is_what_was_recorded(journal: Journal, desk: Desk) -> None:
    key, outcome = await desk.call(Model(), ask("a"), 0, "task")
    assert journal.call(key) == outcome


async def test_equal_calls_under_way_are_made_once(journal: Journal, desk: Desk) -> None:
    gate = asyncio.Event()
    model = Model(gate=gate)
    waiting = [asyncio.create_task(desk.call(model, ask("a"), job, "task")) for job in range(5)]
    other = asyncio.create_task(call(desk, model, "b"))
    await settle()
    gate.set()
    keys, outcomes = zip(*[await each for each in waiting], strict=True)
    await other
    assert len(set(keys)) == 1 and all(each == outcomes[0] for each in outcomes)
    assert [request.messages[0].content for request in model.asked] == ["a", "b"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((Model(), ask("a")), (Model(), ask("b"))),
        ((Model(), ask("a")), (Model(), ask("a", seed=1))),
        ((Model(), ask("a", seed=2)), (Model(), ask("a", seed=1))),
        ((Model(), ask("a")), (Model(name="large"), ask("a"))),
        ((Model(), ask("a")), (Model(where="elsewhere"), ask("a"))),
    ],
    ids=["text", "no seed", "seed", "model", "identity"],
)
async def test_calls_that_differ_are_each_made(desk: Desk, one: tuple[Model, Request], other: tuple[Model, Request]) -> None:
    for model, request in (one, other):
        await desk.call(model, request, 0, "task")
        assert len(model.asked) == 1
        model.asked.clear()


async def test_who_asks_and_for_what_makes_no_difference(desk: Desk) -> None:
    model = Model()
    keys = {(await desk.call(model, ask("a"), job, role))[0] for job, role in ((0, "task"), (7, "task"), (7, "reflection"))}
    assert len(keys) == len(model.asked) == 1


async def test_a_failure_is_an_outcome_too(desk: Desk) -> None:
    model = Model(in_turn(failure(message="boom")))
    first, second = await call(desk, model, "a"), await call(desk, model, "a")
    assert isinstance(first, ModelError) and isinstance(second, ModelError)
    assert (first.kind, first.message) == (second.kind, second.message) == (ErrorKind.TIMEOUT, "boom")


async def test_a_failure_that_an_earlier_job_met_is_kept_with_that_job(journal: Journal, desk: Desk) -> None:
    """Job 5 asks first; job 4 uses the outcome, and commits. Derived again, job 4 has to meet the same failure."""
    model = Model(in_turn(failure(), failure()))
    await asyncio.gather(call(desk, model, "under way", 5), call(desk, model, "under way", 4))
    await call(desk, model, "recorded", 5)
    await call(desk, model, "recorded", 4)
    await call(desk, model, "recorded", 6)
    journal.decide(4, "commit", {})
    assert journal.forget_failures() == 0


async def test_half_a_surrogate_pair_breaks_nothing(journal: Journal, desk: Desk) -> None:
    """A model can be made to write one, and no file, database or request can hold it."""
    model = Model(in_turn("rude \ud800 answer", failure(message="\udfff")))
    key, outcome = await desk.call(model, ask("a"), 0, "task")
    assert isinstance(outcome, Completion) and outcome.text == "rude ? answer"
    assert journal.call(key) == outcome
    failed = await call(desk, model, "b")
    assert isinstance(failed, ModelError) and failed.message == "?"


# --- out of reach -----------------------------------------------------------------------------------------------------


def failing(kind: ErrorKind) -> Model:
    return Model(lambda _: failure(kind))


@pytest.mark.parametrize("kind", [*RETRIED, ErrorKind.BAD_REQUEST])
async def test_a_model_that_never_answered_gets_three_calls(desk: Desk, kind: ErrorKind) -> None:
    model = failing(kind)
    for n in range(COLD_PATIENCE - 1):
        assert isinstance(await call(desk, model, str(n)), ModelError)
    with pytest.raises(ProviderError, match=rf"^small is out of reach: 3 calls in a row failed, the last with {kind}: no answer$"):
        await call(desk, model, "last")


@pytest.mark.parametrize("kind", RETRIED)
async def test_a_model_that_has_answered_gets_eight(desk: Desk, kind: ErrorKind) -> None:
    await call(desk, Model(), "warm")
    model = failing(kind)
    for n in range(WARM_PATIENCE - 1):
        assert isinstance(await call(desk, model, str(n)), ModelError)
    with pytest.raises(ProviderError, match="8 calls in a row"):
        await call(desk, model, "last")


async def test_a_refused_key_is_final_at_once(desk: Desk) -> None:
    await call(desk, Model(), "warm")
    with pytest.raises(ProviderError, match="a call failed with auth: "):
        await call(desk, failing(ErrorKind.AUTH), "a")


async def test_an_answer_between_failures_starts_the_count_anew(desk: Desk) -> None:
    replies: list[Reply] = [failure(), failure(), "yes", *[failure()] * (WARM_PATIENCE - 1), "yes", failure()]
    model = Model(in_turn(*replies))
    for n in range(len(replies)):
        await call(desk, model, str(n))


@pytest.mark.parametrize("kind", OF_CONTENT)
async def test_failures_of_content_say_nothing_against_the_model(desk: Desk, kind: ErrorKind) -> None:
    model = failing(kind)
    for n in range(3 * WARM_PATIENCE):
        outcome = await call(desk, model, str(n))
        assert isinstance(outcome, ModelError) and outcome.kind == kind


async def test_recorded_failures_do_not_count_again(journal: Journal) -> None:
    """A run that goes on meets them again, and must come past them."""
    for _ in range(3):
        model = failing(ErrorKind.TIMEOUT)
        desk = Desk(journal)
        for n in range(COLD_PATIENCE - 1):
            await call(desk, model, str(n))
    assert model.asked == []


async def test_models_are_counted_apart(desk: Desk) -> None:
    """Also two servers that call their model by the same name."""
    good, bad = Model(where="here"), Model(lambda _: failure(), where="there")
    for n in range(COLD_PATIENCE - 1):
        await call(desk, good, str(n))
        await call(desk, bad, str(n))
    await call(desk, good, "once more")
    with pytest.raises(ProviderError):
        await call(desk, bad, "last")


async def test_the_call_that_was_one_too_many_is_tried_again_next_time(journal: Journal) -> None:
    desk = Desk(journal)
    with pytest.raises(ProviderError):
        await call(desk, failing(ErrorKind.AUTH), "a")
    with pytest.raises(ProviderError):
        await call(desk, Model(), "a")  # not with the same desk: its run is over
    await desk.close()
    assert isinstance(await call(Desk(journal), Model(), "a"), Completion)


# --- waiters that go away ---------------------------------------------------------------------------------------------


async def test_a_waiter_that_goes_away_takes_nothing_from_the_others(desk: Desk) -> None:
    gate = asyncio.Event()
    model = Model(gate=gate)
    one, other = (asyncio.create_task(call(desk, model, "a")) for _ in range(2))
    await settle()
    one.cancel()
    await settle()
    gate.set()
    assert isinstance(await other, Completion)
    assert one.cancelled() and len(model.asked) == 1


async def test_a_call_without_waiters_is_recorded_all_the_same(journal: Journal, desk: Desk) -> None:
    gate = asyncio.Event()
    model = Model(gate=gate)
    only = asyncio.create_task(call(desk, model, "a"))
    await settle()
    only.cancel()
    gate.set()
    await settle()
    await desk.close()
    assert isinstance(await call(Desk(journal, replay=True), model, "a"), Completion)


# --- the end ----------------------------------------------------------------------------------------------------------


async def test_calls_that_arrive_within_the_grace_are_kept(journal: Journal, desk: Desk) -> None:
    gate = asyncio.Event()
    model = Model(gate=gate)
    waiting = [asyncio.create_task(call(desk, model, text)) for text in "abc"]
    await settle()
    for each in waiting:
        each.cancel()
    asyncio.get_running_loop().call_later(0.02, gate.set)
    await desk.close(grace=30)
    assert [isinstance(await call(Desk(journal, replay=True), model, text), Completion) for text in "abc"] == [True] * 3


async def test_calls_that_come_too_late_are_dropped(journal: Journal, desk: Desk) -> None:
    in_time, late = Model(name="quick"), Model(gate=asyncio.Event())
    waiting = [asyncio.create_task(call(desk, model, "a")) for model in (in_time, late)]
    await settle()
    await desk.close(grace=0.01)
    assert isinstance(await waiting[0], Completion)
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]
    with pytest.raises(ReplayError):
        await call(Desk(journal, replay=True), late, "a")


async def test_closing_waits_for_nothing_without_grace_or_calls(desk: Desk) -> None:
    async with asyncio.timeout(5):
        await desk.close(grace=100)
        waiting = asyncio.create_task(call(desk, Model(gate=asyncio.Event()), "a"))
        await settle()
        await desk.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_answer_that_cannot_be_recorded_reaches_no_caller(journal: Journal, desk: Desk) -> None:
    journal._db.execute("PRAGMA query_only = 1")
    with pytest.raises(JournalError):
        await call(desk, Model(), "a")


@pytest.mark.parametrize("trouble", ["recording", "client"])
async def test_trouble_that_nobody_waited_for_is_told_at_the_end(journal: Journal, desk: Desk, trouble: str) -> None:
    gate = asyncio.Event()
    broken = trouble == "client"
    model = Model(lambda _: KeyError("a client's own mistake") if broken else "yes", gate=gate)
    only = asyncio.create_task(call(desk, model, "a"))
    await settle()
    only.cancel()
    await settle()
    if not broken:
        journal._db.execute("PRAGMA query_only = 1")
    gate.set()
    with pytest.raises(KeyError if broken else JournalError):
        await desk.close(grace=30)


async def test_a_model_out_of_reach_is_no_trouble_at_the_end(desk: Desk) -> None:
    """Nothing that was paid for is lost by it, and the run's own end must not be hidden."""
    gate = asyncio.Event()
    model = Model(lambda _: failure(ErrorKind.AUTH), gate=gate)
    only = asyncio.create_task(call(desk, model, "a"))
    await settle()
    only.cancel()
    gate.set()
    await desk.close(grace=30)
    assert only.cancelled()


# --- replay -----------------------------------------------------------------------------------------------------------


async def test_a_replay_calls_nobody(journal: Journal) -> None:
    model = Model()
    made = await call(Desk(journal), model, "a")
    replay = Desk(journal, replay=True)
    assert await call(replay, model, "a") == made
    with pytest.raises(ReplayError, match="job 3 asks small for a call that the journal does not hold"):
        await call(replay, model, "b", job=3)
    assert len(model.asked) == 1


# --- lines ------------------------------------------------------------------------------------------------------------


async def test_a_line_remembers_each_call_once_and_each_use(desk: Desk) -> None:
    model = Model()
    line, other = Caller(desk, model, 1, "task"), Caller(desk, model, 2, "task")
    for text in ("a", "a", "b"):
        await line.complete(ask(text))
    await other.complete(ask("a"))
    assert (len(line.used), line.uses, len(other.used), other.uses) == (2, 3, 1, 1)
    assert other.used.items() <= line.used.items()
    assert sum(line.used.values(), Usage()).input_tokens == 2
    assert len(model.asked) == 2


async def test_a_line_raises_failures_and_does_not_count_them(desk: Desk) -> None:
    line = Caller(desk, Model(in_turn(failure(), "yes")), 1, "task")
    for _ in range(2):
        with pytest.raises(ModelError):
            await line.complete(ask("a"))
    assert (line.used, line.uses) == ({}, 0)
    await line.complete(ask("b"))
    assert line.uses == 1


async def test_a_line_is_its_client_but_closes_nothing(desk: Desk) -> None:
    model = Model(name="haiku")
    line = Caller(desk, model, 1, "task")
    assert (line.model, line.identity, line.capabilities) == ("haiku", model.identity, Capabilities(seed=True))
    assert line.ceiling(ask("a")) == model.ceiling(ask("a"))
    await line.close()
    assert not model.closed


async def test_closing_waits_for_no_model_that_is_out_of_reach(desk: Desk) -> None:
    gate = asyncio.Event()
    stuck = Model(name="down", gate=gate)
    waiting = asyncio.create_task(call(desk, stuck, "waits"))
    await asyncio.sleep(0.01)
    with pytest.raises(ProviderError):
        await call(desk, Model(in_turn(failure(ErrorKind.AUTH)), name="down"), "refused")
    start = time.monotonic()
    await desk.close(grace=5)
    assert time.monotonic() - start < 1
    with pytest.raises(asyncio.CancelledError):
        await waiting
