"""gepa on the embedded model: through its own default adapter, by HTTP, against a llama.cpp server on loopback. See embedded.py.

It reads and writes one text, the system message. Its reflection model is the same small model: there is no other here.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from adapters.candidate import DEMONSTRATIONS, Candidate
from adapters.clients import llama_server
from adapters.clients.grammar import constraint_body
from adapters.clients.weights import weights
from adapters.demonstrations import parse_demonstrations
from adapters.example import Example
from optimizer.build import Prepared

VERSION = "0.1.4"
TEXT = "instructions"
"""The component that gepa rewrites."""
MODEL = "openai/smollm2"
"""By LiteLLM's custom: a server that speaks OpenAI's protocol. The server does not look at the name."""
REFLECTION_TOKENS = 256
"""The longest text that a reflection may write: without a limit the small model goes on until its context is full."""
RIGHT = "The generated response is correct. The response include the correct answer '{answer}'"
WRONG = (
    "The generated response is incorrect. The correct answer is '{answer}'. "
    "Ensure that the correct answer is included in the response exactly as it is."
)
"""What gepa's own evaluator says."""


class Endpoint(NamedTuple):
    api_base: str
    api_key: str


@contextmanager
def served() -> Iterator[Endpoint]:
    """The embedded model behind an HTTP port on loopback, with the settings that the client has; started anew and ended."""
    xllamacpp: Any = import_module("xllamacpp")
    params = llama_server._params(xllamacpp, weights())
    server = xllamacpp.Server(params)
    yield Endpoint(f"{server.listening_address}/v1", params.api_keys[0])
    del server


def with_text(prepared: Prepared, candidate: Candidate) -> Candidate:
    """The candidate with its demonstrations written into its text: the only place that the default adapter has for them."""
    shown = parse_demonstrations(candidate.components[DEMONSTRATIONS])
    lines = [f"Input: {asked(prepared, Example('', each.inputs))}\nOutput: {each.answer}" for each in shown]
    text = "\n\n".join([candidate.components[TEXT], "Examples:", *lines])
    return candidate.replace(**{TEXT: text, DEMONSTRATIONS: ""})


def asked(prepared: Prepared, example: Example) -> str:
    """The user message."""
    (request,) = prepared.adapter.requests(prepared.seed, example)
    return request.messages[-1].content


def search(prepared: Prepared, begin: Candidate, endpoint: Endpoint, rollouts: int, seed: int) -> tuple[Candidate, dict[str, object]]:
    """The best by gepa, and what it took. gepa's settings are its defaults."""
    gepa = found()
    reflect = Counted(
        import_module("gepa.lm").LM(MODEL, max_tokens=REFLECTION_TOKENS, seed=seed, **endpoint._asdict()),
    )
    result = gepa.optimize(
        seed_candidate={TEXT: begin.components[TEXT]},
        trainset=rows(prepared, prepared.data.train),
        valset=rows(prepared, prepared.data.val),
        adapter=adapter(prepared, endpoint),
        reflection_lm=reflect,
        max_metric_calls=rollouts,
        seed=seed,
        logger=Quiet(),
    )
    best = begin.replace(**{TEXT: result.best_candidate[TEXT]})
    return best, {"rollouts": result.total_metric_calls, "reflections": reflect.calls, "candidates": result.num_candidates}


def found() -> Any:
    if find_spec("gepa") is None:
        raise SystemExit(f"gepa is not installed here; to measure beside it: pip install gepa=={VERSION}")
    return import_module("gepa")


def rows(prepared: Prepared, examples: Iterable[Example]) -> list[dict[str, object]]:
    return [{"input": asked(prepared, each), "additional_context": {}, "answer": each.expected} for each in examples]


def adapter(prepared: Prepared, endpoint: Endpoint) -> Any:
    """gepa's default adapter, whose requests are ours: the same settings, and the same labels where answers are held to some."""
    module = import_module("gepa.adapters.default_adapter.default_adapter")
    (request,) = prepared.adapter.requests(prepared.seed, prepared.data.val[0])
    model = prepared.config.models[0]

    def exact(data: dict[str, Any], response: str) -> Any:
        right = response.strip() == data["answer"]
        return module.EvaluationResult(score=float(right), feedback=(RIGHT if right else WRONG).format(answer=data["answer"]))

    settings = {"temperature": model.temperature, "max_tokens": model.max_tokens, "extra_body": constraint_body(request.constraint)}
    return module.DefaultAdapter(MODEL, exact, litellm_batch_completion_kwargs={**settings, **endpoint._asdict()})


class Counted:
    """A reflection model whose calls are counted."""

    def __init__(self, model: Any) -> None:
        self._model, self.calls = model, 0

    def __call__(self, prompt: str | Sequence[dict[str, Any]]) -> str:
        self.calls += 1
        text: str = self._model(prompt)
        return text


class Quiet:
    def log(self, message: str) -> None:
        """Nobody reads it."""
