"""The adapter protocol: how a candidate is run on an example."""

from collections.abc import Iterable
from typing import Protocol

from adapters.answer import TracedAnswer
from adapters.candidate import Candidate
from adapters.clients.client import ModelClient, Request
from adapters.example import Example


class AdapterError(ValueError):
    """A candidate or an example that this adapter cannot run, found before any call. Says which and what to change."""


class Adapter(Protocol):
    """Runs one candidate on one example with one model.

    Every model call goes through the client that is handed in: that is what makes calls journaled, counted and limited.
    An adapter holds no state between runs, so the same arguments and completions give the same traced answer.
    """

    def check(self, candidate: Candidate, examples: Iterable[Example]) -> list[str]:
        """Raises AdapterError where the candidate cannot be run on one of the examples; returns warnings. Calls nothing."""
        ...

    def requests(self, candidate: Candidate, example: Example) -> list[Request]:
        """The requests that running would begin with: what a budget is reserved for."""
        ...

    def placeholders(self, text: str) -> frozenset[str]:
        """The example inputs that a component's text names, which a proposal for that component has to keep."""
        ...

    async def run(self, candidate: Candidate, example: Example, client: ModelClient, seed: int | None = None) -> TracedAnswer:
        """Raises ModelError for a call that failed for reasons outside the content.

        Refusals, cut-off texts, unparsable answers and prompts too long for the model are content: they come back as
        traced answers with a failure kind.
        """
        ...
