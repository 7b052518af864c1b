"""What tables are built from, once profiles are read: edges, and texts that name them.

Edges come from what tables declare (queries, foreign keys), from engines, and from files of other
tools. Only views whose query, neighbours or columns of neighbours changed are parsed again.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import PneumaError, SourceError
from pneuma_assets.core.lineage.edges import MOST_COLUMN_PAIRS, Edge, EdgeKind
from pneuma_assets.core.lineage.engines import read_dependencies
from pneuma_assets.core.lineage.external import (
    ExternalMetadata,
    ExternalTable,
    Reference,
    TableFields,
    fields_of,
    text_about,
)
from pneuma_assets.core.lineage.names import (
    KnownNames,
    KnownTable,
    TableName,
    column_key,
    columns_by_name,
    spelled,
)
from pneuma_assets.core.pipeline.dagster_graphql import origin_of_webserver
from pneuma_assets.core.pipeline.external_files import ExternalFile, external_files, refused
from pneuma_assets.core.pipeline.lineage_texts import lineage_texts
from pneuma_assets.core.progress import report
from pneuma_assets.core.relations.join_column_facts import JoinColumn
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.join_names import names_its_table
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.edges import Declared, Known, Origin
from pneuma_assets.core.store.tables import relations_of
from pneuma_assets.core.tables import (
    Column,
    Definition,
    Problem,
    content_hash,
    source_of,
)
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from pneuma_assets.core.lineage.query_joins import Join
    from pneuma_assets.core.lineage.view_sql import ViewLineage

logger = logging.getLogger(__name__)


OWN = "table:"
"""Begins the origin of what a table declares itself."""

DEFINITIONS = f"{EdgeKind.DAGSTER}:definitions"
"""The origin that the other assets beside a deployment are."""

STAGE = "lineage"

_TROUBLED = "troubled"
"""The stamp of a file with a problem: each run reads it again, and tells its problem anew."""

CHUNK = 200
"""Tables whose queries are read before what they say is saved."""

_EDGES_VERSION = "6"
"""Of how edges are made of what a table declares; another one makes all of them again."""

_NO_CELLS = np.array((), np.uint64)

Meant = Callable[[TableName], str | None]
"""Returns the id of the table that a name means."""


class TableCatalog:
    """What tables declare of themselves, by their ids and by the names that others use."""

    def __init__(self, declared: Sequence[Declared], sources: Mapping[str, SourceConfig]) -> None:
        self._by_id = {one.table_id: one for one in declared}
        self._hashes: dict[str, str] = {}
        self._columns: dict[str, list[Column]] = {}
        self.names = KnownNames(
            _known_table(one, sources[one.source]) for one in declared if one.source in sources
        )

    def columns(self, table_id: str) -> list[str]:
        """Return the names of a table's columns, in order; none before it was read."""
        return [column.name for column in self._read_columns(table_id)]

    def shown_columns(self, table_id: str, dialect: str) -> Mapping[str, str]:
        """Return a table's columns that are not hidden, by what an engine compares."""
        columns = self._read_columns(table_id)
        return columns_by_name([one.name for one in columns if not one.hidden], dialect)

    def _read_columns(self, table_id: str) -> list[Column]:
        if table_id not in self._columns:
            saved = json.loads(self._by_id[table_id].columns or "[]")
            self._columns[table_id] = [Column(*column) for column in saved]
        return self._columns[table_id]

    def digest(self, one: Declared, names: Iterable[TableName]) -> str:
        """Return what changes when a table's edges may, if it uses these names."""
        meant = partial(self.meant, one=one, definition=relations_of(one.relations).definition)
        return self._digest(
            [one.relations or "", one.columns or "", one.readers or ""], names, meant
        )

    def digest_external(
        self, stamp: str, dialect: str, names: Iterable[TableName], within: str | None = None
    ) -> str:
        """Return what changes when what others say of tables may mean something else."""
        return self._digest([stamp], names, lambda name: self.found_by(name, dialect, within))

    def _digest(self, parts: Sequence[str], names: Iterable[TableName], meant: Meant) -> str:
        used = [(str(name), meant(name)) for name in names]
        known = ((name, found or "", self._hash(found) if found else "") for name, found in used)
        return content_hash(_EDGES_VERSION, *parts, *(part for some in known for part in some))

    def _hash(self, table_id: str) -> str:
        if table_id not in self._hashes:
            one = self._by_id[table_id]
            key = relations_of(one.relations).primary_key
            self._hashes[table_id] = content_hash(one.columns or "", one.readers or "", *key)
        return self._hashes[table_id]

    def meant(self, name: TableName, one: Declared, definition: Definition | None) -> str | None:
        """Return the table that a name means where one table declares it.

        A part that is left out is that of the table itself. An engine may look a name up in several
        schemas, of which it tells one; and DuckDB reads `a.t` as schema or as database.
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

    def found_by(self, name: TableName, dialect: str, within: str | None = None) -> str | None:
        """Return the table that others mean by a name or address, first of the source `within`."""
        if "://" in name.name:
            return self.names.at(name.name)
        if dialect:
            return self.names.named(name, dialect, within)
        return self.names.written(str(name)) if name.name else None

    def origin(self, name: str, one: Declared) -> Origin:
        """Return what a table's query and keys say: edges and joins, and the names they use."""
        declared = relations_of(one.relations)
        keys, definition = declared.foreign_keys, declared.definition
        names = [TableName(*("", "", *key.table)[-3:]) for key in keys]
        edges: list[Edge] = []
        for key, table_name in zip(keys, names, strict=True):
            if (other := self.meant(table_name, one, None)) is not None:
                pairs = zip(key.other_columns, key.columns, strict=False)
                edges += _edges({(other, one.table_id): pairs}, EdgeKind.FOREIGN_KEY)
        joins: list[JoinEdge] = []
        if definition is not None:
            meant = partial(self.meant, one=one, definition=definition)
            read = self.read_query(definition, meant)
            names += read.tables
            edges += self._view_edges(one, definition.dialect, read, meant)
            joins = self.joins(read.joins, definition.dialect, meant)
        used = tuple(dict.fromkeys(names))
        return Origin(name, self.digest(one, used), used, tuple(edges), joins=tuple(joins))

    def read_query(self, definition: Definition, meant: Meant) -> "ViewLineage":
        """Return what a query reads; `meant` returns the table that a name in it means."""
        from pneuma_assets.core.lineage.view_sql import read_view  # loads sqlglot

        def columns_of(name: TableName) -> list[str] | None:
            found = meant(name)
            return (self.columns(found) or None) if found is not None else None

        return read_view(definition, columns_of)

    def _view_edges(
        self, one: Declared, dialect: str, read: "ViewLineage", meant: Meant
    ) -> list[Edge]:
        tables = {name: meant(name) for name in read.tables}
        pairs: dict[tuple[str, str], set[tuple[str, str]]] = {
            (other, one.table_id): set() for other in tables.values() if other is not None
        }
        own = self.columns(one.table_id)
        by_place = len(own) == len(read.columns)
        spelled_own = columns_by_name(own, dialect)
        spelled_in = cache(lambda other: columns_by_name(self.columns(other), dialect))
        for place, output in enumerate(read.columns):
            column = own[place] if by_place else spelled_own.get(output.name, output.name)
            for name, key in output.sources:
                other = tables.get(name)
                if other is not None:
                    pairs[other, one.table_id].add((spelled_in(other).get(key, key), column))
        return _edges(pairs, EdgeKind.VIEW)

    def joins(self, joins: "Iterable[Join]", dialect: str, meant: Meant) -> list[JoinEdge]:
        """Return the joins of a query whose two tables are known, each once, by shown columns.

        The side with the key is referred to: the declared one, or one that is named like a key.
        """
        found: dict[JoinEdge, None] = {}
        for join in joins:
            left, right = (meant(name) for name in (join[0][0][0], join[0][1][0]))
            if left is None or right is None or left == right:
                continue
            sides = []
            for table_id, keys in (
                (left, [one[1] for one, _ in join]),
                (right, [other[1] for _, other in join]),
            ):
                shown = self.shown_columns(table_id, dialect)
                if all(key in shown for key in keys):
                    sides.append((table_id, tuple(shown[key] for key in keys)))
            if len(sides) == 2:
                sides.sort(key=lambda side: (self._keyness(*side), side))
                found[JoinEdge(*sides[0], *sides[1], JoinKind.VIEW, 1.0)] = None
        return list(found)

    def _keyness(self, table_id: str, columns: tuple[str, ...]) -> int:
        if {*columns} == {*relations_of(self._by_id[table_id].relations).primary_key}:
            return 2
        named = JoinColumn(table_id, columns[0], 0, 0, _NO_CELLS, whole=False)
        return int(len(columns) == 1 and names_its_table(named))


