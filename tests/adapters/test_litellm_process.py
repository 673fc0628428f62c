"""What LiteLLM does to a process: its import, its connections, its exit."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from standin import Behaviour, Standin

CALLS = """
import asyncio, sys
from adapters.clients.client import Message, Request
from adapters.clients.litellm import LiteLLMClient

async def main():
    client = LiteLLMClient("openai/parcel-a", api_base=sys.argv[1], api_key_env="STANDIN_KEY", price=(1, 4))
    requests = [Request((Message("user", f"Parcel {n}: zone?"),)) for n in range(int(sys.argv[2]))]
    await asyncio.gather(*map(client.complete, requests))
    await client.close()

asyncio.run(main())
"""


def python(program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LITELLM")}
    return subprocess.Popen(
        [sys.executable, "-W", "always::ResourceWarning", "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**kept, **environment},
    )


def at_once(begun: float) -> float:
    """The most seconds that an end may take: on a busy machine as long as the beginning took, which is nearly all import."""
    return max(5.0, begun)


def test_nothing_is_imported_before_the_first_call() -> None:
    program = """
import sys
from adapters.clients.client import Message, Request
from adapters.clients.litellm import LiteLLMClient
client = LiteLLMClient("anthropic/claude-haiku-4-5", price=(1, 4))
client.identity, client.ceiling(Request((Message("user", "hi"),)))
print(sorted({"litellm", "openai", "httpx", "aiohttp"} & set(sys.modules)))
"""
    out, err = python(program).communicate(timeout=60)
    assert (out.strip(), err) == ("[]", "")


def test_loading_reaches_for_no_network_and_no_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PLANTED=1\n")
    program = f"""
import os, sys
os.chdir({str(tmp_path)!r})
seen = []
sys.addaudithook(lambda event, arguments: seen.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None)
from adapters.clients.litellm import load
load()
print(seen, "PLANTED" in os.environ)
"""
    out, err = python(program).communicate(timeout=60)
    assert (out.strip(), err) == ("[] False", "")


def test_a_program_that_calls_ends_quietly_and_at_once(standin: Standin) -> None:
    start, process = time.perf_counter(), python(CALLS, standin.api_base, "40")
    while standin.stats()["answered"] < 40 and process.poll() is None:
        time.sleep(0.05)
    answered = time.perf_counter()
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")
    assert time.perf_counter() - answered < at_once(answered - start)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child there")
def test_an_interrupted_program_ends_at_once(standin: Standin) -> None:
    standin.reset(Behaviour(plan=("hang",) * 9))
    start, process = time.perf_counter(), python(CALLS, standin.api_base, "4")
    while standin.stats()["in_flight"] < 4 and process.poll() is None:
        time.sleep(0.05)
    interrupted = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert "never retrieved" not in err
    assert time.perf_counter() - interrupted < at_once(interrupted - start)
