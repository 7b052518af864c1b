"""What every response bears, and what is refused before anything is asked."""

import pytest


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
