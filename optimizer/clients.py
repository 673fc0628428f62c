"""The model clients of a run: one for each endpoint of the config, with its retries and its limits."""

import asyncio
from typing import TYPE_CHECKING, Literal

from adapters.clients.client import ModelClient
from adapters.clients.limits import Limited
from adapters.clients.litellm import LiteLLMClient
from adapters.clients.retry import OnRetry, Retrying
from adapters.nearest import nearest
from optimizer.config import Endpoint
from optimizer.errors import PlacedError

if TYPE_CHECKING:
    from adapters.clients.llama import LlamaServers

LOCAL = "local/"
EMBEDDED = ("local/smollm2",)
OF_HOSTED = ("api_base", "api_key_env", "price", "params")
"""Settings that an embedded model has no use for."""


class Door(asyncio.Semaphore):
    """Lets so many calls through at a time, and none once it is shut: those that wait for it end as their turn comes, with what it was
    shut for, or cancelled."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self._shut_for: BaseException | None = None

    def shut(self, cause: BaseException) -> None:
        self._shut_for = self._shut_for or cause

    async def acquire(self) -> Literal[True]:
        await super().acquire()
        if self._shut_for is not None:
            self.release()
            raise self._shut_for
        return True


class Clients:
    """Makes them, and closes all that it made. Nothing is sent before the first request."""

    def __init__(self, concurrency: int, on_retry: OnRetry | None = None) -> None:
        self._concurrency, self._on_retry = concurrency, on_retry
        self._total = Door(concurrency)
        self._servers: LlamaServers | None = None
        self.made: dict[str, ModelClient] = {}
        """Place in the config → client."""
        self.missing_keys: dict[str, None] = {}
        """The environment variables that have no key in them, and a client needs one."""

    def make(self, endpoint: Endpoint, place: str) -> ModelClient:
        """The client for an endpoint. PlacedError where there is none for it."""
        client = Retrying(
            Limited(self._bare(endpoint, place), endpoint.concurrency or self._concurrency, self._total),
            endpoint.attempts,
            on_retry=self._on_retry,
        )
        self.made[place] = client
        return client

    def shut(self, cause: BaseException) -> None:
        """From now on nothing is sent: calls that wait for their turn end with the cause. What is under way may still arrive."""
        self._total.shut(cause)

    async def close(self) -> None:
        for client in self.made.values():
            await client.close()

    def _bare(self, endpoint: Endpoint, place: str) -> ModelClient:
        if not endpoint.model.startswith(LOCAL):
            hosted = _hosted(endpoint, place)
            if (name := hosted.missing_key) is not None:
                self.missing_keys[name] = None
            return hosted
        if endpoint.model not in EMBEDDED:
            raise PlacedError(place, f"there is no embedded model {endpoint.model!r}{nearest(endpoint.model, EMBEDDED)}")
        useless = next((name for name in OF_HOSTED if getattr(endpoint, name)), None)
        if useless is not None:
            raise PlacedError(place, f"{useless} is for hosted models, and {endpoint.model} is embedded; remove it")
        from adapters.clients.llama import LlamaClient, LlamaServers  # noqa: PLC0415

        # Models that differ in their settings only meet the same prompts: with the same servers, each is read once.
        self._servers = self._servers or LlamaServers()
        return LlamaClient(
            temperature=endpoint.temperature, max_tokens=endpoint.max_tokens, timeout=endpoint.timeout, servers=self._servers
        )


def _hosted(endpoint: Endpoint, place: str) -> LiteLLMClient:
    try:
        client = LiteLLMClient(
            endpoint.model,
            temperature=endpoint.temperature,
            max_tokens=endpoint.max_tokens,
            api_base=endpoint.api_base,
            api_key_env=endpoint.api_key_env,
            timeout=endpoint.timeout,
            price=None if endpoint.price is None else (endpoint.price.input, endpoint.price.output),
            params=endpoint.params,
        )
        client.check()
    except ValueError as error:
        raise PlacedError(place, str(error)) from None
    return client
