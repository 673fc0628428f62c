"""LiteLLMClient against the stand-in, through LiteLLM itself."""

import asyncio
import json
import time

import pytest
from parcels import rows
from standin import Behaviour, Standin

from adapters.clients.client import Completion, ErrorKind, JsonSchema, Labels, Message, ModelError, Request
from adapters.clients.litellm import LiteLLMClient, load
from adapters.digest import Json

CLOSED: dict[str, Json] = {
    "type": "object",
    "properties": {"zone": {"type": "string"}},
    "required": ["zone"],
    "additionalProperties": False,
}
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY")


def ask(text: str = "Parcel 1042: zone?", seed: int | None = None) -> Request:
    return Request((Message("system", "Answer."), Message("user", text)), seed=seed)


def client_of(standin: Standin, model: str = "openai/parcel-a", **more: object) -> LiteLLMClient:
    settings: dict[str, object] = {"api_base": standin.api_base, "api_key_env": "STANDIN_KEY", "price": (1.0, 4.0), "timeout": 10.0, **more}
    return LiteLLMClient(model, **settings)  # type: ignore[arg-type]


async def failure(client: LiteLLMClient, request: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await client.complete(request or ask())
    await client.close()
    return caught.value


async def test_completes_with_usage_cost_and_latency(standin: Standin) -> None:
    standin.reset(Behaviour(latency=0.1))
    client = client_of(standin, temperature=0.5, max_tokens=77, params={"top_p": 0.9, "own": 1})
    completion = await client.complete(ask(seed=5))
    await client.close()
    last = standin.stats()["last"]
    assert list(json.loads(completion.text)) == ["zone"]
    assert completion.finish_reason == "stop"
    assert completion.usage.usd == pytest.approx((completion.usage.input_tokens + 4 * completion.usage.output_tokens) / 1e6)
    assert completion.usage.input_tokens > 0 < completion.usage.output_tokens
    assert 0.1 <= completion.seconds < 2
    assert client.model == "openai/parcel-a"
    assert last["authorization"] == "Bearer stand-in-key"
    assert last["body"] == {
        "model": "parcel-a",
        "messages": [{"role": "system", "content": "Answer."}, {"role": "user", "content": "Parcel 1042: zone?"}],
        "temperature": 0.5,
        "max_tokens": 77,
        "seed": 5,
        "top_p": 0.9,
        "own": 1,
    }


async def test_the_ceiling_is_never_passed(standin: Standin) -> None:
    client = client_of(standin, max_tokens=50)
    for row in rows("train", 5):
        request = ask(row["inputs"]["question"] + " Ünïcödé ☃")
        used, most = (await client.complete(request)).usage, client.ceiling(request)
        assert used.input_tokens <= most.input_tokens
        assert used.output_tokens <= most.output_tokens == 50
        assert most.usd == pytest.approx((most.input_tokens + 4 * 50) / 1e6)
    plain = client.ceiling(ask())
    assert client.ceiling(Request(ask().messages, JsonSchema(CLOSED))).input_tokens > plain.input_tokens
    await client.close()


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("rate_limit", ErrorKind.RATE_LIMIT, "Rate limit reached"),
        ("quota", ErrorKind.AUTH, "exceeded your current quota"),
        ("server_error", ErrorKind.SERVER_ERROR, "had an error"),
        ("overloaded", ErrorKind.SERVER_ERROR, "overloaded"),
        ("wrong_key", ErrorKind.AUTH, "check the key in STANDIN_KEY"),
        ("forbidden", ErrorKind.AUTH, "may not use this model"),
        ("bad_request", ErrorKind.BAD_REQUEST, "Unknown parameter"),
        ("unknown_model", ErrorKind.BAD_REQUEST, "check the model's name"),
        ("policy", ErrorKind.CONTENT_FILTER, "content management policy"),
        ("context_length", ErrorKind.CONTEXT_LENGTH, "4096 tokens"),
        ("garbage", ErrorKind.SERVER_ERROR, "not the JSON"),
        ("html", ErrorKind.SERVER_ERROR, "Welcome to the proxy"),
        ("no_choice", ErrorKind.SERVER_ERROR, "choice"),
        ("disconnect", ErrorKind.CONNECTION, "is http://127.0.0.1"),
    ],
)
async def test_every_failure_has_its_kind(standin: Standin, fault: str, kind: ErrorKind, words: str) -> None:
    standin.reset(Behaviour(plan=(fault,)))
    error = await failure(client_of(standin))
    assert error.kind is kind
    assert words in error.message
    assert error.model == "openai/parcel-a"
    assert standin.stats()["calls"] == {"parcel-a": 1}, "LiteLLM tried again by itself"


