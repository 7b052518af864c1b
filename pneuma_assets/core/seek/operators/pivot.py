"""Columns made of rows, and rows of columns."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from pneuma_assets.core.seek.operators.base import Options, SqlOperator, Work
from pneuma_assets.core.seek.operators.sql_text import (
    MOST_PIVOTED,
    literal,
    of,
    pivot,
    quoted,
    unpivot,
)
from pneuma_assets.core.seek.results import Finding, Severity
from pneuma_assets.core.seek.state import ColumnName, Step
from pneuma_assets.core.seek.tables import Tables


class PivotOptions(Options):
    """Whose values become columns, and what stands in them."""

    rows: tuple[ColumnName, ...] = Field(
        min_length=1, max_length=20, description="columns by which rows are grouped"
    )
    column: ColumnName = Field(description="the column whose values become columns")
    value: ColumnName = Field(description="the column that fills them")
    aggregate: Literal["only", "sum", "avg", "min", "max", "count"] = Field(
        "only", description="of several values in a cell; `only` expects one"
    )
    values: tuple[ColumnName, ...] = Field(
        (), max_length=MOST_PIVOTED, description="which values; without it, all that there are"
    )


class UnpivotOptions(Options):
    """Which columns become rows."""

    keep: tuple[ColumnName, ...] = Field((), max_length=50, description="columns that stay")
    columns: tuple[ColumnName, ...] = Field(
        (), max_length=200, description="those that become rows; without it, all others"
    )
    name: ColumnName = Field("name", description="the new column with their names")
    value: ColumnName = Field("value", description="the new column with their values")


class Pivot(SqlOperator):
    """Makes a column of each value of a column."""

    name = "pivot"
    summary = "makes a column of each value of one column, a row of each group"
    model = PivotOptions

    def render(self, work: Work) -> str:
        """Return its SQL."""
        return pivot(work.options, work.columns, work.ask)

    def shape(self, step: Step, tables: Tables) -> Sequence[str] | None:
        """Return the columns, unless only the rows tell which values there are."""
        return super().shape(step, tables) if self.options(step)["values"] else None

    def findings(self, work: Work) -> Iterator[Finding]:
        """Yield values without a column, and cells of which there are several."""
        options, base = work.options, work.base
        name = f"CAST({of(base, options['column'])} AS VARCHAR)"
        if options["values"]:
            known = ", ".join(map(literal, options["values"]))
            other = f"{quoted(base)} WHERE {name} NOT IN ({known})"
            ((count,),) = work.ask(f"SELECT count(*) AS n FROM {other}")
            if count:
                text = (
                    f"{count:,} rows have other values of {options['column']!r}, for which there "
                )
                text += f"is no column, such as {work.examples(name, other)}"
                yield work.finding("pivot leaves out", Severity.WARNING, text, rows=count)
        if options["aggregate"] == "only":
            groups = ", ".join([*(of(base, row) for row in options["rows"]), name])
            value = of(base, options["value"])
            ((count,),) = work.ask(
                f"SELECT count(*) AS n FROM (SELECT count({value}) AS k FROM {quoted(base)} "
                f"WHERE {name} <> '' GROUP BY {groups}) AS q WHERE k > 1"
            )
            if count:
                text = f"{count:,} cells have several values, of which the largest is kept; "
                text += "say how they are aggregated, or group by more columns"
                yield work.finding("pivot loses", Severity.ERROR, text, cells=count)


class Unpivot(SqlOperator):
    """Makes a row of each of some columns."""

    name = "unpivot"
    summary = "makes rows of columns, such as those of years"
    model = UnpivotOptions

    def render(self, work: Work) -> str:
        """Return its SQL."""
        return unpivot(work.options, work.columns)
