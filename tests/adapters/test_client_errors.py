"""From what was raised below to a kind, a wait and words that hold no secret."""

import os
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.clients.client import ErrorKind, ModelError
from adapters.clients.errors import LONGEST_MESSAGE, explain, is_unsent, retry_after, scrub
from adapters.clients.litellm import load

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def caused(outer: Exception, cause: BaseException | None = None) -> Exception:
    outer.__cause__ = cause
    return outer


def answered(status: int, headers: dict[str, str] | None = None) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://x")
    return httpx.HTTPStatusError("x", request=request, response=httpx.Response(status, headers=headers, request=request))


class Wrapped(Exception):
    """As LiteLLM's own classes: with a status that may be made up."""

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ErrorKind.BAD_REQUEST),
        (401, ErrorKind.AUTH),
        (402, ErrorKind.AUTH),
        (403, ErrorKind.AUTH),
        (404, ErrorKind.BAD_REQUEST),
        (408, ErrorKind.TIMEOUT),
        (413, ErrorKind.CONTEXT_LENGTH),
        (422, ErrorKind.BAD_REQUEST),
        (429, ErrorKind.RATE_LIMIT),
        (500, ErrorKind.SERVER_ERROR),
        (502, ErrorKind.SERVER_ERROR),
        (504, ErrorKind.TIMEOUT),
        (529, ErrorKind.SERVER_ERROR),
    ],
)
def test_the_status_that_was_answered_counts(status: int, kind: ErrorKind) -> None:
    assert explain(caused(Wrapped("x", 418), answered(status)), "m", [], None).kind is kind
    assert explain(Wrapped("x", status), "m", [], None).kind is kind


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (httpx.ConnectTimeout("x"), ErrorKind.TIMEOUT),
        (httpx.ReadError("x"), ErrorKind.CONNECTION),
        (httpx.UnsupportedProtocol("x"), ErrorKind.BAD_REQUEST),
        (httpx.InvalidURL("x"), ErrorKind.BAD_REQUEST),
        (ConnectionResetError("x"), ErrorKind.CONNECTION),
        (ModuleNotFoundError("boto3"), ErrorKind.BAD_REQUEST),
        (KeyError("x"), ErrorKind.SERVER_ERROR),
    ],
)
def test_the_cause_counts_more_than_what_it_was_wrapped_in(cause: Exception, kind: ErrorKind) -> None:
    assert explain(caused(Wrapped("x", 500), caused(KeyError("y"), cause)), "m", [], None).kind is kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("AuthenticationError", ErrorKind.AUTH),
        ("PermissionDeniedError", ErrorKind.AUTH),
        ("NotFoundError", ErrorKind.BAD_REQUEST),
        ("BadRequestError", ErrorKind.BAD_REQUEST),
        ("UnsupportedParamsError", ErrorKind.BAD_REQUEST),
        ("UnprocessableEntityError", ErrorKind.BAD_REQUEST),
        ("ContextWindowExceededError", ErrorKind.CONTEXT_LENGTH),
        ("ContentPolicyViolationError", ErrorKind.CONTENT_FILTER),
        ("RateLimitError", ErrorKind.RATE_LIMIT),
        ("Timeout", ErrorKind.TIMEOUT),
        ("APIConnectionError", ErrorKind.CONNECTION),
        ("InternalServerError", ErrorKind.SERVER_ERROR),
        ("ServiceUnavailableError", ErrorKind.SERVER_ERROR),
        ("BadGatewayError", ErrorKind.SERVER_ERROR),
    ],
)
def test_every_class_of_litellm_has_its_kind(name: str, kind: ErrorKind) -> None:
    given_response = {"response": answered(400).response} if name in ("PermissionDeniedError", "UnprocessableEntityError") else {}
    error = getattr(load(), name)(message="so it is", model="m", llm_provider="p", **given_response)
    explained = explain(error, "m", [], "http://x")
    assert explained.kind is kind
    assert explained.message.startswith("so it is")
    assert "http://x" not in explained.message


def test_what_was_refused_before_it_was_sent_is_a_bad_request() -> None:
    assert explain(ValueError("temperature"), "m", [], None).kind is ErrorKind.BAD_REQUEST


def test_the_failure_of_an_earlier_call_is_no_cause() -> None:
    earlier = caused(ModelError(ErrorKind.CONNECTION, "m", "lost"), httpx.ReadError("x"))
    assert explain(caused(Wrapped("x", 500), earlier), "m", [], None).kind is ErrorKind.SERVER_ERROR


def test_whether_anything_was_sent() -> None:
    assert is_unsent(Wrapped("no key", 500))
    assert not is_unsent(caused(Wrapped("x", 500), answered(500)))
    assert not is_unsent(caused(Wrapped("x", 500), httpx.ReadError("x")))


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("litellm.RateLimitError: RateLimitError: OpenAIException - slow down", "slow down"),
        ("litellm.Timeout: Timeout Error: OpenAIException - late", "late"),
        ("litellm.Timeout: AnthropicException Timeout - late", "late"),
        ('litellm.APIError: GeminiException - {"error":\n {}}', '{"error": {}}'),
        ("litellm.APIConnectionError: bad\nTraceback (most recent call last):\n  File x", "bad"),
        ("", "Wrapped"),
    ],
)
def test_words_are_the_provider_s_own(raised: str, told: str) -> None:
    assert explain(Wrapped(raised, 500), "m", [], None).message == told


def test_long_words_are_cut_where_no_secret_is_cut_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_API_KEY", " our-secret\n")
    message = explain(Wrapped("x" * (LONGEST_MESSAGE - 5) + "our-secret" + "x" * 9999, 500), "m", [], None).message
    assert len(message) == LONGEST_MESSAGE
    assert message.endswith("x[OUR…")


def test_the_wait_is_read_from_the_answer() -> None:
    error = caused(Wrapped("x", 429), answered(429, {"Retry-After-Ms": "1500"}))
    assert explain(error, "m", [], None).retry_after == 1.5
    assert explain(Wrapped("x", 429), "m", [], None).retry_after is None


@given(st.floats(min_value=0, max_value=1e6), st.integers(-10_000, 10_000))
def test_waits_in_every_notation(seconds: float, until: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=until), usegmt=True)
    assert retry_after({"retry-after": str(seconds)}, NOW) == seconds
    assert retry_after({"retry-after-ms": str(seconds), "retry-after": "9"}, NOW) == seconds / 1000
    assert retry_after({"retry-after": date}, NOW) == max(0, until)
    assert retry_after({"retry-after": date.removesuffix(" GMT")}, NOW) == max(0, until)


@given(st.text())
def test_no_notation_is_too_strange(text: str) -> None:
    wait = retry_after({"retry-after": text, "retry-after-ms": text}, NOW)
    assert wait is None or wait >= 0


@given(st.text(min_size=6, alphabet=st.characters(codec="ascii", min_codepoint=33)), st.text(), st.text())
def test_a_secret_is_never_told(secret: str, before: str, after: str) -> None:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OUR_API_KEY", secret)
        told = scrub(before + secret + after)
    assert secret not in told or secret in "[OUR_API_KEY]" or secret in before or secret in after


def test_a_short_secret_is_told_of_only_where_its_name_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHORT_KEY", "abc")
    monkeypatch.setenv("PLAIN", "abcdefgh")
    monkeypatch.delenv("ABSENT", raising=False)
    assert scrub("abc abcdefgh") == "abc abcdefgh"
    assert scrub("abc", ["SHORT_KEY", "ABSENT"]) == "[SHORT_KEY]"
    assert "PLAIN" in os.environ
