"""Which tables can be joined: what is declared, what was inferred, and what people say of it."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sqlalchemy import Column as SqlColumn
from sqlalchemy import Connection, Row, Select, delete, func, select
from sqlalchemy import Table as SqlTable

from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind, On
from pneuma_assets.core.store.database import StorePart, get_json, put_json
from pneuma_assets.core.store.schema import (
    edges,
    insert_rows,
    join_verdicts,
    joins,
    tables,
    upsert,
    view_joins,
)
from pneuma_assets.core.store.tables import SEARCHABLE, THERE
from pneuma_assets.core.tables import content_hash

_MADE_OF = "joins made of"


@dataclass(frozen=True, slots=True)
class JoinVerdict:
    """What somebody said of a join, as it was then: that it is one, or (not `confirmed`) none."""

    edge: JoinEdge
    confirmed: bool
    author: str
    said_at: float


class Joins(StorePart):
    """The part of the store that knows which tables can be joined by which columns."""

    def replace(self, inferred: Iterable[JoinEdge], made_of: Sequence[str]) -> int:
        """Make these all joins that nobody said; returns how many came or went.

        `made_of` names what they were made of, and returns it.
        """
        rows = {
            edge.on: {
                **join_key(edge.on),
                **{"kind": str(edge.kind), "score": edge.score, "share": edge.share},
            }
            for edge in inferred
        }
        with self._db.write() as connection:
            known = {_on(**row._mapping) for row in connection.execute(select(joins))}
            connection.execute(delete(joins))
            insert_rows(connection, joins, rows.values())
            put_json(self._db, _MADE_OF, list(made_of))
        return len(known ^ set(rows))

    def stamp(self) -> tuple[str, ...]:
        """Return what is another one when a searchable table came, changed or left."""
        asked = select(func.count(), func.max(tables.c.indexed_at)).where(SEARCHABLE)
        return tuple(map(str, self._db.read(asked)[0]))

    def made_of(self) -> tuple[str, ...]:
        """Return what the inferred joins were made of; nothing before there were any."""
        return tuple(get_json(self._db, _MADE_OF) or ())

    def fingerprint(self) -> str:
        """Return what is another one when any join may be; what views say, edges tell of."""
        said = select(func.count(), func.max(join_verdicts.c.said_at)).select_from(join_verdicts)
        return content_hash(repr(tuple(self._db.read(said)[0])), *self.made_of())

    def of_tables(self, table_ids: Collection[str]) -> list[JoinEdge]:
        """Return the joins of tables with any table, without those that somebody rejected.

        Of one join that several tell of, who is believed first, with the share of cells that is
        known. What was rejected is none the other way round, either, unless somebody confirmed
        that. What was confirmed is left out where a table shows no such column any more, and so is
        a shared domain of two tables that are joined in another way.
        """
        said = self.verdicts()
        wanted = set(table_ids)
        found: dict[On, JoinEdge] = {}
        for edge in chain(self._told(wanted), self._confirmed(wanted, said)):
            _add(found, edge)
        sides = view_joins.c.table_id, view_joins.c.other
        for edge in map(_of_view, self._rows_of(select(view_joins), sides, wanted)):
            # A query says what is equal; which of the two refers, the others may know better.
            turned = edge.turned()
            _add(found, turned if turned.on in found and edge.on not in found else edge)
        rejected = {
            on for one in said if not one.confirmed for on in (one.edge.on, one.edge.turned().on)
        }
        kept = [e for on, e in found.items() if on not in rejected or e.kind is JoinKind.PERSON]
        joined = {edge.tables for edge in kept if edge.is_key}
        return sorted(
            (e for e in kept if e.is_key or e.tables not in joined),
            key=lambda edge: edge.on,
        )

    def pairs(self) -> set[tuple[str, str]]:
        """Return all tables that can be joined, each pair once, in the order of their ids.

        Those that only share a domain of values, as half of a lake may, are no pair.
        """
        keys = select(edges.c.upstream, edges.c.downstream).where(
            edges.c.kind == str(EdgeKind.FOREIGN_KEY)
        )
        found = {
            (min(row), max(row))
            for asked in (
                select(joins.c.table_id, joins.c.other).where(joins.c.kind != JoinKind.DOMAIN),
                select(view_joins.c.table_id, view_joins.c.other),
                keys,
            )
            for row in map(tuple, self._db.read(asked.distinct()))
            if row[0] != row[1]
        }
        judged = {one.edge.tables for one in self.verdicts()}
        told = self.of_tables({table for pair in judged for table in pair}) if judged else []
        return (found - judged) | {
            edge.tables for edge in told if edge.table != edge.other and edge.is_key
        }

    def _told(self, table_ids: Collection[str]) -> Iterator[JoinEdge]:
        for row in self._rows_of(select(joins), (joins.c.table_id, joins.c.other), table_ids):
            yield JoinEdge(*_on(**row._mapping), JoinKind(row.kind), row.score, row.share)
        keys = select(edges).where(edges.c.kind == str(EdgeKind.FOREIGN_KEY))
        declared = self._rows_of(keys, (edges.c.upstream, edges.c.downstream), table_ids)
        yield from (edge for edge in map(_declared, declared) if edge is not None)

    def _rows_of(
        self, statement: Select[Any], sides: Iterable[SqlColumn[Any]], table_ids: Collection[str]
    ) -> Iterator[Row[Any]]:
        """Yield rows of a query that have one of some tables on either side; some rows twice."""
        for side in sides:
            yield from self._db.read_by(statement, side, sorted(table_ids))

    def of_views(self, *, compared: bool = True) -> list[tuple[str, JoinEdge]]:
        """Return the joins of queries, each with who says it; False: those not `compared` yet."""
        asked = select(view_joins).order_by(*view_joins.primary_key.columns)
        if not compared:
            asked = asked.where(view_joins.c.compared == 0)
        return [(row.origin, _of_view(row)) for row in self._db.read(asked)]

    def compare_views(self, compared: Iterable[tuple[str, JoinEdge, JoinEdge]]) -> None:
        """Keep which side of joins of queries refers to which, and the share of cells, as one act.

        Of each who says it, what it is kept as, and what it is; what no query says now is left out.
        """
        with self._db.write() as connection:
            for origin, before, now in compared:
                if _delete(connection, view_joins, {"origin": origin, **join_key(before.on)}):
                    row = {"origin": origin, **join_key(now.on), "share": now.share, "compared": 1}
                    upsert(connection, view_joins, [row])

    def _confirmed(self, table_ids: Set[str], said: Iterable[JoinVerdict]) -> list[JoinEdge]:
        """Return the joins of tables that somebody confirmed, and whose columns are there."""
        confirmed = [
            one.edge for one in said if one.confirmed and not table_ids.isdisjoint(one.edge.tables)
        ]
        names = self._columns_of({table for edge in confirmed for table in edge.tables})
        return [
            edge
            for edge in confirmed
            if names.get(edge.table, set()).issuperset(edge.columns)
            and names.get(edge.other, set()).issuperset(edge.other_columns)
        ]

    def _columns_of(self, table_ids: Collection[str]) -> dict[str, set[str]]:
        asked = select(tables.c.table_id, tables.c.columns).where(THERE)
        return {
            row.table_id: {column[0] for column in json.loads(row.columns or "[]")}
            for row in self._db.read_by(asked, tables.c.table_id, sorted(table_ids))
        }

    def judge(self, edge: JoinEdge, *, confirmed: bool, author: str) -> None:
        """Keep what somebody says of a join; it replaces what was said of it before."""
        row = {**join_key(edge.on), "confirmed": int(confirmed), "author": author}
        with self._db.write() as connection:
            upsert(connection, join_verdicts, [{**row, "said_at": self._db.now()}])

    def withdraw(self, on: On) -> bool:
        """Take back what was said of a join; returns whether anything was."""
        with self._db.write() as connection:
            return _delete(connection, join_verdicts, join_key(on))

    def verdicts(self) -> list[JoinVerdict]:
        """Return all that people said of joins, ordered."""
        rows = self._db.read(select(join_verdicts).order_by(*join_verdicts.primary_key.columns))
        return [
            JoinVerdict(
                JoinEdge(*_on(**row._mapping), JoinKind.PERSON, 1.0),
                *(bool(row.confirmed), row.author, row.said_at),
            )
            for row in rows
        ]


def move_verdicts(connection: Connection, names: Mapping[str, str]) -> None:
    """Let what was said of joins of tables be said of others, by the ids of the former."""
    _change(connection, lambda on: (names.get(on[0], on[0]), on[1], names.get(on[2], on[2]), on[3]))


def rename_verdict_columns(connection: Connection, table_id: str, names: Mapping[str, str]) -> None:
    """Let what was said of joins by columns be said of what these are called now."""

    def renamed(on: On) -> On:
        table, columns, other, others = on
        if table == table_id:
            columns = tuple(names.get(name, name) for name in columns)
        if other == table_id:
            others = tuple(names.get(name, name) for name in others)
        return table, columns, other, others

    _change(connection, renamed)


def _change(connection: Connection, new: Callable[[On], On]) -> None:
    """Change what is joined, in all that was said; a new one is believed before an old one."""
    rows = [dict(row._mapping) for row in connection.execute(select(join_verdicts))]
    changed = [(row, on) for row in rows if (on := new(_on(**row))) != _on(**row)]
    for row, _ in changed:
        _delete(connection, join_verdicts, {name: row[name] for name in join_key(_on(**row))})
    upsert(connection, join_verdicts, [row | join_key(on) for row, on in changed])


def _delete(connection: Connection, table: SqlTable, key: Mapping[str, str]) -> bool:
    same = [table.c[name] == value for name, value in key.items()]
    return connection.execute(delete(table).where(*same)).rowcount > 0


def join_key(on: On) -> dict[str, str]:
    """Return what is joined as the columns of a row."""
    table, columns, other, other_columns = on
    return {
        "table_id": table,
        "columns": json.dumps(columns, ensure_ascii=False),
        "other": other,
        "other_columns": json.dumps(other_columns, ensure_ascii=False),
    }


def _of_view(row: Row[Any]) -> JoinEdge:
    return JoinEdge(*_on(**row._mapping), JoinKind.VIEW, 1.0, row.share)


def _on(table_id: str, columns: str, other: str, other_columns: str, **_: object) -> On:
    return table_id, tuple(json.loads(columns)), other, tuple(json.loads(other_columns))


def _add(found: dict[On, JoinEdge], edge: JoinEdge) -> None:
    """Add what is told of a join: by who is believed first, with the share of whoever knows."""
    known = found.get(edge.on)
    if known is not None:
        first, second = (edge, known) if edge.doubt < known.doubt else (known, edge)
        edge = replace(first, share=second.share) if first.share is None else first
    found[edge.on] = edge


def _declared(row: Row[Any]) -> JoinEdge | None:
    """Return a declared key as a join; None where its columns are not known."""
    pairs = [tuple(pair) for pair in json.loads(row.columns)]
    if not pairs or row.upstream == row.downstream:
        return None
    others, columns = zip(*pairs, strict=True)
    return JoinEdge(row.downstream, columns, row.upstream, others, JoinKind.DECLARED, 1.0)
