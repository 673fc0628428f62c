"""The desk: where every paid call passes, is answered from the journal if it can be, and recorded before it takes effect."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from adapters.answer import Usage
from adapters.clients.client import Completion, ErrorKind, ModelClient, ModelError, Request
from adapters.clients.wrapper import Wrapper
from adapters.digest import canonical, digest
from optimizer.errors import ProviderError, ReplayError
from optimizer.journal import Journal

CONTENT = frozenset({ErrorKind.CONTENT_FILTER, ErrorKind.CONTEXT_LENGTH})
"""Failures that the request itself is the cause of: they say nothing against the provider."""

PATIENCE = {ErrorKind.AUTH: 1, ErrorKind.SETUP: 1}
COLD_PATIENCE, WARM_PATIENCE = 3, 8
"""Failed calls in a row, each already tried again by its client, after which a model counts as out of reach: fewer while it has
never answered."""


class Desk:
    """Shared by all jobs. Equal calls that are under way at the same time are made once."""

    def __init__(
        self,
        journal: Journal,
        used: Callable[[str, Usage], None] = lambda *_: None,
        halt: Callable[[ProviderError], None] = lambda _: None,
        *,
        replay: bool = False,
    ) -> None:
        """`used` is told of every answer that is handed out: its call's key and usage. `halt`: of the error that a model is out of reach,
        so that no call is sent after it. `replay`: answer from the journal alone."""
        self._journal, self._used, self._halt, self._replay = journal, used, halt, replay
        self._under_way: dict[str, asyncio.Task[Completion | ModelError]] = {}
        self._source: dict[str, str] = {}
        self._out_of_reach: set[str] = set()
        self._in_a_row: Counter[str] = Counter()
        self._answered: set[str] = set()

    async def call(
        self, client: ModelClient, request: Request, job: int, role: str, repeat: int = 0
    ) -> tuple[str, Completion | ModelError]:
        """The call's key, and its outcome. `repeat`: equal calls with other numbers are other calls. ProviderError when the model is out
        of reach."""
        key = digest(dict(client.identity), request.content, *anew(repeat), length=32)
        outcome = self._journal.call(key)
        if isinstance(outcome, Completion):
            self._answered.add(canonical(dict(client.identity)))
        if outcome is None:
            if self._replay:
                raise ReplayError(f"job {job} asks {client.model} for a call that the journal does not hold ({role} {key[:8]})")
            if key not in self._under_way:
                self._source[key] = canonical(dict(client.identity))
                self._under_way[key] = asyncio.create_task(self._send(key, client, request, job, role))
            outcome = await asyncio.shield(self._under_way[key])
        if isinstance(outcome, ModelError):
            self._journal.share_failure(key, job)
        else:
            self._used(key, outcome.usage)
        return key, outcome

    async def close(self, grace: float = 0.0) -> None:
        """Give the calls under way `grace` seconds to arrive, since they are paid for; then drop the rest, and at once those to a
        model that is out of reach.

        Raises what kept a call from being recorded, for nobody may be left who waited for it.
        """
        tasks = list(self._under_way.values())
        hopeful = [task for key, task in self._under_way.items() if self._source[key] not in self._out_of_reach]
        if hopeful and grace:
            await asyncio.wait(hopeful, timeout=grace)
        for task in tasks:
            task.cancel()
        for end in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(end, Exception) and not isinstance(end, ProviderError):
                raise end

    async def _send(self, key: str, client: ModelClient, request: Request, job: int, role: str) -> Completion | ModelError:
        outcome: Completion | ModelError
        source = self._source[key]
        try:
            answer = await client.complete(request)
        except ModelError as error:
            outcome = ModelError(error.kind, error.model, _encodable(error.message))
            self._count(source, outcome)
        else:
            outcome = replace(answer, text=_encodable(answer.text))
            self._in_a_row[source] = 0
            self._answered.add(source)
        self._journal.record_call(key, job, role, client.model, canonical(request.content), outcome)
        del self._under_way[key], self._source[key]
        return outcome

    def _count(self, source: str, error: ModelError) -> None:
        # A model that has answered before, and finds fault with a request, is not out of reach: the fault is that candidate's.
        if error.kind in CONTENT or (error.kind is ErrorKind.BAD_REQUEST and source in self._answered):
            return
        self._in_a_row[source] += 1
        n = self._in_a_row[source]
        if n >= PATIENCE.get(error.kind, WARM_PATIENCE if source in self._answered else COLD_PATIENCE):
            self._out_of_reach.add(source)
            failed = "a call failed" if n == 1 else f"{n} calls in a row failed, the last"
            cause = ProviderError(f"{error.model} is out of reach: {failed} with {error.kind}: {error.message}")
            self._halt(cause)
            raise cause


def anew(repeat: int) -> tuple[int, ...]:
    """What tells a repeat's digests from those of the first time; nothing for the first time."""
    return (repeat,) if repeat else ()


def _encodable(text: str) -> str:
    """Half a surrogate pair, which a model may be made to write, is no character: nothing could be recorded or sent with it."""
    return text.encode("utf-8", "replace").decode()


class Caller(Wrapper):
    """A model client for one piece of work of one job: it calls through the desk and remembers which calls it used.

    `repeat`: which time the work is done. Every time, all calls are made anew; those with a seed, with another one."""

    def __init__(self, desk: Desk, client: ModelClient, job: int, role: str, repeat: int = 0) -> None:
        super().__init__(client)
        self._desk, self._job, self._role, self._repeat = desk, job, role, repeat
        self.used: dict[str, Usage] = {}
        self.uses = 0

    async def complete(self, request: Request) -> Completion:
        if self._repeat and request.seed is not None:
            request = replace(request, seed=int(digest(request.seed, self._repeat, length=7), 16))
        key, outcome = await self._desk.call(self._client, request, self._job, self._role, self._repeat)
        if isinstance(outcome, ModelError):
            raise outcome
        self.used[key] = outcome.usage
        self.uses += 1
        return outcome

    async def close(self) -> None:
        """The client belongs to the run, which closes it."""
