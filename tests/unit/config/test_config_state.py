"""Where the state is kept: a short way and a long way to say it, and no secret in either."""

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError, StateError
from pneuma_assets.core.service.state import open_store, restore_state

ELSEWHERE = "index: {engine: elasticsearch}\n"


def load(folder, text: str):
    (folder / "pneuma.yaml").write_text(text)
    return load_deployment(config=folder / "pneuma.yaml", environ={}, cwd=folder)


@pytest.mark.parametrize(
    ("said", "url"),
    [
        ("state: postgresql://me@db/lake", "postgresql://me@db/lake"),
        ("state: postgres://me@db:5433/lake?sslmode=require", None),
        ("state: {url: 'postgresql://me@db/lake'}", "postgresql://me@db/lake"),
    ],
)
def test_an_address_is_enough(tmp_path, said, url):
    state = load(tmp_path, ELSEWHERE + said).deployment.state
    assert state.url == (url or "postgresql://me@db:5433/lake?sslmode=require")
    assert state.schema_name == "pneuma"
    assert state.location(tmp_path) == f"{state.url}, schema pneuma"
    assert {"type": "string"} in Deployment.model_json_schema()["properties"]["state"]["anyOf"]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("state: mysql://db/lake", "postgresql://user@host"),
        ("state: postgresql://db", "postgresql://user@host"),
        ("state: {url: 'postgresql://me:hidden@db/lake'}", "password_env"),
        ("state: postgresql://me:hidden@db/lake", "password_env"),
        ("state: 'postgresql://me@db/lake?password=hidden'", "password_env"),
        ("state: {password_env: HIDDEN}", "no url"),
        ("state: {url: 'postgresql://db/lake', schema_name: 'a; DROP'}", "schema_name"),
        ("state: {url: 'postgresql://db/lake', schema_name: Lake}", "lower-case"),
        ("state: {url: 'postgresql://db/lake', schema_name: pg_lake}", "pg_"),
        ("state: 7", "state"),
    ],
)
def test_mistakes_are_named_and_no_secret_is(tmp_path, said, wanted):
    with pytest.raises(ConfigError) as raised:
        load(tmp_path, ELSEWHERE + said)
    assert wanted in str(raised.value)
    assert "line 2" in str(raised.value)
    assert "hidden" not in str(raised.value)


def test_a_shared_state_needs_a_shared_index(tmp_path):
    with pytest.raises(ConfigError, match=r"index\.engine: elasticsearch"):
        load(tmp_path, "state: postgresql://me@db/lake")


def test_the_variable_of_the_password_must_be_set(tmp_path):
    said = "state: {url: 'postgresql://me@db/lake', password_env: LAKE_PASSWORD}"
    loaded = load(tmp_path, ELSEWHERE + said)
    with pytest.raises(ConfigError, match="LAKE_PASSWORD is not set"):
        open_store(loaded, {})


def test_a_state_on_a_server_is_not_restored(tmp_path):
    loaded = load(tmp_path, ELSEWHERE + "state: postgresql://me@db/lake")
    with pytest.raises(StateError, match="backup"):
        restore_state(loaded)
