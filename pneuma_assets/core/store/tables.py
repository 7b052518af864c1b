"""The tables that are known: where each stands, what a listing and its profile say of it.

This module reads rows of `schema.tables`; `listings` and `queue` change them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
    update,
)

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store.database import Database, StorePart
from pneuma_assets.core.store.schema import portions, problems, tables
from pneuma_assets.core.tables import Column, Definition, ForeignKey, Table, TableRef

REMEMBERED_S = 3600.0
"""How long a table that left is remembered at most while new ones of its source were not read."""

TOLD_COLUMNS = ("updated_at", "identity", "readers")
"""What a listing tells of a table that does not make it another one."""

PENDING = tables.c.state == "pending"
THERE = tables.c.state != "gone"
FREE = tables.c.claimed_by.is_(None)
AT_HAND = tables.c.held_since.is_(None)
"""Of a table that can be read: one that is held is not where it was."""

SEARCHABLE = and_(tables.c.indexed_at.is_not(None), THERE)

_now = tables.alias("now")
RENAMED = exists().where(_now.c.table_id == tables.c.renamed_to, _now.c.state != "gone")
"""Of a table that is gone: it is there under another name."""

REACHABLE = tables.c.source.not_in(
    select(problems.c.source).where(
        problems.c.stage == "listing", problems.c.subject == problems.c.source
    )
)
"""Of a table whose source could be listed: others would only use up their attempts."""

_UNREAD = select(tables.c.source).where(
    PENDING, tables.c.indexed_at.is_(None), tables.c.sampled_row_count.is_(None)
)
"""Of new tables, each of which may be one that has left, under another name."""

_PROFILES_AT_ONCE = 100
"""Profiles read by one statement: of tables of 300 columns they take 20 MB."""


def to_forget(now: ColumnElement[float]) -> ColumnElement[bool]:
    """Match tables that have left, which the index or the store still knows in vain."""
    known = or_(tables.c.indexed_at.is_not(None), ~remembered(now))
    return and_(tables.c.state == "gone", FREE, known)


def remembered(now: ColumnElement[float]) -> ColumnElement[bool]:
    """Match tables that left just now and may be one of those that were not read yet."""
    lately = tables.c.changed_at > now - REMEMBERED_S
    read = tables.c.sampled_row_count.is_not(None)
    return and_(read, func.coalesce(lately, false()), tables.c.source.in_(_UNREAD))


def ids_where(database: Database, *where: ColumnElement[bool]) -> list[str]:
    """Return the ids of the tables that fulfil all conditions, in order."""
    found = database.read(select(tables.c.table_id).where(*where).order_by(tables.c.table_id))
    return [row.table_id for row in found]


def update_rows(
    connection: Connection, table_ids: Iterable[str], *where: ColumnElement[bool], **values: Any
) -> None:
    """Set the same values in the rows of some tables."""
    for some in portions(table_ids):
        here = tables.c.table_id.in_(some)
        connection.execute(update(tables).where(here, *where).values(**values))


def update_each(
    connection: Connection,
    own: Mapping[str, Mapping[str, Any]],
    *where: ColumnElement[bool],
    **values: Any,
) -> None:
    """Set in each table's row its own values (parameters `new_x` of column x), and common ones."""
    if not own:
        return
    names = next(iter(own.values()))
    new: dict[str, BindParameter[Any]] = {name: bindparam(f"new_{name}") for name in names}
    rows = [
        {"wanted": table_id, **{f"new_{name}": value for name, value in one.items()}}
        for table_id, one in own.items()
    ]
    here = tables.c.table_id == bindparam("wanted")
    connection.execute(update(tables).where(here, *where).values({**new, **values}), rows)


def readers_by_table(
    database: Database, table_ids: Iterable[str] | None, *where: ColumnElement[bool]
) -> dict[str, frozenset[str] | None]:
    """Return who may see tables (None: all) that fulfil all conditions; None: everybody."""
    asked = select(tables.c.table_id, tables.c.readers).where(*where)
    rows = database.read_by(asked, tables.c.table_id, table_ids)
    found = [(row.table_id, row.readers) for row in rows]
    lists = {kept: readers_of(kept) for kept in {kept for _, kept in found}}
    may = {kept: None if some is None else frozenset(some) for kept, some in lists.items()}
    return {table_id: may[kept] for table_id, kept in found}


class TableState(StrEnum):
    """Where a table stands; a failed one keeps what was indexed of it before."""

    PENDING = "pending"
    INDEXED = "indexed"
    FAILED = "failed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class TableRecord:
    """What is known of a table, for people: state, size, and when it was indexed.

    One with `held_since` is absent from its source since then (see `removals`). One that failed was
    tried `attempts` times since it changed or a person asked last, and sensors let it be tried
    again at `retry_at`. `updated_at` is when its data was written or, where its source does not
    tell, seen to have changed. `readers` may see it (None: everybody), and not all of them what
    `copy_of` and `family` name. Not its columns: reading those of 10,000 tables takes a second.
    """

    table_id: str
    source: str
    location: str
    format: str
    state: TableState
    claimed_by: str | None
    comment: str
    rows: int | None
    columns: int | None
    notes: tuple[str, ...]
    block_count: int | None
    indexed_at: float | None
    updated_at: float | None
    held_since: float | None
    attempts: int
    retry_at: float | None
    readers: tuple[str, ...] | None
    copy_of: str | None
    family: str | None

    @property
    def claimed(self) -> bool:
        """Tell whether a run holds it, which may be one that is no more."""
        return self.claimed_by is not None


