"""Tokens and logins of a provider that runs on this machine, over HTTP."""

import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from pneuma_assets.core.config.web import OidcConfig, WebConfig
from pneuma_assets.web import oidc
from tests.support.oidc_provider import CLIENT, CLIENT_SECRET, running_provider
from tests.support.served_home import client_of, guarded_app

BASE = "http://localhost"


@pytest.fixture(scope="module")
def provider():
    with running_provider() as one:
        yield one


@pytest.fixture(autouse=True)
def as_it_was(provider):
    claims = dict(provider.claims)
    yield
    provider.claims, provider.nonce_of_answer = claims, None


def app_of(deployment, provider, per_minute=1200, operators=("operators",), **more):
    web = WebConfig(
        oidc=OidcConfig(
            issuer=provider.issuer, client_id=CLIENT, client_secret_env="CLIENT_SECRET", **more
        ),
        base_url=BASE,
        editors=("editors",),
        operators=operators,
        requests_per_minute=per_minute,
    )
    return guarded_app(deployment, web, {"CLIENT_SECRET": CLIENT_SECRET})


@pytest.fixture(scope="module")
def opened(deployment, provider):
    with client_of(app_of(deployment, provider)) as one:
        yield one


@pytest.fixture
def client(opened):
    opened.cookies.clear()
    return opened


def status_of(client, token) -> int:
    asked = {"Authorization": f"Bearer {token}"}
    return client.get("/api/v1/search?q=rivers", headers=asked).status_code


GOOD = {
    "as it is": {},
    "several audiences": {"aud": ["other", CLIENT]},
    "one group": {"groups": "finance"},
    "no groups": {"groups": None},
    "a curve": {"alg": "ES256", "kid": "curve"},
    "PSS": {"alg": "PS256"},
    "a clock that is slow": {"iat": time.time() + 10},
}
BAD = {
    "another issuer": {"iss": "http://127.0.0.1:1"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "other"},
    "no audience": {"aud": None},
    "over": {"exp": 1000},
    "without an end": {"exp": None},
    "an end that is no time": {"exp": "later"},
    "not yet": {"nbf": time.time() + 3600},
    "of the future": {"iat": time.time() + 3600},
    "of nobody": {"sub": None},
    "of a blank": {"sub": " "},
    "of a list": {"sub": ["ana"]},
    "groups that are none": {"groups": [1, 2]},
    "groups by name": {"groups": {"finance": True}},
    "too many groups": {"groups": [f"g{at}" for at in range(1001)]},
    "a name that is too long": {"sub": "a" * 1001},
    "a key of another": {"key": RSAKey.generate_key(2048, {"kid": "one"})},
    "a key that is not known": {"kid": "two"},
}


@pytest.mark.parametrize("given", GOOD.values(), ids=GOOD)
def test_a_token_of_the_provider_counts(client, provider, given):
    assert status_of(client, provider.token(**given)) == 200


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_any_other_token_does_not(client, provider, given):
    assert status_of(client, provider.token(**given)) == 401


def test_nobody_signs_a_token_but_the_provider(client, provider):
    good = provider.token()
    head, body, signature = good.split(".")
    for token in (
        provider.unsigned(),
        provider.by_public_key(),
        f"{head}.{body}.",
        f"{head}.{body}.{signature[::-1]}",
        f"{head}.{body[:-4]}AAAA.{signature}",
        "a.b.c",
        "..",
        "x" * 20_000,
    ):
        assert status_of(client, token) == 401, token[:40]


def test_emails_and_audiences_count_as_configured(deployment, provider):
    with client_of(app_of(deployment, provider, name_claim="email")) as client:
        mail = {"email": "ana@example.com"}
        assert status_of(client, provider.token(**mail)) == 401
        assert status_of(client, provider.token(**mail, email_verified="true")) == 401
        assert status_of(client, provider.token(**mail, email_verified=True)) == 200
    with client_of(app_of(deployment, provider, audience="api")) as client:
        assert status_of(client, provider.token()) == 401
        assert status_of(client, provider.token(aud="api")) == 200


def test_groups_are_the_names_under_which_tables_let_in(client, provider):
    def found(groups):
        asked = {"Authorization": f"Bearer {provider.token(groups=groups)}"}
        hits = client.get("/api/v1/search?q=monthly wages payslip", headers=asked).json()["hits"]
        return any("salaries" in str(one) for one in hits)

    assert [found(one) for one in (["finance"], ["other"], ["operators"])] == [True, False, True]


