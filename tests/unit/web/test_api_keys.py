"""API keys, logins by them, and what other sites' pages may do with a login: nothing."""

import re
import time

import pytest

from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.core.service.state import open_store
from pneuma_assets.web import key_ring
from pneuma_assets.web.pages.page import go_back, own_path
from tests.support.indexed_home import make_home
from tests.support.served_home import client_of, guarded_app, loaded_from

SEARCH = "/api/v1/search?q=rivers"


@pytest.fixture
def store(deployment, monkeypatch):
    monkeypatch.setattr(key_ring, "_FRESH_SECONDS", 0.0)
    with open_store(loaded_from(deployment), {}) as one:
        yield one
        for key in one.keys.all():
            one.keys.revoke(key.key_id)


@pytest.fixture
def client(deployment):
    with client_of(guarded_app(deployment)) as one:
        yield one


def status_of(client, text, scheme="Bearer", path=SEARCH) -> int:
    return client.get(path, headers={"Authorization": f"{scheme} {text}".encode()}).status_code


def test_only_a_valid_key_counts(client, store):
    key, text = create_key(store, "ana")
    _, ended = create_key(store, "old", days=1e-9)
    assert status_of(client, text) == 200
    assert status_of(client, text, "bearer") == 200
    head, secret = text.rsplit("_", 1)[0], text.split("_", 2)[2]
    for wrong in (
        ended,
        secret,
        f"pneuma_{key.key_id}_",
        f"pneuma_{key.key_id}_{key.digest}",
        f"pneuma__{secret}",
        f"other_{key.key_id}_{secret}",
        head,
        f"{text}x",
        text[:-1],
        "pneuma_",
        "pneuma_\xe4_\xf6",
        "",
    ):
        assert status_of(client, wrong) == 401, wrong
    assert status_of(client, text, "Basic") == 401
    assert client.get(SEARCH).status_code == 401
    store.keys.revoke("ana")
    assert status_of(client, text) == 401


def test_only_its_hash_is_kept_and_its_use_is_noted(client, store, deployment):
    _, text = create_key(store, "ana")
    secret = text.split("_", 2)[2]
    assert status_of(client, text) == 200
    assert secret not in repr(store.keys.all())
    files = [one for one in (deployment.parent / "home").rglob("*") if one.is_file()]
    assert not any(secret.encode() in one.read_bytes() for one in files)
    until = time.monotonic() + 30
    while store.keys.all()[-1].used_at is None:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("readers", "given", "sees", "operates"),
    [
        ((), {}, False, 403),
        (("finance",), {}, True, 403),
        (("other",), {"may_edit": True}, False, 403),
        ((), {"is_operator": True}, True, 200),
    ],
)
def test_a_key_sees_what_it_was_made_for(client, store, readers, given, sees, operates):
    _, text = create_key(store, "some", readers, **given)
    asked = {"Authorization": f"Bearer {text}"}
    found = client.get("/api/v1/search?q=monthly wages payslip", headers=asked).text
    assert ("finance/salaries" in found) is sees
    assert status_of(client, text, path="/metrics") == operates


def logged_in(client, text, **more):
    return client.post("/login", data={"key": text, **more}, follow_redirects=False)


def test_a_browser_logs_in_by_a_key(client, store):
    _, text = create_key(store, "ana")
    assert logged_in(client, "pneuma_1_2").status_code == 403
    assert logged_in(client, text, next="//evil.example").headers["location"] == "/"
    done = logged_in(client, text, next=SEARCH)
    assert (done.status_code, done.headers["location"]) == (303, SEARCH)
    cookie = done.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert re.search(r"max-age=43200\b", cookie)
    assert text not in cookie
    assert client.get(SEARCH).status_code == 200
    store.keys.revoke("ana")
    assert client.get(SEARCH).status_code == 401


def test_a_cookie_that_is_forged_counts_for_nothing(client, store):
    _, text = create_key(store, "ana")
    logged_in(client, text)
    (name, value) = next(iter(client.cookies.items()))
    for forged in (value.swapcase(), value[1:], "x", "", value.split(".")[0]):
        client.cookies.clear()
        client.cookies.set(name, forged)
        assert client.get(SEARCH).status_code == 401
    client.cookies.clear()
    client.cookies.set(name, value)
    assert client.get(SEARCH).status_code == 200