async def test_a_server_that_hangs_is_a_timeout(standin: Standin) -> None:
    standin.reset(Behaviour(plan=("hang",)))
    start = time.perf_counter()
    error = await failure(client_of(standin, timeout=0.3))
    assert error.kind is ErrorKind.TIMEOUT
    assert "0.3 s" in error.message
    assert time.perf_counter() - start < 3


async def test_retry_after_is_read(standin: Standin) -> None:
    standin.reset(Behaviour(plan=("rate_limit",), retry_after="7.5"))
    assert (await failure(client_of(standin))).retry_after == 7.5


@pytest.mark.parametrize(
    ("fault", "finish_reason", "text"),
    [("refused", "content_filter", ""), ("declined", "content_filter", "I will not."), ("empty", "stop", ""), ("truncated", "length", "{")],
)
async def test_content_that_is_no_answer_is_a_completion(standin: Standin, fault: str, finish_reason: str, text: str) -> None:
    standin.reset(Behaviour(plan=(fault,)))
    client = client_of(standin)
    completion = await client.complete(ask())
    await client.close()
    assert completion.finish_reason == finish_reason
    assert completion.text.startswith(text)
    assert bool(completion.text) == bool(text)


async def test_a_server_that_does_not_count_is_charged_the_most_it_can_have_been(standin: Standin) -> None:
    standin.reset(Behaviour(plan=("uncounted", "uncounted")))
    client, unpriced = client_of(standin), client_of(standin, price=None)
    completion = await client.complete(ask())
    assert completion.usage.input_tokens == client.ceiling(ask()).input_tokens
    assert completion.usage.output_tokens == len(completion.text)
    assert completion.usage.usd is not None
    assert completion.usage.usd > 0
    assert (await unpriced.complete(ask())).usage.usd is None
    await client.close()
    await unpriced.close()


async def test_counts_that_cannot_be_are_none(standin: Standin) -> None:
    standin.reset(Behaviour(plan=("miscounted",)))
    client = client_of(standin)
    usage = (await client.complete(ask())).usage
    await client.close()
    assert usage.input_tokens == client.ceiling(ask()).input_tokens
    assert usage.output_tokens == 1
    assert usage.usd == pytest.approx((usage.input_tokens + 4) / 1e6)


async def test_an_unknown_price_is_none_and_a_known_one_is_from_the_list(standin: Standin) -> None:
    unknown, known = client_of(standin, price=None), client_of(standin, "openai/gpt-4o", price=None)
    assert (await unknown.complete(ask())).usage.usd is None
    assert unknown.ceiling(ask()).usd is None
    usage = (await known.complete(ask())).usage
    prices = load().cost_per_token(model="gpt-4o", prompt_tokens=usage.input_tokens, completion_tokens=usage.output_tokens)
    assert usage.usd == pytest.approx(sum(prices))
    assert known.ceiling(ask()).usd > usage.usd > 0  # type: ignore[operator]
    await unknown.close()
    await known.close()


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({**CLOSED, "required": []}, False),
        ({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}}, False),
        ({"anyOf": [CLOSED, {"type": "null"}]}, True),
        ({"anyOf": [CLOSED, {"type": "object"}]}, False),
    ],
)
async def test_a_schema_is_sent_to_models_that_take_one(standin: Standin, schema: dict[str, object], strict: bool) -> None:
    constrained = Request(ask().messages, JsonSchema(schema))  # type: ignore[arg-type]
    client = client_of(standin, "openai/gpt-4o")
    await client.complete(constrained)
    await client.close()
    sent = standin.stats()["last"]["body"]["response_format"]["json_schema"]
    assert client.capabilities.json_schema
    assert sent == {"name": "answer", "schema": schema, "strict": strict}


