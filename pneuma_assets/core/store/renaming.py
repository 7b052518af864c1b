"""Lets a table or a column that got another name keep what was said of it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy import Table as SqlTable

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.joins import move_verdicts, rename_verdict_columns
from pneuma_assets.core.store.tables import update_each
from pneuma_assets.core.store.usage import move_answers
from pneuma_assets.core.tables import DocumentKind

_SAID = (schema.user_contexts, schema.corrections, schema.table_narrations, schema.narrations)
"""What people and models said."""

_READ = (
    schema.documents,
    schema.column_descriptions,
    schema.evidence,
    schema.drawn,
    schema.column_profiles,
    schema.row_counts,
)
"""What was read of a table and is true of it under any name."""

_KEPT = (
    *("columns", "column_count", "row_count", "comment", "notes", "relations"),
    *("sampled_rows", "sampled_row_count", "indexed_schema_hash"),
)


class Renaming(StorePart):
    """The part of the store that lets what was said follow what it was said of."""

    def columns(self, table_id: str, names: Mapping[str, str]) -> None:
        """Let what was said of columns be said of them under new names, by their old ones.

        What people say of a column goes by its new name, even where something is known of a column
        of that name which the table had before. A name that is too long for the database loses
        what was said, as it keeps none.
        """
        fitting = {
            schema.storable(a): schema.storable(b) for a, b in names.items() if self._db.fits(b)
        }
        with self._db.write() as connection:
            rename_verdict_columns(connection, table_id, fitting)
            for table in (schema.corrections, schema.table_narrations):
                _rename_columns(connection, table, table_id, fitting)
            if names:  # questions say the old ones
                schema.delete_of_tables(connection, [table_id], schema.mined_questions)

    def take_over(self, before: str, now: str) -> None:
        """Let what was said of a table that is gone be said of one that a run has read."""
        with self._db.write() as connection:
            _move_said(connection, {before: now})
            _move(connection, schema.row_counts, {before: now})
            schema.delete_of_tables(connection, [before], schema.mined_questions)
            _remember_names(connection, {before: now})


def move_tables(connection: Connection, names: Mapping[str, str]) -> None:
    """Let tables have other ids, whose rows must be in the work list.

    What was read and said of them goes with them; their old rows stay, for the index to lose them.
    Of a table that left and had the new name before, only what people said of it stays. Nothing
    tells of lineage until edges are there that end at the new name.
    """
    lineage = schema.documents.c.kind == str(DocumentKind.LINEAGE)
    for some in schema.portions(names.items()):  # a renamed folder may hold ten thousand
        moved = dict(some)
        found = connection.execute(select(schema.tables).where(schema.tables.c.table_id.in_(moved)))
        kept = {moved[r.table_id]: {name: getattr(r, name) for name in _KEPT} for r in found}
        update_each(connection, kept)
        schema.delete_of_tables(
            connection, moved.values(), *_READ, schema.table_narrations, schema.narrations
        )
        # Questions say the old names.
        schema.delete_of_tables(connection, [*moved, *moved.values()], schema.mined_questions)
        connection.execute(
            delete(schema.documents).where(schema.documents.c.table_id.in_(moved), lineage)
        )
        _move_said(connection, moved)
        for table in _READ:
            _move(connection, table, moved)
        _remember_names(connection, moved)


def _move_said(connection: Connection, names: Mapping[str, str]) -> None:
    for table in _SAID:
        _move(connection, table, names)
    move_verdicts(connection, names)
    move_answers(connection, names)


def _rename_columns(
    connection: Connection, table: SqlTable, table_id: str, names: Mapping[str, str]
) -> None:
    of_table = table.c.table_id == table_id, table.c.about == "column"
    here = (*of_table, table.c.column_name.in_(names))
    found = connection.execute(select(table).where(*here))
    rows: list[dict[str, Any]] = [
        {**row._mapping, "column_name": names[row.column_name]} for row in found
    ]
    connection.execute(delete(table).where(*here))
    taken = table.c.column_name.in_([row["column_name"] for row in rows])
    connection.execute(delete(table).where(*of_table, taken))
    schema.insert_new(connection, table, rows)


def _remember_names(connection: Connection, names: Mapping[str, str]) -> None:
    """Let old rows say what they are now; so do those that had one of these names for a while."""
    before = select(schema.tables.c.table_id, schema.tables.c.renamed_to)
    found = connection.execute(before.where(schema.tables.c.renamed_to.in_(names)))
    called = {**names, **{row.table_id: names[row.renamed_to] for row in found}}
    update_each(connection, {old: {"renamed_to": new} for old, new in called.items()})


def _move(connection: Connection, table: SqlTable, names: Mapping[str, str]) -> None:
    """Change the ids in some rows; those whose new key is taken are removed instead."""
    found = connection.execute(select(table).where(table.c.table_id.in_(names)))
    rows = [{**row._mapping, "table_id": names[row.table_id]} for row in found]
    schema.delete_by(connection, table.c.table_id, names)
    schema.insert_new(connection, table, rows)
