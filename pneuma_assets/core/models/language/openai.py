"""Any endpoint that speaks OpenAI's chat completions: vLLM, TGI, llama.cpp, Ollama, OpenAI.

So do Azure, Anthropic, Bedrock, Gemini and Mistral beside their own protocols. pydantic-ai, tried
for those, would take over a fifth of this module, and leave here what servers differ in: options
that they refuse or ignore, forms, cut prompts, deadlines.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.base import Conversation, Generation, conversation
from pneuma_assets.core.models.endpoint import Connection, Endpoint, RefusedError
from pneuma_assets.core.models.language.forms import object_in
from pneuma_assets.core.models.language.parallel import in_parallel

_HARMLESS = "Say yes."
"""Asked where all prompts were refused: if this is too, the prompts are not to blame."""


class OpenAIModel:
    """A language model behind an endpoint, asked several prompts at once.

    Args:
        model: The name that the endpoint knows the model by.
        endpoint: Where it is asked.
    """

    concurrent = True
    """Several threads may ask it at once: each has connections of the client's pool."""

    def __init__(self, model: str, endpoint: Endpoint) -> None:
        self._model = model
        self._at = endpoint
        self._connection = Connection(model, endpoint)
        self._forms: Sequence[_Form] = (_by_schema, _by_tool, _in_words)

    @property
    def name(self) -> str:
        """Identifies model and weights; part of the narration cache's key."""
        return self._model

    @property
    def context(self) -> int | None:
        """Tokens that a prompt and its answer may have together; None: not known."""
        return self._at.context

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[Generation]:
        """Yield one answer a prompt, as they finish, in any order.

        An endpoint that refuses JSON schemas is asked by a tool call, and one that refuses that
        in plain words; what it takes is remembered.
        """

        def answer(prompt: str | Conversation) -> Generation:
            try:
                return self._answer(conversation(prompt), max_new_tokens, schema)
            except RefusedError as error:
                return Generation(0, "", str(error), silent=error.silent)

        refused: list[Generation] = []
        for index, given in in_parallel(answer, prompts, self._at.concurrency):
            if given.problem is not None:
                refused.append(replace(given, index=index))
            else:
                yield replace(given, index=index)
        if 1 < len(refused) == len(prompts) and not all(one.silent for one in refused):
            self._answer(conversation(_HARMLESS), max_new_tokens, None)
        yield from refused

    def close(self) -> None:
        """Close the connections; the object is not used afterwards."""
        self._connection.close()

    def _answer(
        self, said: Conversation, max_new_tokens: int, schema: Mapping[str, Any] | None
    ) -> Generation:
        """Return the answer, at position 0, in the first form that the endpoint takes."""
        until = self._connection.deadline()
        given = {"temperature": 0.0, **(self._at.options or {}), "max_tokens": max_new_tokens}
        if schema is None:
            return self._read(self._sent(said, given, until), bound=False)
        by_tool_first = sorted(self._forms, key=lambda one: one is not _by_tool)
        for form in by_tool_first if _acts(schema) else self._forms:
            bound = form(schema)
            try:
                reply = self._sent(said, given | bound, until)
            except RefusedError as error:
                if not bound or error.is_too_long:
                    raise
                if error.is_unknown:  # else this prompt alone may be to blame
                    self._forms = [one for one in self._forms if one is not form]
                continue
            answer = self._read(reply, bound=True)
            if form is _by_tool and object_in(answer.text) is None:  # heeded by nobody
                self._forms = [one for one in self._forms if one is not form]
            return answer
        raise AssertionError("words bind to nothing, so that they return or raise")

    def _read(self, reply: Mapping[str, Any], *, bound: bool) -> Generation:
        """Return what an endpoint said; nothing said is neither an answer nor a "no".

        Raises:
            ModelError: It sent no answer, or `RefusedError`: none to this prompt.
        """
        try:
            choice = reply["choices"][0]
            message, ended = choice["message"], choice.get("finish_reason")
            text = _called([one["function"] for one in message.get("tool_calls") or ()])
            text = text or message.get("content")
            text = json.dumps(text) if isinstance(text, dict) else text
        except (LookupError, TypeError, AttributeError):
            raise ModelError(
                f"{self._connection.where} sent an answer without a choice; see its log"
            ) from None
        if ended == "content_filter":
            raise RefusedError(
                f"{self._connection.where} refuses: its content filter took the answer"
            )
        if refusal := message.get("refusal"):
            raise RefusedError(f"the model refuses: {self._connection.told(refusal)}")
        if not isinstance(text, str) or not text.strip():
            thought = message.get("reasoning_content") or message.get("reasoning")
            if not (bound and isinstance(thought, str) and object_in(thought)):
                why = (
                    "used all of its tokens before it said anything"
                    if ended == "length"
                    else (f"sent an empty answer (finish_reason {ended!r})")
                )
                raise RefusedError(f"{self._connection.where} {why}", silent=True)
            text = thought  # of a parser that takes all for a thought
        return Generation(0, text, whole=ended != "length")

    def _sent(self, said: Conversation, given: Mapping[str, Any], until: float) -> Any:
        asked = "".join(one["content"] for one in said)
        messages = {"messages": list(said)}
        return self._connection.ask("/chat/completions", messages, asked, given, until)


def _by_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    bound = {"name": "reply", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": bound}}


def _by_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    if acts := _acts(schema):
        return {"tools": [_tool(*one) for one in acts.items()], "tool_choice": "required"}
    choice = {"type": "function", "function": {"name": _REPLY}}
    return {"tools": [_tool(_REPLY, schema)], "tool_choice": choice}


def _tool(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _acts(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the form of each action by its name, of a form that is a list of `actions`.

    A tool an action is what models are trained to call, several in one answer.
    """
    listed = schema["properties"].get("actions", {}).get("items", {}).get("anyOf", ())
    defined = schema.get("$defs", {})
    found = {}
    for form in (defined[_name_of(one["$ref"])] for one in listed):
        given = {name: one for name, one in form["properties"].items() if name != "action"}
        parts = {name: defined[name] for name in _reached(given, defined)}
        found[form["properties"]["action"]["const"]] = {
            **form, "properties": given, "required": [*given], **({"$defs": parts} if parts else {})
        }  # fmt: skip
    return found


def _name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def _reached(part: Any, defined: Mapping[str, Any]) -> set[str]:
    """Return the names of what a part of a schema refers to, and what that does."""
    if not isinstance(part, dict | list):
        return set()
    if isinstance(part, dict) and "$ref" in part:
        name = _name_of(part["$ref"])
        return {name} | _reached(defined[name], defined)
    inner = part.values() if isinstance(part, dict) else part
    return set().union(*(_reached(one, defined) for one in inner))


def _called(calls: Sequence[Mapping[str, Any]]) -> str | None:
    """Return what a model says by tool calls: the reply, or a list of `actions`."""
    if not calls or calls[0]["name"] == _REPLY:
        return calls[0]["arguments"] if calls else None
    given = [one["arguments"] for one in calls]
    try:
        told = [json.loads(one or "{}") if isinstance(one, str) else one for one in given]
        named = [{**some, "action": one["name"]} for one, some in zip(calls, told, strict=True)]
    except (ValueError, TypeError, RecursionError):
        return str(given[0])  # no answer of the form, as whoever reads it finds
    return json.dumps({"actions": named})


def _in_words(_: Mapping[str, Any]) -> dict[str, Any]:
    return {}


_REPLY = "reply"
"""The tool of a form that is no list of actions."""

_Form = Callable[[Mapping[str, Any]], dict[str, Any]]
"""How an endpoint is bound to a form, or, where it knows none, is not."""