def _edges(
    pairs: Mapping[tuple[str, str], Iterable[tuple[str, str]]], kind: EdgeKind
) -> list[Edge]:
    return [
        Edge(above, below, kind, tuple(sorted(found)[:MOST_COLUMN_PAIRS]))
        for (above, below), found in pairs.items()
    ]


def update_lineage(
    store: Store, run_id: str, deployment: Deployment, others: Iterable[ExternalFile] = ()
) -> int:
    """Bring edges between tables, and texts about them, up to date; returns of how many tables.

    `others` is what other assets, a webserver and engines say that were asked; those that were not
    still say what they said.
    """
    declared = store.edges.declared()
    tables = TableCatalog(declared, {source.name: source for source in deployment.sources})
    known = store.edges.origins()
    saying = {OWN + one.table_id: one for one in declared if one.relations is not None}
    outdated = [
        (name, one)
        for name, one in saying.items()
        if name not in known or tables.digest(one, known[name].names) != known[name].digest
    ]
    files = {file.name: file for file in (*external_files(deployment.lineage), *others)}
    asked = {
        DEFINITIONS,
        origin_of_webserver(deployment.lineage.webserver),
        *(_dependency_origin(s.name) for s in deployment.sources if s.dependency_dialect),
    }
    unasked = [name for name in known if name in asked and name not in files]
    gone = [name for name in known if name not in {*saying, *files, *unasked}]
    changed: set[str] = set()
    troubled = {problem.subject for problem in store.problems.all() if problem.stage == STAGE}
    for name in troubled - {*files, *asked}:  # nobody asks these any more
        store.problems.record(name, STAGE, [])
    said, broken = _outside(store, tables, files.values(), known, troubled)
    unheard = [*unasked, *(name for name in broken if name in known)]
    for done, (name, one) in enumerate(outdated, 1):
        said.append(tables.origin(name, one))
        if len(said) >= CHUNK or done == len(outdated):
            changed |= store.link(run_id, said, gone, lambda ids: lineage_texts(store, ids))
            said, gone = [], []
            report("reading lineage", done, len(outdated))
    if gone or said or unheard:
        changed |= store.link(run_id, said, gone, lambda ids: lineage_texts(store, ids), unheard)
    return len(changed)


