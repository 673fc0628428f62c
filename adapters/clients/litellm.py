"""LiteLLMClient: any hosted model, or any OpenAI-compatible server, through LiteLLM.

Importing LiteLLM takes seconds, so nothing here does it before it is needed: `load` is the only place.
"""

import asyncio
import gc
import inspect
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from threading import Lock
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from adapters.answer import Usage
from adapters.clients.client import Capabilities, Completion, ErrorKind, JsonSchema, ModelError, Request
from adapters.clients.errors import explain, is_unsent
from adapters.digest import Json, canonical
from adapters.nearest import near

OPENAI_KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""Sent to a server of the user's own where there is no key: most such servers ask for none, and nothing is sent without one."""
MESSAGE_MARGIN = 16
"""Tokens that a provider's chat format adds to one message, at most."""
SCHEMA_MARGIN = 1024
"""Tokens that a provider may add to explain a JSON schema to its model."""
MOST_TOKENS = 10**9
"""A count beyond it is no count."""

RESERVED = frozenset(
    (
        *("model", "messages", "temperature", "max_tokens", "max_completion_tokens", "seed", "n", "stream"),
        *("api_key", "api_base", "base_url", "timeout", "max_retries", "num_retries", "drop_params", "fallbacks", "cache", "mock_response"),
    )
)
"""Parameters that have a place of their own, or would break the promise of one request, one completion."""


_LOADING = Lock()


def load() -> ModuleType:
    """LiteLLM, imported and quiet: no price list from the network, no `.env` read, no advertisements, nothing logged but errors.

    Takes 2 to 9 seconds the first time; inside an event loop, await `asyncio.to_thread(load)`.
    """
    with _LOADING:
        return _load()


@cache
def _load() -> ModuleType:
    with _uncollected():
        return _import()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Hardly anything that an import makes is garbage, and looking for some among it takes a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _import() -> ModuleType:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm  # noqa: PLC0415
    import openai.resources.chat  # noqa: F401, PLC0415

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    if "LITELLM_LOG" not in os.environ:
        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    # LiteLLM imports half of itself in its first call. Latency is measured, so that must not be a real one.
    nowhere = {"api_base": "http://localhost:0", "api_key": "none"}
    litellm.completion(model="openai/none", messages=[{"role": "user", "content": "?"}], mock_response="!", **nowhere)
    module: ModuleType = litellm
    return module


def _is_loaded() -> bool:
    return _load.cache_info().currsize > 0


