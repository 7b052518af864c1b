"""Language models in GGUF files, run in this process by llama.cpp's own server engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.hardware import usable_cores
from pneuma_assets.core.models.base import (
    Conversation,
    Generation,
    Message,
    conversation,
    too_long,
    with_size,
)
from pneuma_assets.core.models.language.parallel import in_parallel
from pneuma_assets.core.models.usage import note, tokens
from pneuma_assets.core.progress import working

_STREAMS = 4
"""Prompts in progress at once. On two cores 1, 4 and 8 differ by a tenth; 32 is far slower."""


class LlamaCppModel:
    """A GGUF model; prompts run side by side and reuse the beginning they share.

    The engine keeps what each of its streams read last, and gives a prompt to the stream with
    which it shares most. Answers may differ in a word with what else runs at the time, as it
    decides what is rounded to 8 bits when.

    Args:
        name: Identifies model and weights.
        locate: Finds the `.gguf` file at first use.
        device: 'auto' and GPUs use what the installed wheel was built for; 'cpu' only the CPU.
        window: Most tokens of a prompt and its answer; memory for it is taken at first use.

    Attributes:
        context: That window.
    """

    def __init__(
        self,
        name: str,
        locate: Callable[[], Path],
        *,
        device: str = "auto",
        window: int = 8192,
    ) -> None:
        self._name = name
        self._locate = locate
        self._device = device
        self.context = window

    @property
    def name(self) -> str:
        """Identifies model and weights; part of the narration cache's key."""
        return self._name

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[Generation]:
        """Yield one greedy answer a prompt, as they finish, in any order."""
        form = {} if schema is None else {"response_format": _form(schema)}
        server = self._server
        options = {"max_tokens": max_new_tokens, **form}
        answers = in_parallel(lambda one: _answer(server, one, options), prompts, _STREAMS)
        for index, given in answers:
            yield replace(given, index=index)

    def close(self) -> None:
        """Free the memory that the model holds; the object is not used afterwards."""
        self.__dict__.pop("_server", None)

    @cached_property
    def _server(self) -> Any:
        with extra_for("a model in a .gguf file", ModelError):
            import xllamacpp
        path = self._locate()
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_parallel = _STREAMS
        params.n_ctx = _STREAMS * self.context
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = usable_cores()
        if self._device == "cpu":
            params.n_gpu_layers = 0
        params.cache_ram_mib = 0  # Prompts come once; keeping old ones in memory gains nothing.
        params.warmup = params.ui = False
        params.verbosity = -1
        try:
            with working(f"loading {with_size(self._name, path)}"):
                return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelError(
                f"llama.cpp cannot load {path}; it is damaged, of an architecture that the "
                "installed xllamacpp does not know, or larger than the memory"
            ) from error


def _form(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def _sent(server: Any, messages: Sequence[Message], **options: Any) -> dict[str, Any]:
    """Ask greedily, and count it."""
    asked = {"messages": list(messages), "temperature": 0.0, "cache_prompt": True, **options}
    reply: dict[str, Any] = server.handle_chat_completions(asked)
    usage, text = reply.get("usage") or {}, "".join(one["content"] for one in messages)
    note(1, tokens(usage.get("prompt_tokens"), text), tokens(usage.get("completion_tokens"), ""))
    return reply


def _answer(server: Any, prompt: str | Conversation, options: dict[str, Any]) -> Generation:
    """Return one greedy answer, at position 0; none to a prompt that exceeds the window."""
    reply = _sent(server, conversation(prompt), **options)
    error = reply.get("error")
    if error is None:
        choice = reply["choices"][0]
        text, ended = choice["message"]["content"] or "", choice["finish_reason"]
        return Generation(0, text, whole=ended != "length")
    if error.get("type") != "exceed_context_size_error":
        raise ModelError(f"llama.cpp cannot answer: {error.get('message', error)}")
    room = error["n_ctx"] - options["max_tokens"]
    return Generation(0, "", too_long(error["n_prompt_tokens"], room))
