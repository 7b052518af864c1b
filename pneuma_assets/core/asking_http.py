"""Asking a server by HTTP, within a time and a size, and nobody whom that server sends us to.

A server that drips its answer keeps whoever waits for each receive alone; and a redirection that is
followed takes the headers, so the token, to wherever it points.
"""

import contextlib
import socket
import threading
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    Request,
    build_opener,
)

_AT_ONCE = 64 * 1024


def ask(
    url: str,
    headers: Mapping[str, str],
    *,
    seconds: float,
    most_bytes: int,
    body: bytes | None = None,
) -> bytes:
    """Return what a server answers.

    Args:
        url: Of http or https, which the caller has checked.
        headers: Sent to that server alone. No error quotes them.
        seconds: Of all of it: finding the server, asking it, and its whole answer.
        most_bytes: Of the answer.
        body: What is posted; None: the answer is only asked for.

    Raises:
        OSError: There is no such answer, for a reason in words of ours, or of whoever answered.
    """
    if not all(one.isascii() and one.isprintable() for one in headers.values()):
        raise OSError("a header would hold a character that none can; look at the token")
    asking = _Asking(Request(url, body, dict(headers)), seconds, most_bytes)  # noqa: S310
    asking.start()
    asking.join(seconds)
    return asking.outcome()


class _Asking(threading.Thread):
    """Asks, while another thread waits for as long as it likes, and then hangs up."""

    def __init__(self, request: Request, seconds: float, most_bytes: int) -> None:
        super().__init__(name="asking by HTTP", daemon=True)
        self._request, self._seconds, self._most = request, seconds, most_bytes
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._answer: bytes | Exception | None = None
        self._is_over = False

    def run(self) -> None:
        """Keep the answer, or why there is none."""
        try:
            self._answer = self._whole()
        except HTTPError as error:
            error.close()
            self._answer = OSError(f"it answers {error.code} {error.reason}")
        except URLError as error:
            reason = error.reason
            self._answer = reason if isinstance(reason, OSError) else OSError(reason)
        except HTTPException as error:  # whoever answers speaks something else
            self._answer = OSError(f"its answer is no HTTP, {type(error).__name__}: {error}")
        except (OSError, ValueError) as error:
            self._answer = error if isinstance(error, OSError) else OSError(str(error))
        except Exception as error:  # noqa: BLE001 (raised where it is waited for)
            self._answer = error

    def outcome(self) -> bytes:
        """Return the answer, or raise why there is none."""
        with self._lock:
            answer, self._is_over = self._answer, True
        if answer is None or isinstance(answer, TimeoutError):
            self._hang_up()
            raise TimeoutError(f"it took more than {self._seconds:g} s")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def keep(self, connected: socket.socket) -> None:
        """Note what is to be closed when the time is over, which it may be by now."""
        with self._lock:
            self._sockets.append(connected)
            if not self._is_over:
                return
        self._hang_up()
        raise TimeoutError

    def _hang_up(self) -> None:
        for one in self._sockets:
            with contextlib.suppress(OSError):  # it is closed already
                # That of the plain socket, also below TLS: a thread that receives is woken.
                socket.socket.shutdown(one, socket.SHUT_RDWR)

    def _whole(self) -> bytes:
        parts, size = [], 0
        with _opener(self).open(self._request, timeout=self._seconds) as answer:
            while part := answer.read1(_AT_ONCE):
                size += len(part)
                if size > self._most:
                    raise OSError(f"its answer has more than {self._most:,} bytes")
                parts.append(part)
        return b"".join(parts)


def _opener(asking: _Asking) -> OpenerDirector:
    """Return what goes by the proxies of the environment, but follows nothing."""

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            asking.keep(self.sock)

    class Encrypted(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            asking.keep(self.sock)

    class ByHTTP(HTTPHandler):
        def http_open(self, req: Request) -> Any:
            return self.do_open(Plain, req)

    class ByHTTPS(HTTPSHandler):
        def https_open(self, req: Request) -> Any:
            return self.do_open(Encrypted, req)

    return build_opener(ByHTTP, ByHTTPS, _NoRedirect)


class _NoRedirect(HTTPRedirectHandler):
    """Goes nowhere else, as the token would go with it."""

    def redirect_request(self, *_: object) -> None:
        """Return nothing, which is an error to the opener."""
        return