def _outside(
    store: Store,
    tables: TableCatalog,
    files: Iterable[ExternalFile],
    known: Mapping[str, Known],
    troubled: Collection[str],
) -> tuple[list[Origin], list[str]]:
    """Return what other tools say anew; who is broken leaves what it said, and a problem."""
    found: list[Origin] = []
    broken: list[str] = []
    for file in files:
        before = known.get(file.name)
        if before is not None and before.digest == tables.digest_external(
            file.stamp, before.dialect, before.names, file.within
        ):
            if file.name in troubled:  # it could not be read, and says again what it said before
                store.problems.record(file.name, STAGE, [])
            continue
        try:
            outside = file.read()
            trouble = outside.problems
            stamp = _TROUBLED if trouble else file.stamp
            found.append(external_origin(outside, file.name, stamp, tables, file.within))
        except PneumaError as error:
            trouble = (f"{error}; what it said before stays",)
            broken.append(file.name)
        except (OSError, ValueError) as error:
            trouble = (f"cannot be read: {error}; mend it, or take it out of lineage",)
            broken.append(file.name)
        causes = [Problem(file.name, STAGE, one_line(why, 500)) for why in trouble[:1]]
        store.problems.record(file.name, STAGE, causes)
        for problem in causes:
            logger.warning("%s: %s", problem.subject, problem.cause)
    return found, broken


def _known_table(one: Declared, source: SourceConfig) -> KnownTable:
    """Return a table's name: schema (or folder) and own name by its id, database by its address."""
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


