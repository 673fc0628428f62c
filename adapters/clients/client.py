"""The model client protocol, its request and completion, and the kinds of error that a call can end in."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from adapters.answer import Usage
from adapters.digest import Json

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True)
class Labels:
    """The answer is exactly one of `values`."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class JsonSchema:
    """The answer is JSON that fits `schema`."""

    schema: Mapping[str, Json]


Constraint = Labels | JsonSchema


@dataclass(frozen=True)
class Request:
    """One request. Sampling parameters that stay the same for a model belong to its client.

    `seed` tells repeated requests apart: it is part of a call's identity, and is sent to providers that take one.
    """

    messages: tuple[Message, ...]
    constraint: Constraint | None = None
    seed: int | None = None

    @property
    def content(self) -> dict[str, Json]:
        """The request as plain data: what a call is known by, together with its client's identity."""
        messages: list[Json] = [{"role": message.role, "content": message.content} for message in self.messages]
        match self.constraint:
            case None:
                constraint: Json = None
            case Labels(values):
                constraint = {"labels": list(values)}
            case JsonSchema(schema):
                constraint = {"json_schema": dict(schema)}
        return {"messages": messages, "constraint": constraint, "seed": self.seed}


@dataclass(frozen=True)
class Completion:
    """`seconds`: latency of the attempt that was answered. `finish_reason`: `stop`, `length`, `content_filter`, or the
    provider's own word."""

    text: str
    finish_reason: str
    usage: Usage
    seconds: float


class ErrorKind(StrEnum):
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER_ERROR = "server_error"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    CONTENT_FILTER = "content_filter"
    CONTEXT_LENGTH = "context_length"
    UNREADABLE = "unreadable_reply"
    """A model that a scorer asks gave no reply that could be read, also when it was asked again."""
    SETUP = "setup"
    """This machine lacks something that the model needs."""


RETRYABLE = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.TIMEOUT, ErrorKind.CONNECTION, ErrorKind.SERVER_ERROR})


class ModelError(Exception):
    """A call that gave no completion. `retry_after`: seconds that the provider asked to wait, where it did."""

    def __init__(self, kind: ErrorKind, model: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{model}: {kind}: {message}")
        self.kind, self.model, self.message, self.retry_after = kind, model, message, retry_after


@dataclass(frozen=True)
class Capabilities:
    """What a client can have the provider enforce or honour; what it cannot, the adapter checks in the answer."""

    labels: bool = False
    json_schema: bool = False
    seed: bool = False
    exact: bool = False
    """The same messages always get the same answer, whatever the seed. Temperature 0 alone does not make it so: hosted models vary."""


class ModelClient(Protocol):
    """Sends one request to one model and returns one completion, or raises ModelError."""

    @property
    def model(self) -> str:
        """The model's name, for people and in errors."""
        ...

    @property
    def identity(self) -> Mapping[str, Json]:
        """Everything but the request that decides the answer: model, endpoint, sampling parameters. Never a secret."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def ceiling(self, request: Request) -> Usage:
        """The most that answering `request` can use, for reserving budgets; `usd` None where the price is unknown."""
        ...

    async def complete(self, request: Request) -> Completion: ...

    async def close(self) -> None: ...
