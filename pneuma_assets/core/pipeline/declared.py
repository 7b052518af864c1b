"""What all tables declare of themselves, as lineage needs it: names, columns, queries, keys."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.lineage.edges import MOST_COLUMN_PAIRS, Edge, EdgeKind
from pneuma_assets.core.lineage.names import (
    KnownNames,
    KnownTable,
    TableName,
    column_key,
    columns_by_name,
    spelled,
)
from pneuma_assets.core.lineage.view_sql import ViewLineage, read_view
from pneuma_assets.core.pipeline.query_joins import joins_of_query
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.store.edges import Declared
from pneuma_assets.core.store.tables import relations_of
from pneuma_assets.core.tables import Column, Definition, ForeignKey, content_hash

_RECIPE = "4"
"""Of how edges are made of what a table declares; another one makes all of them anew."""


class DeclaredTables:
    """The tables that are there, by their ids and by the names that others have for them."""

    def __init__(self, declared: Sequence[Declared], sources: Mapping[str, SourceConfig]) -> None:
        self._by_id = {one.table_id: one for one in declared}
        self._hashes: dict[str, str] = {}
        self.names = KnownNames(
            _known(one, sources[one.source]) for one in declared if one.source in sources
        )

    def columns(self, table_id: str) -> list[str]:
        """Return the names of a table's columns, in order; none before it was read."""
        kept = self._by_id[table_id].columns
        return [column[0] for column in json.loads(kept)] if kept else []

    def shown_columns(self, table_id: str, dialect: str) -> Mapping[str, str]:
        """Return a table's columns that are not hidden, by what an engine compares."""
        kept = self._by_id[table_id].columns
        columns = [Column(*column) for column in json.loads(kept)] if kept else []
        return columns_by_name([one.name for one in columns if not one.hidden], dialect)

    def primary_key(self, table_id: str) -> tuple[str, ...]:
        """Return the columns of a table's declared key; none where it declares none."""
        return relations_of(self._by_id[table_id].relations).primary_key

    def digest(self, one: Declared, names: Iterable[TableName]) -> str:
        """Return what is another one when a table's edges may be, if it uses these names."""
        definition = relations_of(one.relations).definition
        parts = [_RECIPE, one.relations or "", one.columns or "", one.readers or ""]
        for name in names:
            found = self.meant(name, one, definition)
            parts += [str(name), found or "", self._hash(found) if found else ""]
        return content_hash(*parts)

    def names_used(self, one: Declared) -> list[TableName]:
        """Return the tables that foreign keys name; those of a query only parsing can tell."""
        return [_named(key) for key in relations_of(one.relations).foreign_keys]

    def meant(self, name: TableName, one: Declared, definition: Definition | None) -> str | None:
        """Return the table that a name means where one table declares it.

        A part that is left out is that of the table itself. An engine may look a name up in
        several schemas, of which it tells one, so one that is nowhere else may be in any; and
        DuckDB reads `a.t` as schema or as database.
        """
        dialect = "" if definition is None else definition.dialect
        schema, catalog = name.schema, name.catalog
        if definition is not None:
            schema, catalog = schema or definition.schema, catalog or definition.catalog
        ways = [TableName(catalog if schema else "", schema, name.name), name]
        if dialect == "duckdb" and name.schema and not name.catalog:
            ways.append(TableName(name.schema, "main", name.name))
        found = (self.names.named(way, dialect, one.source) for way in dict.fromkeys(ways))
        return next((table_id for table_id in found if table_id is not None), None)

    def edges(self, one: Declared) -> tuple[tuple[TableName, ...], list[Edge], list[JoinEdge]]:
        """Return the names that a table's query and keys use, the edges and joins they make."""
        declared = relations_of(one.relations)
        keys, definition = declared.foreign_keys, declared.definition
        names = [_named(key) for key in keys]
        found = [edge for key in keys if (edge := self._of_key(one, key)) is not None]
        joined: list[JoinEdge] = []
        if definition is not None:
            read = self._read(one, definition)
            names += read.tables
            found += self._of_view(one, definition, read)
            meant = partial(self.meant, one=one, definition=definition)
            joined = joins_of_query(self, read.joins, definition.dialect, meant)
        return tuple(dict.fromkeys(names)), found, joined

    def _of_key(self, one: Declared, key: ForeignKey) -> Edge | None:
        other = self.meant(_named(key), one, None)
        if other is None:
            return None
        pairs = tuple(sorted(zip(key.other_columns, key.columns, strict=False)))
        return Edge(other, one.table_id, EdgeKind.FOREIGN_KEY, pairs[:MOST_COLUMN_PAIRS])

    def _read(self, one: Declared, definition: Definition) -> ViewLineage:
        def columns_of(name: TableName) -> list[str] | None:
            found = self.meant(name, one, definition)
            return (self.columns(found) or None) if found is not None else None

        return read_view(definition, columns_of)

    def _of_view(self, one: Declared, definition: Definition, read: ViewLineage) -> list[Edge]:
        meant = {name: self.meant(name, one, definition) for name in read.tables}
        pairs: dict[str, set[tuple[str, str]]] = {
            table_id: set() for table_id in meant.values() if table_id is not None
        }
        own = self.columns(one.table_id)
        by_place = len(own) == len(read.columns)
        spelled_own = columns_by_name(own, definition.dialect)
        for place, output in enumerate(read.columns):
            column = own[place] if by_place else spelled_own.get(output.name, output.name)
            for name, key in output.sources:
                other = meant.get(name)
                if other is not None:
                    pairs[other].add((self.spelled(other, key, definition.dialect), column))
        return [
            Edge(other, one.table_id, EdgeKind.VIEW, tuple(sorted(found)[:MOST_COLUMN_PAIRS]))
            for other, found in pairs.items()
        ]

    def spelled(self, table_id: str, key: str, dialect: str) -> str:
        """Return a column as its table spells it."""
        for column in self.columns(table_id):
            if column_key(column, dialect) == key:
                return column
        return key

    def found_by(self, name: TableName, dialect: str, within: str | None = None) -> str | None:
        """Return the table that others mean by a name, or by an address in its place.

        Args:
            name: As they spell it.
            dialect: Of their engine; empty: it is not known.
            within: The source whose tables are meant first.
        """
        if "://" in name.name:
            return self.names.at(name.name)
        if dialect:
            return self.names.named(name, dialect, within)
        return self.names.written(str(name)) if name.name else None

    def digest_outside(
        self, stamp: str, dialect: str, names: Iterable[TableName], within: str | None = None
    ) -> str:
        """Return what is another one when what others say of tables may mean something else."""
        parts = [_RECIPE, stamp]
        for name in names:
            found = self.found_by(name, dialect, within)
            parts += [str(name), found or "", self._hash(found) if found else ""]
        return content_hash(*parts)

    def _hash(self, table_id: str) -> str:
        if table_id not in self._hashes:
            one = self._by_id[table_id]
            key = relations_of(one.relations).primary_key
            self._hashes[table_id] = content_hash(one.columns or "", one.readers or "", *key)
        return self._hashes[table_id]


def _named(key: ForeignKey) -> TableName:
    parts = key.table[-3:]
    return TableName(*([""] * (3 - len(parts))), *parts)


def _known(one: Declared, source: SourceConfig) -> KnownTable:
    """Return a table's name: schema and own name are in its id, the database in its address.

    A file is called as its table is, and its folder stands for a schema.
    """
    address = source.address_of(one.table_id, one.location, one.format)
    inside = [unescape(part) for part in one.table_id.split("/")[1:]]
    full = spelled(address.name)
    if len(inside) == 2 and full.parts[-2:] == tuple(inside):
        named = TableName(full.catalog, *inside)
        return KnownTable(one.table_id, named, address.uri, address.name)
    if len(inside) == 3:
        return KnownTable(one.table_id, TableName(*inside), address.uri, address.name)
    is_path = "/" in address.name or not full.name
    name = TableName("", "".join(inside[-2:-1]), inside[-1]) if is_path else full
    return KnownTable(one.table_id, name, address.uri, address.name)
