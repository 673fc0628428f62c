"""A judge for tests: a model client that reads the judge's prompt and says of each trait what it is told to say."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, Request
from adapters.digest import Json

Reply = str | Completion | Exception
Told = Mapping[str, Any]


def said(request: Request, told: Told) -> str:
    """The reply in the form that the prompt asks for. `told`: trait → its value, or all that is said of it."""
    schema = json.loads(request.messages[0].content.splitlines()[-1])
    reply = {}
    for key in schema["properties"]:
        value = told.get(key.partition("_")[2])
        if value is not None:
            reply[key] = {"reason": "so it is", **(value if isinstance(value, dict) else {"value": value})}
    return json.dumps(reply)


class ScriptedJudge:
    """Gives its script's replies one after another, and the last one again and again. It keeps what it was asked."""

    model = "test/judge"

    def __init__(self, *script: Told | Reply | Callable[[Request], Reply], enforces: bool = False, temperature: float = 1.0) -> None:
        self._script = list(script)
        self.capabilities = Capabilities(json_schema=enforces, seed=True)
        self.identity: Mapping[str, Json] = {"model": self.model, "temperature": temperature}
        self.asked: list[Request] = []

    def ceiling(self, request: Request) -> Usage:
        return Usage(sum(len(message.content.encode()) for message in request.messages), 10, 0.0)

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        step = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        reply = said(request, step) if isinstance(step, Mapping) else step(request) if callable(step) else step
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Completion) else Completion(reply, "stop", Usage(1, 1), 0.0)

    async def close(self) -> None:
        """Nothing is open."""
