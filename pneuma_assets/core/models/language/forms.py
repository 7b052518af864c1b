"""Asks a language model for JSON of a form, and takes nothing for an answer that is none.

A server binds an answer to a form, ignores the form without a word, or refuses it; a model of this
process knows it from the prompt alone, which therefore has to describe it. So the object is looked
for in the answer and checked here, and an answer that has none is a problem, never a "no".
"""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError

from pneuma_assets.core.models.base import Conversation, Generation, LanguageModel
from pneuma_assets.core.models.usage import CHARACTERS_PER_TOKEN

F = TypeVar("F", bound=BaseModel)

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)|\A.*?</think>", re.DOTALL | re.IGNORECASE)
"""What a model thinks aloud; where its template begins the thought, only the end is written."""

_MOST_TRIED = 200
"""Braces at which an object may begin."""

_MOST_WORDS = 600
"""Characters of what is told of an answer of another form."""

_NOT_BOUND = frozenset(
    {"title", "description", "default", "pattern", "format", "discriminator"}
    | {f"{end}{what}" for end in ("min", "max") for what in ("Length", "Items")}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
)
"""What servers refuse or turn into large grammars; `ask` checks it all the same."""

_TURNS: WeakKeyDictionary[LanguageModel, threading.Lock] = WeakKeyDictionary()
_GIVING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Answer(Generic[F]):
    """What a model says to the prompt at position `index`.

    Attributes:
        index: Which prompt.
        value: The form, filled in; None where there is no answer of that form.
        problem: Why there is none, in one line; empty where there is one.
        refused: Whether there is none since the prompt was refused, or does not fit in memory.
        said: The whole text without what the model thinks aloud, for who takes another form, too;
            empty where it was cut off.
    """

    index: int
    value: F | None
    problem: str = ""
    refused: bool = False
    said: str = ""


def ask(
    model: LanguageModel,
    prompts: Sequence[Conversation],
    form: type[F],
    max_new_tokens: int,
) -> Iterator[Answer[F]]:
    """Yield one answer a prompt, as they finish, in any order.

    Args:
        model: It; a caller whose threads share it lets them take turns (`turn`).
        prompts: Each describes the form in words, with the values that it lists.
        form: Fields of lists, texts, numbers and other forms: no maps, and no defaults, which
            OpenAI's strict mode refuses.
        max_new_tokens: Of an answer, what a model thinks before it included: be generous. A small
            window has fewer (`answer_tokens`).

    Raises:
        ModelError: The model is missing or fails, or the endpoint refuses any prompt.
    """
    most = answer_tokens(model, max_new_tokens)
    for said in model.generate(prompts, most, schema=schema_of(form)):
        yield _read(said, form)


def answer_tokens(model: LanguageModel, most: int) -> int:
    """Return how many tokens an answer may have: a third of the model's window, where it has one.

    One of this process is loaded for it.
    """
    return most if model.context is None else min(most, model.context // 3)


def room(model: LanguageModel, answer: int, most: int) -> int:
    """Return how many characters a prompt may have beside an answer of so many tokens."""
    if model.context is None:
        return most
    left = model.context - answer_tokens(model, answer)
    return min(most, CHARACTERS_PER_TOKEN * left)


def _read(said: Generation, form: type[F]) -> Answer[F]:
    if said.problem is not None:
        return Answer(said.index, None, said.problem, refused=not said.silent)
    found, text = object_in(said.text), _THOUGHT.sub("", said.text).strip() if said.whole else ""
    if found is None:
        cut = "" if said.whole else ", and was cut off at the most tokens that it may have"
        problem = f"the model's answer holds no whole JSON object{cut}"
        return Answer(said.index, None, problem, said=text)
    try:
        return Answer(said.index, form.model_validate_json(json.dumps(found)), said=text)
    except (ValidationError, RecursionError) as error:
        problem = f"the model's answer is of another form: {told_of(error)}"
        return Answer(said.index, None, problem, said=text)


def told_of(error: ValidationError | RecursionError) -> str:
    """Return what is wrong with an answer, without quoting it."""
    found = error.errors() if isinstance(error, ValidationError) else []
    told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found)
    return (told or "it is nested too deep")[:_MOST_WORDS]


def object_in(text: str) -> dict[str, Any] | None:
    """Return the longest JSON object in a model's answer, be it in a fence or behind a sentence.

    One of what it thinks aloud is none, unless the tags of a thought stand within the answer.
    """
    found = _longest(_THOUGHT.sub("", text))
    whole = text.strip()
    return _longest(whole) if found is None and whole.startswith("{") else found


def _longest(text: str) -> dict[str, Any] | None:
    decoder, found, longest, place = json.JSONDecoder(), None, 0, text.find("{")
    for _ in range(_MOST_TRIED):
        if place < 0:
            break
        try:
            read, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if end - place > longest:
                found, longest = read, end - place
        place = text.find("{", end)
    return found


def schema_of(form: type[BaseModel]) -> dict[str, Any]:
    """Return a form's JSON schema as OpenAI's strict mode takes it."""
    strict: dict[str, Any] = bound(form.model_json_schema(), strict=True)
    return strict


def bound(schema: Any, *, strict: bool = False, names: bool = False) -> Any:
    """Return a JSON schema without what servers refuse.

    Args:
        schema: It, or a part of it.
        strict: Whether each object has all of its properties, and no others.
        names: Whether the keys are names of properties, which stay.
    """
    if isinstance(schema, list):
        return [bound(one, strict=strict) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: bound(value, strict=strict, names=not names and key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or key not in _NOT_BOUND
    }
    if strict and not names and "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def turn(model: LanguageModel) -> AbstractContextManager[object]:
    """Return what lets one thread after the other ask a model that cannot be asked by several."""
    if getattr(model, "concurrent", False):
        return nullcontext()
    with _GIVING:
        return _TURNS.setdefault(model, threading.Lock())
