"""Which table is built from which, by who says so: an origin, whose edges change as one act.

Origins are tables (`table:lake/main/orders`, by query and keys), files of dbt or OpenLineage, and
other teams' definitions, each with a digest of all that its edges were made of.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import Row, func, select

from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.lineage.external import TableFields
from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.store.database import StorePart, get_all, put_all
from pneuma_assets.core.store.joins import join_key
from pneuma_assets.core.store.schema import (
    delete_by,
    edge_origins,
    edges,
    insert_rows,
    tables,
    told,
    upsert,
    view_joins,
)
from pneuma_assets.core.store.tables import THERE, readers_by_table
from pneuma_assets.core.tables import content_hash

_FIELDS = TypeAdapter(TableFields)
_SENT = "lineage sent of "
"""Begins the key of what was sent of a table."""
_DERIVED = edges.c.kind != str(EdgeKind.FOREIGN_KEY)
_EDGES = select(edges).order_by(edges.c.downstream, edges.c.upstream, edges.c.kind, edges.c.origin)


class Declared(NamedTuple):
    """What lineage is made of, of one table, as the store keeps it."""

    table_id: str
    source: str
    location: str
    format: str
    columns: str | None
    relations: str | None
    readers: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Who says that tables belong together, and all that it says of tables that are known."""

    name: str
    digest: str
    """Of all that its edges were made of."""
    names: tuple[TableName, ...] = ()
    """The names of tables that it uses, as it folds them, known here or not."""
    edges: tuple[Edge, ...] = ()
    told: dict[str, str] = field(default_factory=dict)
    """In people's words, by table id."""
    dialect: str = ""
    """By which its names are compared; empty: any capitals."""
    joins: tuple[JoinEdge, ...] = ()
    """By which columns its queries join tables."""
    fields: Mapping[str, TableFields] = field(default_factory=dict)
    """What is told of tables, in fields."""


class Known(NamedTuple):
    """What an origin's edges were made of."""

    digest: str
    names: tuple[TableName, ...]
    dialect: str


class Touched(NamedTuple):
    """Tables of which edges may be others now, those of which texts are, and texts of columns."""

    linked: set[str]
    told: set[str]
    described: set[str]


