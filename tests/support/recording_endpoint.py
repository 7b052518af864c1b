"""An OpenAI-compatible endpoint that keeps every byte it is sent."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint(ThreadingHTTPServer):
    """Says yes to whatever it is asked, or describes a column, which begins alike.

    Args:
        answer: What it says to a prompt instead.
    """

    daemon_threads = True

    def __init__(self, answer: Callable[[str], str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer or (lambda _: "Yes, it is one of the things that are kept.")
        self.heard: list[bytes] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def said(self) -> bytes:
        """Everything that it was sent."""
        return b"\n".join(self.heard)


@contextmanager
def recording_endpoint(answer: Callable[[str], str] | None = None) -> Iterator[Endpoint]:
    """Serve one while the `with` block lasts."""
    server = Endpoint(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.heard.append(sent)
        prompt = json.loads(sent)["messages"][-1]["content"]
        data = json.dumps(_completion(self.server.answer(prompt))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
