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
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

_NAT64 = ip_network("64:ff9b::/96")


def ask(
    url: str,
    headers: Mapping[str, str],
    *,
    seconds: float,
    most_bytes: int,
    body: bytes | None = None,
    public: bool = False,
) -> bytes:
    """Return what a server answers, asked by the proxy that the environment names for it, if any.

    Args:
        url: Of http or https, which the caller has checked.
        headers: Sent to that server alone. No error quotes them.
        seconds: Of all of it: finding the server, asking it, and its whole answer.
        most_bytes: Of the answer.
        body: What is posted; None: the answer is only asked for.
        public: Whether nobody in a network of one's own may be asked. Whom a proxy asks is its
            operator's to decide.

    Raises:
        TimeoutError: It was asked, and has not answered in time.
        OSError: There is no such answer, for a reason in words of ours, or of whoever answered.
    """
    if not all(one.isascii() and one.isprintable() for one in headers.values()):
        raise OSError("a header would hold a character that none can; look at the token")
    asking = _Asking(url, headers, body, seconds, most_bytes, public=public)
    asking.start()
    asking.join(seconds)
    return asking.outcome()


class _Asking(threading.Thread):
    """Asks, while another thread waits for as long as it likes, and then hangs up."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        seconds: float,
        most: int,
        *,
        public: bool,
    ) -> None:
        super().__init__(name="asking by HTTP", daemon=True)
        self._connection, target, more, by_proxy = _connection(url, seconds)
        if public and not by_proxy:
            vars(self._connection)["_create_connection"] = _to_public
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


def is_public(address: str) -> bool:
    """Tell whether an IP address is one of the Internet, and of no network of one's own."""
    ip: Any = ip_address(address)
    inner = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    if inner is None and ip in _NAT64:
        inner = ip_address(int(ip) & 0xFFFFFFFF)
    return ip.is_global and not ip.is_multicast and (inner is None or is_public(str(inner)))


def _to_public(where: tuple[str, int], seconds: float, _: object = None) -> socket.socket:
    """Connect to an address that was looked at: a name may stand for another one the next time."""
    found = [str(one[4][0]) for one in socket.getaddrinfo(*where, type=socket.SOCK_STREAM)]
    if not all(is_public(one.partition("%")[0]) for one in found):
        raise OSError("it is at no public address of the web")
    return socket.create_connection((found[0], where[1]), seconds)


def _connection(url: str, seconds: float) -> tuple[HTTPConnection, str, dict[str, str], bool]:
    """Return a connection that is not open yet, what is asked for by it, a proxy's headers.

    And whether a proxy asks.
    """
    parts = urlsplit(url)
    is_encrypted, host = parts.scheme == "https", parts.hostname or ""
    kind = HTTPSConnection if is_encrypted else HTTPConnection
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    proxy = None if proxy_bypass(host) else getproxies().get(parts.scheme)
    if proxy is None:
        return kind(host, parts.port, timeout=seconds), path, {}, False
    by = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    signed_in: dict[str, str] = {}
    if by.username is not None:
        secret = f"{unquote(by.username)}:{unquote(by.password or '')}".encode()
        signed_in["Proxy-Authorization"] = f"Basic {base64.b64encode(secret).decode()}"
    connection = kind(by.hostname or "", by.port or 80, timeout=seconds)
    if not is_encrypted:
        return connection, url, signed_in, True
    connection.set_tunnel(host, parts.port, signed_in)
    return connection, path, {}, True
