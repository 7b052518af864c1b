"""Who may be served where, who reads figures, whose scripts may ask, and files of answers."""

import shutil
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import replace

import pytest

from pneuma_assets.core.config.small_sections import StateConfig
from pneuma_assets.core.config.web import OidcConfig, WebConfig
from pneuma_assets.core.errors import ConfigError, StateError
from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.core.service.state import has_keys, open_store
from pneuma_assets.core.text.csv_writing import _cell
from pneuma_assets.web.export import _array, _unlike
from pneuma_assets.web.policy import Policy, is_loopback, policy_of
from tests.support.indexed_home import make_home
from tests.support.served_home import client_of, guarded_app, loaded_from
from tests.support.stages import run_stages

OIDC = OidcConfig(issuer="https://id.example.com", client_id="pneuma")
SECURE = WebConfig(base_url="https://data.example.com")
LONG = "s" * 32


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *(("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("[::1]", True)),
        *(("localhost", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False)),
        *(("data.example.com", False), ("", False), ("localhost.example.com", False)),
    ],
)
def test_what_is_this_machine_alone(host, local):
    assert is_loopback(host) is local


@pytest.mark.parametrize(
    ("web", "host", "has_keys", "is_local"),
    [
        (WebConfig(), "127.0.0.1", False, True),
        (WebConfig(), "127.0.0.1", True, False),
        (WebConfig(), "0.0.0.0", True, False),
        (WebConfig(oidc=OIDC), "127.0.0.1", False, False),
        (WebConfig(oidc=OIDC), "0.0.0.0", False, False),
        (WebConfig(), "0.0.0.0", False, None),
        (WebConfig(session_secret_env="S"), "127.0.0.1", True, False),
        (WebConfig(session_secret_env="SHORT"), "127.0.0.1", True, None),
        (WebConfig(session_secret_env="ABSENT"), "127.0.0.1", True, None),
    ],
)
def test_nobody_is_served_who_need_prove_nothing_from_elsewhere(
    deployment, web, host, has_keys, is_local
):
    loaded, environ = loaded_from(deployment, web), {"S": LONG, "SHORT": "s" * 31}
    if is_local is None:
        with pytest.raises(ConfigError):
            policy_of(loaded, host, environ, has_keys=has_keys)
    else:
        assert policy_of(loaded, host, environ, has_keys=has_keys).is_local is is_local


SHARED = {"state": StateConfig(url="postgresql://ann@db.example.com/lake")}


def test_a_state_that_machines_share_is_never_open(deployment):
    loaded = loaded_from(deployment)
    shared = replace(loaded, deployment=loaded.deployment.model_copy(update=SHARED))
    with pytest.raises(ConfigError, match="keys create"):
        policy_of(shared, "127.0.0.1", {}, has_keys=False)
    assert not policy_of(shared, "127.0.0.1", {}, has_keys=True).is_local


@pytest.fixture
def used(tmp_path, small_encoder, read_here):
    """The deployment of a home that was indexed, backed up, and for which a key was made."""
    loaded = loaded_from(make_home(tmp_path, {"lake/a.csv": "a\n1\n"}))
    with open_store(loaded, {}) as store:
        create_key(store, "ana")
        store.keys.revoke("ana")
        store.back_up()
    return loaded


LOSSES = {
    "the file": ("state.db",),
    "and its backup": ("state.db*",),
    "and what people said": ("state.db*", "said.jsonl"),
    "all but what Dagster knows": ("state.db*", "said.jsonl", "*.*", "index/*", "index"),
}


@pytest.mark.parametrize("lost", LOSSES.values(), ids=LOSSES)
def test_a_state_that_is_gone_is_not_one_without_keys(used, lost):
    assert has_keys(used, {})
    (used.home / "dagster").mkdir(exist_ok=True)
    for one in (path for pattern in lost for path in used.home.glob(pattern)):
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    with pytest.raises(StateError, match=r"restore|There is no state"):
        has_keys(used, {})
    knows_nothing = "said.jsonl" in lost and "index" not in lost
    with pytest.raises(StateError) if lost == ("state.db",) or knows_nothing else nullcontext():
        run_stages(used)  # as a cron job does meanwhile
        assert has_keys(used, {}) == ("said.jsonl" not in lost)
    if knows_nothing:
        with open_store(used, {}) as store:
            create_key(store, "ana")
        assert has_keys(used, {})


def _foreign(home):
    (home / "said.jsonl").unlink()
    with closing(sqlite3.connect(home / "state.db")) as other:
        other.execute("CREATE TABLE x (a)")


def _older(home):
    (home / "before.db").replace(home / "state.db")
    (home / "said.jsonl").write_text('{"said": "access_keys", "key_id": "a", "dig')


RETURNS = {
    "what people said is cut": lambda home: (home / "said.jsonl").write_text('{"said": "acc'),
    "what people said is empty": lambda home: (home / "said.jsonl").write_text(""),
    "the file of a stranger": _foreign,
    "a file of before the key": _older,
}


