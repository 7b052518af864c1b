"""A kind of source that others bring, in one file, keeps the contract like our own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, kinds_of
from tests.support.sqlite_source import SQLiteSourceConfig

TYPES = {str: "TEXT", int: "INTEGER", float: "REAL"}


class SQLiteLake:
    """One file; what people write stands in its table `about`."""

    environ: ClassVar[dict[str, str]] = {}

    def __init__(self, file: Path) -> None:
        self._file = file
        self.config = SQLiteSourceConfig(name="s", path=file)
        with self._writing() as connection:
            connection.execute("CREATE TABLE about (name TEXT, text TEXT)")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file)) as connection, connection:
            yield connection

    def write(self, name: str, columns: Columns) -> None:
        self.delete(name)
        kinds = zip(columns, kinds_of(columns, TYPES), strict=True)
        declared = ", ".join(f"{_quoted(name)} {kind}" for name, kind in kinds)
        marks = ", ".join("?" for _ in columns)
        with self._writing() as connection:
            connection.execute(f"CREATE TABLE {_quoted(name)} ({declared})")
            connection.executemany(
                f"INSERT INTO {_quoted(name)} VALUES ({marks})", zip(*columns.values(), strict=True)
            )

    def write_beside(self, name: str) -> None:
        self.write(name.upper() + "/", {"x": [1]})

    def describe(self, name: str, text: str) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM about WHERE name = ?", [name])
            connection.execute("INSERT INTO about VALUES (?, ?)", [name, text])

    def damage(self, name: str) -> None:
        self.delete(name)
        with self._writing() as connection:
            connection.execute(f"CREATE VIEW {_quoted(name)} AS SELECT * FROM its_table")

    def delete(self, name: str) -> None:
        with self._writing() as connection:
            found = connection.execute("SELECT type FROM sqlite_schema WHERE name = ?", [name])
            for (kind,) in found.fetchall():
                connection.execute(f"DROP {kind} {_quoted(name)}")

    def vanish(self) -> None:
        self._file.unlink()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class TestSQLiteFile(SourceConformance):
    types = TYPES

    @pytest.fixture
    def lake(self, tmp_path):
        return SQLiteLake(tmp_path / "lake.sqlite")
