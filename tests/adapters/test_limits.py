"""Limited: how many calls are in flight, and that it changes no result."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_client import ANSWER, ASK, Scripted, failed
from standin import Behaviour, Standin

from adapters.clients.client import Completion, ErrorKind, Message, ModelError, Request
from adapters.clients.limits import Limited
from adapters.clients.litellm import LiteLLMClient
from adapters.clients.retry import Retrying


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 12))
def test_no_limit_is_passed_and_all_are_used(most: int, total: int, calls: int) -> None:
    client = Scripted(seconds=0.001)

    async def run() -> None:
        limited = Limited(client, most, asyncio.Semaphore(total))
        assert await asyncio.gather(*(limited.complete(ASK) for _ in range(calls))) == [ANSWER] * calls

    asyncio.run(run())
    assert client.peak == min(most, total, calls)


async def test_a_limit_over_all_models_holds_for_their_sum() -> None:
    total, clients = asyncio.Semaphore(3), [Scripted(seconds=0.01) for _ in range(3)]
    both = 0

    async def watch() -> None:
        nonlocal both
        while True:
            both = max(both, sum(client.in_flight for client in clients))
            await asyncio.sleep(0)

    watcher = asyncio.create_task(watch())
    await asyncio.gather(*(Limited(client, 4, total).complete(ASK) for client in clients * 5))
    watcher.cancel()
    assert both == 3


async def test_a_queue_for_a_slow_model_holds_no_place_of_others() -> None:
    total, slow, fast = asyncio.Semaphore(2), Scripted(seconds=0.2), Scripted()
    queue = Limited(slow, 1, total)
    waiting = [asyncio.create_task(queue.complete(ASK)) for _ in range(5)]
    await asyncio.sleep(0.01)
    await asyncio.wait_for(Limited(fast, 5, total).complete(ASK), 0.1)
    for task in waiting:
        task.cancel()


async def test_no_place_is_held_between_tries() -> None:
    client = Scripted(failed(ErrorKind.SERVER_ERROR, 0.3))
    limited = Limited(client, 1, asyncio.Semaphore(1))
    first = asyncio.create_task(Retrying(limited, 3, base=0.001).complete(ASK))
    await asyncio.sleep(0.05)
    await asyncio.wait_for(limited.complete(ASK), 0.1)
    assert client.calls == 2
    assert not first.done()
    assert await first == ANSWER


async def places(limited: Limited, client: Scripted) -> int:
    """How many calls it lets through at once. Asks with calls that are cancelled, so that nothing changes."""
    before = client.in_flight
    tasks = [asyncio.create_task(limited.complete(ASK)) for _ in range(30)]
    await asyncio.sleep(0.02)
    open_ = client.in_flight - before
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return open_


async def test_refusals_take_places_away_and_answers_give_them_back() -> None:
    client = Scripted(*(failed(ErrorKind.RATE_LIMIT) for _ in range(6)), seconds=0.001)
    limited = Limited(client, 8, asyncio.Semaphore(100))
    await asyncio.gather(*(limited.complete(ASK) for _ in range(6)), return_exceptions=True)
    client._seconds = 1.0
    assert await places(limited, client) == 2
    client._seconds = 0.001
    for _ in range(2 + 3):
        await limited.complete(ASK)
    client._seconds = 1.0
    assert await places(limited, client) == 4
    client._seconds = 0.001
    for _ in range(100):
        await limited.complete(ASK)
    client._seconds = 1.0
    assert await places(limited, client) == 8


async def test_one_place_is_always_left() -> None:
    client = Scripted(*(failed(ErrorKind.RATE_LIMIT) for _ in range(20)))
    limited = Limited(client, 3, asyncio.Semaphore(3))
    for _ in range(20):
        with pytest.raises(ModelError):
            await limited.complete(ASK)
    assert await asyncio.wait_for(limited.complete(ASK), 1) == ANSWER


@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind is not ErrorKind.RATE_LIMIT])
async def test_other_failures_and_cancelled_calls_give_their_place_back(kind: ErrorKind) -> None:
    client = Scripted(*(failed(kind) for _ in range(5)))
    limited = Limited(client, 2, asyncio.Semaphore(2))
    for _ in range(5):
        with pytest.raises(ModelError):
            await limited.complete(ASK)
    client._seconds = 1.0
    for _ in range(3):
        assert await places(limited, client) == 2


def requests(count: int) -> list[Request]:
    return [Request((Message("user", f"Parcel {number}: zone?"),)) for number in range(count)]


async def complete_all(standin: Standin, most: int, count: int) -> list[Completion]:
    client = LiteLLMClient("openai/parcel-a", api_base=standin.api_base, api_key_env="STANDIN_KEY", price=(1.0, 4.0))
    around = Retrying(Limited(client, most, asyncio.Semaphore(16)), 6, base=0.01)
    completions = await asyncio.gather(*map(around.complete, requests(count)))
    await client.close()
    return completions


async def test_concurrency_changes_no_result(standin: Standin) -> None:
    faults = Behaviour(latency=0.005, spread=1.0, faults={"rate_limit": 0.1, "server_error": 0.1}, retry_after="0.02")
    found = []
    for most in (1, 16):
        standin.reset(faults)
        found.append([(one.text, one.finish_reason, one.usage) for one in await complete_all(standin, most, 40)])
        assert standin.stats()["peak"] <= most
    assert found[0] == found[1]


async def test_a_limit_set_too_high_costs_a_few_refusals_not_the_run(standin: Standin) -> None:
    standin.reset(Behaviour(slots=2, latency=0.01, retry_after="0.01"))
    await complete_all(standin, 16, 80)
    stats = standin.stats()
    assert stats["answered"] == stats["distinct"] == 80
    assert 0 < stats["statuses"]["429"] < 60