_t = tables.c
_RECORDS = (
    select(
        *(_t.table_id, _t.source, _t.location, _t.format, _t.state, _t.claimed_by, _t.comment),
        *(_t.row_count.label("rows"), _t.column_count.label("columns"), _t.notes, _t.block_count),
        *(_t.indexed_at, func.coalesce(_t.updated_at, _t.changed_at).label("updated_at")),
        *(_t.held_since, _t.attempts, _t.retry_at, _t.readers, _t.copy_of, _t.family),
    )
    .where(THERE)
    .order_by(_t.table_id)
)


def _record_of(row: Row[Any]) -> TableRecord:
    notes = () if row.notes == "[]" else tuple(json.loads(row.notes))
    read = {"state": TableState(row.state), "notes": notes, "readers": readers_of(row.readers)}
    return TableRecord(**{**row._mapping, **read})


class Tables(StorePart):
    """The part of the store that tells of tables, and changes nothing."""

    def known(self) -> set[str]:
        """Return the ids of all tables, those included that are gone but not yet forgotten."""
        return set(ids_where(self._db))

    def indexed(self) -> list[str]:
        """Return the ids of the tables that are searchable and have not left their source."""
        return ids_where(self._db, SEARCHABLE)

    def listed(self) -> list[str]:
        """Return the ids of the tables that have not left their source, in order."""
        return ids_where(self._db, THERE)

    def readers(self, table_ids: Iterable[str] | None) -> dict[str, frozenset[str] | None]:
        """Return who may see tables (None: all) that are in their source; None: everybody."""
        return readers_by_table(self._db, table_ids, THERE)

    def unchanged(self, table_ids: Iterable[str]) -> set[str]:
        """Return those of some tables that are indexed as they are now, data and all."""
        same = select(_t.table_id).where(_t.indexed_version == _t.claimed_version)
        return {row.table_id for row in self._db.read_by(same, _t.table_id, table_ids)}

    def ids(self, source: str) -> dict[tuple[str, str], str]:
        """Return the ids of a source's tables by location and format."""
        columns = select(_t.location, _t.format, _t.table_id)
        found = self._db.read(columns.where(_t.source == source))
        return {(row.location, row.format): row.table_id for row in found}

    def refs(self, table_ids: Iterable[str]) -> dict[str, TableRef]:
        """Return what the last listing said of these tables, of those that have not left."""
        found = self._db.read_by(select(tables).where(THERE), _t.table_id, table_ids)
        return {row.table_id: ref_of(row) for row in found}

    def profiles(self, table_ids: Iterable[str]) -> Iterator[Table]:
        """Yield the profiles of these tables, of those that were ever read, in this order."""
        for some in chunks(list(table_ids), _PROFILES_AT_ONCE):
            rows = self._db.read_by(select(tables), _t.table_id, some)
            found = {row.table_id: table_of(row) for row in rows}
            yield from (table for i in some if (table := found.get(i)) is not None)

    def records(self, table_ids: Iterable[str] | None = None) -> list[TableRecord]:
        """Return every table that has not left its source, or those of some, ordered by id."""
        found = self._db.read_by(_RECORDS, _t.table_id, table_ids)
        return [_record_of(row) for row in found]

    def record(self, table_id: str) -> TableRecord | None:
        """Return one table; None if it has left its source, or was never in it."""
        found = self._db.read(_RECORDS.where(_t.table_id == table_id))
        return _record_of(found[0]) if found else None


def readers_of(kept: str | None) -> tuple[str, ...] | None:
    """Return who may read a table; None: everybody."""
    return None if kept is None else tuple(json.loads(kept))


def listed_columns(ref: TableRef) -> dict[str, Any]:
    """Return what a listing says of a table, as the store keeps it."""
    return {
        "location": ref.location,
        "format": ref.format,
        "version": ref.version,
        "context_locations": json.dumps(ref.context_locations),
        "updated_at": ref.updated_at,
        "identity": ref.identity,
        "readers": None if ref.readers is None else json.dumps(ref.readers),
    }


def ref_of(row: Row[Any]) -> TableRef:
    """Return what the last listing said of a table."""
    return TableRef(
        *(row.table_id, row.source, row.location, row.format, row.version),
        tuple(json.loads(row.context_locations)),
        *(row.updated_at, row.identity, readers_of(row.readers)),
    )


@dataclass(frozen=True, slots=True)
class Relations:
    """A table's keys, the query of a view, and how text is read, as one text of the store."""

    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None
    reading: tuple[tuple[str, str], ...] = ()


_RELATIONS = TypeAdapter(Relations)


def relations_of(kept: str | None) -> Relations:
    """Return what is kept in `tables.relations`."""
    return Relations() if kept is None else _RELATIONS.validate_json(kept)


def table_of(row: Row[Any]) -> Table | None:
    """Return a table's profile, None before it was read."""
    if row.columns is None:
        return None
    relations = relations_of(row.relations)
    return Table(
        row.table_id,
        tuple(Column(*column) for column in json.loads(row.columns)),
        *(row.row_count, row.location, row.comment, tuple(json.loads(row.notes))),
        *(relations.primary_key, relations.foreign_keys, relations.definition, relations.reading),
    )


def profile_columns(table: Table) -> dict[str, Any]:
    """Return what was read of a table, as the store keeps it."""
    relations = Relations(table.primary_key, table.foreign_keys, table.definition, table.reading)
    none = relations == Relations()
    return {
        "columns": json.dumps(
            [(c.name, c.type, c.comment, c.identity, c.hidden) for c in table.columns]
        ),
        "column_count": len(table.columns),
        "row_count": table.row_count,
        "comment": table.comment,
        "notes": json.dumps(table.notes),
        "relations": None if none else _RELATIONS.dump_json(relations).decode(),
    }
