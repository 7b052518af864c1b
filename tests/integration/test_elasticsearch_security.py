"""TLS, keys and least privileges, on a server with security; secrets stay secret."""

import base64
import hashlib
import json
import logging
import secrets
from functools import partial

import certifi
import pytest
from elasticsearch import AuthenticationException, AuthorizationException

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.registry import Credentials
from tests.support.elasticsearch_index import opener, reindex_on
from tests.support.elasticsearch_server import Cluster
from tests.support.index_blocks import replace_blocks
from tests.support.versioned_tables import DIMENSION, ENCODER, all_at, versions_found
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]

NAME = "pneuma"
TABLES = ["s/a", "s/b"]
NAMES = [NAME, f"{NAME}-*"]
HEALTH = ["cluster:monitor/health"]
WRITING = [
    "create_index",
    "delete",
    "delete_index",
    "index",
    "indices:admin/aliases",
    "maintenance",
]
READING = ["monitor", "read", "view_index_metadata"]
ROLES = {
    "writer": {"cluster": HEALTH, "indices": [{"names": NAMES, "privileges": WRITING + READING}]},
    "reader": {"cluster": HEALTH, "indices": [{"names": NAMES, "privileges": READING}]},
    "frugal": {
        "cluster": [],
        "indices": [{"names": NAMES, "privileges": ["read", "view_index_metadata"]}],
    },
    "stranger": {"cluster": [], "indices": []},
}


@pytest.fixture(scope="module")
def cluster():
    with Cluster(security=True) as running:
        yield running


@pytest.fixture(scope="module", params=["password", "API key"])
def roles(request, cluster):
    """Credentials by role: of users with passwords, and of keys."""
    return users(cluster) if request.param == "password" else keys(cluster)


def users(cluster):
    """Make a user a role in the server's own files; it rereads them every few seconds."""
    passwords = {name: secrets.token_urlsafe(12) for name in ROLES}
    folder = cluster.ca.parent
    lines = [f"{name}:{hashed(password)}" for name, password in passwords.items()]
    described = [f"{name}: {json.dumps(role)}" for name, role in ROLES.items()]
    (folder / "roles.yml").write_text("\n".join(described))
    (folder / "users").write_text("\n".join(lines))
    (folder / "users_roles").write_text("\n".join(f"{name}:{name}" for name in ROLES))
    for name, password in passwords.items():
        wait_until(partial(known, cluster, name, password), "the server rereads all its files")
    return {name: Credentials(username=name, password=passwords[name]) for name in ROLES}


def hashed(password):
    """Hash a password as Elasticsearch's file of users holds it."""
    salt = secrets.token_bytes(8)
    digest = hashlib.sha256(password.encode() + salt).digest()
    return "{SSHA256}" + base64.b64encode(salt).decode() + base64.b64encode(digest).decode()


def known(cluster, name, password):
    """Tell whether the server knows a user, that its role is this one, and what that allows."""
    with cluster.client(basic_auth=(name, password)) as client:
        try:
            assigned = client.security.authenticate()["roles"]
            if ROLES[name]["indices"]:
                client.indices.exists_alias(name=NAME)
        except (AuthenticationException, AuthorizationException):
            return False
    return assigned == [name]


def keys(cluster):
    """Make a key a role, as the documentation says."""
    with cluster.client() as client:
        made = {
            name: client.security.create_api_key(name=name, role_descriptors={name: role})
            for name, role in ROLES.items()
        }
    return {name: Credentials(api_key=key["encoded"]) for name, key in made.items()}


@pytest.fixture
def root(cluster):
    return Credentials(username="elastic", password=cluster.password)


@pytest.fixture
def open_index(cluster, root):
    defaults = {"patience_seconds": 1.0, "ca_certs": cluster.ca}
    defaults["credentials"] = root
    with opener(cluster.urls, NAME, ENCODER, DIMENSION, **defaults) as opening:
        yield opening


@pytest.fixture
def written(open_index):
    """The index as its owner has written it: all tables at version 2."""
    index = open_index()
    replace_blocks(index, all_at(TABLES, 2))
    return index


def test_the_writers_role_is_enough(open_index, roles, cluster):
    writer = open_index(credentials=roles["writer"], retention_seconds=0.0)  # cleans up at once
    replace_blocks(writer, all_at(TABLES, 1))
    writer.delete_tables(TABLES[:1])
    replace_blocks(writer, all_at(TABLES, 2))
    writer.optimise()
    config = ElasticsearchConfig(urls=cluster.urls, name=NAME, ca_certs=cluster.ca)
    reindex_on(config, roles["writer"])
    writer = open_index(credentials=roles["writer"])
    assert versions_found(writer) == dict.fromkeys(TABLES, 2)
    info = writer.info()
    assert (info.blocks, info.health) == (50, "green")
    assert info.size_bytes > 0


