"""Where models are asked over HTTP: one request with its tries, its time and what it costs.

What language models, encoders and rerankers behind an endpoint share.
"""

import itertools
import json
import logging
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.extras import extra_for
from pneuma_assets.core.missing_parts import Resting
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

_TRIES = 6
_LONGEST_PAUSE = 8.0
"""Seconds between tries, unless the endpoint says how long."""

_MOST_BYTES = 32_000_000
"""Of an answer."""

_AS_STREAM = {"X-Stainless-Raw-Response": "stream"}
"""How the client is told to hand over an answer as it comes."""

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

FORMS = frozenset({"response_format", "tools", "tool_choice"})
"""Options that bind an answer to a form; in the place of one refused another form is tried."""

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


def endpoint_of(url: str, config: ModelConfig, environ: Mapping[str, str]) -> Endpoint:
    """Return the endpoint at this address as its model is configured; nothing is connected to.

    Args:
        url: The model's `endpoint_url`.
        config: An entry of `models`.
        environ: Where the key and the headers are looked up.
    """
    thinks = {"reasoning_effort": config.reasoning_effort} if config.reasoning_effort else {}
    return Endpoint(
        url,
        api_key=environ.get(config.api_key_env) or None,
        key_variable=config.api_key_env,
        headers=partial(_headers, config.headers_env, environ),
        seconds=config.timeout,
        concurrency=config.concurrency,
        context=config.context,
        options={**thinks, **config.extra},
        prices=prices_of(config),
    )


def prices_of(config: ModelConfig | None) -> Prices:
    """Return what the tokens of a model cost; 0 where that is not given."""
    given = (config.read_price, config.written_price) if config else (None, None)
    return Prices(*(one or 0.0 for one in given))


