"""How one text file is read, and the look at all of it that finds it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import duckdb

from pneuma_assets.core.sources.duckdb.relation import Relation
from pneuma_assets.core.tables import Column

Options = Mapping[str, str]
"""DuckDB reader options; the values are SQL, and only the readers of formats write them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a file is read without an error, so that it need not be found out again.

    `sql` stands after FROM and has one mark, for the file's name.
    """

    sql: str
    columns: tuple[Column, ...]
    row_count: int
    lossy: bool = False
    unaligned: bool = False
    transcoded: bool = False


class Look(Protocol):
    """Reads a whole file, so that what is wrong with it shows now and not in a later read."""

    def __call__(
        self, file: str, sql: str, width: int, checks: Sequence[str] = ()
    ) -> tuple[int, Sequence[int]]:
        """Return the number of rows, and what the checks (aggregates in SQL) count."""
        ...

    def judge(self, error: duckdb.Error) -> None:
        """Raise an error that no other options would mend."""
        ...


def written(options: Options) -> str:
    """Return options as SQL arguments."""
    return ", ".join(f"{name} = {value}" for name, value in options.items())


def literal(text: str) -> str:
    """Return text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def with_partition(source: Relation, width: int, partition: Mapping[str, str | None]) -> Relation:
    """Return a file's rows with the values that its folders' names hold as last columns."""
    if not partition:
        return source
    marks = ", ".join("?::VARCHAR" for _ in partition)
    columns = ", ".join(f"c{i}" for i in range(width))
    # The select list stands before the file's mark.
    return Relation(
        f"(SELECT {columns}, {marks} FROM {source.aliased(width)})",
        (*partition.values(), *source.parameters),
    )
