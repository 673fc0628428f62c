"""One llama.cpp server inside this process: one thread, one conversation at a time. Blocks; see llama.py for who waits."""

import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.answer import Usage
from adapters.clients.client import Completion, ErrorKind, ModelError
from adapters.clients.weights import MODEL, need, weights

CONTEXT = 4096
"""Tokens of prompt and answer together."""

_GLOBALS = threading.Lock()
"""llama.cpp sets variables of the whole process while a server starts and while it ends."""


class LlamaServer:
    """Holds the model from the first answer until `close`. The interpreter's lock is free while it works."""

    def __init__(self) -> None:
        self._server: Any = None
        self._busy = threading.Lock()

    def answer(self, body: Mapping[str, Any], timeout: float, stop: threading.Event) -> Completion:
        """`body`: an OpenAI chat request. Ends with the next token once `stop` is set; what is returned then is of no use.

        Raises ModelError. `seconds` and the timeout begin when the model does: not while it is loaded.
        """
        with self._busy:
            if self._server is None:
                self._server = _started()
            chunks = _Chunks(timeout, stop)
            try:
                self._server.handle_chat_completions({**body, "stream": True, "stream_options": {"include_usage": True}}, chunks)
            except (ValueError, RuntimeError) as error:  # how llama.cpp refuses a body
                raise ModelError(ErrorKind.BAD_REQUEST, MODEL, str(error)) from None
            return chunks.completion()

    def close(self) -> None:
        with self._busy, _GLOBALS:
            self._server = None


class _Chunks:
    """Collects a streamed answer. Returning True asks llama.cpp to stop; it would swallow what is raised here."""

    def __init__(self, timeout: float, stop: threading.Event) -> None:
        self._timeout, self._stop = timeout, stop
        self._begin = time.monotonic()
        self._text: list[str] = []
        self._error: Mapping[str, Any] | None = None
        self._usage: Mapping[str, int] | None = None
        self._finish: str | None = None

    def __call__(self, chunk: Mapping[str, Any]) -> bool:
        self._error = chunk.get("error", self._error)
        self._usage = chunk.get("usage", self._usage)
        for choice in chunk.get("choices", ()):
            self._text.append(choice["delta"].get("content") or "")
            self._finish = choice["finish_reason"] or self._finish
        return self._finish is None and (self._stop.is_set() or self._late())

    def completion(self) -> Completion:
        seconds = time.monotonic() - self._begin
        if self._error is not None:
            raise _refusal(self._error)
        if self._usage is not None and self._finish is not None:
            usage = Usage(self._usage["prompt_tokens"], self._usage["completion_tokens"], 0.0)
            return Completion("".join(self._text), self._finish, usage, seconds)
        if self._late():
            raise ModelError(ErrorKind.TIMEOUT, MODEL, f"no whole answer within {self._timeout:g} s; raise timeout or lower max_tokens")
        raise ModelError(ErrorKind.SERVER_ERROR, MODEL, "the answer broke off")

    def _late(self) -> bool:
        return time.monotonic() - self._begin > self._timeout


def _refusal(error: Mapping[str, Any]) -> ModelError:
    message = str(error.get("message", error))
    if error.get("type") == "exceed_context_size_error":
        return ModelError(
            ErrorKind.CONTEXT_LENGTH, MODEL, f"the prompt has {error.get('n_prompt_tokens')} tokens, and the model reads at most {CONTEXT}"
        )
    return ModelError(ErrorKind.BAD_REQUEST if error.get("code") == 400 else ErrorKind.SERVER_ERROR, MODEL, message)


def _started() -> Any:
    need("xllamacpp")
    path = weights()
    import xllamacpp  # noqa: PLC0415

    with _GLOBALS:
        try:
            return xllamacpp.Server(_params(xllamacpp, path))
        except RuntimeError as error:
            raise ModelError(
                ErrorKind.SETUP, MODEL, f"llama.cpp could not load {path} ({error}); if memory is not short, delete that file and try again"
            ) from None


def _params(xllamacpp: Any, path: Path) -> Any:
    """One slot, one thread, no flash attention: then the kernels give every token the same bits whatever was cached before."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = 0
    params.reasoning_format = xllamacpp.common_reasoning_format.COMMON_REASONING_FORMAT_NONE
    params.verbosity = -1
    # It opens a port on loopback that nobody here uses: only who has the key gets an answer there.
    params.api_keys = [secrets.token_hex(16)]
    params.ui = False
    params.n_threads_http = 1
    return params