class LiteLLMClient:
    """A model client for LiteLLM's name of a model, such as `anthropic/claude-haiku-4-5`.

    `api_base`: an OpenAI-compatible server (with a model name that begins with `openai/`). `api_key_env`: the environment variable that
    holds the key, read at each call; absent: the provider's usual one, or, for a server, none where that is not set. `timeout`: seconds of
    one attempt. `price`: USD for a million input and output tokens; absent: LiteLLM's list. `params`: further parameters, sent as they
    are. Parameters of this client's own that the model does not take (a temperature, a seed) are left out. ValueError for `params` that
    have another place, and for a password in `api_base`.
    """

    def __init__(
        self,
        model: str,
        *,
        temperature: float = 0.0,
        max_tokens: int = 1024,
        api_base: str | None = None,
        api_key_env: str | None = None,
        timeout: float = 120.0,
        price: tuple[float, float] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self._params = dict(params or {})
        if misplaced := sorted(RESERVED.intersection(self._params)):
            raise ValueError(f"params of {model} may not hold {misplaced[0]!r}: it has a place of its own or is decided by the program")
        if re.search(r"//[^/]*@", api_base or ""):  # the address is a part of every call's identity, and is kept with the run
            raise ValueError("api_base holds a user or a password; put the key into an environment variable and name it in api_key_env")
        self._model, self._temperature, self._max_tokens = model, temperature, max_tokens
        self._api_base, self._api_key_env = api_base, api_key_env
        self._timeout, self._price = timeout, price

    @property
    def model(self) -> str:
        return self._model

    @property
    def identity(self) -> Mapping[str, Json]:
        return {
            "model": self._model,
            "api_base": self._api_base,
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "params": self._params,
        }

    def check(self) -> None:
        """ValueError where LiteLLM knows no such provider. Loads LiteLLM, but for the names of `openai/`, which nobody can check."""
        if self._model.startswith("openai/") or self._supported:
            return
        provider, slash, _ = self._model.partition("/")
        meant = near(provider, (str(getattr(each, "value", each)) for each in load().provider_list)) if slash else None
        hint = f"did you mean {meant}/…?" if meant else "write provider/model, such as anthropic/claude-haiku-4-5."
        raise ValueError(f"LiteLLM knows no provider for {self._model!r}; {hint} A server of your own is openai/NAME, with its api_base")

    @property
    def missing_key(self) -> str | None:
        """The environment variable that has no key in it and should; several in a row, where one of them is enough. None where there may
        be other ways to be let in, as by a role of the machine. Loads LiteLLM, but for `openai/`."""
        missing = self._missing()
        sure = self._api_key_env is not None or all(name.endswith("_API_KEY") for name in missing)
        return " / ".join(missing) if missing and sure else None

    @cached_property
    def capabilities(self) -> Capabilities:
        """Loads LiteLLM."""
        return Capabilities(json_schema=load().supports_response_schema(model=self._model), seed="seed" in self._supported)

    def ceiling(self, request: Request) -> Usage:
        """A byte is a token at most. Loads LiteLLM where no price was given."""
        tokens = sum(len(message.content.encode()) + MESSAGE_MARGIN for message in request.messages) + MESSAGE_MARGIN
        if isinstance(request.constraint, JsonSchema):
            tokens += len(canonical(request.constraint.schema).encode()) + SCHEMA_MARGIN
        return Usage(tokens, self._max_tokens, self._usd(tokens, self._max_tokens))

    async def complete(self, request: Request) -> Completion:
        litellm = load() if _is_loaded() else await asyncio.to_thread(load)
        arguments = self._arguments(request)
        _users().add(self)
        start = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout):
                response = await litellm.acompletion(**arguments)
        except TimeoutError:
            raise ModelError(ErrorKind.TIMEOUT, self._model, f"no answer within {self._timeout:g} s") from None
        except _failures() as error:
            # Without its cause: the provider's words may hold the key, and tracebacks print them.
            raise self._explained(error) from None
        return self._completion(request, response, time.perf_counter() - start)

    async def close(self) -> None:
        """Closes the connections of this event loop once none of its clients needs them."""
        users = _users()
        users.discard(self)
        if not users and _is_loaded():
            await _close_connections()

    @cached_property
    def _supported(self) -> frozenset[str]:
        """OpenAI's names of the parameters that the model takes."""
        return frozenset(load().get_supported_openai_params(model=self._model) or ())

    def _arguments(self, request: Request) -> dict[str, Any]:
        self._check_params()
        arguments: dict[str, Any] = {
            **self._params,
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "api_base": self._api_base,
            "api_key": self._key(),
            "timeout": self._timeout,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
        }
        if request.seed is not None and self.capabilities.seed:
            arguments["seed"] = request.seed
        if isinstance(request.constraint, JsonSchema) and self.capabilities.json_schema:
            schema = dict(request.constraint.schema)
            json_schema = {"name": "answer", "schema": schema, "strict": _is_closed(schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        return arguments

    def _check_params(self) -> None:
        """LiteLLM is told to drop what a model does not take, for the sake of temperature; what the user asked for is never dropped."""
        try:
            self.check()
        except ValueError as error:
            raise ModelError(ErrorKind.BAD_REQUEST, self._model, str(error)) from None
        known = self._supported.union(load().constants.OPENAI_CHAT_COMPLETION_PARAMS)
        if unsupported := sorted(known.intersection(self._params) - self._supported):
            raise ModelError(ErrorKind.BAD_REQUEST, self._model, f"the model does not take {unsupported[0]!r}; remove it from its params")

    def _key(self) -> str | None:
        if self._api_key_env is None:
            return NO_KEY if self._is_of_own_server and not os.environ.get(OPENAI_KEY) else None
        key = os.environ.get(self._api_key_env, "").strip()
        if not key:
            raise self._no_key([self._api_key_env])
        if not (key.isascii() and key.isprintable()):
            message = f"the environment variable {self._api_key_env} holds characters that no key has; check how it was set"
            raise ModelError(ErrorKind.AUTH, self._model, message)
        return key

    def _no_key(self, variables: list[str]) -> ModelError:
        names = " / ".join(variables)
        return ModelError(ErrorKind.AUTH, self._model, f"no key: set the environment variable {names}, or name another in api_key_env")

    def _explained(self, error: Exception) -> ModelError:
        if is_unsent(error) and (missing := self._missing()):
            return self._no_key(missing)
        if self._api_key_env is not None:
            return explain(error, self._model, [self._api_key_env], self._api_base)
        return explain(error, self._model, [OPENAI_KEY] if self._is_of_own_server else [], self._api_base)

    def _missing(self) -> list[str]:
        """The environment variables that LiteLLM, or the config, wants to be set, and that are not."""
        if self._api_key_env is not None:
            return [] if os.environ.get(self._api_key_env, "").strip() else [self._api_key_env]
        if self._model.startswith("openai/"):
            return [] if self._is_of_own_server or os.environ.get(OPENAI_KEY) else [OPENAI_KEY]
        missing: list[str] = load().validate_environment(model=self._model)["missing_keys"]
        return missing

    @property
    def _is_of_own_server(self) -> bool:
        return self._api_base is not None and self._model.startswith("openai/")

    def _completion(self, request: Request, response: Any, seconds: float) -> Completion:
        if not response.choices:
            raise ModelError(ErrorKind.SERVER_ERROR, self._model, "the provider's answer holds no choice")
        choice = response.choices[0]
        message = choice.message
        text, finish_reason = message.content or "", str(choice.finish_reason)
        # Where OpenAI's refusal is found has changed between versions of LiteLLM.
        refusal = getattr(message, "refusal", None) or (message.provider_specific_fields or {}).get("refusal")
        if not text and refusal:
            text, finish_reason = str(refusal), "content_filter"
        return Completion(text, finish_reason, self._usage(request, text, response), seconds)

    def _usage(self, request: Request, text: str, response: Any) -> Usage:
        tokens = (response.usage.prompt_tokens or 0, response.usage.completion_tokens or 0)
        if not any(tokens) or min(tokens) < 0 or max(tokens) > MOST_TOKENS:
            # A provider that does not count, or not as anything can be counted, is charged the most it can have been: limits must hold.
            tokens = (self.ceiling(request).input_tokens, len(text.encode(errors="replace")))
            return Usage(*tokens, self._usd(*tokens))
        if self._price is not None:
            return Usage(*tokens, self._usd(*tokens))
        return Usage(*tokens, response._hidden_params.get("response_cost"))

    def _usd(self, input_tokens: int, output_tokens: int) -> float | None:
        if self._price is not None:
            return (input_tokens * self._price[0] + output_tokens * self._price[1]) / 1_000_000
        if not self._is_priced:
            return None
        usd: tuple[float, float] = load().cost_per_token(model=self._model, prompt_tokens=input_tokens, completion_tokens=output_tokens)
        return sum(usd)

    @cached_property
    def _is_priced(self) -> bool:
        litellm = load()
        try:
            litellm.cost_per_token(model=self._model, prompt_tokens=1, completion_tokens=1)
        except (litellm.exceptions.ModelNotMappedError, litellm.BadRequestError):
            return False
        return True


def _failures() -> tuple[type[Exception], ...]:
    import httpx  # noqa: PLC0415
    import openai  # noqa: PLC0415

    return openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError


def _is_closed(schema: object) -> bool:
    """Whether every object in the schema names all that it may hold and demands it: what providers ask of a strict schema."""
    if isinstance(schema, list):
        return all(map(_is_closed, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
            return False
    return all(map(_is_closed, schema.values()))


_OPEN: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakSet[LiteLLMClient]] = WeakKeyDictionary()


def _users() -> WeakSet[LiteLLMClient]:
    """The clients that have called from this event loop and are not closed."""
    return _OPEN.setdefault(asyncio.get_running_loop(), WeakSet())


async def _close_connections() -> None:
    """Closes and forgets the HTTP clients that LiteLLM keeps for this event loop; it would keep them for an hour, open.

    Its own function for this closes those of other loops too, and leaves closed ones where the next call finds them.
    """
    litellm = load()
    cache = litellm.in_memory_llm_clients_cache
    of_this_loop, kept = cache.update_cache_key_with_event_loop(""), cache.cache_dict
    clients = [kept.pop(key) for key in list(kept) if key.endswith(of_this_loop)]
    if litellm.__dict__.get("module_level_aclient") in clients:
        del litellm.module_level_aclient
    for client in clients:
        if inspect.iscoroutinefunction(close := getattr(client, "close", None)):
            await close()
