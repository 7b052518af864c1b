"""Statements that read rows, for any engine: names are quoted by SQLAlchemy, cells become text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, TableClause, column, func, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import quoted_name

from pneuma_assets.core.sources.sql.catalog import CatalogTable

if TYPE_CHECKING:
    from pneuma_assets.core.sources.sql.dialect import Dialect

CELL_CHARACTERS = 1000
"""A cell is cut here: nobody reads more, and the memory of rows is bounded."""


class SampledTable(TableClause):
    """A table, and what an engine wants behind its name to read some of its rows."""

    inherit_cache = False

    def __init__(self, name: quoted_name, schema: quoted_name | None, suffix: str) -> None:
        super().__init__(name, schema=schema)
        self.suffix = suffix


@compiles(SampledTable)
def _with_suffix(element: SampledTable, compiler: SQLCompiler, **options: Any) -> str:
    name: str = compiler.visit_table(element, **options)  # type: ignore[no-untyped-call]
    return f"{name} {element.suffix}" if options.get("asfrom") else name


def from_clause(table: CatalogTable, suffix: str | None = None) -> SampledTable:
    """Return what to select from; every part of the name is quoted."""
    schema = quoted_name(table.schema, quote=True) if table.schema else None
    return SampledTable(quoted_name(table.name, quote=True), schema, suffix or "")


def texts_of(dialect: "Dialect", table: CatalogTable) -> list[ColumnElement[Any]]:
    """Return the columns as text, cut, without names of their own."""
    return [
        dialect.cut(
            dialect.cell(column(quoted_name(one.name, quote=True)), one.type), CELL_CHARACTERS
        )
        for one in table.columns
    ]


def rows_of(
    dialect: "Dialect", table: CatalogTable, suffix: str | None = None
) -> Select[tuple[Any, ...]]:
    """Return the statement that reads rows, columns named `c0`, `c1`, ..."""
    cells = [cell.label(f"c{number}") for number, cell in enumerate(texts_of(dialect, table))]
    return select(*cells).select_from(from_clause(table, suffix))


def hashed_rows_of(
    dialect: "Dialect", table: CatalogTable, one_of: int, seed: int
) -> Select[tuple[Any, ...]] | None:
    """Return the statement that reads one of so many rows by a hash of their cells, if it can."""
    condition = dialect.hashed(texts_of(dialect, table), one_of, seed)
    return None if condition is None else rows_of(dialect, table).where(condition)


def count_up_to(table: CatalogTable, most: int) -> Select[int]:
    """Return the statement that counts rows, and stops after so many."""
    some = select(literal(1).label("one")).select_from(from_clause(table)).limit(most)
    return select(func.count()).select_from(some.subquery("counted"))


def names(columns: Sequence[str]) -> list[str]:
    """Return names fit for people: on one line each, bounded and distinct."""
    from pneuma_assets.core.sources.duckdb.relation import readable_names

    return readable_names(columns)
