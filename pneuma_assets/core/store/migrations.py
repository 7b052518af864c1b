"""How a state file of an earlier format becomes one of today's, with everything it holds.

Narrations took hours of a model and contexts were written by people, so no format is ever given
up: each step leads from one format to the next, in one transaction with all steps after it.
"""

import sqlite3
from collections.abc import Mapping

from pneuma_assets.core.narration.answers import was_cut_short
from pneuma_assets.core.store.row_sums import check_pages, install

STEPS: Mapping[int, str] = {
    1: """
ALTER TABLE tables ADD COLUMN sampled_rows TEXT;
CREATE TABLE row_sums (
    name TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (name, checksum)
) WITHOUT ROWID;
DELETE FROM narrations WHERE was_cut_short(text);
DELETE FROM table_narrations WHERE was_cut_short(text);
CREATE TABLE pages (
    asset_key TEXT PRIMARY KEY, table_id TEXT NOT NULL, mark TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE listings (source TEXT PRIMARY KEY, unlisted TEXT NOT NULL) WITHOUT ROWID
""",
}
"""Statements that lead from a format to the next; new columns stand last in `database.SCHEMA`."""

SCHEMA_VERSION = max(STEPS) + 1


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file of an earlier format up to `SCHEMA_VERSION`, inside the open transaction."""
    check_pages(connection)
    connection.create_function("was_cut_short", 1, was_cut_short, deterministic=True)
    for step in range(version, SCHEMA_VERSION):
        run_statements(connection, STEPS[step])
    install(connection)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def run_statements(connection: sqlite3.Connection, script: str) -> None:
    """Run statements that semicolons separate; unlike `executescript`, this commits nothing."""
    for statement in script.split(";"):
        connection.execute(statement)
