"""What servers of models do besides answering, as an endpoint of a test's own (`serving`)."""

import hashlib
import itertools
import json
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.recording_endpoint import Reply, completion
from tests.support.waiting import LONGEST

WINDOW = 4_096
"""Tokens, of four characters each."""
TOO_LONG = f"This model's maximum context length is {WINDOW} tokens: max_tokens is not allowed"


def like(mode: str, text: str, until: threading.Event | None = None) -> Reply:
    """Return what a server of a kind makes of requests that a model answers with a text.

    Args:
        mode: `plain`; `reasoning` (refuses `temperature` and `max_tokens`, and thinks before it
            speaks); `strict` (refuses a schema that is none of strict mode); `ignore` (takes a
            form without a word, and answers in prose and a fence); `window` (cuts a prompt in
            silence); `overflow` (refuses one that is too long); `refuse`, `empty`, `cut`, `broken`,
            `busy` (every second time), `slow`, `away`; `thought` (takes all for a thought).
        text: The answer; to `/embeddings` and `/rerank` it is `vector_of` each text and how many
            words a text shares with the query, in another order than asked. There `reasoning` is
            TEI (its own `/rerank`, no `dimensions`), `strict` takes 32 texts, `ignore` has vectors
            of 8 numbers whatever it is asked for, and numbers one score past the end, `thought` is
            no number.
        until: What a slow one waits for.
    """
    numbers = itertools.count(1)

    def waited() -> tuple[int, Any]:
        (until or threading.Event()).wait(timeout=LONGEST)
        return answer(text)

    said: dict[str, Callable[[dict[str, Any], int], tuple[int, object] | None]] = {
        "plain": lambda *_: None,
        "reasoning": lambda body, _: _thinking(body),
        "strict": lambda body, _: _strict(body),
        "ignore": lambda *_: answer(f"Certainly! It is:\n```json\n{text}\n```\nDo you need more?"),
        "window": lambda _, asked: answer(text, read=WINDOW + 100) if asked > WINDOW else None,
        "overflow": lambda _, asked: refusal(TOO_LONG) if asked > WINDOW else None,
        "refuse": lambda *_: answer(None, refusal="I can't help with that."),
        "empty": lambda *_: answer(""),
        "cut": lambda *_: answer(text[: len(text) // 2], "length"),
        "broken": lambda *_: (200, json.dumps(answer(text)[1]).encode()[:-25]),
        "busy": lambda *_: (429, {"error": {"message": "slow"}}) if next(numbers) % 2 else None,
        "slow": lambda *_: waited(),
        "away": lambda *_: (503, {"error": {"message": "no server"}}),
        "thought": lambda *_: answer("", reasoning_content=f"I think so.\n{text}"),
    }

    def reply(body: dict[str, Any]) -> tuple[int, object]:
        if "messages" not in body:
            return _listed(mode, body, numbers, waited)
        asked = sum(len(one["content"]) for one in body["messages"]) // 4
        return said[mode](body, asked) or answer(text, read=asked)

    return reply


def vector_of(text: str, size: int = 8) -> list[float]:
    """Return a vector of other length than 1, which is another one for another text."""
    return [float(one) - 127.3 for one in hashlib.sha512(text.encode()).digest()[:size]]


def _listed(
    mode: str,
    body: dict[str, Any],
    numbers: Iterator[int],
    waited: Callable[[], object],
) -> tuple[int, object]:
    texts = body.get("input") or body.get("documents") or body.get("texts") or ()
    tokens = [len(one) // 4 for one in texts]
    if mode == "slow":
        waited()
    if refused := {
        "reasoning": "dimensions" in body and "Unsupported parameter: 'dimensions'",
        "strict": len(texts) > 32 and "batch size > maximum allowed batch size 32",
        "overflow": max(tokens, default=0) > WINDOW and TOO_LONG,
        "refuse": "the text was filtered",
    }.get(mode):
        return refusal(str(refused))
    if mode == "away" or (mode == "busy" and next(numbers) % 2):
        return 503 if mode == "away" else 429, {"error": {"message": mode}}
    if "input" in body:
        size = 8 if mode == "ignore" else body.get("dimensions", 8)
        rows: list[Any] = [{"embedding": vector_of(one, size)} for one in texts]
    elif mode == "reasoning" and "texts" not in body:
        return 422, {"error": "missing field `texts`", "error_type": "Validation"}
    else:
        words = {*body["query"].split()}
        score = "score" if "texts" in body else "relevance_score"
        rows = [{score: len(words & {*one.split()}) / len(words)} for one in texts]
    rows = [{"index": at} | one for at, one in enumerate(rows)]
    if mode == "ignore" and "query" in body:
        rows[-1]["index"] += 1
    if mode == "thought":
        rows[-1] |= {"embedding": [math.nan] * 8, "relevance_score": math.nan}
    kept = {"empty": 0, "cut": len(rows) // 2}.get(mode, len(rows))
    read = min(sum(tokens), WINDOW) if mode == "window" else sum(tokens)
    rows = rows[:kept][::-1]
    whole = {"data" if "input" in body else "results": rows, "usage": {"prompt_tokens": read}}
    if "texts" in body:
        return 200, rows
    return 200, json.dumps(whole).encode()[:-25] if mode == "broken" else whole


def _thinking(body: dict[str, Any]) -> tuple[int, object] | None:
    for name in ("temperature", "max_tokens"):
        if name in body:
            return refusal(f"Unsupported parameter: '{name}'", param=name)
    return answer("", "length") if body["max_completion_tokens"] < 600 else None


def _strict(body: dict[str, Any]) -> tuple[int, object] | None:
    schema = body.get("response_format", {}).get("json_schema")
    if schema is None or (schema.get("strict") and not is_loose(schema["schema"])):
        return None
    return refusal("Invalid schema for response_format")


def answer(
    text: str | None, ended: str = "stop", read: int | None = None, **message: str
) -> tuple[int, Any]:
    """Return a completion."""
    status, said = completion("")
    said["choices"][0] |= {"finish_reason": ended}
    said["choices"][0]["message"] |= {"content": text, **message}
    if read is not None:
        said["usage"] = {"prompt_tokens": read, "completion_tokens": len(text or "") // 4}
    return status, said


def refusal(message: str, **more: str) -> tuple[int, Any]:
    """Return that a request is refused."""
    return 400, {"error": {"message": message, "type": "invalid_request_error", **more}}


def is_loose(schema: Any) -> bool:
    """Tell whether an object of a schema may lack a property, or have another."""
    if isinstance(schema, list):
        return any(map(is_loose, schema))
    if not isinstance(schema, dict):
        return False
    strict = schema.get("additionalProperties") is False
    whole = set(schema.get("required", ())) == set(schema.get("properties", ()))
    loose = schema.get("type") == "object" and not (strict and whole)
    return loose or any(map(is_loose, schema.values()))
