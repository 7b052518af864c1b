"""A web proxy on loopback that loses requests, loses answers, or stalls, when a test says so."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Fault(Enum):
    """What happens to one request; in each case the client's connection is closed."""

    LOSE_REQUEST = "the server receives half of it"
    LOSE_ANSWER = "the server carries it out, but its answer never arrives"
    STALL = "nothing happens until the client has given up"
    DELAY = "the server carries it out when it is released, after the client has given up"


Chooser = Callable[[int, str, str], Fault | None]
"""Says what happens to a request, from its number (from 1), its method and its path.

It may wait first; several requests may ask at once.
"""


class FaultyProxy(ThreadingHTTPServer):
    """Passes requests to one server, each as `choose` says.

    Attributes:
        url: Where the proxy listens.
        choose: The faults in force; set by the test.
        count: Requests since it was last set to 0.
        released: Set by the test to let go of what stalls or is delayed.
        carried_out: Set when the server has carried out a delayed request.
    """

    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        """Listen on a free port of this machine.

        Args:
            upstream: The server's address, such as http://127.0.0.1:9200.
        """
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.choose: Chooser = lambda *_: None
        self.count = 0
        self.released = threading.Event()
        self.carried_out = threading.Event()
        self._counting = threading.Lock()

    def fault(self, method: str, path: str) -> Fault | None:
        with self._counting:
            self.count += 1
            number = self.count
        return self.choose(number, method, path)

    def lose(self, number: int, fault: Fault) -> None:
        """Spoil one request, counted from now."""
        self.count = 0
        self.choose = lambda n, *_: fault if n == number else None

    def heal(self) -> None:
        """Pass everything again, and count from 0."""
        self.choose = lambda *_: None
        self.count = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # an answer goes out as one
    server: FaultyProxy

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (ConnectionError, http.client.HTTPException):  # Either side has gone away.
            self.close_connection = True

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.fault(self.command, self.path)
        self.close_connection = fault is not None
        if fault in {Fault.STALL, Fault.DELAY}:
            self.server.released.wait()
        if fault is Fault.STALL:
            return
        target = self.server.upstream
        upstream = http.client.HTTPConnection(str(target.hostname), target.port or 80)
        try:
            if fault is Fault.LOSE_REQUEST:
                self._send_half(upstream, body)
                return
            upstream.request(self.command, self.path, body, dict(self.headers))
            answer = upstream.getresponse()
            content = answer.read()
            if fault is None:
                self._answer(answer, content)
            elif fault is Fault.DELAY:
                self.server.carried_out.set()
        finally:
            upstream.close()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass  # noqa: N815 (the base class's names)

    def _send_half(self, upstream: http.client.HTTPConnection, body: bytes) -> None:
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            upstream.putheader(name, value)
        upstream.endheaders(body[: len(body) // 2])

    def _answer(self, answer: http.client.HTTPResponse, content: bytes) -> None:
        self.send_response_only(answer.status)
        hop_by_hop = {"transfer-encoding", "content-length", "connection"}
        for name, value in answer.getheaders():
            if name.lower() not in hop_by_hop:
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def faulty_proxy(upstream: str) -> Iterator[FaultyProxy]:
    """Run a proxy in front of a server; stalled requests are let go at the end."""
    proxy = FaultyProxy(upstream)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.released.set()
        proxy.shutdown()
        proxy.server_close()
        thread.join()
