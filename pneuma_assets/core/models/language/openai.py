"""Any endpoint that speaks OpenAI's chat completions: vLLM, TGI, llama.cpp, Ollama, OpenAI."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.models.base import Conversation, Generation, Message, Reply, conversation
from pneuma_assets.core.models.language.answers import (
    cautious,
    cut_at,
    in_parallel,
    said,
    wrongly_cut,
    yes_share,
)
from pneuma_assets.core.models.usage import note, tokens

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletion
    from openai.types.chat.chat_completion import Choice

T = TypeVar("T")

_CANDIDATES = 20
"""First tokens whose probability is asked for; the most that the protocol grants."""

_MAY_LACK = frozenset({"temperature", "max_tokens"})
"""What models that reason refuse; they take `max_completion_tokens` in the place of the second."""
_REFUSALS = frozenset({400, 413, 422})
"""What endpoints answer to a prompt that is too long or that a content filter dislikes; they say
the same to an option that they do not know."""

_HARMLESS = "Say yes."
"""Asked where all prompts were refused: if this is too, the prompts are not to blame."""

_TIMEOUT_SECONDS = 120.0
_RETRIES = 5

_log = logging.getLogger(__name__)


class OpenAIModel:
    """A language model behind an endpoint, asked several prompts at once.

    The client repeats what failed for want of a connection, a slot or a healthy server, waiting
    longer each time.

    Args:
        model: The name that the endpoint knows the model by.
        endpoint_url: The endpoint's base URL, usually ending in /v1.
        api_key: Never shown. Servers of one's own often need none.
        key_variable: The environment variable the key came from, for messages.
        concurrency: Prompts in progress at once.
    """

    concurrent = True
    """Several threads may ask it at once: each has connections of the client's pool."""

    def __init__(
        self,
        model: str,
        endpoint_url: str,
        *,
        api_key: str | None,
        key_variable: str,
        concurrency: int = 32,
        timeout_seconds: float = _TIMEOUT_SECONDS,
        retries: int = _RETRIES,
    ) -> None:
        self._model = model
        self._endpoint_url = endpoint_url
        self._api_key = api_key
        self._key_variable = key_variable
        self._concurrency = concurrency
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._shows_probabilities = True
        self._unsupported: set[str] = set()
        self._forms: Sequence[_Form] = (_by_schema, _by_tool, _in_words)

    @property
    def name(self) -> str:
        """Identifies model and weights; part of the narration cache's key."""
        return self._model

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        stop: Sequence[str] = (),
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[Generation]:
        """Yield one greedy answer a prompt, as they finish, in any order."""

        def answer(prompt: str | Conversation) -> Generation:
            """Return the answer, at position 0."""
            if schema is not None:
                try:
                    reply = self.converse(conversation(prompt), schema, max_new_tokens)
                except _RefusedError as error:
                    return Generation(0, "", str(error))
                return Generation(0, reply.text, whole=reply.whole)

            def ask(stop: Sequence[str]) -> "Choice":
                options = {"stop": list(stop)} if stop else {}
                return self._complete(prompt, max_tokens=max_new_tokens, **options)

            try:
                choice = ask(stop)
                if wrongly_cut(choice.message.content or "", stop):
                    choice = ask(cautious(stop))
                text = self._text(choice)
            except _RefusedError as error:
                return Generation(0, "", str(error))
            kept = cut_at(text, stop)
            return Generation(0, kept, whole=choice.finish_reason != "length" or kept != text)

        refused: list[Generation] = []
        for index, given in in_parallel(answer, prompts, self._concurrency):
            if given.problem is not None:
                refused.append(replace(given, index=index))
            else:
                yield replace(given, index=index)
        if refused and len(refused) == len(prompts):
            self._text(self._complete(_HARMLESS, max_tokens=2))
        yield from refused

    def yes_probability(self, prompts: Sequence[str]) -> list[float | None]:
        """Return P(yes) / (P(yes) + P(no)) for the first token after each prompt, in order.

        Where an endpoint shows no probabilities the answer's text decides, 1.0 or 0.0: as with
        the authors, what does not begin with yes is a no. None for a prompt it refuses.
        """
        answers = dict(in_parallel(self._judge, prompts, self._concurrency))
        if answers and all(answer is None for answer in answers.values()):
            self._text(self._complete(_HARMLESS, max_tokens=2))
        return [answers[index] for index in range(len(prompts))]

    def converse(
        self, messages: Sequence[Message], schema: Mapping[str, Any], max_new_tokens: int
    ) -> Reply:
        """Return the answer to a conversation, as JSON of a schema where the endpoint binds it.

        An endpoint that refuses JSON schemas is asked by a tool call, and one that refuses that
        in plain words; what it takes is remembered.

        Raises:
            ModelError: The endpoint does not answer, or refuses each of these.
        """
        for skipped, form in enumerate(self._forms):
            try:
                said = self._completion(messages, max_tokens=max_new_tokens, **form(schema))
            except _RefusedError as error:
                refused = error
                continue
            self._forms = self._forms[skipped:]
            choice = said.choices[0]
            calls = choice.message.tool_calls or ()
            called = next((one.function.arguments for one in calls if one.type == "function"), None)
            text = called if called is not None else choice.message.content or ""
            return Reply(text, choice.finish_reason != "length")
        raise refused

    def close(self) -> None:
        """Close the connections; the object is not used afterwards."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _judge(self, prompt: str) -> float | None:
        refused = False
        if self._shows_probabilities:
            try:
                choice = self._complete(
                    prompt, max_tokens=1, logprobs=True, top_logprobs=_CANDIDATES
                )
            except _RefusedError:
                refused = True
            else:
                share = _first_token_share(choice)
                if share is not None:
                    return share
        try:  # Two tokens, as some models begin an answer with a blank.
            answer = said(self._text(self._complete(prompt, max_tokens=2)))
        except _RefusedError as error:
            _log.warning("A candidate is not judged: %s", error)
            return None
        if refused:  # and it was not the prompt that the endpoint disliked
            self._shows_probabilities = False
        return answer

    def _text(self, choice: "Choice") -> str:
        """Return the text of an answer; none is no verdict, and nothing that describes a column."""
        text = choice.message.content
        if not isinstance(text, str) or not text.strip():
            why = choice.finish_reason
            raise _RefusedError(f"{self._where} sent an empty answer (finish_reason {why!r})")
        return text

    def _complete(self, prompt: str | Conversation, **options: Any) -> "Choice":
        """Ask one prompt."""
        return self._completion(conversation(prompt), **options).choices[0]

    def _completion(self, messages: Sequence[Message], **options: Any) -> "ChatCompletion":
        """Ask for one completion; what the endpoint says that it does not support is left out."""
        settings = {"temperature": 0.0, **options}
        for name in self._unsupported & settings.keys():
            value = settings.pop(name)
            if name == "max_tokens":
                settings["max_completion_tokens"] = value
        try:
            return self._sent(messages, settings)
        except _RefusedError as error:
            told = str(error)
            named = {one for one in _MAY_LACK & settings.keys() if f"'{one}'" in told}
            if not named or "nsupported" not in told:
                raise
            self._unsupported |= named
        return self._completion(messages, **options)

    def _sent(self, messages: Sequence[Message], settings: Mapping[str, Any]) -> "ChatCompletion":
        """Send one request and turn the client's errors into this project's."""
        client = self._client  # says what to install, where nothing can be imported
        import openai

        try:
            completion: ChatCompletion = client.chat.completions.create(
                model=self._model,
                messages=cast("Any", list(messages)),
                **settings,
            )
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            # No cause attached: the endpoint's answer may repeat the key.
            raise ModelError(
                f"{self._where} refuses the key in ${self._key_variable}; set the right one"
            ) from None
        except openai.NotFoundError:
            raise ModelError(
                f"{self._where} knows no model {self._model!r}, or the URL lacks its /v1"
            ) from None
        except (openai.OpenAIError, ValueError) as error:  # its client lets broken JSON out
            if getattr(error, "status_code", None) in _REFUSALS:
                raise _RefusedError(f"{self._where} refuses: {self._without_key(error)}") from None
            raise ModelError(
                f"{self._where} does not answer ({self._without_key(error)}); check that it runs "
                "and that endpoint_url is right"
            ) from None
        choices = getattr(completion, "choices", None)  # the client takes any JSON for one
        if not choices or getattr(choices[0], "message", None) is None:
            raise ModelError(f"{self._where} sent an answer without a choice; see its log")
        asked = "".join(one["content"] for one in messages)
        text, usage = str(choices[0].message.content or ""), completion.usage
        note(
            read=tokens(getattr(usage, "prompt_tokens", None), asked),
            written=tokens(getattr(usage, "completion_tokens", None), text),
        )
        if completion.choices[0].finish_reason == "content_filter":
            raise _RefusedError(f"{self._where} refuses: its content filter took the answer")
        return completion

    @cached_property
    def _client(self) -> "OpenAI":
        with extra_for("a language model behind an endpoint", ModelError):
            from openai import DefaultHttpxClient, OpenAI

        return OpenAI(
            api_key=self._api_key or "none",
            base_url=self._endpoint_url,
            timeout=self._timeout_seconds,
            max_retries=self._retries,
            http_client=DefaultHttpxClient(event_hooks={"request": [lambda _: note(calls=1)]}),
        )

    @property
    def _where(self) -> str:
        return f"The endpoint {self._endpoint_url}"

    def _without_key(self, error: Exception) -> str:
        text = str(error).replace(self._api_key, "***") if self._api_key else str(error)
        return " ".join(text.split())[:300]


def _by_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    bound = {"name": "reply", "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": bound}}


def _by_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "reply", "parameters": schema}}
    choice = {"type": "function", "function": {"name": "reply"}}
    return {"tools": [tool], "tool_choice": choice}


def _in_words(_: Mapping[str, Any]) -> dict[str, Any]:
    return {}


_Form = Callable[[Mapping[str, Any]], dict[str, Any]]
"""How an endpoint is bound to a form, or, where it knows none, is not."""


class _RefusedError(ModelError):
    """The endpoint found the request itself wrong, be it the prompt or an option."""


def _first_token_share(choice: "Choice") -> float | None:
    """Return the share of yes among yes and no in the first token, None where not shown."""
    if choice.logprobs is None or not choice.logprobs.content:
        return None
    candidates = choice.logprobs.content[0].top_logprobs
    return yes_share((candidate.token, candidate.logprob) for candidate in candidates)
