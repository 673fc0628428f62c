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


class LlamaClient:
    """A model client for `local/smollm2`; use it in one event loop at a time.

    Each of `servers` runs on one thread, answers one request at a time and loads the model when it is first needed (0.5 s,
    270 MB). At temperature 0, or with the same `seed`, the same request gets the same text whatever was asked before and at
    any concurrency; docs/local-model.md says how that was measured. A request without a seed is sampled with seed 0.
    `timeout`: seconds that the model may work on one request; waiting for a server does not count.
    """

    def __init__(self, *, temperature: float = 0.0, max_tokens: int = 1024, timeout: float = 120.0, servers: int = 2) -> None:
        self.model = MODEL
        self.capabilities = Capabilities(labels=True, json_schema=True, seed=True)
        self.identity: Mapping[str, Json] = {
            "model": MODEL,
            "weights": "SmolLM2-135M-Instruct, Q4_1 as Q8_0",
            "temperature": temperature,
            "max_tokens": max_tokens,
        }
        self._temperature, self._max_tokens, self._timeout = temperature, max_tokens, timeout
        self._slots = [_Slot(LlamaServer()) for _ in range(servers)]
        self._idle = list(self._slots)
        self._waiting: list[_Waiter] = []
        self._pool = ThreadPoolExecutor(servers, thread_name_prefix=MODEL)

    def ceiling(self, request: Request) -> Usage:
        """A token is at least one byte of UTF-8. Loads nothing."""
        sizes = (len(message.content.encode("utf-8", "replace")) + TOKENS_AROUND_A_MESSAGE for message in request.messages)
        return Usage(min(sum(sizes) + TOKENS_AROUND_A_CHAT, CONTEXT), min(self._max_tokens, CONTEXT), 0.0)

    async def complete(self, request: Request) -> Completion:
        body = self._body(request)
        slot = await self._take(request.messages)
        stop = threading.Event()
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, slot.server.answer, body, self._timeout, stop)
        finally:
            # Of use when this task was cancelled: the thread then ends with its next token, and whoever comes next waits for it.
            stop.set()
            self._give_back(slot)

    async def close(self) -> None:
        """Waits for the token that is being made, then frees the models."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        for slot in self._slots:
            slot.server.close()

    def _body(self, request: Request) -> dict[str, Any]:
        return {
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "seed": (request.seed or 0) % 2**32,
            **constraint_body(request.constraint),
        }

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
        slot.last = messages
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


def _shared(one: Sequence[Message], other: Sequence[Message]) -> int:
    """Characters in the messages that both begin with."""
    return sum(len(a.content) for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
