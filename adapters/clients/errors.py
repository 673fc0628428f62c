"""What goes wrong below LiteLLM, as kinds of error that the rest can act on.

LiteLLM wraps every failure in a class of its own, not always in the same one: a lost connection may come as a server error, a broken
body as a bad request. So the causes behind the error are asked first, and LiteLLM's own class last.
"""

import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from adapters.clients.client import ErrorKind, ModelError

CODES = {
    "content_filter": ErrorKind.CONTENT_FILTER,
    "content_policy_violation": ErrorKind.CONTENT_FILTER,
    "context_length_exceeded": ErrorKind.CONTEXT_LENGTH,
    "insufficient_quota": ErrorKind.AUTH,
}
"""An error code in the provider's answer; quota that is used up comes with the status of a rate limit, but waiting does not help."""

DETECTED = {
    "ContentPolicyViolationError": ErrorKind.CONTENT_FILTER,
    "ContextWindowExceededError": ErrorKind.CONTEXT_LENGTH,
}
"""Classes that LiteLLM picks from the wording of many providers."""

STATUSES = {
    401: ErrorKind.AUTH,
    402: ErrorKind.AUTH,
    403: ErrorKind.AUTH,
    408: ErrorKind.TIMEOUT,
    413: ErrorKind.CONTEXT_LENGTH,
    429: ErrorKind.RATE_LIMIT,
    504: ErrorKind.TIMEOUT,
}

CAUSES = {
    "TimeoutException": ErrorKind.TIMEOUT,
    "TimeoutError": ErrorKind.TIMEOUT,
    "InvalidURL": ErrorKind.BAD_REQUEST,
    "UnsupportedProtocol": ErrorKind.BAD_REQUEST,
    "NonHttpUrlClientError": ErrorKind.BAD_REQUEST,
    "TransportError": ErrorKind.CONNECTION,
    "ClientConnectionError": ErrorKind.CONNECTION,
    "ConnectionError": ErrorKind.CONNECTION,
    "JSONDecodeError": ErrorKind.SERVER_ERROR,
    "ImportError": ErrorKind.BAD_REQUEST,
}
"""The name of a class anywhere among the causes, or of one of its bases (httpx, aiohttp, json, builtins)."""

CLASSES = {
    "APITimeoutError": ErrorKind.TIMEOUT,
    "APIConnectionError": ErrorKind.CONNECTION,
    "AuthenticationError": ErrorKind.AUTH,
    "PermissionDeniedError": ErrorKind.AUTH,
    "PaymentRequiredError": ErrorKind.AUTH,
    "RateLimitError": ErrorKind.RATE_LIMIT,
    "BadRequestError": ErrorKind.BAD_REQUEST,
    "NotFoundError": ErrorKind.BAD_REQUEST,
    "UnprocessableEntityError": ErrorKind.BAD_REQUEST,
}
"""The name of a class among the causes that says less, or of one of its bases (LiteLLM, openai)."""

UNREACHED = frozenset(
    {"InvalidURL", "UnsupportedProtocol", "NonHttpUrlClientError", "TransportError", "ClientConnectionError", "ConnectionError"}
)
"""The names among them that put the address in doubt."""

UNTOLD = frozenset({ErrorKind.CONNECTION, ErrorKind.BAD_REQUEST})
"""Kinds of cause that LiteLLM's message says nothing of."""

LITELLM_PREFIX = re.compile(r"^(litellm\.)?(\w*(Error|Timeout|Exception)( Error)?: (litellm\.)?)*(\w+(Exception|Error)( Timeout)? - )?")
SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
SHORTEST_SECRET = 6
LONGEST_MESSAGE = 500


