"""What others say of tables becomes edges between those that are known, and texts about them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property

from pneuma_assets.core.lineage.edges import MOST_COLUMN_PAIRS, Edge
from pneuma_assets.core.lineage.external import (
    ExternalMetadata,
    ExternalTable,
    Reference,
    TableFields,
    fields_of,
    text_about,
)
from pneuma_assets.core.lineage.names import TableName, column_key, columns_by_name
from pneuma_assets.core.lineage.view_sql import ViewLineage, read_view
from pneuma_assets.core.pipeline.declared import DeclaredTables
from pneuma_assets.core.pipeline.query_joins import joins_of_query
from pneuma_assets.core.relations.join_graph import JoinEdge
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.tables import Definition, source_of


def origin_of(
    outside: ExternalMetadata,
    name: str,
    stamp: str,
    tables: DeclaredTables,
    within: str | None = None,
) -> Origin:
    """Return what others say of the tables that are known.

    Args:
        outside: What they say of any.
        name: Names them as an origin.
        stamp: Of what that was read from.
        tables: Those that are known.
        within: The source that says it, of its own tables alone; None: it may be of any.
    """
    dialect = next((one.dialect for one in outside.tables if one.dialect), "")
    names = dict.fromkeys(name for one in outside.tables for name in _names_of(one))
    pairs: dict[tuple[str, str], set[tuple[str, str]]] = {}  # several may tell of one table
    told: dict[str, str] = {}
    fields: dict[str, TableFields] = {}
    joined: dict[JoinEdge, None] = {}
    for one in outside.tables:
        table_id = _found(Reference(one.name, one.uri), dialect, tables, within)
        if table_id is None or (within is not None and source_of(table_id) != within):
            continue
        said = fields.get(table_id, TableFields()) + fields_of(one)
        if said != TableFields():
            told[table_id], fields[table_id] = text_about(said), said
        query = None if one.definition is None else _Query(one.definition, dialect, tables)
        above = _columns_from(one, table_id, dialect, tables, within, query)
        for other, found in above.items():
            pairs.setdefault((other, table_id), set()).update(found)
        if query is not None and above:
            joined |= {edge: None for edge in query.joins() if above.keys() >= {*edge.tables}}
    edges = [
        Edge(above, below, outside.kind, tuple(sorted(found)[:MOST_COLUMN_PAIRS]))
        for (above, below), found in pairs.items()
    ]
    digest = tables.digest_outside(stamp, dialect, names, within)
    return Origin(name, digest, tuple(names), tuple(edges), told, dialect, tuple(joined), fields)


def _names_of(table: ExternalTable) -> Iterable[TableName]:
    """Yield all names and addresses that are looked up; an address in the place of a name."""
    for reference in (Reference(table.name, table.uri), *table.upstream):
        if reference.name.name:
            yield reference.name
        if reference.uri:
            yield TableName("", "", reference.uri)


def _found(
    reference: Reference, dialect: str, tables: DeclaredTables, within: str | None
) -> str | None:
    name = reference.name
    by_name = tables.found_by(name, dialect, within) if name.name else None
    return by_name or tables.names.at(reference.uri)


def _columns_from(
    one: ExternalTable,
    table_id: str,
    dialect: str,
    tables: DeclaredTables,
    within: str | None,
    query: "_Query | None",
) -> dict[str, set[tuple[str, str]]]:
    """Return the tables that one is built from, each with its columns and what they become."""
    pairs: dict[str, set[tuple[str, str]]] = {}
    for reference in one.upstream:
        other = _found(reference, dialect, tables, within)
        if other is not None and other != table_id:
            pairs[other] = set()

    @cache
    def columns(known: str) -> Mapping[str, str]:
        return columns_by_name(tables.columns(known), dialect)

    said = [*query.columns()] if query is not None and pairs else []
    for column, sources in one.column_sources.items():
        said += [
            (other, above, column)
            for reference, above in sources
            if (other := _found(reference, dialect, tables, within)) is not None
        ]
    for other, above, below in said:
        given = _spelled(columns(other), above, dialect)
        made = _spelled(columns(table_id), below, dialect)
        if other in pairs and given and made:
            pairs[other].add((given, made))
    return pairs


def _spelled(columns: Mapping[str, str], name: str, dialect: str) -> str:
    """Return a column as its table spells it; empty where the table is known to have none such.

    Its name may be hidden, or somebody else's invention.
    """
    return columns.get(column_key(name, dialect), "") if columns else name


class _Query:
    """A compiled query, read once it is asked about."""

    def __init__(self, at: Definition, dialect: str, tables: DeclaredTables) -> None:
        self._at = at
        self._dialect = dialect
        self._tables = tables

    def columns(self) -> Iterator[tuple[str, str, str]]:
        """Yield which columns of which tables it makes into which."""
        for output in self._read.columns:
            for name, key in output.sources:
                other = self._meant(name)
                if other is not None:
                    yield other, key, output.name

    def joins(self) -> list[JoinEdge]:
        """Return by which columns it joins tables that are known."""
        return joins_of_query(self._tables, self._read.joins, self._at.dialect, self._meant)

    @cached_property
    def _read(self) -> ViewLineage:
        def columns_of(name: TableName) -> list[str] | None:
            other = self._meant(name)
            return (self._tables.columns(other) or None) if other is not None else None

        return read_view(self._at, columns_of)

    def _meant(self, name: TableName) -> str | None:
        at = self._at
        full = TableName(name.catalog or at.catalog, name.schema or at.schema, name.name)
        return self._tables.found_by(full, self._dialect)
