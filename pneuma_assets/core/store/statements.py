"""Statements that each database spells in its own way."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Column, Connection, Executable, Table, bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite


def upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, or replace those with the same primary key."""
    _insert(connection, table, rows, replace=True)


def insert_new(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert those rows whose primary key is not there."""
    _insert(connection, table, rows, replace=False)


def _insert(
    connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]], *, replace: bool
) -> None:
    rows = list(rows)
    if not rows:
        return
    given = frozenset(rows[0]) if replace else frozenset()
    connection.execute(_inserting(connection.dialect.name, table, given), rows)


@cache
def _inserting(dialect: str, table: Table, replaced: frozenset[str]) -> Executable:
    """Return the statement that puts these columns' values into a row that is there."""
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    key = list(table.primary_key)
    others = [column.name for column in table.c if column not in key]
    given = {name: insert.excluded[name] for name in others if name in replaced}
    statement: Executable = insert.on_conflict_do_nothing(index_elements=key)
    if given:
        statement = insert.on_conflict_do_update(index_elements=key, set_=given)
    return statement


def delete_by(connection: Connection, column: Column[Any], values: Iterable[Any]) -> None:
    """Delete the rows that have one of these values, however many they are."""
    rows = [{"wanted": value} for value in values]
    if rows:
        connection.execute(delete(column.table).where(column == bindparam("wanted")), rows)
