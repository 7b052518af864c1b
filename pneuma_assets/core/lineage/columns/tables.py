"""The columns of the tables that a query names, renamed or turned as it says there."""

from collections.abc import Collection, Sequence

from sqlglot import exp

from pneuma_assets.core.lineage.columns.effort import Effort
from pneuma_assets.core.lineage.columns.expressions import is_named, table_name
from pneuma_assets.core.lineage.columns.output import NOTHING, ColumnsOf, Output, Sources
from pneuma_assets.core.lineage.names import TableName, column_key


class Tables:
    """What is known of tables by their names, each asked for once."""

    def __init__(self, dialect: str, columns_of: ColumnsOf, effort: Effort) -> None:
        self._dialect = dialect
        self._columns_of = columns_of
        self._effort = effort
        self._known: dict[TableName, Sequence[str] | None] = {}
        self._sets_of_columns: dict[TableName, frozenset[str]] = {}
        self._turned: dict[int, Sources] = {}

    def key(self, name: str) -> str:
        """Return what a column of that name is known by."""
        return column_key(name, self._dialect)

    def sources_of(self, table: exp.Table, name: str) -> Sources:
        """Return what the column of that name of a named table comes from."""
        if table.args.get("pivots"):
            found = next((one.sources for one in self.outputs(table) if one.name == name), None)
            return self._pivoted(table) if found is None else found
        columns = self._columns(table_name(table))
        self._effort.look(1)
        if columns is not None and table.alias_column_names:
            return next((o.sources for o in self.outputs(table) if o.name == name), NOTHING)
        known = columns is None or name in self._set_of_columns(table)
        return frozenset({(table_name(table), name)}) if known else NOTHING

    def outputs(self, table: exp.Table) -> list[Output]:
        """Return the columns of a table, as far as they are known."""
        named = table_name(table)
        columns = self._columns(named) if is_named(table) else None
        self._effort.look(len(columns or ()))
        given = [self.key(one) for one in table.alias_column_names]
        names = [*given, *(columns or [])[len(given) :]]
        found = [
            Output(name, frozenset({(named, column)}))
            for name, column in zip(names, columns or [], strict=False)
        ]
        return self._with_pivots(table, found) if table.args.get("pivots") else found

    def _with_pivots(self, table: exp.Table, found: list[Output]) -> list[Output]:
        through = self._pivoted(table)
        turned = {column for _, column in through}
        made = [
            Output(self.key(one.name), through)
            for pivot in table.args["pivots"]
            for one in pivot.args.get("columns") or []
        ]
        self._effort.look(len(made))
        return [*(one for one in found if one.name not in turned), *made]

    def names_of(self, table: exp.Table) -> Collection[str]:
        """Return the names of a table's columns, as far as they are known."""
        if table.alias_column_names or table.args.get("pivots"):
            return {one.name for one in self.outputs(table)}
        return self._set_of_columns(table)

    def is_open(self, table: exp.Table) -> bool:
        """Tell whether a table may have columns that nobody knows of."""
        if not is_named(table) or table.args.get("pivots"):
            return True
        return self._columns(table_name(table)) is None

    def _pivoted(self, table: exp.Table) -> Sources:
        """Return what PIVOT or UNPIVOT turns into other columns."""
        if id(table) in self._turned:
            return self._turned[id(table)]
        columns = self._columns(table_name(table))
        named = {
            self.key(column.name)
            for pivot in table.args.get("pivots") or []
            for column in pivot.find_all(exp.Column)
        }
        known = named if columns is None else named & set(columns)
        self._turned[id(table)] = frozenset((table_name(table), name) for name in known)
        return self._turned[id(table)]

    def _set_of_columns(self, table: exp.Table) -> frozenset[str]:
        name = table_name(table)
        if name not in self._sets_of_columns:
            columns = self._columns(name) if is_named(table) else None
            self._sets_of_columns[name] = frozenset(columns or ())
        return self._sets_of_columns[name]

    def _columns(self, name: TableName) -> Sequence[str] | None:
        if name not in self._known:
            self._known[name] = self._columns_of(name)
        return self._known[name]
