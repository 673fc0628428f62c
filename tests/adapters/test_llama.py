"""The embedded model itself, with its real weights: one client for all tests, since loading takes its time."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.clients import llama_server
from adapters.clients.client import Constraint, ErrorKind, JsonSchema, Labels, Message, ModelError, Request
from adapters.clients.llama import LlamaClient, LlamaServers
from adapters.digest import Json

LONG = Request((Message("user", "Write a very long story about a fox and a river."),))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def client() -> AsyncIterator[LlamaClient]:
    client = LlamaClient(max_tokens=14)
    yield client
    await client.close()


def ask(text: str, constraint: Constraint | None = None, seed: int | None = None, before: int = 0) -> Request:
    """A question behind `before` worked examples, the same for everyone."""
    shown = [(Message("user", f"Colour of thing {n}?"), Message("assistant", "red" if n % 2 else "blue")) for n in range(before)]
    return Request((*(message for pair in shown for message in pair), Message("user", text)), constraint, seed)


async def refusal(client: LlamaClient, request: Request) -> ModelError:
    with pytest.raises(ModelError) as raised:
        await client.complete(request)
    return raised.value


async def test_a_completion_says_what_it_took(client: LlamaClient) -> None:
    answer = await client.complete(ask("Count from 1 to 100."))
    assert answer.finish_reason == "length"
    assert answer.usage.output_tokens == 14
    assert answer.usage.usd == 0.0
    assert answer.seconds > 0
    assert answer.text


@pytest.mark.parametrize("label", ["ham", 'say "no"', "back\\slash", "two\nlines", "Grün 日本", "a | b", " edges\n", ""])
async def test_labels_are_enforced(client: LlamaClient, label: str) -> None:
    answer = await client.complete(ask("Is 'you have won!!!' spam or ham?", Labels((label,))))
    assert answer.text == label
    assert answer.finish_reason == "stop"


async def test_one_of_the_labels_is_chosen(client: LlamaClient) -> None:
    labels = ("spam", "ham")
    assert (await client.complete(ask("Is 'you have won!!!' spam or ham?", Labels(labels)))).text in labels


async def test_a_json_schema_is_enforced(client: LlamaClient) -> None:
    pattern: Json = {"type": "string", "pattern": "^[a-c]{2}(\\.|-)$"}
    schema = JsonSchema({"type": "object", "properties": {"pattern": pattern, "n": {"enum": [7]}}, "required": ["pattern", "n"]})
    longer = LlamaClient(max_tokens=100, servers=LlamaServers(1))
    answer = json.loads((await longer.complete(ask("Write JSON.", schema))).text)
    await longer.close()
    assert answer["n"] == 7
    assert re.fullmatch("[a-c]{2}[.-]", answer["pattern"])


async def test_the_same_request_gets_the_same_text_whatever_came_before_and_beside_it(client: LlamaClient) -> None:
    requests = [ask(f"Colour of the {thing}?", before=n) for n in (0, 2, 12) for thing in ("sky", "grass", "sea", "sun")]
    alone = [(await client.complete(request)).text for request in requests]
    order = random.Random(0).sample(range(len(requests)), len(requests))
    beside = await asyncio.gather(*(client.complete(requests[i]) for i in order))
    assert [answer.text for answer in beside] == [alone[i] for i in order]
    assert len(set(alone)) > 1


def test_it_is_exact_where_nothing_is_sampled() -> None:
    assert LlamaClient().capabilities.exact and not LlamaClient(temperature=0.5).capabilities.exact


async def test_a_seed_decides_what_is_sampled() -> None:
    client = LlamaClient(temperature=1.5, max_tokens=10)
    seeds = (None, 0, 1, 1, 2, 2**40 + 2)
    texts = [answer.text for answer in await asyncio.gather(*(client.complete(ask("Tell me a name.", seed=seed)) for seed in seeds))]
    await client.close()
    assert texts[0] == texts[1]
    assert texts[2] == texts[3]
    assert len(set(texts[1:5])) == 3


async def test_asking_again_changes_nothing() -> None:
    """With the whole prompt in memory, llama.cpp left to itself answers this one differently from the second time on."""
    servers = LlamaServers(1)
    warm, steady = (LlamaClient(temperature=t, max_tokens=8, servers=servers) for t in (1.5, 0.0))
    request = ask("Colour of the grass?", seed=1, before=6)
    texts = [(await client.complete(request)).text for client in (warm, warm, steady, warm)]
    await servers.close()
    assert texts[0] == texts[1] == texts[3] != texts[2]


async def test_too_long_a_prompt_is_told_with_its_size(client: LlamaClient) -> None:
    error = await refusal(client, ask("one two " * 3000))
    assert error.kind is ErrorKind.CONTEXT_LENGTH
    assert "the model reads at most 4096" in error.message


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "#/nowhere"}, {"type": "string", "pattern": "^(a$"}])
async def test_a_schema_that_makes_no_sense_is_refused(client: LlamaClient, schema: dict[str, Json]) -> None:
    error = await refusal(client, ask("?", JsonSchema(schema)))
    assert error.kind is ErrorKind.BAD_REQUEST


@pytest.mark.parametrize("text", ["", "plain words", "x" * 300, "日本語のテキスト", "🦊🦊🦊", "<|im_start|>" * 5, "\n\t \x00", "ÀÉÎ" * 9])
async def test_the_ceiling_is_never_passed(client: LlamaClient, text: str) -> None:
    for request in (ask(text), Request((Message("system", text), *ask(text, before=1).messages))):
        most, used = client.ceiling(request), (await client.complete(request)).usage
        assert used.input_tokens <= most.input_tokens
        assert used.output_tokens <= most.output_tokens
        assert most.usd == used.usd == 0.0


async def test_an_answer_that_takes_too_long_is_cut_off() -> None:
    client = LlamaClient(timeout=0.2, servers=LlamaServers(1))
    begin = time.monotonic()
    error = await refusal(client, LONG)
    await client.close()
    assert error.kind is ErrorKind.TIMEOUT
    assert "0.2 s" in error.message
    assert time.monotonic() - begin < 10


async def test_a_cancelled_request_makes_room_for_the_next() -> None:
    client = LlamaClient(max_tokens=4000, servers=LlamaServers(1))
    running = asyncio.create_task(client.complete(LONG))
    await asyncio.sleep(1.5)
    waiting = asyncio.create_task(client.complete(LONG))
    await asyncio.sleep(0)
    running.cancel()
    waiting.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    begin = time.monotonic()
    assert (await client.complete(ask("Yes or no?", Labels(("yes", "no"))))).text in {"yes", "no"}
    assert time.monotonic() - begin < 10
    await client.close()
    with pytest.raises(RuntimeError, match="shutdown"):
        await client.complete(LONG)


async def test_weights_that_cannot_be_loaded_are_told_with_their_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and then nothing")
    monkeypatch.setattr(llama_server, "weights", lambda: tmp_path / "broken.gguf")
    client = LlamaClient(servers=LlamaServers(1))
    error = await refusal(client, LONG)
    await client.close()
    assert error.kind is ErrorKind.SETUP
    assert "broken.gguf" in error.message


def script(body: str) -> list[str]:
    head = """
        import asyncio, os
        from adapters.clients.client import Message, Request
        from adapters.clients.llama import LlamaClient
        LONG = Request((Message("user", "Write a very long story about a fox and a river."),))
    """
    return [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(body)]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads where the system lists them")
def test_the_terminal_stays_clean_and_closing_ends_the_threads() -> None:
    body = """
        threads = lambda: len(os.listdir("/proc/self/task"))
        async def use():
            client = LlamaClient(max_tokens=3)
            await asyncio.gather(client.complete(LONG), client.complete(LONG))
            during = threads()
            await client.close()
            return during
        print(asyncio.run(use()), threads())
    """
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    during, after = map(int, done.stdout.split())
    assert after < during - 4


def test_a_process_that_forgets_to_close_ends_all_the_same() -> None:
    body = "asyncio.run(LlamaClient(max_tokens=3).complete(LONG)); print('end')"
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_an_interrupt_ends_the_process_soon() -> None:
    body = """
        async def main():
            client = LlamaClient(max_tokens=4000)
            task = asyncio.create_task(client.complete(LONG))
            await asyncio.sleep(2)
            print("begun", flush=True)
            await task
        asyncio.run(main())
    """
    process = subprocess.Popen(script(body), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    process.communicate(timeout=60)
    assert time.monotonic() - begin < 10
    assert process.returncode != 0
