"""Wrapper: a model client around another."""

from collections.abc import Mapping

from adapters.answer import Usage
from adapters.clients.client import Capabilities, ModelClient, Request
from adapters.digest import Json


class Wrapper:
    """Is all that the client inside is, but for `complete`: a subclass says how that comes to its completion, never which one it is."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client

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

    async def close(self) -> None:
        await self._client.close()