@pytest.mark.usefixtures("written")
def test_the_readers_role_reads(open_index, roles):
    for role, health in (("reader", "green"), ("frugal", "unknown")):
        reader = open_index(credentials=roles[role])
        assert versions_found(reader) == dict.fromkeys(TABLES, 2)
        assert reader.info().health.startswith(health)
        assert (reader.info().size_bytes > 0) == (role == "reader")


@pytest.mark.parametrize("role", ["reader", "frugal"])
def test_the_readers_role_cannot_write(open_index, written, roles, role, cluster):
    reader = open_index(credentials=roles[role])
    config = ElasticsearchConfig(urls=cluster.urls, name=NAME, ca_certs=cluster.ca)
    for write in (
        lambda: replace_blocks(reader, all_at(TABLES, 3)),
        lambda: reader.delete_tables(TABLES),
        reader.optimise,
        lambda: reindex_on(config, roles[role]),
    ):
        with pytest.raises(SearchIndexError, match="privileges"):
            write()
    with cluster.client(**plain(roles[role])) as client:
        (found,) = client.indices.get_alias(name=NAME)
        with pytest.raises(AuthorizationException):
            client.indices.delete(index=found)
    assert versions_found(written) == dict.fromkeys(TABLES, 2)


def plain(credentials):
    """Return credentials as the bare client takes them."""
    if credentials.api_key is not None:
        return {"api_key": credentials.api_key}
    return {"basic_auth": (credentials.username, credentials.password)}


def test_no_role_reads_another_index(open_index, roles, root):
    replace_blocks(open_index(name="salaries"), all_at(TABLES, 1))
    for role in ("writer", "reader"):
        with pytest.raises(SearchIndexError, match="privileges"):
            open_index(name="salaries", credentials=roles[role]).list_tables()


@pytest.mark.usefixtures("written")
def test_a_stranger_is_refused(open_index, roles):
    with pytest.raises(SearchIndexError, match="privileges"):
        open_index(credentials=roles["stranger"]).list_tables()


@pytest.mark.parametrize(
    "trust",
    [
        pytest.param({"ca_certs": certifi.where()}, id="another authority"),
        pytest.param({"ca_certs": None}, id="the system's authorities"),
    ],
)
def test_another_certificate_is_refused(open_index, trust):
    with pytest.raises(SearchIndexError, match="ca_certs"):
        open_index(**trust).list_tables()


WRONG = "secret-5b0d8e"


@pytest.mark.parametrize(
    "credentials",
    [
        pytest.param(Credentials(), id="none"),
        pytest.param(
            Credentials(api_key=base64.b64encode(f"wrong:{WRONG}".encode()).decode()), id="key"
        ),
        pytest.param(Credentials(api_key=WRONG), id="no key at all"),
        pytest.param(Credentials(username="elastic", password=WRONG), id="password"),
        pytest.param(Credentials(username="nobody", password=WRONG), id="user"),
    ],
)
def test_wrong_credentials_are_refused(open_index, credentials):
    with pytest.raises(SearchIndexError, match="api_key_env or password_env") as refused:
        open_index(credentials=credentials).list_tables()
    said = " ".join(messages(refused.value))
    assert WRONG not in said
    assert credentials.api_key is None or credentials.api_key not in said


def test_secrets_show_nowhere(open_index, roles, root, caplog):
    """Not in representations, errors with all their causes, or logs at their most talkative."""
    caplog.set_level(logging.DEBUG)
    replace_blocks(open_index(credentials=roles["writer"]), all_at(TABLES, 2))
    shown = []
    for credentials in (roles["writer"], roles["reader"], root):
        index = open_index(credentials=credentials)
        shown += [repr(index), str(index), repr(vars(index)), repr(index.info())]
        shown += [repr(credentials), str(credentials)]
        try:
            replace_blocks(index, all_at(TABLES, 3))
        except SearchIndexError as error:
            shown += messages(error)
    shown += [record.getMessage() + repr(record.__dict__) for record in caplog.records]
    assert len(shown) > 30
    for secret in (s for one in (*roles.values(), root) for s in spellings(one)):
        assert not [text for text in shown if secret in text]


def spellings(credentials):
    """Return how a secret might show: as it is, decoded, or as it goes over the wire."""
    if credentials.api_key is not None:
        return [credentials.api_key, base64.b64decode(credentials.api_key).decode().split(":")[1]]
    pair = f"{credentials.username}:{credentials.password}"
    return [credentials.password, base64.b64encode(pair.encode()).decode()]


def messages(error):
    said = []
    while error is not None:
        said += [str(error), repr(error)]
        error = error.__cause__ or error.__context__
    return said
