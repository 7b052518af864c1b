"""A webserver is asked within bounds of time and size, and never where it did not send us."""

import json
import threading
from http.server import BaseHTTPRequestHandler

import pytest

from pneuma_assets.core.config.small_sections import WebserverConfig
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.pipeline import dagster_graphql
from pneuma_assets.core.pipeline.dagster_graphql import webserver_assets
from tests.support.small_server import answering, send


def refusal(url: str, environ: dict | None = None, **keys: object) -> str:
    (file,) = webserver_assets(WebserverConfig(url=url, **keys), environ or {})
    assert file.stamp == ""
    with pytest.raises(PneumaError) as caught:
        file.read()
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        (b"<html>sign in</html>", 200, "Expecting value"),
        (b"[" * 100_000, 200, "nested too deep"),
        (b"null", 200, "has no assets"),
        (b'{"errors": [{"message": "no such field"}]}', 200, "no such field"),
        (b'{"data": {"assetsOrError": {"message": "boom"}}}', 200, "boom"),
        (b"", 503, "answers 503"),
    ],
)
def test_what_is_no_answer_is_told_with_what_to_do(body, status, why):
    with answering(lambda handler, _: send(handler, body, status)) as url:
        told = refusal(url)
    assert why in told
    assert "check lineage.webserver" in told


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_http_is_told_and_no_run_fails(answer):
    def elsewhere(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.wfile.write(answer)

    with answering(elsewhere) as url:
        assert "its answer is no HTTP" in refusal(url)


@pytest.mark.parametrize("before", [0, 255])
def test_a_token_that_is_quoted_is_not_told(before):
    said = {"errors": [{"message": "x" * before + " no such token: user:abcdefghij"}]}
    with answering(lambda handler, _: send(handler, json.dumps(said).encode())) as url:
        told = refusal(url, {"TOKEN": "user:abcdefghij"}, token_env="TOKEN")
    assert "user:" not in told


def test_a_redirection_is_not_followed_with_the_token():
    heard = []

    def elsewhere(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        heard.append(handler.headers)
        send(handler, b"", 302, Location=f"{url}/stolen")

    with answering(elsewhere) as url:
        told = refusal(url, {"TOKEN": "user:abc"}, token_env="TOKEN")
    assert "answers 302" in told
    assert [one["Dagster-Cloud-Api-Token"] for one in heard] == ["user:abc"]


def test_an_answer_that_drips_ends_with_the_time(monkeypatch):
    def drip(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            while not stopped.wait(0.05):
                handler.wfile.write(b" ")
        except OSError:
            pass  # whoever asked has gone

    monkeypatch.setattr(dagster_graphql, "SECONDS", 0.5)
    stopped = threading.Event()
    with answering(drip) as url:
        told = refusal(url)
        stopped.set()
    assert "took more than 0.5 s" in told


def test_an_answer_is_bounded_in_size(monkeypatch):
    monkeypatch.setattr(dagster_graphql, "MOST_BYTES", 1000)
    with answering(lambda handler, _: send(handler, b" " * 1001)) as url:
        assert "more than 1,000 bytes" in refusal(url)


@pytest.mark.timeout(120)  # it ends at once, or not at all
@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_what_drips_its_first_line_or_headers_or_answer_ends_with_the_time(begun, monkeypatch):
    def drip(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        try:
            handler.wfile.write(begun)
            while not stopped.wait(0.05):
                handler.wfile.write(b"x")
        except OSError:
            gone.set()

    monkeypatch.setattr(dagster_graphql, "SECONDS", 0.5)
    stopped, gone = threading.Event(), threading.Event()
    with answering(drip) as url:
        told = refusal(url)
        is_gone = gone.wait(10)  # nobody listens to it any longer
        stopped.set()
    assert "took more than 0.5 s" in told
    assert is_gone


def test_all_answers_together_are_bounded_in_size(monkeypatch):
    monkeypatch.setattr(dagster_graphql, "PAGE", 1)
    monkeypatch.setattr(dagster_graphql, "MOST_BYTES_IN_ALL", 1000)
    heard = []

    def forever(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        heard.append(handler)
        nodes = [{"key": {"path": ["a" * 300]}, "definition": None}]
        page = {"cursor": str(len(heard)), "nodes": nodes}
        send(handler, json.dumps({"data": {"assetsOrError": page}}).encode())

    with answering(forever) as url:
        assert "more than 1,000 bytes together" in refusal(url)
    assert len(heard) == 3


def test_pages_are_asked_for_until_one_is_short_and_never_the_same_twice(monkeypatch):
    monkeypatch.setattr(dagster_graphql, "PAGE", 1)
    cursors = []

    def forever(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        cursors.append(json.loads(body)["variables"]["cursor"])
        nodes = [{"key": {"path": ["a"]}, "definition": None}]
        page = {"cursor": "same", "nodes": nodes}
        send(handler, json.dumps({"data": {"assetsOrError": page}}).encode())

    with answering(forever) as url:
        assert "do not come to an end" in refusal(url)
    assert cursors == [None, "same"]


def test_a_token_is_never_sent_in_the_clear_and_has_to_be_there():
    with pytest.raises(ValueError, match="unencrypted"):
        WebserverConfig(url="http://dagster.internal:3000", token_env="TOKEN")
    assert "TOKEN holds no token" in refusal("https://team.dagster.cloud/prod", token_env="TOKEN")


def test_none_configured_is_none_asked():
    assert webserver_assets(WebserverConfig(), {}) == []
