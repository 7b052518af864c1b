"""Asking a server by HTTP, within a time and a size, and nobody whom that server sends us to.

A server that drips its answer keeps whoever waits for each receive alone; and a redirection that is
followed takes the headers, so the token, to wherever it points.
"""

import base64
import contextlib
import socket
import threading
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass


def ask(
    url: str,
    headers: Mapping[str, str],
    *,
    seconds: float,
    most_bytes: int,
    body: bytes | None = None,
) -> bytes:
    """Return what a server answers, asked by the proxy that the environment names for it, if any.

    Args:
        url: Of http or https, which the caller has checked.
        headers: Sent to that server alone. No error quotes them.
        seconds: Of all of it: finding the server, asking it, and its whole answer.
        most_bytes: Of the answer.
        body: What is posted; None: the answer is only asked for.

    Raises:
        TimeoutError: It was asked, and has not answered in time.
        OSError: There is no such answer, for a reason in words of ours, or of whoever answered.
    """
    if not all(one.isascii() and one.isprintable() for one in headers.values()):
        raise OSError("a header would hold a character that none can; look at the token")
    asking = _Asking(url, headers, body, seconds, most_bytes)
    asking.start()
    asking.join(seconds)
    return asking.outcome()


class _Asking(threading.Thread):
    """Asks, while another thread waits for as long as it likes, and then hangs up."""

    def __init__(
        self, url: str, headers: Mapping[str, str], body: bytes | None, seconds: float, most: int
    ) -> None:
        super().__init__(name="asking by HTTP", daemon=True)
        self._connection, target, more = _connection(url, seconds)
        self._request = ("GET" if body is None else "POST", target, body, {**headers, **more})
        self._seconds, self._most = seconds, most
        self._connected: socket.socket | None = None
        self._answer: bytes | Exception | None = None
        self._is_over = False

    def run(self) -> None:
        """Keep the answer, or why there is none."""
        try:
            self._answer = self._whole()
        except HTTPException as error:  # whoever answers speaks something else
            self._answer = OSError(f"its answer is no HTTP, {type(error).__name__}: {error}")
        except ValueError as error:
            self._answer = OSError(str(error))
        except Exception as error:  # noqa: BLE001 (raised where it is waited for)
            self._answer = error
        finally:
            self._connection.close()

    def outcome(self) -> bytes:
        """Return the answer, or raise why there is none."""
        answer, self._is_over = self._answer, True
        if answer is None or isinstance(answer, TimeoutError):
            if self._connected is None:
                raise ConnectionError(f"there was no connection within {self._seconds:.1f} s")
            with contextlib.suppress(OSError):  # it is closed already
                # That of the plain socket, also below TLS: a thread that receives is woken.
                socket.socket.shutdown(self._connected, socket.SHUT_RDWR)
            raise TimeoutError(f"it took more than {self._seconds:g} s")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _whole(self) -> bytes:
        self._connection.connect()
        self._connected = self._connection.sock  # which an answer of no stated length takes over
        if self._is_over:  # before there was a connection to end
            raise TimeoutError
        self._connection.request(*self._request)
        with self._connection.getresponse() as answer:
            if not 200 <= answer.status < 300:  # a redirection is one of the others
                raise OSError(f"it answers {answer.status} {answer.reason}")
            whole = answer.read(self._most + 1)
        if len(whole) > self._most:
            raise OSError(f"its answer has more than {self._most:,} bytes")
        return whole


def _connection(url: str, seconds: float) -> tuple[HTTPConnection, str, dict[str, str]]:
    """Return a connection that is not open yet, what is asked for by it, and a proxy's headers."""
    parts = urlsplit(url)
    is_encrypted, host = parts.scheme == "https", parts.hostname or ""
    kind = HTTPSConnection if is_encrypted else HTTPConnection
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    proxy = None if proxy_bypass(host) else getproxies().get(parts.scheme)
    if proxy is None:
        return kind(host, parts.port, timeout=seconds), path, {}
    by = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    signed_in: dict[str, str] = {}
    if by.username is not None:
        secret = f"{unquote(by.username)}:{unquote(by.password or '')}".encode()
        signed_in["Proxy-Authorization"] = f"Basic {base64.b64encode(secret).decode()}"
    connection = kind(by.hostname or "", by.port or 80, timeout=seconds)
    if not is_encrypted:
        return connection, url, signed_in
    connection.set_tunnel(host, parts.port, signed_in)
    return connection, path, {}