def explain(error: BaseException, model: str, key_variables: Sequence[str], address: str | None) -> ModelError:
    """The ModelError for what LiteLLM raised. `key_variables`: where the key was looked for; `address`: where the call went."""
    causes = list(_causes(error))
    kind, status = _kind(causes), _status(causes)
    text = _cut(scrub(_text(causes), key_variables)).removesuffix(".")
    if kind is ErrorKind.AUTH:
        where = " or ".join(key_variables) or "the provider's usual environment variable"
        text = f"{text}; check the key in {where}"
    elif address is not None and kind in UNTOLD and _has_cause(causes, UNREACHED):
        text = f"{text}; is {address} the right address, and does a server answer there?"
    elif status == 404:
        text = f"{text}; check the model's name and api_base"
    return ModelError(kind, model, text, _retry_after(causes))


def is_unsent(error: BaseException) -> bool:
    """Whether nothing tells of a request on its way or of an answer, as where there is no key to send one with."""
    causes = list(_causes(error))
    return _status(causes) is None and _named(causes, CAUSES) is None


def scrub(text: str, key_variables: Sequence[str] = ()) -> str:
    """The text with the value of every environment variable that sounds like a secret replaced by the variable's name."""
    values = {name: value.strip() for name, value in os.environ.items()}
    secrets = {value: name for name, value in values.items() if len(value) >= SHORTEST_SECRET and SECRET_NAME.search(name)}
    secrets.update({values[name]: name for name in key_variables if values.get(name)})
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, f"[{secrets[value]}]")
    return text


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a provider asks to wait; None where it says nothing that can be read. `headers` have names in lower case."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        until = parsedate_to_datetime(value or "")
    except ValueError:
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from. A ModelError belongs to an earlier call, whose failure is being handled."""
    while error is not None and not isinstance(error, ModelError):
        yield error
        error = error.__cause__ or error.__context__


def _names(error: BaseException) -> list[str]:
    return [cls.__name__ for cls in type(error).__mro__]


def _has_cause(causes: Sequence[BaseException], names: Collection[str]) -> bool:
    return any(name in names for cause in causes for name in _names(cause))


def _status(causes: Sequence[BaseException]) -> int | None:
    """The status of the provider's answer. LiteLLM's own errors have made-up ones, which count only where no answer came."""
    for cause in causes:
        if "HTTPStatusError" in _names(cause):
            return int(cause.response.status_code)  # type: ignore[attr-defined]
    return None


def _kind(causes: Sequence[BaseException]) -> ErrorKind:
    for cause in causes:
        if (kind := CODES.get(str(getattr(cause, "code", None)))) is not None:
            return kind
    if (kind := _named(causes[:1], DETECTED)) is not None:
        return kind
    status = _status(causes)
    if status is None:
        if (kind := _named(causes, CAUSES) or _named(causes, CLASSES)) is not None:
            return kind
        status = int(getattr(causes[0], "status_code", 400))  # without one, it was refused before it was sent
    return STATUSES.get(status, ErrorKind.BAD_REQUEST if 400 <= status < 500 else ErrorKind.SERVER_ERROR)


def _named(causes: Sequence[BaseException], table: Mapping[str, ErrorKind]) -> ErrorKind | None:
    return next((table[name] for cause in causes for name in _names(cause) if name in table), None)


def _retry_after(causes: Sequence[BaseException]) -> float | None:
    for cause in causes:
        if "HTTPStatusError" in _names(cause):
            return retry_after(cause.response.headers, datetime.now(UTC))  # type: ignore[attr-defined]
    return None


def _text(causes: Sequence[BaseException]) -> str:
    """What the provider said, on one line, without the class names that LiteLLM puts before it."""
    said = next((cause for cause in causes if _named([cause], CAUSES) in UNTOLD), causes[0])
    text = str(said).partition("Traceback (most recent call last)")[0]
    text = LITELLM_PREFIX.sub("", text)
    text = re.sub(r" ssl:(<.*?>|\w+)", "", text)
    if _has_cause(causes, {"JSONDecodeError"}):
        text = f"the answer is not the JSON that it should be ({text})"
    return " ".join(text.split()) or type(said).__name__


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
