"""A hundred requests that mean harm, as bytes on a socket; each leaves the server as it was."""

import json
import logging
import re
import socket

import h11
import pytest

from tests.support.served_home import local_app
from tests.support.served_port import listening

SEARCH = "/api/v1/search"


def get(target: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


def send(target: str, body: bytes, *headers: str, method: str = "POST") -> bytes:
    given = ("Content-Type: application/json", f"Content-Length: {len(body)}", *headers)
    return get(target, *given, method=method, body=body)


def told(value: object) -> bytes:
    return json.dumps(value).encode()


TABLES = (
    "..%2F..%2Fetc%2Fpasswd", "../../etc/passwd", "open/nature/../../vault/keys", "%00", "open%00",
    "open/nature/penguins%00", "open%2F%2Fnature", "%2e%2e%2f", "open\\nature", "vault/keys%20",
    "%F0%28%8C%28", "%C0%AE%C0%AE%2F", "%ED%A0%80", "file:///etc/passwd", "*", "%25",
    "'%20OR%201=1--",
    "open/nature/penguins%0D%0ASet-Cookie:%20a=b", "%E2%80%AE", "a" * 2001, "a" * 15_000,
)  # fmt: skip
QUERIES = (
    "?q=", "?q=%20%20", "?q=%00", "?q=%F0%28%8C%28&k=0", "?q=a&k=0", "?q=a&k=101", "?q=a&k=-1",
    "?q=a&k=1e2", "?q=a&k=NaN", "?q=a&k=9999999999999999999999", "?q=a&k[]=1&k=x", "?k=1",
    f"?q={'a' * 2001}", "?q=%2E%2E%2E", "?q=a&words_only=maybe", "?q=a&updated_within_days=0",
    "?q=a&updated_within_days=1e9", f"?q=a{'&source=x' * 51}", f"?q=a&source={'s' * 2001}",
    "?q=a&source=", "?q=a&k=%0d%0aX: y", "?q=!!!!", "?q=%F0%9F%98%80",
)  # fmt: skip
BODIES = (
    b"", b"{", b"null", b"[]", b"1", b'"q"', b"{}", b'{"questions": "who"}', b'{"questions": []}',
    told({"questions": ["a"] * 51}), told({"questions": ["a" * 2001]}), told({"questions": [1]}),
    told({"questions": ["a"], "k": "10"}), told({"questions": ["a"], "k": True}),
    told({"questions": ["a"], "more": 1}), b'{"questions": ["\\ud800"], "k": 0}', b"\xff\xfe{}",
    b"[" * 100_000, b'{"a":' * 50_000, b'{"questions": ["a"], "k": 1e400}', b"{'questions': ['a']}",
    told({"questions": ["a"], "facets": {"sources": "open"}}), b"\x00" * 100, b"1" * 5000,
)  # fmt: skip
REFUSED = [
    *(get(f"/api/v1/table?id={one}") for one in TABLES),
    *(get(SEARCH + one) for one in QUERIES),
    *(send(SEARCH, one) for one in BODIES),
    send(SEARCH, told({"questions": ["a"]}), "Content-Type: text/plain", method="POST"),
    get(f"/static/{TABLES[0]}"),
    get("/static/..%2f..%2f..%2f..%2fetc%2fpasswd"),
    get("/static/....//....//etc/passwd"),
    get("//evil.example/%2e%2e"),
    get("/api/v1/../../healthz/x"),
    get("/api/v1/search/"),
    get("/API/V1/SEARCH?q=a"),
    get("/api/v1/nothing"),
    get(SEARCH + "?q=a", method="TRACE"),
    get(SEARCH + "?q=a", method="DELETE"),
    get(SEARCH + "?q=a", method="X" * 1000),
    get(SEARCH + "?q=a", "X-Long: " + "a" * 70_000),
    get(SEARCH + "?q=" + "a" * 70_000),
    get(SEARCH + "?q=a", *[f"X-{at}: a" for at in range(10_000)]),
    get(SEARCH + "?q=a", "Host: evil.example"),
    get(SEARCH + "?q=a", "Bad\x00Name: a"),
    get(SEARCH + "?q=a", "Name : a"),
    get(SEARCH + "?q=a", "Content-Length: 5", "Content-Length: 6", method="POST", body=b"abcde"),
    get(SEARCH, "Content-Length: 5", "Transfer-Encoding: chunked", method="PUT", body=b"0\r\n"),
    get(SEARCH, "Transfer-Encoding: chunked", method="POST", body=b"zz\r\nhello\r\n0\r\n\r\n"),
    get(SEARCH, "Transfer-Encoding: gzip", method="POST", body=b"abc"),
    get(SEARCH, f"Content-Length: {10**9}", method="POST"),
    get(SEARCH, "Content-Length: -5", method="POST"),
    get(SEARCH, "Transfer-Encoding: chunked", method="POST", body=b"fffff\r\n" + b"x" * 2_000_000),
    get(SEARCH + "?q=a").replace(b"HTTP/1.1", b"HTTP/9.9"),
    get(SEARCH + "?q=a").replace(b"Host: localhost\r\n", b""),
    b"GET / HTTP/1.1\nHost: localhost\n\nGET /metrics HTTP/1.1\n\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\r\n" * 1000,
    "GET /ä HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(),
]  # fmt: skip


@pytest.fixture(scope="module")
def port(deployment):
    with listening(local_app(deployment)) as one:
        yield one


def answered(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as one:
        try:
            one.sendall(request)
            one.shutdown(socket.SHUT_WR)
            parts = iter(lambda: one.recv(65_536), b"")
            return b"".join(parts)
        except (ConnectionResetError, BrokenPipeError):
            return b""


@pytest.mark.parametrize("request_bytes", REFUSED, ids=range(len(REFUSED)))
def test_a_hostile_request_is_refused(port, request_bytes, caplog):
    with caplog.at_level(logging.WARNING):
        answer = answered(port, request_bytes)
    raised = [one.exc_info[0] for one in caplog.records if one.exc_info]
    assert set(raised) <= {h11.LocalProtocolError}, request_bytes[:200]  # uvicorn had answered
    for status in re.findall(rb"^HTTP/1\.1 (\d+)", answer, re.M):
        assert 400 <= int(status) < 500 or int(status) in (200, 303), (answer, request_bytes[:200])
    head = answer.partition(b"\r\n\r\n")[0].lower()
    assert b"set-cookie" not in head
    assert b"root:" not in answer
    assert b"Traceback" not in answer
    assert b"xylophone" not in answer or b"vault" not in request_bytes
    assert b'"alive"' in answered(port, get("/healthz"))
