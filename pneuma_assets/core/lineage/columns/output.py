"""What is told of a query: its columns, each with those of tables that it comes from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pneuma_assets.core.lineage.names import TableName

Source = tuple[TableName, str]
"""A table as the query names it, and the key of a column of it."""

Sources = frozenset[Source]

ColumnsOf = Callable[[TableName], Sequence[str] | None]
"""Returns the keys of a table's columns in order; None where the table is not known."""

NOTHING: Sources = frozenset()


@dataclass(frozen=True, slots=True)
class Output:
    """One column of a query, by key, and what it comes from."""

    name: str
    sources: Sources
