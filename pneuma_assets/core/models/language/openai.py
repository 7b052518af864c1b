"""Any endpoint that speaks OpenAI's chat completions: vLLM, TGI, llama.cpp, Ollama, OpenAI.

So do Azure, Anthropic, Bedrock, Gemini and Mistral beside their own protocols. pydantic-ai, tried
for those, would take over a fifth of this module, and leave here what servers differ in: options
that they refuse or ignore, forms, cut prompts, deadlines.
"""

import itertools
import json
import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.missing_parts import Resting
from pneuma_assets.core.models.base import Conversation, Generation, conversation
from pneuma_assets.core.models.language.forms import object_in
from pneuma_assets.core.models.language.parallel import in_parallel
from pneuma_assets.core.models.usage import Prices, note, tokens
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    import openai

_REFUSALS = frozenset({400, 413, 422})
"""What endpoints answer to a prompt that is too long or that a content filter dislikes; they say
the same to an option that they do not know."""

_BUSY = 429
_PASSING = frozenset({408, 409, 425, _BUSY})
"""What may be otherwise in a while, as all from 500 on."""

_NEW_NAMES = {"max_tokens": "max_completion_tokens"}
"""What models that reason take in the place of an option that they refuse."""

_HARMLESS = "Say yes."
"""Asked where all prompts were refused: if this is too, the prompts are not to blame."""

_TRIES = 6
_LONGEST_PAUSE = 8.0
"""Seconds between tries, unless the endpoint says how long."""

_MOST_BYTES = 32_000_000
"""Of an answer."""

_WHOLE, _LEAST_WINDOW = 5.5, 1024
"""Characters a token, more than a prompt has that was read whole, and not cut in silence; and the
tokens that are left of one at least: servers that count fewer leave out what they have cached."""

_MOST_WORDS = 300
_LEAST_SECRET = 8
"""Characters of a header that are masked where an endpoint repeats them: not of `Bearer` alone."""

_UNKNOWN = re.compile(
    r"un(?:supported|known|recogni[sz]ed|expected)|not (?:supported|permitted|allowed)"
    r"|does not support|extra inputs",
    re.IGNORECASE,
)
"""How an option is refused."""
_TOO_LONG = re.compile(r"context|too (?:long|large)", re.IGNORECASE)
"""What a prompt is refused for, which may name an option, too: `max_tokens`."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked, and how.

    Attributes:
        url: The base URL, usually ending in /v1.
        api_key: Never shown; None: servers of one's own often need none.
        key_variable: The environment variable the key came from, for messages.
        headers: Finds at first use what else is sent with each request; never shown.
        seconds: Of one prompt, all tries together.
        concurrency: Prompts in progress at once.
        context: Tokens that a prompt and its answer may have together; None: not known.
        options: What is sent with each prompt besides those of this project.
        prices: Of tokens, where they are given.
    """

    url: str
    api_key: str | None = None
    key_variable: str = "OPENAI_API_KEY"
    headers: Callable[[], Mapping[str, str]] = dict
    seconds: float = 120.0
    concurrency: int = 32
    context: int | None = None
    options: Mapping[str, Any] | None = None
    prices: Prices | None = None