async def test_what_a_model_cannot_take_is_left_to_the_adapter(standin: Standin) -> None:
    client = client_of(standin)
    for constraint in (JsonSchema({"type": "object"}), Labels(("a", "b"))):
        await client.complete(Request(ask().messages, constraint))
        assert "response_format" not in standin.stats()["last"]["body"]
    await client.close()
    assert not client.capabilities.json_schema
    assert not client.capabilities.labels


async def test_a_provider_without_seeds_gets_none(standin: Standin) -> None:
    claude = client_of(standin, "anthropic/claude-haiku-4-5")
    assert not claude.capabilities.seed
    assert client_of(standin).capabilities.seed
    error = await failure(claude, ask(seed=3))
    assert "no such page" in error.message, "the call was refused before it was sent"


async def test_a_model_that_takes_one_temperature_only_can_be_called(standin: Standin) -> None:
    client = client_of(standin, "openai/gpt-5-mini")
    await client.complete(ask())
    await client.close()
    assert "temperature" not in standin.stats()["last"]["body"]


async def test_parameters_that_the_user_asked_for_are_never_dropped(standin: Standin) -> None:
    error = await failure(client_of(standin, "anthropic/claude-haiku-4-5", params={"logprobs": True}))
    assert error.kind is ErrorKind.BAD_REQUEST
    assert "'logprobs'" in error.message


@pytest.mark.parametrize("name", ["stream", "api_key", "n", "messages", "mock_response"])
def test_parameters_with_a_place_of_their_own_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}'"):
        LiteLLMClient("openai/x", params={name: 1})


@pytest.mark.parametrize("model", ["nonsense/model", "model"])
async def test_an_unknown_provider_is_explained(standin: Standin, model: str) -> None:
    error = await failure(LiteLLMClient(model))
    assert error.kind is ErrorKind.BAD_REQUEST
    assert "provider/model" in error.message


@pytest.mark.parametrize(
    ("api_base", "kind"),
    [("http://127.0.0.1:9/v1", ErrorKind.CONNECTION), ("localhost", ErrorKind.BAD_REQUEST), ("ftp://x", ErrorKind.BAD_REQUEST)],
)
async def test_a_wrong_address_is_named(standin: Standin, api_base: str, kind: ErrorKind) -> None:
    error = await failure(client_of(standin, api_base=api_base))
    assert error.kind is kind
    assert f"is {api_base} the right address" in error.message
    assert "0x" not in error.message


async def test_a_missing_key_is_named_before_any_call(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (None, " "):
        if value is None:
            monkeypatch.delenv("STANDIN_KEY")
        else:
            monkeypatch.setenv("STANDIN_KEY", value)
        error = await failure(client_of(standin))
        assert error.kind is ErrorKind.AUTH
        assert "set the environment variable STANDIN_KEY" in error.message
    assert standin.stats()["calls"] == {}


@pytest.mark.parametrize("key", ["one\ntwo", "schlüssel"])
async def test_a_key_that_cannot_be_sent_is_named(standin: Standin, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("STANDIN_KEY", key)
    error = await failure(client_of(standin))
    assert error.kind is ErrorKind.AUTH
    assert "STANDIN_KEY holds characters" in error.message
    assert key not in str(error)


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
    ],
)
async def test_the_provider_s_usual_variable_is_named(standin: Standin, monkeypatch: pytest.MonkeyPatch, model: str, variable: str) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    client = client_of(standin, model, api_key_env=None, api_base=None if model.startswith("openai/") else standin.api_base)
    assert variable in (client.missing_key or "")
    error = await failure(client)
    assert error.kind is ErrorKind.AUTH
    assert variable in error.message
    assert standin.stats()["calls"] == {}
    monkeypatch.setenv(variable, "sk-usual-secret")
    assert client.missing_key is None


