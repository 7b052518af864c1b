"""A query in which sqlglot's `qualify` wrote out stars and the table of each column, within bounds.

Each place that reads a table gets a name of its own before, under which its columns are known: so
tables of one name do not mix, and a table that nobody knows is no error, but has one column, whose
name begins with `UNKNOWN`. References to aliases of the same SELECT stay as they are: to write them
out takes exponential time where each is named twice by the next.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from sqlglot import exp
from sqlglot.dialects import Dialect
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.optimizer.scope import Scope, traverse_scope, walk_in_scope
from sqlglot.schema import MappingSchema

from pneuma_assets.core.lineage.names import TableName, column_key
from pneuma_assets.core.lineage.parse import UnreadableSQLError

MOST_QUERIES = 1_000
"""SELECTs in one query."""

MOST_TABLES = 2_000
"""Tables of one query."""

MOST_STEPS = 2_000_000
"""From each column up to the top of the tree, in all: sqlglot goes up from most of them."""

MOST_LOOKS = 300_000
"""Columns that sqlglot goes through to tell which table each name and star means."""

_TOO_MANY = f"it passes on more than {MOST_LOOKS:,} columns"

UNKNOWN = "\0"
"""Begins the name of a column that stands for all that are not known."""

_READ = "\0read"
"""The schema of all places that read a table."""

_WRITTEN = "written"
"""Marks the COALESCEs of the query itself, others than those that USING becomes."""

Source = tuple[TableName, str]
"""A table as the query names it, and the key of a column of it."""

ColumnsOf = Callable[[TableName], Sequence[str] | None]
"""Returns the names of a table's columns in order; None where the table is not known."""

Reading = tuple[TableName, Mapping[str, str]]
"""A table, and the keys of its columns by the names that they have where it is read.

None of one that nobody knows: it may have any.
"""


class QualifiedQuery:
    """A query whose names sqlglot resolved; the tree that it is given is changed.

    Attributes:
        tables: The tables that it reads, in order, each once.
        scopes: Its scopes, each after those that it reads; none before `qualify`.
    """

    def __init__(self, query: exp.Query, dialect: Dialect, name: str) -> None:
        inner = query.unnest()
        self._query = inner if isinstance(inner, exp.Query) else query
        self._dialect, self._name = dialect, name
        pivoted, self._steps = _fold(self._query, dialect, name)
        joins = self._query.find_all(exp.Join)
        merged = (one.name for join in joins for one in join.args.get("using") or ())
        self._merged, self._given = list(dict.fromkeys(merged)), 0
        for number, node in enumerate(pivoted):
            self._turn(node, f"p{number}")
        self._read = [
            table
            for scope in traverse_scope(self._query)
            for table in scope.tables
            if isinstance(table.this, exp.Identifier)
            and (table.db or not isinstance(scope.sources.get(table.alias_or_name), Scope))
        ]
        self.tables = tuple(dict.fromkeys(map(_name_of, self._read)))[:MOST_TABLES]
        self.scopes: list[Scope] = []
        self._readings: list[Reading] = []

    def qualify(self, columns_of: ColumnsOf) -> None:
        """Write stars out and the table before each column.

        Raises:
            UnreadableSQLError: That would take too long.
            SqlglotError: Names do not fit the columns that are known.
        """
        if self._steps > MOST_STEPS:
            raise UnreadableSQLError("telling what its names mean takes too long")
        columns: dict[str, dict[str, str]] = {}
        for number, (name, known) in enumerate(self._known(columns_of)):
            self._readings.append((name, known))
            self._count(len(known))
            columns[str(number)] = dict.fromkeys(known or self._unknown(number), "text")
        schema = MappingSchema({_READ: columns}, dialect=self._dialect, normalize=False)
        self._query = qualify_tables(self._query, dialect=self._dialect)
        for number, node in enumerate(self._query.find_all(exp.UDTF, exp.Table)):
            alias = node.args.get("alias")
            is_function = not isinstance(node.this, exp.Identifier | exp.Query)
            if is_function and alias and not node.alias_column_names:
                alias.set("columns", [*map(exp.to_identifier, self._unknown(f"f{number}"))])
        _bound(traverse_scope(self._query), columns)
        self._query = qualify_columns(
            self._query, schema, expand_alias_refs=False, allow_partial_qualification=True
        )
        self.scopes = traverse_scope(self._query)

    def reading(self, table: exp.Table) -> Reading | None:
        """Return what is read at a place in FROM; None where that is a function."""
        return self._readings[int(table.name)] if table.db == _READ else None

    def _count(self, given: int) -> None:
        self._given += given
        if self._given > MOST_LOOKS:
            raise UnreadableSQLError(_TOO_MANY)

    def _unknown(self, where: object) -> list[str]:
        """Return names for what nobody knows the columns of: some must be there for USING."""
        self._count(1 + len(self._merged))
        return [*self._merged, f"{UNKNOWN}{where}"]

    def _turn(self, node: exp.Expr, where: str) -> None:
        """Let what PIVOT and UNPIVOT make be unknown: its columns have other names and places."""
        alias = node.args.pop("pivots")[-1].alias or node.alias_or_name
        turned = exp.Select(
            expressions=[
                exp.Alias(this=exp.Null(), alias=exp.to_identifier(one))
                for one in self._unknown(where)
            ]
        )
        named = exp.TableAlias(this=exp.to_identifier(alias)) if alias else None
        node.replace(exp.Subquery(this=turned, alias=named, joins=node.args.pop("joins", None)))
        turned.set("from_", exp.From(this=node))

    def _known(self, columns_of: ColumnsOf) -> Iterator[Reading]:
        """Yield what is read at each place, and give the place the name it is known by."""
        keys: dict[TableName, Sequence[str]] = {}
        for number, table in enumerate(self._read):
            name, listed = _name_of(table), table.alias_column_names
            if name not in keys:
                keys[name] = [column_key(one, self._name) for one in columns_of(name) or ()]
            own = keys[name]
            yield name, dict(zip([*listed, *own[len(listed) :]], own, strict=False))
            alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name))
            this, schema = exp.to_identifier(str(number)), exp.to_identifier(_READ)
            told = {"this": this, "db": schema, "catalog": None, "alias": alias}
            for part, said in told.items():
                table.set(part, said)


