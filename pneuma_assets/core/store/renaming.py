"""Lets a table or a column that got another name keep what was said of it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, delete, select, update
from sqlalchemy import Table as SqlTable

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.joins import move_verdicts, rename_verdict_columns
from pneuma_assets.core.store.mined import forget_questions
from pneuma_assets.core.store.narrations import forget_answers, move_answers
from pneuma_assets.core.store.schema import (
    column_descriptions,
    corrections,
    documents,
    drawn,
    evidence,
    storable,
    table_narrations,
    tables,
    user_contexts,
)
from pneuma_assets.core.store.statements import delete_by, insert_new
from pneuma_assets.core.tables import DocumentKind

_AT_ONCE = 1000
"""Tables moved at a time: a folder that is renamed may hold ten thousand."""

_SAID = (user_contexts, corrections, table_narrations)
"""What people and models said."""

_READ = (documents, column_descriptions, evidence, drawn)
"""What was read of a table and is true of it under any name."""

_KEPT = ("columns", "column_count", "row_count", "comment", "notes", "relations")
_SAMPLED = ("sampled_rows", "sampled_row_count", "indexed_schema_hash")


class Renaming:
    """The part of the store that lets what was said follow what it was said of."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def columns(self, table_id: str, names: Mapping[str, str]) -> None:
        """Let what was said of columns be said of them under new names, by their old ones.

        A name that is too long for the database loses what was said, as it keeps none.
        """
        fitting = {storable(a): storable(b) for a, b in names.items() if self._db.fits(b)}
        with self._db.write() as connection:
            rename_columns(connection, table_id, fitting)
            if names:
                forget_questions(connection, [table_id])  # they say the old names

    def take_over(self, before: str, now: str) -> None:
        """Let what was said of a table that is gone be said of one that a run has read."""
        with self._db.write() as connection:
            move_said(connection, {before: now})
            forget_questions(connection, [before])
            _remember_names(connection, {before: now})


def move_tables(connection: Connection, names: Mapping[str, str]) -> None:
    """Let tables have other ids, whose rows must be in the work list.

    What was read and said of them goes with them; their old rows stay, for the index to lose them.
    Of a table that left and had the new name before, only what people said of it stays. Nothing
    tells of lineage until edges are there that end at the new name.
    """
    lineage = documents.c.kind == str(DocumentKind.LINEAGE)
    for some in chunks(list(names.items()), _AT_ONCE):
        moved = dict(some)
        _move_rows(connection, moved)
        for table in (*_READ, table_narrations):
            delete_by(connection, table.c.table_id, moved.values())
        forget_answers(connection, moved.values())
        forget_questions(connection, [*moved, *moved.values()])  # they say the old names
        connection.execute(delete(documents).where(documents.c.table_id.in_(moved), lineage))
        move_said(connection, moved)
        for table in _READ:
            _move(connection, table, moved)
        _remember_names(connection, moved)


def move_said(connection: Connection, names: Mapping[str, str]) -> None:
    """Let what people and models said of tables be said of others, by the ids of the former."""
    for table in _SAID:
        _move(connection, table, names)
    move_answers(connection, names)
    move_verdicts(connection, names)


def rename_columns(connection: Connection, table_id: str, names: Mapping[str, str]) -> None:
    """Let what was said of columns be said of what these are called now, all at once.

    What people say of a column goes by its new name, even where something is known of a column of
    that name which the table had before.
    """
    rename_verdict_columns(connection, table_id, names)
    for table in (corrections, table_narrations):
        here = [table.c.table_id == table_id, table.c.column_name.in_(names)]
        if table is corrections:
            here.append(corrections.c.about == "column")
        rows = [dict(row._mapping) for row in connection.execute(select(table).where(*here))]
        connection.execute(table.delete().where(*here))
        taken = table.c.column_name.in_([names[row["column_name"]] for row in rows])
        connection.execute(table.delete().where(*here[:1], *here[2:], taken))
        for row in rows:
            row["column_name"] = names[row["column_name"]]
        insert_new(connection, table, rows)


def _move_rows(connection: Connection, names: Mapping[str, str]) -> None:
    """Let the new rows know what was read under the old names; they still have to be indexed."""
    read = (*_KEPT, *_SAMPLED)
    values: dict[str, BindParameter[Any]] = {name: bindparam(f"new_{name}") for name in read}
    found = connection.execute(select(tables).where(tables.c.table_id.in_(names)))
    rows = [
        {"wanted": names[row.table_id], **{f"new_{name}": getattr(row, name) for name in read}}
        for row in found
    ]
    same = update(tables).where(tables.c.table_id == bindparam("wanted"))
    connection.execute(same.values(values), rows)


def _remember_names(connection: Connection, names: Mapping[str, str]) -> None:
    """Let old rows say what they are now; so do those that had one of these names for a while."""
    before = select(tables.c.table_id, tables.c.renamed_to)
    found = connection.execute(before.where(tables.c.renamed_to.in_(names)))
    called = {**names, **{row.table_id: names[row.renamed_to] for row in found}}
    same = update(tables).where(tables.c.table_id == bindparam("wanted"))
    rows = [{"wanted": old, "new_name": new} for old, new in called.items()]
    connection.execute(same.values(renamed_to=bindparam("new_name")), rows)


def _move(connection: Connection, table: SqlTable, names: Mapping[str, str]) -> None:
    """Change the ids in some rows; those whose new key is taken are removed instead."""
    found = connection.execute(select(table).where(table.c.table_id.in_(names)))
    rows = [{**row._mapping, "table_id": names[row.table_id]} for row in found]
    delete_by(connection, table.c.table_id, names)
    insert_new(connection, table, rows)
