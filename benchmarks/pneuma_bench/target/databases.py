"""Databases of SQLite made from a set's tables, for TARGET's task of text-to-SQL."""

import re
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Table
from pneuma_assets.core.text.safe import harmless
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.target.writing import place_of

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?(e[-+]?[0-9]{1,2})?", re.IGNORECASE)
_TRUTH = {"true": 1, "false": 0}
_NAME = 200
"""Most characters of the name of a column or a table."""
_FOLDER = re.compile(r"[^\x00-\x1f/\\:.][^\x00-\x1f/\\:]{0,99}")


def write_databases(dataset: RetrievalSet, folder: Path) -> list[str]:
    """Make `DATABASE/DATABASE.sqlite` of every database of a set; return their names.

    A column is of integers, of numbers or of texts, as all of its cells are; one that holds true
    and false alone has 1 and 0. Keys are not declared: a set says nothing of them. A column whose
    name could pose as a part of a prompt has another one, which cannot.

    Raises:
        BenchmarkError: A database has a name that cannot be a folder's, a table one that could pose
            as a part of a prompt, or SQLite refuses a table.
    """
    databases: dict[str, list[tuple[str, Table, Sequence[Row]]]] = {}
    for table, rows in dataset.tables:
        place = place_of(dataset, table.table_id)
        databases.setdefault(place.database, []).append((place.table, table, rows))
    for database, tables in databases.items():
        if not is_name(database):
            raise BenchmarkError(f"a database cannot be called {database!r}; rename it in the set")
        for name, _, _ in tables:
            if name != harmless(name, _NAME):
                raise BenchmarkError(
                    f"a table cannot be called {name!r} here; rename it in the set"
                )
        try:
            _make(folder / database / f"{database}.sqlite", tables)
        except (OSError, sqlite3.Error) as error:
            raise BenchmarkError(
                f"the database {database!r} cannot be made ({error}); leave its tables out"
            ) from error
    return sorted(databases)


def is_name(database: str) -> bool:
    """Tell whether a database may have this name, which is also its folder's and its file's."""
    is_folder = _FOLDER.fullmatch(database) is not None
    return is_folder and database == harmless(database, _NAME)


def address_of(folder: Path, database: str) -> str:
    """Return the address by which SQLite opens a database to read, and for nothing else."""
    return f"{(folder / database / database).resolve().as_uri()}.sqlite?mode=ro"


def schema_of(folder: Path, database: str, tables: Sequence[str]) -> str:
    """Return the statements that make these tables, as the package shows them to a model.

    Raises:
        BenchmarkError: The database cannot be read.
    """
    marks = ",".join("?" * len(tables))
    try:
        with closing(sqlite3.connect(address_of(folder, database), uri=True)) as connection:
            found = connection.execute(
                f"SELECT sql FROM sqlite_schema WHERE type = 'table' AND name IN ({marks})", tables
            ).fetchall()
    except sqlite3.Error as error:
        raise BenchmarkError(f"the database {database!r} cannot be read ({error})") from error
    shown = "".join(f"\n\n{sql}" for (sql,) in found)
    return f"\nDatabase Name: {database}\nSchema:{shown}\n\n---\n"


def _make(path: Path, tables: Sequence[tuple[str, Table, Sequence[Row]]]) -> None:
    with _replacing(path) as scratch, closing(sqlite3.connect(scratch)) as connection, connection:
        for name, table, rows in tables:
            columns = _distinct([column.name for column in table.columns])
            kinds = [_kind(row[at] for row in rows) for at in range(len(columns))]
            parts = ",\n".join(
                f"\t{_quoted(column)} {'integer' if kind == 'truth' else kind}"
                for column, kind in zip(columns, kinds, strict=True)
            )
            connection.execute(f"CREATE TABLE {_quoted(name)} (\n{parts}\n)")
            marks = ",".join("?" * len(columns))
            connection.executemany(
                f"INSERT INTO {_quoted(name)} VALUES ({marks})",
                ([_value(cell, kind) for cell, kind in zip(row, kinds, strict=True)]
                 for row in rows),
            )  # fmt: skip


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Yield the place of a new file, which takes the place of `path` when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{uuid.uuid4().hex}")
    try:
        yield scratch
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _kind(cells: Iterator[str | None]) -> str:
    known = [cell for cell in cells if cell is not None]
    if known and all(cell in _TRUTH for cell in known):
        return "truth"
    if known and all(map(_INTEGER.fullmatch, known)):
        return "integer"
    if known and all(map(_NUMBER.fullmatch, known)):
        return "real"
    return "text"


def _value(cell: str | None, kind: str) -> str | float | None:
    if cell is None or kind == "text":
        return cell
    if kind == "truth":
        return _TRUTH[cell]
    return int(cell) if kind == "integer" else float(cell)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names that are harmless, numbered where SQLite, blind to case, would see one twice."""
    taken: set[str] = set()
    distinct = []
    for at, name in enumerate(names, start=1):
        free = harmless(name, _NAME) or f"column_{at}"
        while free.lower() in taken:
            free = f"{free}_{at}"
        taken.add(free.lower())
        distinct.append(free)
    return distinct


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