def _headers(variable: str | None, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers in a variable, which is not quoted where it holds none."""
    given = environ.get(variable, "") if variable else ""
    if variable and not given.strip():
        raise ModelError(f"The environment variable {variable} is not set; headers_env names it")
    lines = [line.partition(":") for line in given.splitlines() if line.strip()]
    if not all(name.strip() and value.strip() for name, _, value in lines):
        raise ModelError(f"${variable} is to have one `Name: value` a line; correct it")
    return {name.strip(): value.strip() for name, _, value in lines}


class Connection:
    """Asks one model behind an endpoint, from any number of threads.

    What failed for want of a connection, a slot or a healthy server is repeated, waiting longer
    each time or as long as the endpoint says. After that the endpoint is left alone for a while,
    so that one that is away costs one wait. An option that it refuses is left out from then on.

    Args:
        model: The name that the endpoint knows the model by.
        at: Where it is asked.
    """

    def __init__(self, model: str, at: Endpoint) -> None:
        self._model = model
        self.at = at
        self._refused: set[str] = set()
        self._resting = Resting()
        self._answered_at = float("-inf")

    def close(self) -> None:
        """Close the connections; the object is not used afterwards."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def deadline(self) -> float:
        """Return when the time of a prompt ends that is begun now."""
        _ = self._client  # what is loaded for it takes none of its time
        return time.monotonic() + self.at.seconds

    def ask(
        self,
        path: str,
        said: Mapping[str, Any],
        asked: str,
        given: Mapping[str, Any],
        until: float,
    ) -> Any:
        """Return the JSON that the endpoint answers, an object or a list.

        Args:
            path: Of the call, behind the base URL.
            said: What the model is to read, as the call takes it.
            asked: The same as text, for counting.
            given: Options, each of which is left out where the endpoint refuses it.
            until: When its time ends (`deadline`).

        Raises:
            ModelError: The endpoint is missing, away (`AwayError`), or refuses (`RefusedError`).
        """
        settings = dict(given)
        for name in _NEW_NAMES.keys() & settings.keys() & self._refused:
            settings[_NEW_NAMES[name]] = settings.pop(name)
        for name in settings.keys() & self._refused:  # a new name may be, too
            del settings[name]
        try:
            body = {"model": self._model, **said, **settings}
            return self._resting.use(lambda: self._tried(path, body, asked, until), AwayError)
        except RefusedError as error:
            named = {one for one in settings if one not in FORMS and error.names(one)}
            if not named:
                raise
            _log.warning("%s refuses %s, left out from now on", self.where, ", ".join(named))
            self._refused |= named
        return self.ask(path, said, asked, given, until)

    def _tried(self, path: str, body: Mapping[str, Any], asked: str, until: float) -> Any:
        """Ask until there is an answer, or no time, or no try is left; one that is busy has more.

        Raises:
            ModelError: `AwayError` of an endpoint that is away, `RefusedError` where it answers
                others and not this prompt in time.
        """
        for number in itertools.count(1):
            try:
                return self._once(path, body, asked, until)
            except AwayError as error:
                pause = min(_LONGEST_PAUSE, 0.25 * 2**number) * random.uniform(0.75, 1)  # noqa: S311
                pause = error.after if error.after is not None else pause
                is_last = number >= _TRIES and not error.is_busy
                if is_last or time.monotonic() + pause >= until:
                    raise
            time.sleep(pause)
        raise AssertionError("it counts until it returns or raises")

    def _once(self, path: str, body: Mapping[str, Any], asked: str, until: float) -> Any:
        """Send one request and turn the client's errors into this project's."""
        client: Any = self._client
        import httpx2
        import openai

        note(calls=1)
        given = {"headers": _AS_STREAM, "timeout": max(0.01, until - time.monotonic())}
        try:
            with closing(client.post(path, cast_to=object, body=body, options=given)) as response:
                reply = json.loads(_within(response.iter_bytes(), until))
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            # No cause attached: the endpoint's answer may repeat the key.
            variable = self.at.key_variable
            lacks = f"wants a key, and ${variable} is not set; set it"
            wrong = f"refuses the key in ${variable}; set the right one"
            raise ModelError(f"{self.where} {wrong if self.at.api_key else lacks}") from None
        except openai.NotFoundError:
            raise ModelError(
                f"{self.where} knows no model {self._model!r}, or the URL lacks its /v1"
            ) from None
        except openai.APIStatusError as error:
            if error.status_code in _REFUSALS:
                named = str((error.body or {}).get("param") if isinstance(error.body, dict) else "")
                told = f"{self.where} refuses: {self.told(error)}"
                raise RefusedError(told, named) from None
            passing = error.status_code in _PASSING or error.status_code >= 500
            raise self._away(error, passing=passing) from None
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError) as error:
            if self._answered_at < until - self.at.seconds:  # nobody since this one was begun
                raise self._away(error) from None
            told = f"{self.where} answers others, but not this prompt within the model's timeout"
            raise RefusedError(told, silent=True) from None
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, RecursionError) as error:
            raise self._away(error) from None
        if not isinstance(reply, dict | list):
            raise ModelError(f"{self.where} sent no answer; see its log")
        self._answered_at = time.monotonic()
        self._note(asked, reply)
        return reply

    def _note(self, asked: str, reply: Mapping[str, Any] | list[Any]) -> None:
        """Count what was asked and answered, as the endpoint counts it.

        Raises:
            RefusedError: It cut the prompt in silence, as these counts show.
        """
        said = reply if isinstance(reply, dict) else {}
        usage = said.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        read = tokens(usage.get("prompt_tokens"), asked)
        written = tokens(usage.get("completion_tokens"), json.dumps(said.get("choices", "")))
        note(read=read, written=written, prices=self.at.prices)
        if len(asked) > _WHOLE * read >= _WHOLE * _LEAST_WINDOW:
            raise RefusedError(
                f"{self.where} read {read:,} tokens of a prompt of {len(asked):,} characters: set "
                "the model's context, of an encoder its window, here and there"
            )

    @cached_property
    def _client(self) -> "openai.OpenAI":
        with extra_for("a model behind an endpoint", ModelError):
            from openai import OpenAI

        return OpenAI(
            api_key=self.at.api_key or "none",
            base_url=self.at.url,
            default_headers=self._headers,
            max_retries=0,  # `_tried` repeats, within the time of all tries
        )

    @cached_property
    def _headers(self) -> Mapping[str, str]:
        return self.at.headers()

    @property
    def where(self) -> str:
        """What the endpoint is called in messages."""
        return f"The endpoint {self.at.url}"

    def _away(self, error: Exception, *, passing: bool = True) -> ModelError:
        told = (
            f"{self.where} does not answer ({self.told(error) or type(error).__name__}); check "
            "that it runs and that endpoint_url is right"
        )
        is_busy = getattr(error, "status_code", None) == _BUSY
        return AwayError(told, _pause_of(error), is_busy=is_busy) if passing else ModelError(told)

    def told(self, error: object) -> str:
        """Return what an endpoint says, on one line, without what nobody may see."""
        body = getattr(error, "body", None)
        text = f"{error} - {body}" if isinstance(body, str) and body else str(error)
        for secret in (self.at.api_key or "", *self._headers.values()):
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


class RefusedError(ModelError):
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


class AwayError(ModelError):
    """The endpoint may answer in a while, such as `after` so many seconds, if it says so."""

    def __init__(self, told: str, after: float | None = None, *, is_busy: bool = False) -> None:
        super().__init__(told)
        self.after, self.is_busy = after, is_busy
