"""Where the columns of a target table come from, as the SQL that makes it says."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from pneuma_assets.core.lineage.names import TableName, column_key, columns_by_name
from pneuma_assets.core.lineage.view_sql import read_view
from pneuma_assets.core.seek.state import Origin, State, TargetTable
from pneuma_assets.core.seek.tables import DIALECT
from pneuma_assets.core.tables import Definition


def with_origins(state: State, columns_of: Callable[[str], Sequence[str]]) -> State:
    """Return a state in which each column of a table made by one statement tells its origins.

    Those that something else said stay, and what no statement tells has none.

    Args:
        state: It.
        columns_of: Returns the columns of a source, by its name; empty where they are not known.
    """
    sources = {one.name.casefold(): one.name for one in state.sources}

    def known(table: TableName) -> Sequence[str] | None:
        name = sources.get(table.name.casefold())
        return (name and columns_of(name)) or None

    def told(table: TargetTable) -> TargetTable:
        if len(table.steps) != 1 or table.steps[0].operator != "sql":
            return table
        read = read_view(Definition(table.steps[0].code, DIALECT), known)
        by_name = {one.name: one.sources for one in read.columns}
        columns = []
        for column in table.columns:
            found = defaultdict[str, list[str]](list)
            for where, key in sorted(by_name.get(column_key(column.name, DIALECT), ()), key=str):
                if name := sources.get(where.name.casefold()):
                    found[name].append(columns_by_name(columns_of(name), DIALECT).get(key, key))
            origins = tuple(Origin(source=s, columns=tuple(some[:20])) for s, some in found.items())
            columns.append(column.model_copy(update={"origins": column.origins or origins[:20]}))
        return table.model_copy(update={"columns": tuple(columns)})

    return state.model_copy(update={"tables": tuple(map(told, state.tables))})