def test_a_new_key_of_the_provider_is_looked_for_seldom(client, provider, monkeypatch):
    assert status_of(client, provider.token()) == 200
    provider.keys["new"] = RSAKey.generate_key(2048, {"kid": "new", "use": "sig"})
    try:
        before = len(provider.asked)
        assert {status_of(client, provider.token(kid=f"k{at}")) for at in range(20)} == {401}
        assert len(provider.asked) <= before + 1
        monkeypatch.setattr(oidc, "_LEAST_BETWEEN", 0.0)
        assert status_of(client, provider.token(kid="new")) == 200
    finally:
        del provider.keys["new"]


def test_a_provider_may_give_a_new_key_the_id_of_an_old_one(client, provider, monkeypatch):
    monkeypatch.setattr(oidc, "_LEAST_BETWEEN", 0.0)
    assert status_of(client, provider.token()) == 200
    old = provider.keys["one"]
    provider.keys["one"] = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
    try:
        assert status_of(client, provider.token()) == 200
        assert status_of(client, provider.token(key=old)) == 401
    finally:
        provider.keys["one"] = old
    assert status_of(client, provider.token()) == 200


def test_logins_that_come_back_are_counted(deployment, provider):
    with client_of(app_of(deployment, provider, per_minute=2)) as client:
        found = [client.get("/login/callback?state=a&code=b").status_code for _ in range(4)]
    assert found == [403, 403, 429, 429]


def test_a_provider_that_is_away_is_said(deployment, provider):
    app = app_of(deployment, provider)
    app.state.authentication.provider._issuer = "http://127.0.0.1:9"
    with client_of(app) as client:
        assert status_of(client, provider.token()) == 503


def signed_in(client, provider, there="/api/v1/search?q=rivers"):
    """Log in as a browser does, and return the last response of this server."""
    begun = client.get("/login/provider", params={"next": there}, follow_redirects=False)
    assert begun.status_code == 303
    back = httpx.get(begun.headers["location"], follow_redirects=False).headers["location"]
    assert back.startswith(f"{BASE}/login/callback?")
    return client.get(back.removeprefix(BASE), follow_redirects=False)


def test_a_browser_logs_in_at_the_provider(client, provider):
    done = signed_in(client, provider)
    assert done.status_code == 303
    assert done.headers["location"] == "/api/v1/search?q=rivers"
    assert client.get(done.headers["location"]).status_code == 200
    assert client.post("/logout").status_code == 403  # without the page's token


@pytest.mark.parametrize(
    "claims",
    [
        *({"groups": ["operators", "finance"]}, {"groups": ["editors"]}, {"groups": ["finance"]}),
        *({"sub": "operators", "groups": ["finance"]}, {"groups": None}),
    ],
    ids=str,
)
def test_a_login_has_the_rights_of_a_token_of_the_same_person(client, provider, claims):
    bearer = {"Authorization": f"Bearer {provider.token(**claims)}"}
    by_token = client.get("/api/v1/me", headers=bearer).json()
    provider.claims = {"sub": "ana", **claims}
    signed_in(client, provider)
    assert client.get("/api/v1/me").json() == by_token
    assert by_token["is_operator"] is ("operators" in str(claims))


def test_a_login_has_the_rights_that_its_groups_have_now(client, deployment, provider):
    provider.claims = {"sub": "ana", "groups": ["operators", "finance"]}
    signed_in(client, provider)
    for operators in ((), ("operators",), ("finance",)):  # as a server with other settings would
        with client_of(app_of(deployment, provider, operators=operators)) as other:
            other.cookies = client.cookies
            me = other.get("/api/v1/me").json()
            assert me["is_operator"] is bool(operators)
            found = other.get("/api/v1/search?q=monthly wages payslip").json()["hits"]
            assert "finance/salaries" in [one["card"]["table_id"] for one in found]


def test_a_login_is_of_the_browser_that_began_it(client, deployment, provider):
    begun = client.get("/login/provider", follow_redirects=False).headers["location"]
    back = httpx.get(begun, follow_redirects=False).headers["location"]
    path = back.removeprefix(BASE)
    state = parse_qs(urlsplit(back).query)["state"][0]
    with client_of(app_of(deployment, provider)) as other:
        assert other.get(path, follow_redirects=False).status_code == 403
    assert client.get(path.replace(state, "other"), follow_redirects=False).status_code == 403
    assert client.get(path, follow_redirects=False).status_code == 303
    assert client.get(path, follow_redirects=False).status_code == 403  # only once


def test_an_answer_for_another_login_is_refused(client, provider):
    provider.nonce_of_answer = "of another"
    assert signed_in(client, provider).status_code == 403


def test_a_login_leads_to_this_server_alone(client, provider):
    assert signed_in(client, provider, "//evil.example").headers["location"] == "/"
