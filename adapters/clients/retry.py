"""Retrying: tries a call again when its failure may pass."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import cast

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from adapters.clients.client import RETRYABLE, Completion, ErrorKind, ModelClient, ModelError, Request
from adapters.clients.wrapper import Wrapper

PATIENCE = 120.0
"""Seconds. A provider that asks to wait longer has closed for now: the call fails at once."""

OnRetry = Callable[[str, ErrorKind, float], None]
"""Told before each wait: the model, why the attempt failed, the seconds until the next."""


class Retrying(Wrapper):
    """Up to `attempts` tries (the first included) of each call, for the kinds in RETRYABLE.

    Between tries it waits a random time below `base` · 2ⁿ seconds, at most `cap`, so that calls that failed together do not come back
    together; where the provider said how long to wait, that time comes on top. Put it around Limited, not inside: a call that waits
    must not hold a place that another could use. The ModelError that is raised in the end is the last attempt's and tells how many
    there were.
    """

    def __init__(
        self, client: ModelClient, attempts: int, *, base: float = 0.5, cap: float = 30.0, on_retry: OnRetry | None = None
    ) -> None:
        super().__init__(client)
        self._attempts = attempts
        self._jitter = wait_random_exponential(multiplier=base, max=cap)
        self._on_retry = on_retry

    async def complete(self, request: Request) -> Completion:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._attempts),
            retry=retry_if_exception(_may_pass),
            wait=self._wait,
            before_sleep=self._tell,
            reraise=True,
        )
        try:
            return await retrying(self._client.complete, request)
        except ModelError as error:
            made = retrying.statistics["attempt_number"]
            if made == 1:
                raise
            raise ModelError(error.kind, error.model, f"{error.message} (tried {made} times)", error.retry_after) from None

    def _wait(self, state: RetryCallState) -> float:
        return self._jitter(state) + (_failure(state).retry_after or 0.0)

    def _tell(self, state: RetryCallState) -> None:
        if self._on_retry is not None:
            self._on_retry(self.model, _failure(state).kind, state.upcoming_sleep)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, ModelError) and error.kind in RETRYABLE and (error.retry_after or 0.0) <= PATIENCE


def _failure(state: RetryCallState) -> ModelError:
    """The failure that is being waited after: `_may_pass` has seen to its type."""
    return cast(ModelError, cast("Future[Completion]", state.outcome).exception())