async def test_a_server_of_one_s_own_needs_no_key(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    client = client_of(standin, api_key_env=None)
    assert client.missing_key is None
    await client.complete(ask())
    standin.reset(Behaviour(key="another"))
    error = await failure(client)
    assert (error.kind, error.message.endswith("check the key in OPENAI_API_KEY")) == (ErrorKind.AUTH, True), error.message


def test_a_key_is_not_missed_where_there_may_be_another_way_in(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert client_of(standin, "bedrock/amazon.nova-lite-v1:0", api_key_env=None).missing_key is None


async def test_the_provider_s_usual_variable_is_used_and_never_told(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-usual-secret")
    client = client_of(standin, api_key_env=None)
    await client.complete(ask())
    assert standin.stats()["last"]["authorization"] == "Bearer sk-usual-secret"
    standin.reset(Behaviour(plan=("wrong_key",)))
    error = await failure(client)
    assert "sk-usual-secret" not in str(error)
    assert "[OPENAI_API_KEY]" in error.message


async def test_a_key_is_in_no_message_no_cause_and_no_identity(standin: Standin) -> None:
    standin.reset(Behaviour(key="another"))
    client = client_of(standin)
    error = await failure(client)
    assert error.kind is ErrorKind.AUTH
    assert "stand-in-key" not in str(error) + json.dumps(dict(client.identity))
    assert "[STANDIN_KEY]" in error.message
    assert error.__cause__ is None
    assert error.__suppress_context__


def test_identity_tells_what_decides_the_answer(standin: Standin) -> None:
    identities = [
        client_of(standin, **more).identity
        for more in ({}, {"temperature": 1.0}, {"max_tokens": 5}, {"params": {"top_p": 0.1}}, {"api_base": None})
    ]
    assert all(one != other for i, one in enumerate(identities) for other in identities[:i])
    assert client_of(standin, timeout=1.0, price=None, api_key_env=None).identity == identities[0]


async def test_a_cancelled_call_leaves_nothing_behind(standin: Standin) -> None:
    standin.reset(Behaviour(latency=0.2))
    client = client_of(standin)
    task = asyncio.create_task(client.complete(ask("Parcel 1: zone?")))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(await client.complete(ask("Parcel 2: zone?")), Completion)
    await client.close()
    assert standin.stats()["in_flight"] == 0


async def test_closing_one_client_leaves_the_others_open(standin: Standin) -> None:
    one, other = client_of(standin), client_of(standin)
    await one.complete(ask())
    await other.complete(ask())
    standin.reset(Behaviour(latency=0.2))
    call = asyncio.create_task(other.complete(ask()))
    await asyncio.sleep(0.05)
    await one.close()
    assert (await call).finish_reason == "stop"
    await other.close()
    cache = load().in_memory_llm_clients_cache
    assert not [key for key in cache.cache_dict if key.endswith(cache.update_cache_key_with_event_loop(""))]
    assert (await one.complete(ask())).finish_reason == "stop", "a closed client opens again"
    await one.close()


def test_every_event_loop_has_connections_of_its_own(standin: Standin) -> None:
    client = client_of(standin)

    async def call() -> str:
        return (await client.complete(ask())).text

    async def call_and_close() -> str:
        text = await call()
        await client.close()
        return text

    assert asyncio.run(call()) == asyncio.run(call()) == asyncio.run(call_and_close()) == asyncio.run(call_and_close())


async def test_connections_that_litellm_shares_are_closed_and_made_anew(standin: Standin) -> None:
    client = client_of(standin)
    for _ in range(2):
        await client.complete(ask())
        connections = load().module_level_aclient.client
        await client.close()
        assert connections.is_closed
        assert "module_level_aclient" not in vars(load())


async def test_a_big_batch_is_fast(standin: Standin) -> None:
    client, places = client_of(standin), asyncio.Semaphore(16)

    async def call(number: int) -> Completion:
        async with places:
            return await client.complete(ask(f"Parcel {number}: zone?"))

    start = time.process_time()
    completions = await asyncio.gather(*(call(number) for number in range(300)))
    seconds = time.process_time() - start
    await client.close()
    assert len({completion.text for completion in completions}) > 200
    assert standin.stats()["distinct"] == 300
    assert seconds < 20


@pytest.mark.parametrize("address", ["https://user:pa55@host/v1", "https://pa55@host/v1"])
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ValueError, match="name it in api_key_env") as caught:
        LiteLLMClient("openai/x", api_base=address)
    assert "pa55" not in str(caught.value)
