"""A query of one table, as Pneuma's template has it (section 6.1.1): no FROM, no JOIN."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_bench.generator.subjects import Value

AGGREGATES = ("MAX", "MIN", "AVG", "SUM")
BETWEEN = "between"
ALIKE = "alike"
"""Equality of texts in any capitals, as Octopus has it (section 6.1): ILIKE without wildcards."""

_WILD = re.compile(r"[\\%_]")


@dataclass(frozen=True, slots=True)
class Selected:
    """A column by its position, or an aggregate of it."""

    column: int
    aggregate: str = ""

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL."""
        name = quote_identifier(names[self.column])
        return f"{self.aggregate}({name})" if self.aggregate else name


@dataclass(frozen=True, slots=True)
class Condition:
    """What must hold of a column or an aggregate; `second` is the upper end of `between`."""

    of: Selected
    operator: str
    value: Value
    second: Value | None = None

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL."""
        if self.operator == BETWEEN and self.second is not None:
            ends = f"{literal(self.value)} AND {literal(self.second)}"
            return f"{self.of.sql(names)} BETWEEN {ends}"
        if self.operator == ALIKE:
            pattern = _WILD.sub(r"\\\g<0>", str(self.value))
            return f"{self.of.sql(names)} ILIKE {literal(pattern)} ESCAPE '\\'"
        return f"{self.of.sql(names)} {self.operator} {literal(self.value)}"


@dataclass(frozen=True, slots=True)
class Order:
    """The first rows by a column."""

    column: int
    descending: bool
    limit: int

    def sql(self, names: Sequence[str]) -> str:
        """Return it as SQL; rows without a value come last."""
        direction = "DESC" if self.descending else "ASC"
        name = quote_identifier(names[self.column])
        return f"ORDER BY {name} {direction} NULLS LAST LIMIT {self.limit}"


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """The template, filled.

    Attributes:
        select: One or two columns or aggregates; the column that rows are grouped by comes first.
        where: Conditions that all must hold of a row.
        group_by: A column; None where rows are not grouped.
        having: What must hold of a group.
        order: Which rows are taken; None: all.
    """

    select: tuple[Selected, ...]
    where: tuple[Condition, ...] = ()
    group_by: int | None = None
    having: Condition | None = None
    order: Order | None = None

    @property
    def columns(self) -> list[int]:
        """Return the positions of all columns that it names, each once, in their order there."""
        named = [one.column for one in self.select] + [one.of.column for one in self.where]
        named += [] if self.group_by is None else [self.group_by]
        named += [] if self.having is None else [self.having.of.column]
        named += [] if self.order is None else [self.order.column]
        return list(dict.fromkeys(named))

    def sql(self, names: Sequence[str], table: str = "") -> str:
        """Return it as SQL, with names and values quoted.

        Args:
            names: Of all columns, by position.
            table: What it is asked of; without it there is no FROM, as in the paper.
        """
        parts = [f"SELECT {', '.join(one.sql(names) for one in self.select)}"]
        parts += [f"FROM {quote_identifier(table)}"] if table else []
        if self.where:
            parts.append(f"WHERE {' AND '.join(one.sql(names) for one in self.where)}")
        if self.group_by is not None:
            parts.append(f"GROUP BY {quote_identifier(names[self.group_by])}")
        if self.having is not None:
            parts.append(f"HAVING {self.having.sql(names)}")
        if self.order is not None:
            parts.append(self.order.sql(names))
        return " ".join(parts)


def literal(value: Value) -> str:
    """Return a value as SQL."""
    return repr(value) if isinstance(value, int | float) else "'" + value.replace("'", "''") + "'"
