"""An HTTP server of a test's own, which answers whatever the test wants."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]
"""Answers a request, of which it gets the body, too."""


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Serve on loopback until the end of the block; yields the address."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            answer(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def send(
    handler: BaseHTTPRequestHandler, body: bytes = b"", status: int = 200, **headers: str
) -> None:
    """Answer with a status, headers and a body."""
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)