def external_origin(
    outside: ExternalMetadata,
    name: str,
    stamp: str,
    tables: TableCatalog,
    within: str | None = None,
) -> Origin:
    """Return what others say of known tables: of those of a source (`within`) alone, or of any."""
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
        above, joins = _built_from(one, table_id, dialect, tables, within)
        for other, found in above.items():
            pairs.setdefault((other, table_id), set()).update(found)
        joined |= dict.fromkeys(joins)
    digest = tables.digest_external(stamp, dialect, names, within)
    edges = tuple(_edges(pairs, outside.kind))
    return Origin(name, digest, tuple(names), edges, told, dialect, tuple(joined), fields)


def _names_of(table: ExternalTable) -> Iterable[TableName]:
    """Yield all names and addresses that are looked up; an address in the place of a name."""
    for reference in (Reference(table.name, table.uri), *table.upstream):
        if reference.name.name:
            yield reference.name
        if reference.uri:
            yield TableName("", "", reference.uri)


def _found(
    reference: Reference, dialect: str, tables: TableCatalog, within: str | None
) -> str | None:
    name = reference.name
    by_name = tables.found_by(name, dialect, within) if name.name else None
    return by_name or tables.names.at(reference.uri)


def _built_from(
    one: ExternalTable, table_id: str, dialect: str, tables: TableCatalog, within: str | None
) -> tuple[dict[str, set[tuple[str, str]]], list[JoinEdge]]:
    """Return what a table is built from, each with its columns and what they become, and joins."""
    pairs: dict[str, set[tuple[str, str]]] = {}
    for reference in one.upstream:
        other = _found(reference, dialect, tables, within)
        if other is not None and other != table_id:
            pairs[other] = set()
    said: list[tuple[str, str, str]] = []
    joins: list[JoinEdge] = []
    if (at := one.definition) is not None and pairs:

        def meant(name: TableName) -> str | None:
            full = TableName(name.catalog or at.catalog, name.schema or at.schema, name.name)
            return tables.found_by(full, dialect)

        read = tables.read_query(at, meant)
        said += [
            (other, key, output.name)
            for output in read.columns
            for name, key in output.sources
            if (other := meant(name)) is not None
        ]
        known = tables.joins(read.joins, at.dialect, meant)
        joins = [edge for edge in known if pairs.keys() >= {*edge.tables}]
    for column, sources in one.column_sources.items():
        said += [
            (other, above, column)
            for reference, above in sources
            if (other := _found(reference, dialect, tables, within)) is not None
        ]

    @cache
    def columns(known: str) -> Mapping[str, str]:
        return columns_by_name(tables.columns(known), dialect)

    for other, above, below in said:
        given = _spelled_or_given(columns(other), above, dialect)
        made = _spelled_or_given(columns(table_id), below, dialect)
        if other in pairs and given and made:
            pairs[other].add((given, made))
    return pairs, joins


def _spelled_or_given(columns: Mapping[str, str], name: str, dialect: str) -> str:
    """Return a column as its table spells it; empty where the table is known to have none such."""
    return columns.get(column_key(name, dialect), "") if columns else name


def engine_dependencies(
    sources: Iterable[Source], configs: Iterable[SourceConfig], leave: Collection[str] = ()
) -> list[ExternalFile]:
    """Ask each source but those of `leave` whose engine has a view of dependencies.

    One that refuses raises nothing here: reading what it said does.
    """
    dialects = {one.name: one.dependency_dialect for one in configs if one.name not in leave}
    found = []
    for source in sources:
        name, dialect = source.name, dialects.get(source.name)
        if dialect is None:
            continue
        report(f"asking {name} what is built from what", 0, 0)
        origin = _dependency_origin(name)
        try:
            rows = sorted(source.dependencies() or ())
        except SourceError as error:
            found.append(refused(origin, error, within=name))
            continue
        stamp = content_hash(*(part for row in rows for part in row))
        read = partial(read_dependencies, rows, dialect)
        found.append(ExternalFile(origin, stamp, read, within=name))
    return found


def _dependency_origin(source: str) -> str:
    return f"{EdgeKind.DEPENDENCY}:{source}"
