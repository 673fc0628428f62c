"""Limited: how many calls are in flight."""

import asyncio

from adapters.clients.client import Completion, ErrorKind, ModelClient, ModelError, Request
from adapters.clients.wrapper import Wrapper


class Limited(Wrapper):
    """At most `most` calls in flight to this model, and over all models as many as `total` lets through.

    A provider that says "too many" is believed: the place of the refused call is taken away, down to one, and given back place by place
    while calls are answered. So a limit that is set too high costs a few refusals, not every call's attempts. A model's own place is
    taken before one of `total`, so that a queue for a slow model never holds places that other models could use.
    """

    def __init__(self, client: ModelClient, most: int, total: asyncio.Semaphore) -> None:
        super().__init__(client)
        self._most = self._open = most
        self._places = asyncio.Semaphore(most)
        self._total = total
        self._answered = 0

    async def complete(self, request: Request) -> Completion:
        refused = False
        await self._places.acquire()
        try:
            async with self._total:
                completion = await self._client.complete(request)
            self._widen()
            return completion
        except ModelError as error:
            refused = error.kind is ErrorKind.RATE_LIMIT
            raise
        finally:
            self._leave(refused)

    def _leave(self, refused: bool) -> None:
        if refused:
            self._answered = 0
        if refused and self._open > 1:
            self._open -= 1
        else:
            self._places.release()

    def _widen(self) -> None:
        """One place more after as many answers as there are places."""
        self._answered += 1
        if self._open < self._most and self._answered >= self._open:
            self._open += 1
            self._answered = 0
            self._places.release()