def _name_of(table: exp.Table) -> TableName:
    return TableName(table.catalog, table.db, table.name)


def is_merged(node: exp.Expr) -> bool:
    """Tell whether a node is the one column that USING or NATURAL makes of several."""
    return isinstance(node, exp.Coalesce) and _WRITTEN not in node.meta


def _fold(query: exp.Query, dialect: Dialect, name: str) -> tuple[list[exp.Expr], int]:
    """Fold names as the engine does; returns what is pivoted, and steps as `MOST_STEPS` counts."""
    depths: dict[int, int] = {}
    queries = steps = 0
    pivoted = []
    for node in query.walk():
        depth = depths[id(node)] = depths.get(id(node.parent), 0) + 1
        steps += depth * isinstance(node, exp.Column)
        queries += isinstance(node, exp.Select)
        if isinstance(node, exp.Identifier):
            dialect.normalize_identifier(node)
            if not _is_of_table(node):
                node.set("this", column_key(node.name, name))
        elif isinstance(node, exp.Coalesce):
            node.meta[_WRITTEN] = True
        elif isinstance(node, exp.Literal):
            # No position any more, in the place of which sqlglot puts a copy of the column.
            if isinstance(node.parent, exp.Group | exp.Ordered | exp.Tuple):
                node.set("is_string", True)
        elif node.args.get("pivots"):
            pivoted.append(node)
    if queries > MOST_QUERIES:
        raise UnreadableSQLError(f"it has more than {MOST_QUERIES:,} queries in it")
    return pivoted, steps


def _is_of_table(identifier: exp.Identifier) -> bool:
    """Tell whether a name is a table's or an alias of one, which some engines fold otherwise."""
    return (
        isinstance(identifier.parent, exp.Table)
        or identifier.arg_key in ("table", "db", "catalog")
        or (isinstance(identifier.parent, exp.TableAlias) and identifier.arg_key == "this")
    )


def _bound(scopes: Sequence[Scope], columns: Mapping[str, Mapping[str, str]]) -> None:
    """Count what sqlglot will go through, before it does.

    Raises:
        UnreadableSQLError: That is more than `MOST_LOOKS`.
    """
    widths: dict[int, int] = {}
    looks = 0

    def width_of(source: exp.Expr | Scope) -> int:
        if isinstance(source, Scope):
            return widths.get(id(source.expression), 1)
        return len(columns[source.name]) if source.text("db") == _READ else 1

    for scope in scopes:
        expression = scope.expression
        read = {name: width_of(one) for name, (_, one) in scope.selected_sources.items()}
        wide = sum(read.values()) + sum(map(width_of, scope.lateral_sources.values()))
        if isinstance(expression, exp.Select):
            stars = [one.text("table") for one in expression.expressions if one.is_star]
            starred = sum(read.get(table, wide) for table in stars)
            given = len(expression.expressions) + starred
            looks += given + 2 * starred
        else:
            inner = (scope.set_operation_scopes, scope.subquery_scopes, scope.table_scopes)
            given = max([len(expression.alias_column_names), *map(width_of, chain(*inner))])
        widths[id(expression)] = given
        joins = [one for one in walk_in_scope(expression) if isinstance(one, exp.Join)]
        in_joins = sum(not one.table for join in joins for one in join.find_all(exp.Column))
        bare = sum(not one.table for one in scope.columns)
        merging = [one for one in joins if one.args.get("using") or one.method == "NATURAL"]
        names = sum(len(one.args.get("using") or range(wide)) for one in merging)
        looks += ((1 + in_joins + names) * wide + bare * len(read)) // 20
        looks += 3 * len(merging) * (names + bare)
        if looks > MOST_LOOKS:
            raise UnreadableSQLError(_TOO_MANY)
