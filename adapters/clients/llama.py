"""The embedded model: SmolLM2 run by llama.cpp inside this process."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, Message, Request
from adapters.clients.grammar import constraint_body
from adapters.clients.llama_server import CONTEXT, LlamaServer
from adapters.clients.weights import MODEL
from adapters.digest import Json

TOKENS_AROUND_A_MESSAGE = 8
"""The chat template's marks around a message, and the role."""
TOKENS_AROUND_A_CHAT = 40
"""The system message that the template puts in where there is none, and the mark that asks for the answer."""
MOST_OVERTAKEN = 64
"""A waiting request is passed by at most this many others with a better prefix."""


@dataclass(eq=False)
class _Slot:
    """A server, and the messages that it read last: requests that begin like them are answered faster there."""

    server: LlamaServer
    last: Sequence[Message] = ()


@dataclass(eq=False)
class _Waiter:
    messages: Sequence[Message]
    slot: "asyncio.Future[_Slot]"
    overtaken: int = 0


class LlamaServers:
    """The servers that hold the weights, and who waits for them; clients may share them. Use it in one event loop at a time.

    Each runs on one thread, answers one request at a time and loads the model when it is first needed (0.5 s, 270 MB).
    """

    def __init__(self, number: int = 2) -> None:
        self._slots = [_Slot(LlamaServer()) for _ in range(number)]
        self._idle = list(self._slots)
        self._waiting: list[_Waiter] = []
        self._pool = ThreadPoolExecutor(number, thread_name_prefix=MODEL)

    async def answer(self, messages: Sequence[Message], body: Mapping[str, Any], timeout: float) -> Completion:
        """From the server that has read the most of the messages. Raises ModelError."""
        slot = await self._take(messages)
        stop = threading.Event()
        try:
            body = {**body, "cache_prompt": not _holds(slot.last, messages)}
            slot.last = messages
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, slot.server.answer, body, timeout, stop)
        finally:
            # Of use when this task was cancelled: the thread then ends with its next token, and whoever comes next waits for it.
            stop.set()
            self._give_back(slot)

    async def close(self) -> None:
        """Waits for the token that is being made, then frees the models. Closing again does nothing."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        for slot in self._slots:
            slot.server.close()

    async def _take(self, messages: Sequence[Message]) -> _Slot:
        """The idle server that has read the most of these messages, or the next that is given back."""
        if self._idle:
            slot = max(self._idle, key=lambda idle: _shared(idle.last, messages))
            self._idle.remove(slot)
        else:
            waiter = _Waiter(messages, asyncio.get_running_loop().create_future())
            self._waiting.append(waiter)
            try:
                slot = await waiter.slot
            except asyncio.CancelledError:
                if waiter.slot.done() and not waiter.slot.cancelled():
                    self._give_back(waiter.slot.result())
                raise
        return slot

    def _give_back(self, slot: _Slot) -> None:
        """To the waiting request that shares the most with what the server has just read, the oldest of equals."""
        self._waiting = [waiter for waiter in self._waiting if not waiter.slot.done()]
        if not self._waiting:
            # In front, so that a lone caller does not wake every server.
            self._idle.insert(0, slot)
            return
        chosen = self._waiting[0]
        if chosen.overtaken < MOST_OVERTAKEN:
            chosen = max(self._waiting, key=lambda waiter: _shared(slot.last, waiter.messages))
        for older in takewhile(lambda waiter: waiter is not chosen, self._waiting):
            older.overtaken += 1
        chosen.slot.set_result(slot)


class LlamaClient:
    """A model client for `local/smollm2`.

    At temperature 0, or with the same `seed`, the same request gets the same text whatever was asked before and at any
    concurrency; docs/local-model.md says how that was measured. A request without a seed is sampled with seed 0.
    `timeout`: seconds that the model may work on one request; waiting for a server does not count.
    `servers`: its own where none are given. Clients with other settings but the same prompts gain by sharing them: what one has
    asked, a server has read for all.
    """

    def __init__(
        self, *, temperature: float = 0.0, max_tokens: int = 1024, timeout: float = 120.0, servers: LlamaServers | None = None
    ) -> None:
        self.model = MODEL
        self.capabilities = Capabilities(labels=True, json_schema=True, seed=True, exact=temperature == 0)
        self.identity: Mapping[str, Json] = {
            "model": MODEL,
            "weights": "SmolLM2-135M-Instruct, Q4_1 as Q8_0",
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        self._temperature, self._max_tokens, self._timeout = temperature, max_tokens, timeout
        self._servers = servers or LlamaServers()

    def ceiling(self, request: Request) -> Usage:
        """A token is at least one byte of UTF-8. Loads nothing."""
        sizes = (len(message.content.encode("utf-8", "replace")) + TOKENS_AROUND_A_MESSAGE for message in request.messages)
        return Usage(min(sum(sizes) + TOKENS_AROUND_A_CHAT, CONTEXT), min(self._max_tokens, CONTEXT), 0.0)

    async def complete(self, request: Request) -> Completion:
        return await self._servers.answer(request.messages, self._body(request), self._timeout)

    async def close(self) -> None:
        """Closes the servers too, for all that share them."""
        await self._servers.close()

    def _body(self, request: Request) -> dict[str, Any]:
        return {
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "seed": (request.seed or 0) % 2**32,
            **constraint_body(request.constraint),
        }


def _shared(last: Sequence[Message], messages: Sequence[Message]) -> int:
    """Characters in the messages that a server which read `last` need not read again."""
    if _holds(last, messages):
        return 0
    return sum(len(a.content) for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(last, messages, strict=False)))


def _holds(last: Sequence[Message], messages: Sequence[Message]) -> bool:
    """Whether `last` begins with all of the messages. Then all but one token would be in memory, and llama.cpp reads a single token with
    other kernels, which give other low-order bits: such a prompt is read anew."""
    return tuple(last[: len(messages)]) == tuple(messages)
