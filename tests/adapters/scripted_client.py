"""A model client that does what a test tells it to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, ErrorKind, Message, ModelError, Request
from adapters.digest import Json

ASK = Request((Message("user", "?"),))
ANSWER = Completion("!", "stop", Usage(), 0.0)


class Scripted:
    """Each call runs the next step of its script, and after the last one answers."""

    model = "scripted"
    identity: Mapping[str, Json] = {"model": "scripted"}
    capabilities = Capabilities(seed=True)

    def __init__(self, *script: ModelError | Callable[[], Awaitable[None]], seconds: float = 0.0) -> None:
        self._script, self._seconds = list(script), seconds
        self.calls = self.in_flight = self.peak = 0
        self.closed = False

    def ceiling(self, request: Request) -> Usage:
        return Usage(1, 2, 3.0)

    async def complete(self, request: Request) -> Completion:
        self.calls += 1
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(self._seconds)
            if self._script:
                step = self._script.pop(0)
                if isinstance(step, ModelError):
                    raise step
                await step()
            return ANSWER
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        self.closed = True


def failed(kind: ErrorKind = ErrorKind.SERVER_ERROR, retry_after: float | None = None) -> ModelError:
    return ModelError(kind, "scripted", "went wrong", retry_after)
