"""A stand-in model API with a known answer key: OpenAI-compatible, deterministic, with latency and faults to order.

It answers as the world of `parcels.py` has it. Models: `parcel-a`, `parcel-b`, `parcel-c`, `parcel-reflect`, `parcel-judge` and
`parcel-parser`;
`null-a` and so on are right 60 times in 100 whatever the prompt. At temperature 0 an answer depends on the model and the messages
alone, above it also on `seed` (without one, on the call's number).

    python tests/standin.py --port 0 --latency 0.05 --spread 1.0 --faults '{"rate_limit": 0.1}'

prints its address on the first line. `GET /stats` tells what was asked; `POST /reset` forgets that and takes a new Behaviour.
"""

import argparse
import asyncio
import hashlib
import json
import math
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml
from parcels import SEED_TEXT, SIZES, answer, judge, luck, parse, reflect, rows

FINISH_REASONS = {"truncated": "length", "refused": "content_filter"}
ERRORS: dict[str, tuple[int, str, str | None]] = {
    "rate_limit": (429, "Rate limit reached for requests", "rate_limit_exceeded"),
    "quota": (429, "You exceeded your current quota", "insufficient_quota"),
    "server_error": (500, "The server had an error while processing your request", None),
    "overloaded": (503, "The engine is currently overloaded", None),
    "wrong_key": (401, "Incorrect API key provided: {key}", "invalid_api_key"),
    "forbidden": (403, "This key may not use this model", None),
    "bad_request": (400, "Unknown parameter", "unknown_parameter"),
    "unknown_model": (404, "The model does not exist", "model_not_found"),
    "policy": (400, "The response was filtered due to the prompt triggering content management policy", "content_filter"),
    "context_length": (
        400,
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
        "context_length_exceeded",
    ),
}
"""Fault → status, message, code.

Further faults: hang, disconnect, garbage and html (not the API's JSON), truncated, empty, refused (by a filter), declined (by the
model, in OpenAI's own field), uncounted (no usage), miscounted (tokens that cannot be, and half a character for a text), no_choice.
"""


@dataclass(frozen=True)
class Behaviour:
    """`plan`: the faults of the next calls, one each ("ok" for none); after it, `faults` gives each fault its share of calls,
    chosen by the number of the call, so that a retry can succeed. `slots`: calls in flight beyond them get rate_limit. `fickle`: answers
    depend on the call's number at any temperature. `reflect_latency`: the reflection model's, where it is not that of the others."""

    latency: float = 0.0
    reflect_latency: float | None = None
    spread: float = 0.0
    plan: Sequence[str] = ()
    faults: Mapping[str, float] = field(default_factory=dict)
    retry_after: str = "0.05"
    slots: int = 0
    key: str | None = None
    fickle: bool = False


class Stats:
    """The server's own count. A repeated body is one that was answered, and delivered, before."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.abandoned = self.in_flight = self.peak = 0
        self.busy = 0.0
        self.model_in_flight: Counter[str] = Counter()
        self.model_peak: Counter[str] = Counter()
        self.last: dict[str, Any] = {}

    def enter(self, model: str) -> None:
        self.calls[model] += 1
        self.in_flight += 1
        self.model_in_flight[model] += 1
        self.peak = max(self.peak, self.in_flight)
        self.model_peak[model] = max(self.model_peak[model], self.model_in_flight[model])

    def leave(self, model: str) -> None:
        self.in_flight -= 1
        self.model_in_flight[model] -= 1

    def report(self) -> dict[str, Any]:
        answered = self.answered.total()
        return {
            "calls": dict(self.calls),
            "statuses": dict(self.statuses),
            "answered": answered,
            "distinct": len(self.answered),
            "repeated": answered - len(self.answered),
            "abandoned": self.abandoned,
            "in_flight": self.in_flight,
            "peak": self.peak,
            "busy": self.busy,
            "model_peak": dict(self.model_peak),
            "last": self.last,
        }


@dataclass
class Reply:
    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    paid: str | None = None
    """The hash of the request's body, where the reply is a completion."""


