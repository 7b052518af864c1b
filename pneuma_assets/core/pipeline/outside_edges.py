"""What others say of tables becomes edges between those that are known, and texts about them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from pneuma_assets.core.lineage.edges import MOST_COLUMN_PAIRS, Edge
from pneuma_assets.core.lineage.names import TableName, column_key, columns_by_name
from pneuma_assets.core.lineage.outside import Outside, OutsideTable, Reference, text_about
from pneuma_assets.core.lineage.sql import read_view
from pneuma_assets.core.pipeline.declared import DeclaredTables
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.tables import Definition, source_of


def origin_of(
    outside: Outside, name: str, stamp: str, tables: DeclaredTables, within: str | None = None
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
    for one in outside.tables:
        table_id = _found(Reference(one.name, one.uri), dialect, tables, within)
        if table_id is None or (within is not None and source_of(table_id) != within):
            continue
        text = text_about(one)
        if text:
            told.setdefault(table_id, text)
        for other, found in _columns_from(one, table_id, dialect, tables, within).items():
            pairs.setdefault((other, table_id), set()).update(found)
    edges = [
        Edge(above, below, outside.kind, tuple(sorted(found)[:MOST_COLUMN_PAIRS]))
        for (above, below), found in pairs.items()
    ]
    digest = tables.digest_outside(stamp, dialect, names, within)
    return Origin(name, digest, tuple(names), tuple(edges), told, dialect)


def _names_of(table: OutsideTable) -> Iterable[TableName]:
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
    one: OutsideTable, table_id: str, dialect: str, tables: DeclaredTables, within: str | None
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

    said = [*_followed(one.definition, dialect, tables)] if one.definition and pairs else []
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


def _followed(
    at: Definition, dialect: str, tables: DeclaredTables
) -> Iterator[tuple[str, str, str]]:
    """Yield which columns of which tables a compiled query makes into which."""

    def meant(name: TableName) -> str | None:
        schema = name.schema or at.schema
        return tables.found_by(TableName(name.catalog or at.catalog, schema, name.name), dialect)

    def columns_of(name: TableName) -> list[str] | None:
        other = meant(name)
        return (tables.columns(other) or None) if other is not None else None

    for output in read_view(at, columns_of).columns:
        for name, key in output.sources:
            other = meant(name)
            if other is not None:
                yield other, key, output.name