class OpenAIModel:
    """A language model behind an endpoint, asked several prompts at once.

    What failed for want of a connection, a slot or a healthy server is repeated, waiting longer
    each time or as long as the endpoint says. After that the endpoint is left alone for a while,
    so that one that is away costs one wait.

    Args:
        model: The name that the endpoint knows the model by.
        endpoint: Where it is asked.
    """

    concurrent = True
    """Several threads may ask it at once: each has connections of the client's pool."""

    def __init__(self, model: str, endpoint: Endpoint) -> None:
        self._model = model
        self._at = endpoint
        self._refused: set[str] = set()
        self._forms: Sequence[_Form] = (_by_schema, _by_tool, _in_words)
        self._resting = Resting()
        self._answered_at = float("-inf")

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
            except _RefusedError as error:
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
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _answer(
        self, said: Conversation, max_new_tokens: int, schema: Mapping[str, Any] | None
    ) -> Generation:
        """Return the answer, at position 0, in the first form that the endpoint takes."""
        _ = self._client  # what is loaded for it takes none of its time
        until = time.monotonic() + self._at.seconds
        given = {"temperature": 0.0, **(self._at.options or {}), "max_tokens": max_new_tokens}
        if schema is None:
            return self._read(said, self._sent(said, given, until), bound=False)
        for skipped, form in enumerate(forms := self._forms):
            bound = form(schema)
            try:
                reply = self._sent(said, given | bound, until)
            except _RefusedError as error:
                if not bound or error.is_too_long:
                    raise
                if error.is_unknown:  # else this prompt alone may be to blame
                    self._forms = forms[skipped + 1 :]
                continue
            return self._read(said, reply, bound=True)
        raise AssertionError("words bind to nothing, so that they return or raise")

    def _read(self, said: Conversation, reply: Mapping[str, Any], *, bound: bool) -> Generation:
        """Return what an endpoint said; nothing said is neither an answer nor a "no".

        Raises:
            ModelError: It sent no answer, or `_RefusedError`: none to this prompt.
        """
        try:
            choice = reply["choices"][0]
            message, ended = choice["message"], choice.get("finish_reason")
            calls = message.get("tool_calls") or ()
            text = next((one["function"]["arguments"] for one in calls), None)
            text = text or message.get("content")
            text = json.dumps(text) if isinstance(text, dict) else text
        except (LookupError, TypeError, AttributeError):
            raise ModelError(
                f"{self._where} sent an answer without a choice; see its log"
            ) from None
        if ended == "content_filter":
            raise _RefusedError(f"{self._where} refuses: its content filter took the answer")
        if refusal := message.get("refusal"):
            raise _RefusedError(f"the model refuses: {self._told(refusal)}")
        if not isinstance(text, str) or not text.strip():
            thought = message.get("reasoning_content") or message.get("reasoning")
            if not (bound and isinstance(thought, str) and object_in(thought)):
                why = (
                    "used all of its tokens before it said anything"
                    if ended == "length"
                    else (f"sent an empty answer (finish_reason {ended!r})")
                )
                raise _RefusedError(f"{self._where} {why}", silent=True)
            text = thought  # of a parser that takes all for a thought
        asked, usage = sum(len(one["content"]) for one in said), reply.get("usage")
        read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
        if isinstance(read, int) and asked > _WHOLE * read >= _WHOLE * _LEAST_WINDOW:
            raise _RefusedError(
                f"{self._where} read {read:,} tokens of a prompt of {asked:,} characters: set the "
                "model's context here and there"
            )
        return Generation(0, text, whole=ended != "length")

    def _sent(
        self, said: Conversation, given: Mapping[str, Any], until: float
    ) -> Mapping[str, Any]:
        """Ask for one completion; an option that the endpoint refuses is left out from then on."""
        settings = dict(given)
        for name in _NEW_NAMES.keys() & settings.keys() & self._refused:
            settings[_NEW_NAMES[name]] = settings.pop(name)
        for name in settings.keys() & self._refused:  # a new name may be, too
            del settings[name]
        try:
            return self._resting.use(lambda: self._tried(said, settings, until), _AwayError)
        except _RefusedError as error:
            named = {one for one in settings if one not in _FORMS and error.names(one)}
            if not named:
                raise
            _log.warning("%s refuses %s, left out from now on", self._where, ", ".join(named))
            self._refused |= named
        return self._sent(said, given, until)

    def _tried(
        self, said: Conversation, settings: Mapping[str, Any], until: float
    ) -> Mapping[str, Any]:
        """Ask until there is an answer, or no time, or no try is left; one that is busy has more.

        Raises:
            ModelError: `_AwayError` of an endpoint that is away, `_RefusedError` where it answers
                others and not this prompt in time.
        """
        for number in itertools.count(1):
            try:
                return self._once(said, settings, until)
            except _AwayError as error:
                pause = min(_LONGEST_PAUSE, 0.25 * 2**number) * random.uniform(0.75, 1)  # noqa: S311
                pause = error.after if error.after is not None else pause
                is_last = number >= _TRIES and not error.is_busy
                if is_last or time.monotonic() + pause >= until:
                    raise
            time.sleep(pause)
        raise AssertionError("it counts until it returns or raises")

    def _once(
        self, said: Conversation, settings: Mapping[str, Any], until: float
    ) -> Mapping[str, Any]:
        """Send one request and turn the client's errors into this project's."""
        create = self._client.chat.completions.with_streaming_response.create
        import httpx2
        import openai

        note(calls=1)
        body = {"messages": cast("Any", list(said)), "model": self._model}
        try:
            with create(
                **body, extra_body=settings, timeout=max(0.01, until - time.monotonic())
            ) as response:
                reply = json.loads(_within(response.iter_bytes(), until))
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            # No cause attached: the endpoint's answer may repeat the key.
            variable = self._at.key_variable
            lacks = f"wants a key, and ${variable} is not set; set it"
            wrong = f"refuses the key in ${variable}; set the right one"
            raise ModelError(f"{self._where} {wrong if self._at.api_key else lacks}") from None
        except openai.NotFoundError:
            raise ModelError(
                f"{self._where} knows no model {self._model!r}, or the URL lacks its /v1"
            ) from None
        except openai.APIStatusError as error:
            if error.status_code in _REFUSALS:
                named = str((error.body or {}).get("param") if isinstance(error.body, dict) else "")
                told = f"{self._where} refuses: {self._told(error)}"
                raise _RefusedError(told, named) from None
            passing = error.status_code in _PASSING or error.status_code >= 500
            raise self._away(error, passing=passing) from None
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError) as error:
            if self._answered_at < until - self._at.seconds:  # nobody since this one was begun
                raise self._away(error) from None
            told = f"{self._where} answers others, but not this prompt within the model's timeout"
            raise _RefusedError(told, silent=True) from None
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError) as error:
            raise self._away(error) from None
        if not isinstance(reply, dict):
            raise ModelError(f"{self._where} sent an answer without a choice; see its log")
        self._answered_at = time.monotonic()
        self._note(said, reply)
        return reply

    def _note(self, said: Conversation, reply: Mapping[str, Any]) -> None:
        """Count what was asked and answered, as the endpoint counts it."""
        usage = reply.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        asked = "".join(one["content"] for one in said)
        text = json.dumps(reply.get("choices"))
        read = tokens(usage.get("prompt_tokens"), asked)
        written = tokens(usage.get("completion_tokens"), text)
        note(read=read, written=written, prices=self._at.prices)

    @cached_property
    def _client(self) -> "openai.OpenAI":
        with extra_for("a language model behind an endpoint", ModelError):
            from openai import OpenAI

        return OpenAI(
            api_key=self._at.api_key or "none",
            base_url=self._at.url,
            default_headers=self._headers,
            max_retries=0,  # `_tried` repeats, within the time of all tries
        )

    @cached_property
    def _headers(self) -> Mapping[str, str]:
        return self._at.headers()

    @property
    def _where(self) -> str:
        return f"The endpoint {self._at.url}"

    def _away(self, error: Exception, *, passing: bool = True) -> ModelError:
        told = (
            f"{self._where} does not answer ({self._told(error) or type(error).__name__}); check "
            "that it runs and that endpoint_url is right"
        )
        is_busy = getattr(error, "status_code", None) == _BUSY
        return _AwayError(told, _pause_of(error), is_busy=is_busy) if passing else ModelError(told)

    def _told(self, error: object) -> str:
        """Return what an endpoint says, on one line, without what nobody may see."""
        text = str(error)
        for secret in (self._at.api_key or "", *self._headers.values()):
            for word in {secret, *secret.split()}:
                text = text.replace(word, "***") if len(word) >= _LEAST_SECRET else text
        return one_line(text, _MOST_WORDS)