class Edges(StorePart):
    """The part of the store that knows what tables are built from."""

    def declared(self) -> list[Declared]:
        """Return of all tables that are there what their edges are made of, ordered by id."""
        there = select(*(tables.c[name] for name in Declared._fields))
        found = self._db.read(there.where(THERE).order_by(tables.c.table_id))
        return [Declared(**row._mapping) for row in found]

    def origins(self) -> dict[str, Known]:
        """Return what the edges of every origin were made of, by its name."""
        found: dict[str, Known] = {}
        for row in self._db.read(select(edge_origins)):
            dialect, *names = json.loads(row.names)
            found[row.origin] = Known(row.digest, tuple(TableName(*n) for n in names), dialect)
        return found

    def replace(self, said: Iterable[Origin], gone: Iterable[str] = ()) -> Touched:
        """Make what these origins say exactly this, and forget what others said, as one act."""
        said = list(said)
        names = [*(one.name for one in said), *gone]
        with self._db.write() as connection:
            linked, texts_before = self.linked(names), self._texts(names)
            described = self._columns(names)
            for table in (edges, edge_origins, told, view_joins):
                delete_by(connection, table.c.origin, names)
            upsert(connection, edge_origins, [_origin_row(one) for one in said])
            linking = [
                _edge_row(one.name, edge)
                for one in said
                for edge in dict.fromkeys(one.edges)
                if self._db.fits(one.name + edge.upstream + edge.downstream)
            ]
            insert_rows(connection, edges, linking)
            joined = ({"origin": o.name, **join_key(edge.on)} for o in said for edge in o.joins)
            fitting = [row for row in joined if self._db.fits("".join(row.values()))]
            upsert(connection, view_joins, fitting)
            rows = [
                {
                    **{"origin": one.name, "table_id": table_id, "text": text},
                    "fields": json.dumps(asdict(one.fields.get(table_id, TableFields()))),
                }
                for one in said
                for table_id, text in one.told.items()
            ]
            insert_rows(connection, told, rows)
            changed = texts_before ^ self._texts(names)
            described ^= self._columns(names)
            return Touched(
                linked | self.linked(names),
                {table_id for _, table_id, _ in changed},
                {table_id for table_id, *_ in described},
            )

    def linked(self, names: Iterable[str]) -> set[str]:
        """Return the tables at which edges of these origins begin or end."""
        ends = select(edges.c.upstream, edges.c.downstream)
        return {end for row in self._db.read_by(ends, edges.c.origin, names) for end in row}

    def _texts(self, names: Iterable[str]) -> set[tuple[str, str, str]]:
        texts = select(told.c.origin, told.c.table_id, told.c.text)
        return {tuple(row) for row in self._db.read_by(texts, told.c.origin, names)}

    def _columns(self, names: Iterable[str]) -> set[tuple[str, str, str]]:
        fields = select(told.c.table_id, told.c.fields)
        return {
            (row.table_id, column, text)
            for row in self._db.read_by(fields, told.c.origin, names)
            for column, text in _FIELDS.validate_json(row.fields).columns.items()
        }

    def fields(self, table_ids: Iterable[str] | None = None) -> dict[str, dict[str, TableFields]]:
        """Return what origins say of tables (None: all) in fields, by table id and origin."""
        asked = select(told.c.table_id, told.c.origin, told.c.fields).order_by(told.c.origin)
        found: dict[str, dict[str, TableFields]] = {}
        for row in self._db.read_by(asked, told.c.table_id, table_ids):
            found.setdefault(row.table_id, {})[row.origin] = _FIELDS.validate_json(row.fields)
        return found

    def told(self, table_id: str) -> list[tuple[str, str]]:
        """Return what each origin says of a table in people's words: its name and the text."""
        asked = select(told.c.origin, told.c.text).order_by(told.c.origin)
        found = self._db.read(asked.where(told.c.table_id == table_id, told.c.text != ""))
        return [(row.origin, row.text) for row in found]

    def all(self) -> list[Edge]:
        """Return every edge, of two origins that say the same one each."""
        return [_edge_of(row) for row in self._db.read(_EDGES)]

    def of_tables(self, table_ids: Iterable[str]) -> list[Edge]:
        """Return the edges that begin or end at one of these tables, each once."""
        ids = list(table_ids)
        ends = edges.c.downstream, edges.c.upstream
        rows = [row for end in ends for row in self._db.read_by(_EDGES, end, ids)]
        found = dict.fromkeys(_edge_of(row) for row in rows)
        return sorted(found, key=lambda edge: (edge.downstream, edge.upstream, edge.kind))

    def leading(self, table_ids: Iterable[str], *, upward: bool) -> list[Edge]:
        """Return the edges to what lies directly up- or downstream of some tables, each once."""
        end = edges.c.downstream if upward else edges.c.upstream
        return list(dict.fromkeys(map(_edge_of, self._db.read_by(_EDGES, end, table_ids))))

    def derived(self) -> dict[str, set[str]]:
        """Return the tables that each table is built from, keys aside."""
        found: dict[str, set[str]] = {}
        pairs = select(edges.c.downstream, edges.c.upstream).where(_DERIVED).distinct()
        for row in self._db.read(pairs):
            found.setdefault(row.downstream, set()).add(row.upstream)
        return found

    def feeds(self) -> dict[str, int]:
        """Return how many known tables are built from each table, of those from which any is."""
        counted = (
            select(edges.c.upstream, func.count(edges.c.downstream.distinct()).label("n"))
            .where(_DERIVED, edges.c.upstream != edges.c.downstream)
            .group_by(edges.c.upstream)
        )
        return {row.upstream: int(row.n) for row in self._db.read(counted)}

    def readers(self, table_ids: Iterable[str]) -> dict[str, frozenset[str] | None]:
        """Return who may see these tables, also those that have left; None: everybody."""
        return readers_by_table(self._db, sorted(table_ids))

    def sent(self) -> dict[str, str]:
        """Return the digest of what was last sent elsewhere of each table."""
        return get_all(self._db, _SENT)

    def mark_sent(self, digests: Mapping[str, str], forgotten: Iterable[str] = ()) -> None:
        """Note what was sent of some tables, and that of others nothing was."""
        put_all(self._db, _SENT, digests, forgotten)

    def fingerprint(self) -> str:
        """Return what is another one when any edge or text may be."""
        found = self._db.read(
            select(edge_origins.c.origin, edge_origins.c.digest).order_by(edge_origins.c.origin)
        )
        return content_hash(*(part for row in found for part in row))


def _origin_row(one: Origin) -> dict[str, str]:
    names = [one.dialect, *((name.catalog, name.schema, name.name) for name in one.names)]
    return {"origin": one.name, "digest": one.digest, "names": json.dumps(names)}


def _edge_row(origin: str, edge: Edge) -> dict[str, str]:
    return {
        "origin": origin,
        "upstream": edge.upstream,
        "downstream": edge.downstream,
        "kind": str(edge.kind),
        "columns": json.dumps(edge.columns, ensure_ascii=False, separators=(",", ":")),
    }


def _edge_of(row: Row[Any]) -> Edge:
    columns = tuple((above, below) for above, below in json.loads(row.columns))
    return Edge(row.upstream, row.downstream, EdgeKind(row.kind), columns)