CHANGES = {
    "no token": ({}, 403),
    "a wrong one": ({"X-CSRF-Token": "a.b"}, 403),
    "one of no form": ({"X-CSRF-Token": ""}, 403),
    "its own": ({"X-CSRF-Token": "{token}"}, 303),
    "its own, and its origin": ({"X-CSRF-Token": "{token}", "Origin": "http://localhost"}, 303),
    "another origin": ({"X-CSRF-Token": "{token}", "Origin": "http://evil.example"}, 403),
    "an origin that is none": ({"X-CSRF-Token": "{token}", "Origin": "http://[::1"}, 403),
    "no origin at all": ({"X-CSRF-Token": "{token}", "Origin": "null"}, 403),
    "another site": ({"X-CSRF-Token": "{token}", "Sec-Fetch-Site": "cross-site"}, 403),
    "a neighbour": ({"X-CSRF-Token": "{token}", "Sec-Fetch-Site": "same-site"}, 403),
}


def token_of(client) -> str:
    sessions = client.app.state.authentication.sessions
    (value,) = [one for name, one in client.cookies.items() if name.endswith("pneuma-session")]
    session_id = sessions._signer("pneuma-session").loads(value)["id"]
    return sessions.csrf_token(session_id)


@pytest.mark.parametrize(("headers", "status"), CHANGES.values(), ids=CHANGES)
def test_a_change_needs_the_token_of_its_page(client, store, headers, status):
    _, text = create_key(store, "ana")
    logged_in(client, text)
    given = {name: one.replace("{token}", token_of(client)) for name, one in headers.items()}
    assert client.post("/logout", headers=given, follow_redirects=False).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "image"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "document"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}, 200),  # from a provider
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}, 200),
    ],
)
def test_a_page_elsewhere_asks_nothing_by_a_login_but_leads_here(client, store, headers, status):
    _, text = create_key(store, "ana")
    logged_in(client, text)
    assert client.get(SEARCH, headers=headers).status_code == status
    client.cookies.clear()
    mine = headers | {"Authorization": f"Bearer {text}"}
    assert client.get(SEARCH, headers=mine).status_code == 200


def test_a_form_has_so_many_fields_and_may_hold_the_token(client, store):
    _, text = create_key(store, "ana")
    logged_in(client, text)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post("/logout", content="a=b&" * 1001, headers=form)
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    logged_in(client, text)
    form = {"csrf_token": token_of(client), "other": "ä&="}
    assert client.post("/logout", data={**form, "csrf_token": "x.y"}).status_code == 403
    assert client.post("/logout", data=form, follow_redirects=False).status_code == 303


@pytest.mark.parametrize(
    "there",
    [
        *("//[", "http://[", "//evil.example", "/\\evil.example", "/\t/evil.example", "/a\nb"),
        *("https://evil.example/x", "javascript:alert(1)", "x", ""),
    ],
)
def test_nobody_is_led_to_another_site(there):
    assert own_path(there) == "/"


def test_a_form_leads_back_to_the_page_it_was_on():
    back = go_back("/tables/a%20b?q=x&done=y#z", "described").headers["location"]
    assert back == "/tables/a%20b?q=x&done=described"


def test_another_site_logs_nobody_in(client, store):
    _, text = create_key(store, "ana")
    sent = {"data": {"key": text}, "headers": {"Origin": "http://evil.example"}}
    assert client.post("/login", **sent, follow_redirects=False).status_code == 403


def test_a_page_without_a_login_leads_to_it(client):
    asked = {"Accept": "text/html"}
    answer = client.get("/some?q=a b", headers=asked, follow_redirects=False)
    assert answer.headers["location"] == "/login?next=%2Fsome%3Fq%3Da%2520b"


def test_a_key_is_not_wrong_where_the_state_is_gone(
    tmp_path, monkeypatch, small_encoder, read_here
):
    monkeypatch.setattr(key_ring, "_FRESH_SECONDS", 0.0)
    home = make_home(tmp_path, {"lake/a.csv": "a\n1\n"})
    loaded = loaded_from(home)
    with open_store(loaded, {}) as store:
        _, text = create_key(store, "ana")
    with client_of(guarded_app(home)) as client:
        assert status_of(client, text) == 200
        for one in loaded.home.glob("state.db*"):
            one.rename(tmp_path / one.name)
        assert status_of(client, text) == 503
