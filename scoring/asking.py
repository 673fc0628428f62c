"""Asking a model for one JSON object about what others wrote: marks around their texts, and a second try for a reply that cannot be
read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adapters.clients.client import Completion, JsonSchema, Message, ModelClient, Request
from adapters.constraint import Check, UnfitError, checker
from adapters.digest import Json, digest

MOST_REPLY_BYTES, MOST_PROBLEM_BYTES = 2_000, 500
"""Of an unreadable reply, and of what is wrong with it, when the model is asked again."""

CUT = "\n[… {left_out} bytes are left out here …]\n"
ROOM_FOR_CUT = 64
"""Bytes that CUT takes at most."""

COMPLAINT = "That cannot be read: {problem}. Reply again, with the one JSON object and nothing else."


class ReplyError(ValueError):
    """Two replies without the object. Says what is wrong with the second."""


@dataclass(frozen=True)
class Asking:
    """`who`: what the model is in messages, such as `judge`; `keys`: of these the object holds one at least."""

    client: ModelClient
    who: str
    keys: tuple[str, ...]

    async def ask(self, request: Request) -> Mapping[str, Any]:
        """The object in the reply, which is asked for once more where there is none. One key that is amiss does not spoil the others, so
        nothing else is checked. Raises ModelError where the model could not be asked, ReplyError."""
        completion = await self.client.complete(self._enforced(request))
        try:
            return self._object(completion)
        except UnfitError as error:
            request = _again(request, completion.text, str(error))
        try:
            return self._object(await self.client.complete(self._enforced(request)))
        except UnfitError as error:
            raise ReplyError(f"the {self.who}'s reply cannot be read: {error}") from None

    def _enforced(self, request: Request) -> Request:
        """The format stands in the prompt, and the client is given it only where it can enforce it."""
        return request if self.client.capabilities.json_schema else Request(request.messages, None, request.seed)

    def _object(self, completion: Completion) -> Mapping[str, Any]:
        """Raises UnfitError."""
        try:
            said: Mapping[str, Any] = self._check(completion.text)
        except UnfitError as error:
            hint = f"; it was cut off, raise the {self.who}'s max_tokens" if completion.finish_reason == "length" else ""
            raise UnfitError(f"{error}{hint}") from None
        if not said.keys() & set(self.keys):
            raise UnfitError(f"it has none of the keys {', '.join(self.keys)}")
        return said

    @cached_property
    def _check(self) -> Check:
        return checker(JsonSchema({"type": "object"}))


def most(request: Request) -> list[Request]:
    """All that asking can send, at its largest."""
    return [request, _again(request, "x" * MOST_REPLY_BYTES, "x" * MOST_PROBLEM_BYTES)]


def marked(parts: Mapping[str, str]) -> str:
    """Each part between two lines with a mark. The mark is a hash of the parts, so that nothing in them can hold it."""
    mark = digest(parts)
    blocks = [f"{mark} begins: {name}\n{text}\n{mark} ends: {name}" for name, text in parts.items()]
    return "\n\n".join([f"The mark is {mark}.", *blocks])


def cut(text: str, limit: int) -> str:
    """The text in at most `limit` bytes: its beginning and its end, where it is longer."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    half = (limit - ROOM_FOR_CUT) // 2
    note = CUT.format(left_out=len(data) - 2 * half)
    return data[:half].decode(errors="ignore") + note + data[-half:].decode(errors="ignore")


def cuts(text: str, limit: int) -> bool:
    """Whether `cut` leaves something out."""
    return len(text.encode("utf-8", "replace")) > limit


def closed(properties: Mapping[str, Json]) -> dict[str, Json]:
    """The JSON schema of an object with just these properties: strict enough for providers to enforce it."""
    return {"type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False}


def _again(request: Request, reply: str, problem: str) -> Request:
    reply = cut(reply, MOST_REPLY_BYTES) or "(nothing)"  # providers refuse messages that are empty
    complaint = COMPLAINT.format(problem=cut(problem, MOST_PROBLEM_BYTES))
    return Request((*request.messages, Message("assistant", reply), Message("user", complaint)), request.constraint, request.seed)
