"""Who may see tables, what lets people trust them, and whether the index knows."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import nsmallest
from typing import Any

from sqlalchemy import Row, and_, bindparam, func, or_, select

from pneuma_assets.core.lineage.external import DEPRECATED, OWNERS
from pneuma_assets.core.store.database import Database, StorePart
from pneuma_assets.core.store.edges import Edges
from pneuma_assets.core.store.joins import Joins
from pneuma_assets.core.store.schema import table_narrations, tables, told
from pneuma_assets.core.store.tables import SEARCHABLE, THERE, readers_of, update_each
from pneuma_assets.core.tables import MOST_JOINS, Provenance, TableFacts

_EVERYBODY = "null"
"""How readers are written of a table that everybody may see."""

_READERS = func.coalesce(tables.c.readers, _EVERYBODY)
UNPUBLISHED = and_(
    SEARCHABLE, or_(tables.c.told_readers.is_(None), tables.c.told_readers != _READERS)
)
"""Of a searchable table of which the index does not know who may see it."""

_BY_PEOPLE = [str(one) for one in (Provenance.CORRECTION, Provenance.PERSON, Provenance.DOCUMENT)]
_DESCRIBED = (
    select(table_narrations.c.table_id, func.count().label("columns"))
    .where(table_narrations.c.provenance.in_(_BY_PEOPLE), table_narrations.c.text != "")
    .group_by(table_narrations.c.table_id)
)
_OWNED, _DEPRECATED = (
    select(told.c.table_id)
    .where(or_(told.c.text.startswith(line), told.c.text.contains(f"\n{line}")))
    .distinct()
    for line in (OWNERS, DEPRECATED)
)
_WIDTHS = select(tables.c.table_id, tables.c.column_count).where(THERE)
_KNOWN = ("table_id", "readers", "updated_at", "copy_of", "family")
_FACTS = select(*(tables.c[name] for name in _KNOWN))


class Access(StorePart):
    """The part of the store that says who may see tables, and what lets people trust them."""

    def of_tables(self, table_ids: Iterable[str] | None = None) -> dict[str, TableFacts]:
        """Return the facts of these tables, or of all that are searchable (None).

        How far tables are described and used, and what they join, is told of all of them together,
        and left out of those of some: it hides nothing that anybody must not see.
        """
        if table_ids is not None:
            rows = self._db.read_by(_FACTS, tables.c.table_id, table_ids)
            return {row.table_id: _facts(row, TableFacts()) for row in rows}
        every, usage = self._db.read(_FACTS.where(SEARCHABLE)), usage_of_tables(self._db)
        joined = _joined(self._db)
        return {
            row.table_id: replace(
                _facts(row, usage.get(row.table_id, TableFacts())),
                joins=tuple(nsmallest(MOST_JOINS, joined.get(row.table_id, ()))),
            )
            for row in every
        }

    def unpublished(self) -> int:
        """Return of how many searchable tables the index does not know who may see them."""
        return int(self._db.read(select(func.count()).where(UNPUBLISHED))[0][0])

    def mark_published(self, facts: Mapping[str, TableFacts]) -> None:
        """Note that the index has these."""
        known = tables.c.told_readers
        news = or_(known.is_(None), known != bindparam("new_told_readers", type_=known.type))
        rows = {i: {"told_readers": json.dumps(one.readers)} for i, one in facts.items()}
        with self._db.write() as connection:
            update_each(connection, rows, news)


def _facts(row: Row[Any], usage: TableFacts) -> TableFacts:
    return replace(
        usage,
        readers=readers_of(row.readers),
        updated_at=row.updated_at,
        copy_of=row.copy_of,
        family=row.family,
    )


def _joined(database: Database) -> dict[str, list[str]]:
    joined: dict[str, list[str]] = defaultdict(list)
    for one, other in Joins(database).pairs():
        joined[one].append(other)
        joined[other].append(one)
    return joined


def usage_of_tables(database: Database) -> dict[str, TableFacts]:
    """Return of all tables how far they are described and built upon; if deprecated, not."""
    feeds = Edges(database).feeds()
    owned = {row.table_id for row in database.read(_OWNED)}
    deprecated = {row.table_id for row in database.read(_DEPRECATED)}
    described = described_columns(database)
    return {
        row.table_id: TableFacts()
        if row.table_id in deprecated
        else TableFacts(
            owned=row.table_id in owned,
            documented=share_described(described.get(row.table_id, 0), row.column_count),
            feeds=feeds.get(row.table_id, 0),
        )
        for row in database.read(_WIDTHS)
    }


def share_described(described: int, columns: int | None) -> float:
    """Return which share of a table's columns people described, from 0 to 1."""
    return min(1.0, described / max(1, columns or 0))


def described_columns(database: Database, table_ids: Iterable[str] | None = None) -> dict[str, int]:
    """Return how many columns of tables (None: all) people described, of those with any."""
    found = database.read_by(_DESCRIBED, table_narrations.c.table_id, table_ids)
    return {row.table_id: int(row.columns) for row in found}
