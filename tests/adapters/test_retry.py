"""Retrying: which failures are tried again, how often and after how long."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_client import ANSWER, ASK, Scripted, failed

from adapters.clients.client import RETRYABLE, ErrorKind, ModelError
from adapters.clients.retry import PATIENCE, OnRetry, Retrying


def retrying(client: Scripted, attempts: int = 4, on_retry: OnRetry | None = None) -> Retrying:
    return Retrying(client, attempts, base=0.001, cap=0.01, on_retry=on_retry)


@pytest.mark.parametrize("kind", ErrorKind)
async def test_only_what_may_pass_is_tried_again(kind: ErrorKind) -> None:
    client = Scripted(failed(kind), failed(kind))
    if kind in RETRYABLE:
        assert await retrying(client).complete(ASK) == ANSWER
        assert client.calls == 3
        return
    with pytest.raises(ModelError) as caught:
        await retrying(client).complete(ASK)
    assert client.calls == 1
    assert "tried" not in caught.value.message


@given(st.integers(1, 6), st.integers(0, 8))
def test_never_more_than_the_attempts(attempts: int, failures: int) -> None:
    client = Scripted(*(failed() for _ in range(failures)))

    async def run() -> None:
        if failures < attempts:
            assert await retrying(client, attempts).complete(ASK) == ANSWER
            return
        with pytest.raises(ModelError) as caught:
            await retrying(client, attempts).complete(ASK)
        assert caught.value.kind is ErrorKind.SERVER_ERROR
        assert attempts == 1 or f"(tried {attempts} times)" in str(caught.value)

    asyncio.run(run())
    assert client.calls == min(attempts, failures + 1)


async def test_the_last_failure_is_the_one_that_is_told() -> None:
    client = Scripted(failed(), failed(ErrorKind.RATE_LIMIT, 0.01), failed(ErrorKind.AUTH))
    with pytest.raises(ModelError, match="auth: went wrong \\(tried 3 times\\)"):
        await retrying(client).complete(ASK)


async def test_the_provider_s_wait_is_kept() -> None:
    waits: list[tuple[str, ErrorKind, float]] = []
    client = Scripted(failed(ErrorKind.RATE_LIMIT, 0.2), failed(ErrorKind.RATE_LIMIT, 0.1))
    start = time.perf_counter()
    await retrying(client, on_retry=lambda *told: waits.append(told)).complete(ASK)
    assert 0.3 <= time.perf_counter() - start < 2
    assert [(model, kind) for model, kind, _ in waits] == [("scripted", ErrorKind.RATE_LIMIT)] * 2
    assert 0.2 <= waits[0][2] <= 0.21
    assert 0.1 <= waits[1][2] <= 0.11


async def test_a_provider_that_has_closed_for_now_is_not_waited_for() -> None:
    client = Scripted(failed(ErrorKind.RATE_LIMIT, PATIENCE + 1))
    with pytest.raises(ModelError) as caught:
        await retrying(client).complete(ASK)
    assert client.calls == 1
    assert caught.value.retry_after == PATIENCE + 1


async def test_waits_grow_and_differ() -> None:
    waits: list[float] = []
    for _ in range(40):
        client = Scripted(failed(), failed(), failed())
        await Retrying(client, 4, base=0.002, cap=0.004, on_retry=lambda m, k, wait: waits.append(wait)).complete(ASK)
    first, later = waits[::3], waits[1::3] + waits[2::3]
    assert 0 <= min(first) < max(first) <= 0.002 < max(later) <= 0.004
    assert len(set(waits)) > 100


async def test_what_is_not_a_failed_call_is_no_reason_to_try_again() -> None:
    async def break_down() -> None:
        raise KeyError("bug")

    client = Scripted(break_down)
    with pytest.raises(KeyError):
        await retrying(client).complete(ASK)
    assert client.calls == 1


async def test_cancelling_ends_the_wait() -> None:
    client = Scripted(failed(ErrorKind.RATE_LIMIT, 60.0))
    task = asyncio.create_task(retrying(client).complete(ASK))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert client.calls == 1


async def test_is_otherwise_the_client_inside() -> None:
    client = Scripted()
    around = retrying(client)
    assert (around.model, around.identity, around.capabilities) == (client.model, client.identity, client.capabilities)
    assert around.ceiling(ASK) == client.ceiling(ASK)
    await around.close()
    assert client.closed
