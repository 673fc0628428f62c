"""The desk: where every paid call passes, is answered from the journal if it can be, and recorded before it takes effect."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, ErrorKind, ModelClient, ModelError, Request
from adapters.digest import Json, canonical, digest
from optimizer.errors import ProviderError, ReplayError
from optimizer.journal import Journal

CONTENT = frozenset({ErrorKind.CONTENT_FILTER, ErrorKind.CONTEXT_LENGTH})
"""Failures that the request itself is the cause of: they say nothing against the provider."""

PATIENCE = {ErrorKind.AUTH: 1, ErrorKind.BAD_REQUEST: 3}
COLD_PATIENCE, WARM_PATIENCE = 3, 8
"""Failed calls in a row, each already tried again by its client, after which a model counts as out of reach: fewer while it has
never answered."""


class Desk:
    """Shared by all jobs. Equal calls that are under way at the same time are made once."""

    def __init__(self, journal: Journal, *, replay: bool = False) -> None:
        self._journal, self._replay = journal, replay
        self._under_way: dict[str, asyncio.Task[Completion | ModelError]] = {}
        self._in_a_row: Counter[str] = Counter()
        self._answered: set[str] = set()

    async def call(self, client: ModelClient, request: Request, job: int, role: str) -> tuple[str, Completion | ModelError]:
        """The call's key, and its outcome. ProviderError when the model is out of reach."""
        key = digest(dict(client.identity), request.content, length=32)
        recorded = self._journal.call(key)
        if recorded is not None:
            return key, recorded
        if self._replay:
            raise ReplayError(f"job {job} asks {client.model} for a call that the journal does not hold ({role} {key[:8]})")
        if key not in self._under_way:
            self._under_way[key] = asyncio.create_task(self._send(key, client, request, job, role))
        return key, await asyncio.shield(self._under_way[key])

    async def close(self, grace: float = 0.0) -> None:
        """Give the calls under way `grace` seconds to arrive, since they are paid for; then drop the rest."""
        tasks = list(self._under_way.values())
        if tasks and grace:
            await asyncio.wait(tasks, timeout=grace)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, key: str, client: ModelClient, request: Request, job: int, role: str) -> Completion | ModelError:
        outcome: Completion | ModelError
        try:
            outcome = await client.complete(request)
        except ModelError as error:
            outcome = error
            self._count(client.model, error)
        else:
            self._in_a_row[client.model] = 0
            self._answered.add(client.model)
        self._journal.record_call(key, job, role, client.model, canonical(request.content), outcome)
        del self._under_way[key]
        return outcome

    def _count(self, model: str, error: ModelError) -> None:
        if error.kind in CONTENT:
            return
        self._in_a_row[model] += 1
        patience = PATIENCE.get(error.kind, WARM_PATIENCE if model in self._answered else COLD_PATIENCE)
        if self._in_a_row[model] >= patience:
            n = self._in_a_row[model]
            times = "a call failed" if n == 1 else f"{n} calls in a row failed"
            raise ProviderError(f"{model} is out of reach: {times}, the last with {error.kind}: {error.message}")


class Line:
    """A model client for one piece of work of one job: it calls through the desk and remembers which calls it used."""

    def __init__(self, desk: Desk, client: ModelClient, job: int, role: str) -> None:
        self._desk, self._client, self._job, self._role = desk, client, job, role
        self.used: dict[str, Usage] = {}
        self.uses = 0

    @property
    def model(self) -> str:
        return self._client.model

    @property
    def identity(self) -> Mapping[str, Json]:
        return self._client.identity

    @property
    def capabilities(self) -> Capabilities:
        return self._client.capabilities

    def ceiling(self, request: Request) -> Usage:
        return self._client.ceiling(request)

    async def complete(self, request: Request) -> Completion:
        key, outcome = await self._desk.call(self._client, request, self._job, self._role)
        if isinstance(outcome, ModelError):
            raise outcome
        self.used[key] = outcome.usage
        self.uses += 1
        return outcome

    async def close(self) -> None:
        """The client belongs to the run, which closes it."""