@pytest.mark.parametrize("back", RETURNS.values(), ids=RETURNS)
def test_what_comes_back_without_the_keys_is_no_state_without_keys(used, back):
    with open_store(used, {}) as store:
        assert not store.keys.are_unknown()
    shutil.copy(used.home / "state.db", used.home / "before.db")
    with closing(sqlite3.connect(used.home / "before.db")) as before:
        before.execute("DELETE FROM access_keys")
        before.commit()
    for one in used.home.glob("state.db*"):
        one.unlink()
    back(used.home)
    for told in ("nobody knows whether there were keys", "keys were made"):
        with pytest.raises(StateError, match=told):
            has_keys(used, {})
        run_stages(used)  # as a cron job does meanwhile
    with open_store(used, {}) as store:
        create_key(store, "ana")
    assert has_keys(used, {})


def test_the_keys_of_a_state_of_nothing_are_found(used):
    for one in used.home.glob("state.db*"):
        one.unlink()
    (used.home / "state.db").touch()
    assert has_keys(used, {})


def test_a_new_home_has_no_keys_and_an_index_elsewhere_is_none(tmp_path):
    file = tmp_path / "pneuma.yaml"
    for home in ("home: absent", "home: ."):
        file.write_text(f"{home}\n")
        assert not has_keys(loaded_from(file), {})
    assert [*tmp_path.iterdir()] == [file]
    file.write_text("index: {engine: elasticsearch}\n")
    with pytest.raises(StateError, match="an index elsewhere"):
        has_keys(loaded_from(file), {})


def test_workers_have_the_policy_that_was_decided(deployment):
    policy = policy_of(loaded_from(deployment, SECURE), "127.0.0.1", {}, has_keys=True)
    assert policy.is_encrypted
    assert Policy.from_environ({"PNEUMA_WEB": policy.to_environ()}) == policy
    for wrong in ({}, {"PNEUMA_WEB": "{}"}, {"PNEUMA_WEB": "x"}, {"PNEUMA_WEB": "[]"}):
        with pytest.raises(ConfigError):
            Policy.from_environ(wrong)


@pytest.mark.parametrize(
    ("sent", "status"), [("token", 200), ("other", 401), ("", 401), (None, 401), ("token ", 200)]
)
def test_figures_have_a_token_of_their_own(deployment, sent, status):
    web = WebConfig(metrics_token_env="T")
    with client_of(guarded_app(deployment, web, {"T": "token"})) as client:
        headers = {} if sent is None else {"Authorization": f"Bearer {sent}"}
        assert client.get("/metrics", headers=headers).status_code == status
        assert client.get("/api/v1/tables", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("origin", "allowed"), [("https://other.example.com", True), ("https://evil.example", False)]
)
def test_scripts_of_pages_that_are_named_may_ask(deployment, origin, allowed):
    web = WebConfig(allowed_origins=("https://other.example.com",))
    with client_of(guarded_app(deployment, web)) as client:
        asked = {"Origin": origin, "Access-Control-Request-Method": "GET"}
        found = client.options("/api/v1/search", headers=asked).headers
        assert (found.get("access-control-allow-origin") == origin) is allowed
        assert "access-control-allow-credentials" not in found
        methods = set(found.get("access-control-allow-methods", "").split(", "))
        assert methods >= {"GET", "POST", "PUT", "PATCH", "DELETE"}


def test_without_a_name_no_script_may_ask(deployment):
    with client_of(guarded_app(deployment)) as client:
        asked = {"Origin": "https://other.example.com", "Access-Control-Request-Method": "GET"}
        assert "access-control-allow-origin" not in client.options("/x", headers=asked).headers


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        *(("=1+1", "'=1+1"), ("@x", "'@x"), ("+49 30", "'+49 30"), ("-x", "'-x")),
        *(("-5", "-5"), ("+1.5e3", "+1.5e3"), (-5, -5), ("a=b", "a=b"), (None, None)),
        *(("\tx", "'\tx"), ("\r=1", "'\r=1"), (["=1"], '["=1"]'), ("", "")),
        *(("\n=1", "'\n=1"), ("＝1+1", "'＝1+1"), ("＋1", "'＋1"), ("－1", "'－1")),  # noqa: RUF001
        *(("＠x", "'＠x"), ("ａ＝ｂ", "ａ＝ｂ")),  # noqa: RUF001
    ],
)
def test_a_spreadsheet_takes_no_text_for_a_formula(cell, written):
    assert _cell(cell) == written


def test_columns_of_a_file_have_names_of_their_own():
    assert _unlike(["a", "a", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]


@pytest.mark.parametrize("values", [[1, "a", None], [[1], {"a": 1}], [True, "x"], [1, 2**70]])
def test_a_column_of_several_kinds_is_text(values):
    column = _array(values)
    assert str(column.type) == "string"
    assert len(column) == len(values)
