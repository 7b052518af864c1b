"""An OpenAI-compatible endpoint that keeps every byte it is sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], tuple[int, object]]
"""Makes of the body of a request a status and a body."""


class Endpoint(ThreadingHTTPServer):
    """Answers in threads; counts how many requests it has at once."""

    daemon_threads = True

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.heard: list[bytes] = []
        self.authorisations: list[str | None] = []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def said(self) -> bytes:
        return b"\n".join(self.heard)

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(one) for one in self.heard]

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that hung up."""


@contextmanager
def serving(reply: Reply) -> Iterator[Endpoint]:
    server = Endpoint(reply)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def recording_endpoint(answer: Callable[[str], str] | None = None) -> Iterator[Endpoint]:
    """Serve one that says yes to whatever it is asked, or describes a column, which begins alike.

    Args:
        answer: What it says to a prompt instead.
    """
    said = answer or (lambda _: "Yes, it is one of the things that are kept.")
    with serving(lambda body: completion(said(prompt_of(body)))) as endpoint:
        yield endpoint


def prompt_of(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def completion(text: str, candidates: list[tuple[str, float]] | None = None) -> tuple[int, Any]:
    """Return an answer that is this text, with the first token's candidates if there are any."""
    logprobs = None
    if candidates is not None:
        top = [{"token": token, "logprob": p, "bytes": None} for token, p in candidates]
        logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs}
    choices = [choice]
    return 200, {
        "id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": choices
    }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        server = self.server
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with server.lock:
            server.heard.append(sent)
            server.authorisations.append(self.headers["Authorization"])
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        status, answer = server.reply(json.loads(sent))
        with server.lock:
            server.busy -= 1
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""
