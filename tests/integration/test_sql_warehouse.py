"""Seven schemas of a real warehouse in PostgreSQL, listed as one source."""

import json
import re
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pneuma_assets.core.tables import ForeignKey
from tests.support import postgresql_process
from tests.support.postgresql_process import Server
from tests.support.sql_database import Database, listed

pytestmark = [pytest.mark.integration, pytest.mark.slow]

DATA = Path(__file__).resolve().parents[2].parent / "shared/data"
DUMPS = sorted((DATA / "warehouse").glob("*.sql"))


@pytest.fixture
def gold() -> list[dict[str, str]]:
    text = (DATA / "columns" / "warehouse.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.skipif(not DUMPS, reason="no ../shared/data/warehouse")
def test_all_82_tables_with_columns_comments_and_keys_by_two_statements(monkeypatch, gold):
    monkeypatch.setitem(postgresql_process.SETTINGS, "log_statement", "all")
    with Server() as server:
        database = Database(server.url)
        for dump in DUMPS:
            database.run(dump.read_text(encoding="utf-8"))
        with database.connected() as connection:
            _comment(connection, gold)
            keys = _declare_keys(connection)
        with closing(database.config().open(database.environ)) as source:
            source.list_tables()  # connects
            before = len(server.log)
            refs = listed(source)
            asked = re.findall(r"LOG:  (?:execute \S+|statement): (.*)", server.log[before:])
            tables = {name: source.profile(ref) for name, ref in refs.items()}
            contexts = {name: source.contexts(refs[name]).texts for name in refs}
    declared = [re.sub(r"\s+", " ", one) for one in asked]
    assert len([one for one in declared if one not in {"BEGIN", "ROLLBACK", ""}]) <= 4
    assert len(refs) == 82
    assert {name.split("/")[0] for name in refs} == {dump.stem for dump in DUMPS}
    told = {(name, column.name): column.comment
            for name, table in tables.items() for column in table.columns}  # fmt: skip
    assert all(told[one["table"], one["column"]] == one["gold"] for one in gold)
    assert all(contexts[one["table"]] for one in gold)
    dumped = "".join(dump.read_text(encoding="utf-8") for dump in DUMPS)
    created = re.findall(r"(?m)^CREATE TABLE ", dumped)
    assert len(created) == len(tables)
    assert {name: table.primary_key for name, table in tables.items() if table.primary_key} == keys
    assert tables["academic/writes"].foreign_keys == (
        ForeignKey(("aid",), ("academic", "author"), ("aid",)),
    )
    assert all(table.row_count and table.columns for table in tables.values())


def _comment(connection: psycopg.Connection, gold: list[dict[str, str]]) -> None:
    for one in gold:
        place = sql.Identifier(*one["table"].split("/"), one["column"])
        connection.execute(
            sql.SQL("COMMENT ON COLUMN {} IS {}").format(place, sql.Literal(one["gold"]))
        )


def _declare_keys(connection: psycopg.Connection) -> dict[str, tuple[str, ...]]:
    """The dumps declare none: make the first column of a table its key where it can be one."""
    found = connection.execute(
        "SELECT table_schema, table_name, column_name FROM information_schema.columns "
        "WHERE ordinal_position = 1 AND table_schema = ANY(%s)",
        [[dump.stem for dump in DUMPS]],
    ).fetchall()
    keys = {}
    for schema, table, column in found:
        place, name = sql.Identifier(schema, table), sql.Identifier(column)
        query = "SELECT count(*) = count(DISTINCT {}) FROM {}"
        (unique,) = connection.execute(sql.SQL(query).format(name, place)).fetchone()
        if unique:
            change = sql.SQL("ALTER TABLE {} ADD PRIMARY KEY ({})").format(place, name)
            connection.execute(change)
            keys[f"{schema}/{table}"] = (column,)
    assert len(keys) > 20
    connection.execute(
        "ALTER TABLE academic.writes ADD FOREIGN KEY (aid) REFERENCES academic.author (aid) "
        "NOT VALID"
    )
    return keys
