"""The joins of a query become joins of tables that are known, by columns that are shown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pneuma_assets.core.lineage.query_joins import Join
from pneuma_assets.core.relations.join_columns import JoinColumn
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind

if TYPE_CHECKING:
    from pneuma_assets.core.lineage.names import TableName

_NO_CELLS = np.array((), np.uint64)


class TellsColumns(Protocol):
    """Knows the columns of tables, by the tables' ids."""

    def shown_columns(self, table_id: str, dialect: str) -> Mapping[str, str]:
        """Return a table's columns that are not hidden, by what an engine compares."""

    def primary_key(self, table_id: str) -> tuple[str, ...]:
        """Return the columns of a table's declared key; none where it declares none."""


def joins_of_query(
    tables: TellsColumns,
    joins: Iterable[Join],
    dialect: str,
    meant: "Callable[[TableName], str | None]",
) -> list[JoinEdge]:
    """Return the joins whose two tables are known, each once.

    A query does not say which side refers to which: the one with the key is referred to, the
    table's declared one, or else a column that is named like the key of its table.

    Args:
        tables: Those that are known.
        joins: Of the query, as it names tables.
        dialect: Of the query.
        meant: Returns the table that a name in it means.
    """
    found: dict[JoinEdge, None] = {}
    for join in joins:
        left, right = (meant(name) for name in (join[0][0][0], join[0][1][0]))
        if left is None or right is None or left == right:
            continue
        ends = (
            _spelled(tables, left, [one[1] for one, _ in join], dialect),
            _spelled(tables, right, [other[1] for _, other in join], dialect),
        )
        if ends[0] and ends[1]:
            sides = sorted(((left, ends[0]), (right, ends[1])))
            sides.sort(key=lambda side: _keyness(tables, *side))
            found[JoinEdge(*sides[0], *sides[1], JoinKind.VIEW, 1.0)] = None
    return list(found)


def _spelled(
    tables: TellsColumns, table_id: str, keys: Sequence[str], dialect: str
) -> tuple[str, ...]:
    """Return columns as their table spells them; none where one is not there, or is hidden."""
    shown = tables.shown_columns(table_id, dialect)
    names = tuple(shown[key] for key in keys if key in shown)
    return names if len(names) == len(keys) else ()


def _keyness(tables: TellsColumns, table_id: str, columns: tuple[str, ...]) -> int:
    if {*columns} == {*tables.primary_key(table_id)}:
        return 2
    named = JoinColumn(table_id, columns[0], 0, 0, _NO_CELLS, whole=False)
    return int(len(columns) == 1 and named.is_key)
