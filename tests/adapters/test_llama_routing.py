"""Which server answers which request: with servers that are scripted, so that nothing is loaded."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from adapters.answer import Usage
from adapters.clients import llama
from adapters.clients.client import Capabilities, Completion, Message, Request
from adapters.clients.llama import MOST_OVERTAKEN, LlamaClient, LlamaServers
from adapters.clients.llama_server import CONTEXT


class Server:
    """Answers when it is let; the answer is its own number."""

    made: list["Server"]

    def __init__(self) -> None:
        self.number = len(Server.made)
        Server.made.append(self)
        self.asked: list[str] = []
        self.reused: list[bool] = []
        self.let = threading.Semaphore(0)
        self.closed = False

    def answer(self, body: Mapping[str, Any], timeout: float, stop: threading.Event) -> Completion:
        self.asked.append(body["messages"][-1]["content"])
        self.reused.append(body["cache_prompt"])
        while not self.let.acquire(timeout=0.01):
            if stop.is_set():
                break
        return Completion(str(self.number), "stop", Usage(), timeout)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> list[Server]:
    Server.made = []
    monkeypatch.setattr(llama, "LlamaServer", Server)
    return Server.made


def request(prefix: str, text: str) -> Request:
    return Request((Message("system", prefix), Message("user", text)))


async def started(client: LlamaClient, *requests: Request) -> list["asyncio.Task[Completion]"]:
    """Tasks that have all asked for a server, in order."""
    tasks = [asyncio.create_task(client.complete(each)) for each in requests]
    await asyncio.sleep(0.02)
    return tasks


async def test_a_lone_caller_wakes_one_server(servers: list[Server]) -> None:
    client = LlamaClient(servers=LlamaServers(3))
    for server in servers:
        server.let.release(9)
    assert {(await client.complete(request("", str(n)))).text for n in range(4)} == {"0"}
    await client.close()
    assert all(server.closed for server in servers)


async def test_requests_go_where_their_beginning_was_read(servers: list[Server]) -> None:
    client = LlamaClient()
    for server in servers:
        server.let.release(9)
    await asyncio.gather(client.complete(request("one", "a")), client.complete(request("two", "b")))
    for prefix, text, number in (("two", "c", "1"), ("one", "d", "0"), ("one", "e", "0"), ("two", "f", "1")):
        assert (await client.complete(request(prefix, text))).text == number


async def test_clients_share_what_their_servers_have_read(servers: list[Server]) -> None:
    shared = LlamaServers(1)
    steady, warm = LlamaClient(servers=shared), LlamaClient(temperature=0.8, servers=shared)
    asked = [(steady, "one", "a"), (steady, "two", "b"), (warm, "one", "c"), (warm, "two", "d")]
    tasks = [task for client, prefix, text in asked for task in await started(client, request(prefix, text))]
    servers[0].let.release(4)
    await asyncio.gather(*tasks)
    assert servers[0].asked == ["a", "c", "b", "d"]
    await steady.close()
    await warm.close()
    assert servers[0].closed and len(servers) == 1


async def test_a_prompt_that_a_server_holds_whole_is_read_anew_and_rather_elsewhere(servers: list[Server]) -> None:
    shared = LlamaServers(1)
    client = LlamaClient(servers=shared)
    once, longer = request("one", "a"), Request((*request("one", "a").messages, Message("assistant", "x"), Message("user", "b")))
    tasks = await started(client, once, once, longer, once)
    servers[0].let.release(4)
    await asyncio.gather(*tasks)
    assert servers[0].asked == ["a", "b", "a", "a"]
    assert servers[0].reused == [True, True, False, False]


async def test_who_waits_longest_goes_first_unless_another_shares_more(servers: list[Server]) -> None:
    client = LlamaClient(servers=LlamaServers(1))
    tasks = await started(client, request("one", "a"), request("two", "b"), request("one", "c"), request("two", "d"), request("one", "e"))
    servers[0].let.release(5)
    await asyncio.gather(*tasks)
    assert servers[0].asked == ["a", "c", "e", "b", "d"]


async def test_nobody_is_overtaken_for_ever(servers: list[Server]) -> None:
    client = LlamaClient(servers=LlamaServers(1))
    many = [request("one", str(n)) for n in range(MOST_OVERTAKEN + 5)]
    tasks = await started(client, many[0], request("two", "patient"), *many[1:])
    servers[0].let.release(len(tasks))
    await asyncio.gather(*tasks)
    assert servers[0].asked.index("patient") == MOST_OVERTAKEN + 1


@pytest.mark.parametrize("which", [1, 2])
async def test_who_gives_up_waiting_takes_no_server_along(servers: list[Server], which: int) -> None:
    client = LlamaClient(servers=LlamaServers(1))
    tasks = await started(client, *(request("", text) for text in "abc"))
    tasks[which].cancel()
    servers[0].let.release(2)
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(each, asyncio.CancelledError) for each in done] == [n == which for n in range(3)]
    servers[0].let.release()
    assert (await client.complete(request("", "d"))).text == "0"


@pytest.mark.parametrize("steps", range(6))
async def test_a_server_that_was_granted_at_the_moment_of_giving_up_is_handed_on(servers: list[Server], steps: int) -> None:
    client = LlamaClient(servers=LlamaServers(1))
    first, second, third = await started(client, *(request("", text) for text in "abc"))
    first.cancel()
    for _ in range(steps):
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    servers[0].let.release(3)
    assert (await asyncio.wait_for(third, 5)).text == "0"


async def test_a_cancelled_request_stops_its_server(servers: list[Server]) -> None:
    client = LlamaClient(servers=LlamaServers(1))
    (task,) = await started(client, request("", "a"))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await client.close()
    assert servers[0].closed


async def test_the_timeout_is_passed_on(servers: list[Server]) -> None:
    client = LlamaClient(timeout=7.5)
    servers[0].let.release()
    assert (await client.complete(request("", "a"))).seconds == 7.5


def test_a_client_says_what_decides_its_answers() -> None:
    client = LlamaClient(temperature=0.5, max_tokens=9)
    assert client.model == "local/smollm2"
    assert client.capabilities == Capabilities(labels=True, json_schema=True, seed=True)
    assert client.identity != LlamaClient(temperature=0.6, max_tokens=9).identity
    assert client.identity != LlamaClient(temperature=0.5, max_tokens=8).identity
    assert client.identity == LlamaClient(temperature=0.5, max_tokens=9, timeout=1, servers=LlamaServers(1)).identity


def test_the_ceiling_stays_within_the_context() -> None:
    most = LlamaClient(max_tokens=10**6).ceiling(request("x" * 10**6, "é\ud800"))
    assert most == Usage(CONTEXT, CONTEXT, 0.0)
    assert LlamaClient(max_tokens=7).ceiling(Request(())).output_tokens == 7


def test_constructing_loads_nothing() -> None:
    code = (
        "import sys, adapters.clients.llama as m; m.LlamaClient(); print([n for n in ('xllamacpp', 'gguf', 'numpy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
