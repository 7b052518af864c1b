"""Numbers, days and units that are written otherwise."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from pneuma_assets.core.seek.operators.base import Options, SqlOperator, Work
from pneuma_assets.core.seek.operators.sql_convert import UNITS, convert, converted
from pneuma_assets.core.seek.operators.sql_text import as_text, of, quoted
from pneuma_assets.core.seek.results import Finding, Severity
from pneuma_assets.core.seek.state import ColumnName

Short = Annotated[str, StringConstraints(min_length=1, max_length=40)]


class _Conversion(Options):
    column: ColumnName
    into: str = Field("", max_length=200, description="a new column; without it, in its place")


class ToNumber(_Conversion):
    """Texts such as `1,234.50 €`, `12 %` or `(300)` to numbers."""

    to: Literal["number"]
    decimal: Literal[".", ","] = Field(".", description="the sign before decimal places")
    remove: tuple[Short, ...] = Field((), max_length=5, description="such as `kg` or `USD`")


class ToDay(_Conversion):
    """Texts to days, or days and times, by formats such as `%d.%m.%Y`, the first that fits."""

    to: Literal["date", "timestamp"]
    formats: tuple[Short, ...] = Field(min_length=1, max_length=10)


class ToUnit(_Conversion):
    """Numbers of one unit, or of that which another column names, to another unit."""

    to: Literal["unit"]
    unit: str = Field("", description=f"one of {' '.join(UNITS)}")
    unit_column: str = Field("", max_length=200, description="or the column with each row's unit")
    into_unit: str

    @model_validator(mode="after")
    def _is_known(self) -> "ToUnit":
        if bool(self.unit) == bool(self.unit_column):
            raise ValueError("give unit or unit_column")
        for one in filter(None, (self.unit, self.into_unit)):
            if one not in UNITS:
                raise ValueError(f"unit {one[:20]!r} is none of {', '.join(UNITS)}")
        if self.unit and UNITS[self.unit][0] != UNITS[self.into_unit][0]:
            raise ValueError(f"{self.unit} and {self.into_unit} do not measure the same")
        return self


Conversion = Annotated[ToNumber | ToDay | ToUnit, Field(discriminator="to")]


class ConvertOptions(Options):
    """Which columns become what."""

    conversions: tuple[Conversion, ...] = Field(min_length=1, max_length=30)


class Convert(SqlOperator):
    """Writes columns of a table otherwise; a cell that is none of it becomes NULL, and is told."""

    name = "convert"
    summary = "turns texts into numbers or days, and converts units"
    model = ConvertOptions

    def render(self, work: Work) -> str:
        """Return its SQL."""
        return convert(work.options, work.columns)

    def findings(self, work: Work) -> Iterator[Finding]:
        """Yield which cells a conversion does not take."""
        source = quoted(work.base)
        refused = [(one, _refused(work, one)) for one in work.options["conversions"]]
        counts = (f"count(CASE WHEN {r} THEN 1 END) AS n{at}" for at, (_, r) in enumerate(refused))
        (row,) = work.ask(f"SELECT {', '.join(counts)} FROM {source}")
        for count, (one, where) in zip(row, refused, strict=True):
            if count:
                yield _not_taken(work, one, where, count)


def _refused(work: Work, one: dict[str, str]) -> str:
    """Return when a cell is there, and is none of what it is to be."""
    cell = as_text(of(work.base, one["column"]))
    return f"{cell} <> '' AND {converted(one, work.base)} IS NULL"


def _not_taken(work: Work, one: dict[str, str], where: str, count: int) -> Finding:
    unit = one.get("unit_column")
    cell = f"CAST({of(work.base, one['column'])} AS VARCHAR)"
    cell = f"concat({cell}, ' ', {of(work.base, unit)})" if unit else cell
    shown = work.examples(cell, f"{quoted(work.base)} WHERE {where}")
    text = f"{count:,} cells of {one['column']!r} become NULL, for they are no {one['to']} as the "
    return work.finding(
        "not converted", Severity.WARNING, f"{text}step has it, such as {shown}", cells=count
    )
