"""How far people describe and use tables: what lets a table be trusted, in a few statements."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log1p

from sqlalchemy import func, or_, select

from pneuma_assets.core.lineage.outside import OWNERS
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.edges import Edges
from pneuma_assets.core.store.schema import table_narrations, tables, told
from pneuma_assets.core.tables import Provenance

_BY_PEOPLE = [str(one) for one in (Provenance.CORRECTION, Provenance.PERSON, Provenance.DOCUMENT)]
_DESCRIBED = (
    select(table_narrations.c.table_id, func.count().label("columns"))
    .where(table_narrations.c.provenance.in_(_BY_PEOPLE), table_narrations.c.text != "")
    .group_by(table_narrations.c.table_id)
)
_QUERIED = select(tables.c.table_id, tables.c.source, tables.c.queries).where(
    tables.c.queries.is_not(None), tables.c.state != "gone"
)
_OWNED = (
    select(told.c.table_id)
    .where(or_(told.c.text.startswith(OWNERS), told.c.text.contains(f"\n{OWNERS}")))
    .distinct()
)
_WIDTHS = select(tables.c.table_id, tables.c.column_count).where(tables.c.state != "gone")


@dataclass(frozen=True, slots=True)
class TableUse:
    """What is counted of a table: see `TableFacts`."""

    documented: float = 0.0
    feeds: int = 0
    owned: bool = False
    queries: float | None = None


def use_of_tables(database: Database) -> Mapping[str, TableUse]:
    """Return of all tables how far they are described, built upon, and queried in their source.

    Sources count queries in units of their own, and over times of their own, and the most queried
    table has a thousand times as many as most: their logarithms are scaled within the source.
    """
    feeds = Edges(database).feeds()
    owned = {row.table_id for row in database.read(_OWNED)}
    described = {row.table_id: int(row.columns) for row in database.read(_DESCRIBED)}
    queries: dict[str, dict[str, float]] = {}
    for row in database.read(_QUERIED):
        queries.setdefault(row.source, {})[row.table_id] = log1p(max(0.0, row.queries))
    scaled = {i: one for of_source in queries.values() for i, one in _scaled(of_source).items()}
    return {
        row.table_id: TableUse(
            min(1.0, described.get(row.table_id, 0) / max(1, row.column_count or 0)),
            feeds.get(row.table_id, 0),
            row.table_id in owned,
            scaled.get(row.table_id),
        )
        for row in database.read(_WIDTHS)
    }


def _scaled(values: Mapping[str, float]) -> dict[str, float]:
    least, most = min(values.values()), max(values.values())
    if least == most:
        return dict.fromkeys(values, 0.0)
    return {table_id: (one - least) / (most - least) for table_id, one in values.items()}
