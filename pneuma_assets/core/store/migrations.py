"""How a state file of an earlier format becomes one of today's, with everything it holds.

Narrations took hours of a model and contexts were written by people, so no format is ever given
up: each step leads from one format to the next, in one transaction with all steps after it.
"""

import sqlite3
from collections.abc import Mapping

STEPS: Mapping[int, str] = {
    1: """
""",
}
"""Statements that lead from a format to the next; new columns stand last in `database.SCHEMA`."""

SCHEMA_VERSION = max(STEPS) + 1


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file of an earlier format up to `SCHEMA_VERSION`, inside the open transaction."""
    for step in range(version, SCHEMA_VERSION):
        run_statements(connection, STEPS[step])
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def run_statements(connection: sqlite3.Connection, script: str) -> None:
    """Run statements that semicolons separate; unlike `executescript`, this commits nothing."""
    for statement in script.split(";"):
        connection.execute(statement)
