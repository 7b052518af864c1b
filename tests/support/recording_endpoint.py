"""An OpenAI-compatible endpoint that keeps every byte it is sent."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.support.fake_model import sentence_about
from tests.support.small_server import answering, send

_FORM = '{"table":'

Reply = Callable[[dict[str, Any]], tuple[int, object]]
"""Makes of the body of a request a status and a body: bytes as they are, or what JSON holds."""


class Endpoint:
    """What it was sent, and how many requests it had at once."""

    def __init__(self) -> None:
        self.url = ""
        self.heard: list[bytes] = []
        self.authorisations: list[str | None] = []
        self.headers: list[Mapping[str, str]] = []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()

    @property
    def said(self) -> bytes:
        return b"\n".join(self.heard)

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(one) for one in self.heard]


@contextmanager
def serving(reply: Reply) -> Iterator[Endpoint]:
    endpoint = Endpoint()

    def answer(request: BaseHTTPRequestHandler, sent: bytes) -> None:
        with endpoint.lock:
            endpoint.heard.append(sent)
            endpoint.authorisations.append(request.headers["Authorization"])
            endpoint.headers.append(dict(request.headers))
            endpoint.busy += 1
            endpoint.busiest = max(endpoint.busiest, endpoint.busy)
        status, said = reply(json.loads(sent))
        with endpoint.lock:
            endpoint.busy -= 1
        body = said if isinstance(said, bytes) else json.dumps(said).encode()
        send(request, body, status, **{"Content-Type": "application/json"})

    with answering(answer) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint


@contextmanager
def recording_endpoint(answer: Callable[[str], str] | None = None) -> Iterator[Endpoint]:
    """Serve one that describes a table if asked to, and says yes to whatever else it is asked.

    Args:
        answer: What it says to a prompt instead.
    """
    said = answer or (lambda prompt: sentence_about(prompt) if _FORM in prompt else "Yes.")
    with serving(lambda body: completion(said(prompt_of(body)))) as endpoint:
        yield endpoint


def prompt_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def completion(text: str) -> tuple[int, Any]:
    """Return an answer that is this text."""
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    return 200, {
        "id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": choices
    }  # fmt: skip


@pytest.fixture
def serve() -> Iterator[Callable[[Reply], Endpoint]]:
    """Serve what a function replies, until the test ends."""
    with ExitStack() as served:
        yield lambda reply: served.enter_context(serving(reply))