class Server:
    """Just enough HTTP/1.1 with keep-alive for chat completions."""

    def __init__(self, how: Behaviour) -> None:
        self.how, self.stats = how, Stats()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = head.split("\r\n")
                method, path, _ = lines[0].split(" ", 2)
                headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                reply = await self.route(method, path, headers, body, reader)
                if reply is None:
                    break
                self.send(reply, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()

    def send(self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.stats.statuses[str(reply.status)] += 1
        if reply.paid is not None and (reader.at_eof() or writer.is_closing()):
            self.stats.abandoned += 1
        elif reply.paid is not None:
            self.stats.answered[reply.paid] += 1
        headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.content)), **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} Reply", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + reply.content)

    async def route(self, method: str, path: str, headers: Mapping[str, str], body: bytes, reader: asyncio.StreamReader) -> Reply | None:
        if (method, path) == ("GET", "/stats"):
            return Reply(200, json.dumps(self.stats.report()).encode())
        if (method, path) == ("POST", "/reset"):
            self.how, self.stats = Behaviour(**json.loads(body or b"{}")), Stats()
            return Reply(200, b"{}")
        if (method, path) != ("POST", "/v1/chat/completions"):
            return Reply(404, b'{"error": {"message": "no such page"}}')
        request = json.loads(body)
        stats, model = self.stats, request["model"]
        stats.enter(model)
        stats.last = {"body": request, "authorization": headers.get("authorization")}
        try:
            return await self.complete(request, headers, body, reader)
        finally:
            stats.leave(model)

    async def complete(
        self, request: dict[str, Any], headers: Mapping[str, str], body: bytes, reader: asyncio.StreamReader
    ) -> Reply | None:
        number = self.stats.calls.total()
        fault = self.fault(number, headers)
        if fault == "hang":
            await reader.read()
            return None
        if fault == "disconnect":
            return None
        if fault in ERRORS:
            return self.error(fault, headers)
        await self.think(request["model"], body, number)
        if fault == "garbage":
            return Reply(200, b'{"id": "x", "choices": [')
        if fault == "html":
            return Reply(200, b"<html><body>Welcome to the proxy</body></html>", {"Content-Type": "text/html"})
        return self.completion(request, body, fault, number)

    async def think(self, model: str, body: bytes, number: int) -> None:
        slow = self.how.reflect_latency
        mean = self.how.latency if slow is None or not model.endswith("-reflect") else slow
        if mean:
            draw = random.Random(hashlib.sha1(body).hexdigest() + str(number))
            seconds = draw.lognormvariate(math.log(mean) - self.how.spread**2 / 2, self.how.spread)
            await asyncio.sleep(seconds)
            self.stats.busy += seconds

    def fault(self, number: int, headers: Mapping[str, str]) -> str:
        if self.how.key is not None and headers.get("authorization") != f"Bearer {self.how.key}":
            return "wrong_key"
        if self.how.slots and self.stats.in_flight > self.how.slots:
            return "rate_limit"
        if number <= len(self.how.plan):
            return self.how.plan[number - 1]
        drawn = luck("fault", number)
        for name, share in self.how.faults.items():
            if drawn < share:
                return name
            drawn -= share
        return "ok"

    def error(self, fault: str, headers: Mapping[str, str]) -> Reply:
        status, message, kind = ERRORS[fault]
        key = headers.get("authorization", "").removeprefix("Bearer ")
        content = {"error": {"message": message.format(key=key), "type": "error", "param": None, "code": kind}}
        extra = {"Retry-After": self.how.retry_after} if fault == "rate_limit" and self.how.retry_after else {}
        return Reply(status, json.dumps(content).encode(), extra)

    def completion(self, request: dict[str, Any], body: bytes, fault: str, number: int) -> Reply:
        model, text = request["model"], "\n".join(message["content"] for message in request["messages"])
        asked: list[object] = [model, request["messages"]]
        if request.get("temperature"):
            asked.append(request.get("seed", number))
        asked += [number] if self.how.fickle else []
        salt = hashlib.sha1(json.dumps(asked).encode()).hexdigest()
        content: str | None = said(model, request["messages"], text, salt)
        if fault == "truncated" and content:
            content = content[: len(content) // 2]
        elif fault in ("refused", "empty"):
            content = ""
        elif fault == "declined":
            content = None
        elif fault == "miscounted":
            content = "\ud83d"
        message = {"role": "assistant", "content": content, "refusal": "I will not." if content is None else None}
        tokens = len(text) // 4, len(content or "") // 4 + 1
        made = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": model,
            "choices": [{"index": 0, "finish_reason": FINISH_REASONS.get(fault, "stop"), "message": message}],
            "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
        }
        if fault == "uncounted":
            del made["usage"]
        elif fault == "miscounted":
            made["usage"] = {"prompt_tokens": -5, "completion_tokens": 10**30, "total_tokens": 1}
        elif fault == "no_choice":
            made["choices"] = []
        return Reply(200, json.dumps(made).encode(), paid=hashlib.sha1(body).hexdigest())


