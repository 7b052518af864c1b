"""What every response bears, and what is refused before anything is asked."""

import pytest

from pneuma_assets.web.pages import answers
from pneuma_assets.web.policy import Policy
from tests.support.served_home import SECRET, client_of


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/api/v1/search?q=a", "/no", "/login"])
def test_every_response_bears_the_headers(client, path):
    answer = client.get(path, follow_redirects=False)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
        ("LOCALHOST:1", 200),
        ("evil.example", 421),
        ("localhost.evil.example:80", 421),
        ("", 421),
        ("127.0.0.1.evil:8765", 421),
    ],
)
def test_a_local_server_is_asked_by_its_own_name(client, host, status):
    assert client.get("/api/v1/search?q=rivers", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    "name",
    [
        *("X-Forwarded-For", "X-FORWARDED-PROTO", "X-Real-IP", "Via", "Forwarded"),
        *("CF-Connecting-IP", "CF-Ray", "True-Client-IP", "X-Client-IP", "Tailscale-User-Login"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/v1/me", "/mcp", "/metrics"])
def test_what_a_proxy_passed_on_is_not_of_the_one_person(client, guarded, path, name):
    assert client.get(path, headers={name: "10.0.0.7"}).status_code == 421
    with client_of(guarded) as other:
        found = other.get(path, headers={name: "10.0.0.7"}, follow_redirects=False)
        assert found.status_code in (303, 401)


def test_the_protocol_of_proxies_is_none_of_a_browser():
    headers = {"host": "127.0.0.1:8765"}
    assert Policy(True, False, SECRET).allows(headers, "1.1")
    assert not Policy(True, False, SECRET).allows(headers, "1.0")
    assert Policy(False, False, SECRET).allows(headers, "1.0")


IMAGE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1"}
ELSEWHERE = {
    "an image": (IMAGE, 403),
    "of a neighbour": (IMAGE | {"Sec-Fetch-Site": "same-site"}, 403),
    "a frame": (LINK | {"Sec-Fetch-Dest": "iframe"}, 403),
    "a script's fetch": ({"Origin": "http://localhost:3000"}, 403),
    "moved by a script": ({**LINK, "Sec-Fetch-User": "?0"}, 403),
    "a link": (LINK, 200),
    "its own page": ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}, 200),
    "typed": ({"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"}, 200),
    "no browser": ({}, 200),
}


@pytest.mark.parametrize("path", ["/answer?q=rivers", "/?q=rivers", "/api/v1/search?q=rivers"])
@pytest.mark.parametrize(("headers", "status"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_page_elsewhere_has_a_local_server_answer_nothing(client, path, headers, status):
    """A question that is asked by GET may ask a model that is paid for."""
    assert client.get(path, headers=headers).status_code == status


def test_what_needs_no_proof_may_be_shown_elsewhere(client):
    for path in ("/healthz", "/static/icon.svg", "/login"):
        found = client.get(path, headers=IMAGE, follow_redirects=False)
        assert found.status_code in (200, 303)


def test_an_answer_reads_the_rows_of_the_nearest_table_where_it_shows_them(client, monkeypatch):
    read = []
    real = answers.sampled
    monkeypatch.setattr(answers, "sampled", lambda *given: read.append(given[1]) or real(*given))
    assert "Nearest table:" in client.get("/answer?q=rivers").text
    assert len(read) == 1
    shown = client.get("/answer?q=volga").text
    assert "Rows of" in shown
    assert "Nearest tables:" in shown
    assert len(read) == shown.count("Nearest table:") + 1 == 1
