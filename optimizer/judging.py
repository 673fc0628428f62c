"""Models that scorers ask: their calls pass the desk like all others, and belong to the cell whose answer is being scored."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from adapters.answer import Usage
from adapters.clients.client import Completion, Request
from adapters.clients.wrapper import Wrapper
from optimizer.desk import Caller, Desk
from optimizer.errors import PromptfrontError

ROLE = "judge"


class Tab:
    """The calls that scoring one answer has used. `repeat`: of the cell, whose answer is judged anew. `ending`: what the desk raised where
    the whole run has to end, whatever the scorer makes of that."""

    def __init__(self, desk: Desk, job: int, repeat: int) -> None:
        self.desk, self.job, self.repeat = desk, job, repeat
        self.used: dict[str, Usage] = {}
        self.uses = 0
        self.ending: PromptfrontError | None = None

    def add(self, used: dict[str, Usage], uses: int) -> None:
        self.used |= used
        self.uses += uses


_TAB: ContextVar[Tab] = ContextVar("tab")


@contextmanager
def tab(desk: Desk, job: int, repeat: int = 0) -> Iterator[Tab]:
    """Inside, whatever the scorers ask goes on this tab; tasks that they start inherit it."""
    opened = Tab(desk, job, repeat)
    token = _TAB.set(opened)
    try:
        yield opened
    finally:
        _TAB.reset(token)


class ScorerModel(Wrapper):
    """A model client as a scorer is given it: it can be asked while an answer is being scored in a run, and at no other time."""

    async def complete(self, request: Request) -> Completion:
        opened = _TAB.get(None)
        if opened is None:
            raise RuntimeError(f"{self.model} was asked by a scorer outside of a run; a scorer asks its model in `score`")
        caller = Caller(opened.desk, self._client, opened.job, ROLE, opened.repeat)
        try:
            return await caller.complete(request)
        except PromptfrontError as error:
            opened.ending = error
            raise
        finally:
            opened.add(caller.used, caller.uses)

    async def close(self) -> None:
        """The client belongs to the run, which closes it."""
