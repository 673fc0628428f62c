"""Small parts that tests of the search are put together from."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence

from adapters.answer import TracedAnswer, Usage
from adapters.candidate import Candidate
from adapters.clients.client import Capabilities, Completion, ErrorKind, Message, ModelClient, ModelError, Request
from adapters.digest import Json
from adapters.example import Example
from optimizer.budget import Used
from optimizer.desk import Caller, Desk
from optimizer.evaluate import Cell
from optimizer.propose.proposer import Other, Task
from scoring.score import Score

Reply = str | Completion | Exception
USD_PER_TOKEN = 0.001


class Model:
    """A model client that answers with what `answer` makes of the request; it keeps what it was asked.

    A token is a byte, so `ceiling` is exact about requests. While `gate` is given and not set, calls stay under way.
    """

    def __init__(
        self,
        answer: Callable[[Request], Reply] = lambda _: "yes",
        *,
        name: str = "small",
        max_tokens: int = 100,
        priced: bool = True,
        gate: asyncio.Event | None = None,
        where: str | None = None,
    ) -> None:
        self._answer, self.model, self._max_tokens, self._priced, self._gate, self._where = answer, name, max_tokens, priced, gate, where
        self.asked: list[Request] = []
        self.closed = False

    @property
    def identity(self) -> Mapping[str, Json]:
        return {"model": self.model, "where": self._where}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(seed=True)

    def ceiling(self, request: Request) -> Usage:
        return self._usage(request, self._max_tokens)

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        await (self._gate.wait() if self._gate else asyncio.sleep(0))
        reply = self._answer(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        return Completion(reply, "stop", self._usage(request, len(reply.encode("utf-8", "replace"))), 0.25)

    async def close(self) -> None:
        self.closed = True

    def _usage(self, request: Request, output: int) -> Usage:
        size = sum(len(message.content.encode()) for message in request.messages)
        return Usage(size, output, (size + output) * USD_PER_TOKEN if self._priced else None)


def in_turn(*replies: Reply) -> Callable[[Request], Reply]:
    """The replies one after another, whatever is asked."""
    left = iter(replies)
    return lambda _: next(left)


def failure(kind: ErrorKind = ErrorKind.TIMEOUT, message: str = "no answer", model: str = "small") -> ModelError:
    return ModelError(kind, model, message)


def ask(text: str, seed: int | None = None) -> Request:
    return Request((Message("user", text),), seed=seed)


def example(name: str, expected: object = "yes", **inputs: object) -> Example:
    return Example(name, inputs or {"text": f"text of {name}"}, expected)


def examples(n: int) -> list[Example]:
    return [example(f"e{index}") for index in range(n)]


def candidate(text: str = "Say yes.", **others: str) -> Candidate:
    return Candidate({"instructions": text, **others})


def cell(
    example: Example,
    values: Mapping[str, float] | float | None = 1.0,
    *,
    who: str = "c",
    model: str = "small",
    text: str = "yes",
    feedback: str = "",
    discreet: str | None = None,
    correct: bool | None = None,
) -> Cell:
    """A scored cell; `values` as a number stands for the dimension `template`, and None for a cell that failed."""
    used = Used(1, {}, 0)
    if values is None:
        return Cell(who, example, model, None, None, "timeout", used)
    scores = values if isinstance(values, Mapping) else {"template": values}
    return Cell(who, example, model, TracedAnswer(text), Score(scores, correct, feedback=feedback, discreet=discreet), None, used)


def task(
    parent: Candidate,
    *,
    cells: Sequence[Cell] = (),
    others: Sequence[Other] = (),
    problem: Callable[[Candidate], str | None] = lambda _: None,
    desk: Desk | None = None,
    seed: int = 0,
) -> Task:
    """One job's task for a proposer; `desk` where it is to call a model."""

    def caller(client: ModelClient) -> Caller:
        if desk is None:
            raise TypeError("this task has no desk to call from")
        return Caller(desk, client, 1, "reflection")

    return Task(parent, cells, others, problem, caller, random.Random(seed))