def _within(parts: Iterator[bytes], until: float) -> bytes:
    """Return the bytes of an answer; raises `TimeoutError` where it comes too slowly.

    Servers that let one wait send blanks meanwhile, with which no read takes long.
    """
    read = bytearray()
    for part in parts:
        read += part
        if len(read) > _MOST_BYTES:
            raise ValueError(f"its answer has more than {_MOST_BYTES:,} bytes")
        if time.monotonic() > until:
            raise TimeoutError("its answer takes too long")
    return bytes(read)


def _pause_of(error: Exception) -> float | None:
    """Return the seconds after which an endpoint wants to be asked again, if it says so."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None


def _by_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    bound = {"name": "reply", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": bound}}


def _by_tool(schema: Mapping[str, Any]) -> dict[str, Any]:
    tool = {"type": "function", "function": {"name": "reply", "parameters": schema}}
    choice = {"type": "function", "function": {"name": "reply"}}
    return {"tools": [tool], "tool_choice": choice}


def _in_words(_: Mapping[str, Any]) -> dict[str, Any]:
    return {}


_Form = Callable[[Mapping[str, Any]], dict[str, Any]]
"""How an endpoint is bound to a form, or, where it knows none, is not."""

_FORMS = frozenset({"response_format", "tools", "tool_choice"})
"""Options of these, in the place of which another form is tried."""


class _RefusedError(ModelError):
    """The endpoint found the request itself wrong, be it the prompt or an option (`named`).

    Or it was `silent`.
    """

    def __init__(self, told: str, named: str = "", *, silent: bool = False) -> None:
        super().__init__(told)
        self._named, self.silent = named, silent

    def names(self, option: str) -> bool:
        """Tell whether an option is what the endpoint does not know."""
        quoted = re.search(rf"(?<!\w){re.escape(option)}(?!\w)", str(self)) is not None
        return self.is_unknown and (quoted or self._named == option)

    @property
    def is_unknown(self) -> bool:
        """Whether an option is what the endpoint does not know, whatever it calls that."""
        return _UNKNOWN.search(str(self)) is not None and not self.is_too_long

    @property
    def is_too_long(self) -> bool:
        """Whether the prompt is, so that no other form will do."""
        return _TOO_LONG.search(str(self)) is not None


class _AwayError(ModelError):
    """The endpoint may answer in a while, such as `after` so many seconds, if it says so."""

    def __init__(self, told: str, after: float | None = None, *, is_busy: bool = False) -> None:
        super().__init__(told)
        self.after, self.is_busy = after, is_busy