def said(model: str, messages: Sequence[Mapping[str, str]], text: str, salt: str) -> str:
    """`text`: the messages in one."""
    role = model.rpartition("-")[2]
    if role in ("judge", "parser"):
        return (judge if role == "judge" else parse)(*(message["content"] for message in messages[:2]))
    return reflect(text, salt) if role == "reflect" else answer(model, text, salt)


@dataclass(frozen=True)
class Standin:
    """A running stand-in, seen from a test. `api_base` is what a config or a client takes."""

    api_base: str

    def stats(self) -> dict[str, Any]:
        """Calls per model, statuses, answered, distinct and repeated bodies, abandoned, peaks, seconds of all answers, the last request."""
        with urllib.request.urlopen(self.api_base.removesuffix("/v1") + "/stats", timeout=10) as reply:
            stats: dict[str, Any] = json.load(reply)
        return stats

    def reset(self, how: Behaviour | None = None) -> None:
        """Forgets what was counted; from now on it behaves as told."""
        data = json.dumps(asdict(how or Behaviour())).encode()
        urllib.request.urlopen(self.api_base.removesuffix("/v1") + "/reset", data=data, timeout=10).close()


@contextmanager
def running() -> Iterator[Standin]:
    """A stand-in in a process of its own, on a free port, for as long as the block lasts."""
    with subprocess.Popen([sys.executable, __file__, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Standin(process.stdout.readline().strip() if process.stdout else "")
        finally:
            process.terminate()


SCORER = '''"""Scores parcels: the share of codes that are right, and for each wrong one the clue to its rule."""

import json


def codes(example, answer):
    try:
        given = json.loads(answer.text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return 0.0, "not a JSON object"
    wrong = [aspect for aspect, code in example.expected.items() if given.get(aspect) != code]
    share = 1 - len(wrong) / len(example.expected)
    return share, "; ".join(example.metadata["hints"][aspect] for aspect in wrong) or "all right"
'''


def write_project(
    folder: Path,
    api_base: str,
    *,
    budget: Mapping[str, float],
    models: Sequence[str] = ("a",),
    world: str = "parcel",
    sizes: Mapping[str, int] = SIZES,
    **changes: object,
) -> Path:
    """Data, scorer and config of a run against the stand-in; returns the config's path.

    The key is read from the variable STANDIN_KEY. Nothing is repeated: at temperature 0 the stand-in is exact, which its client cannot
    know. `changes` replace whole top-level entries of the config; None removes one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = [row for split, size in sizes.items() for row in rows(split, size)]
    (folder / "parcels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    (folder / "scorer.py").write_text(SCORER)
    endpoint = {"api_base": api_base, "api_key_env": "STANDIN_KEY", "price": {"input": 1.0, "output": 4.0}}
    config: dict[str, object] = {
        "version": 1,
        "name": f"{world}-run",
        "random_seed": 0,
        "seed": {"instructions": SEED_TEXT},
        "adapter": {"kind": "prompt", "system": "{instructions}", "user": "{question}"},
        "models": [{"id": name, "model": f"openai/{world}-{name}", **endpoint} for name in models],
        "data": {"path": "parcels.jsonl"},
        "scoring": {"scorers": [{"python": "scorer.py:codes"}]},
        "proposers": {"reflection": {"model": f"openai/{world}-reflect", **endpoint}},
        "budget": dict(budget),
        "repeats": 1,
        **changes,
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in config.items() if v is not None}, sort_keys=False))
    return path


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="mean seconds of an answer")
    parser.add_argument("--spread", type=float, default=0.0, help="sigma of the log-normal latency")
    parser.add_argument("--faults", type=json.loads, default={}, help="JSON object: fault → share of calls")
    parser.add_argument("--slots", type=int, default=0, help="calls in flight beyond which others get rate_limit")
    parser.add_argument("--key", help="the only key that is accepted")
    options = vars(parser.parse_args())
    port = options.pop("port")
    server = await asyncio.start_server(Server(Behaviour(**options)).serve, "127.0.0.1", port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
