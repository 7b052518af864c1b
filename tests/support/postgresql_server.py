"""A real PostgreSQL for tests: the one at PNEUMA_TEST_POSTGRESQL, or one started on this machine.

Tests that kill a server start one of their own: `postgresql_server`.
"""

import contextlib
import os
import secrets
from collections.abc import Iterator

import pytest
from sqlalchemy import make_url, text

from tests.support.postgresql_process import URL_VARIABLE, Server, autocommitting, spelled


@contextlib.contextmanager
def new_database(url: str, encoding: str = "") -> Iterator[str]:
    """Make a database beside the one at `url`; yield its URL, and drop it afterwards.

    Args:
        url: Of another one at this server.
        encoding: Of its texts; else the server's own.
    """
    options = f"ENCODING '{encoding}' LOCALE 'C'" if encoding else ""
    name = f"test_{secrets.token_hex(6)}"
    with autocommitting(make_url(url)) as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0 {options}"))
    try:
        yield spelled(make_url(url).set(database=name))
    finally:
        with autocommitting(make_url(url)) as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """One server of the session's own, where tests may be the superuser."""
    with Server() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql_url(request: pytest.FixtureRequest) -> str:
    """The SQLAlchemy URL of one server that all tests of the session share."""
    if given := os.environ.get(URL_VARIABLE):
        return spelled(make_url(given).set(drivername="postgresql+psycopg"))
    return request.getfixturevalue("postgresql").url


@pytest.fixture
def postgresql_database(postgresql_url: str) -> Iterator[str]:
    """The URL of an empty database that no other test has; it is dropped afterwards."""
    with new_database(postgresql_url) as url:
        yield url


@pytest.fixture
def postgresql_server() -> Iterator[Server]:
    """A server of the test's own, which it may kill and restart."""
    with Server() as server:
        yield server
