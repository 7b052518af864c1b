"""A PostgreSQL database of encoding SQL_ASCII, whose names, comments and cells are any bytes."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.sql.rows import NO_TEXT
from tests.support.postgresql_server import new_database
from tests.support.sql_database import Database, listed

pytestmark = pytest.mark.integration

PLAIN = (
    b"CREATE TABLE plain (id int, name text)",
    b"INSERT INTO plain VALUES (1, 'plain'), (2, 'caf\xc3\xa9')",
)
BAD = (
    b"CREATE TABLE cells (id int, name text)",
    b"INSERT INTO cells VALUES (1, 'caf\xe9')",
    b'CREATE TABLE "tab\xe9" ("na\xefve" int PRIMARY KEY, at json)',
    b"""INSERT INTO "tab\xe9" VALUES (7, '{"a": "\xe9"}')""",
    b'CREATE TABLE points ("zur\xfcck" int REFERENCES "tab\xe9")',
    b"CREATE TABLE noted (id int)",
    b"COMMENT ON TABLE noted IS 'the caf\xe9 table'",
    b"COMMENT ON COLUMN noted.id IS 'the caf\xe9 column'",
    b"CREATE VIEW seen AS SELECT id, 'caf\xe9'::text AS word FROM cells",
    b'CREATE VIEW "gr\xc3\xbc\xc3\x9fe" AS SELECT * FROM "tab\xe9"',
    b'CREATE SCHEMA "\xe9t\xe9"',
    b'CREATE TABLE "\xe9t\xe9".days (n int)',
)
NAMES = ["plain", "cells", "tab%E9", "points", "noted", "seen", "gr\xfc\xdfe"]


@pytest.fixture
def database(postgresql_url) -> Iterator[Database]:
    with new_database(postgresql_url, "SQL_ASCII") as url:
        made = Database(url)
        made.run_bytes(*PLAIN, *BAD)
        yield made


def test_names_of_any_bytes_are_listed_and_found_again(database):
    with closing(database.config().open(database.environ)) as source:
        refs = listed(source)
        assert refs.keys() == {*(f"public/{name}" for name in NAMES), "%E9t%E9/days"}
        tables = {name: source.profile(ref) for name, ref in refs.items()}
        rows = {name: [row.cells for row in source.sample(ref, 5, 0)] for name, ref in refs.items()}
    assert rows["public/plain"] == [("1", "plain"), ("2", "caf\xe9")]
    assert rows["public/cells"] == [("1", "caf\ufffd")]
    assert rows["public/tab%E9"] == rows["public/gr\xfc\xdfe"] == [("7", '{"a": "\ufffd"}')]
    assert {name for name, table in tables.items() if NO_TEXT not in table.notes} == {
        "public/plain",
        "public/cells",
        "public/seen",
    }
    assert tables["public/noted"].comment == "the caf\ufffd table"


def test_what_the_server_says_of_an_error_is_read_as_utf_8(database):
    database.run_bytes(b"CREATE VIEW fails AS SELECT (name || '\xc3\xa9!')::int AS n FROM plain")
    with closing(database.config().open(database.environ)) as source:
        ref = listed(source)["public/fails"]
        with pytest.raises(TableReadError, match="plain\xe9!"):
            source.sample(ref, 5, 0)
