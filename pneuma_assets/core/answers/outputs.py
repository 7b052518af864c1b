"""The columns that a query gives: those with a name, and those that the engine names itself.

A name that a row does not have is no harmless mistake: PostgreSQL takes `q.row_to_json` for a call
of that function with the row (functional notation, section 4.2.6 of its manual), whatever functions
a statement may call. So a result without a name is known by the one name that its engine gives it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pneuma_assets.core.answers.refusing import Guard, refuse
from pneuma_assets.core.lineage.parsing import UnreadableSQLError, explained

_HEAD = re.compile(r"(\w+)(?=[(\[]|$)")
"""What a call begins with, when it is spelled: COUNT(*), ARRAY[1, 2], CURRENT_DATE."""
_AROUND = (
    *(exp.Paren, exp.Cast, exp.Window, exp.Filter, exp.WithinGroup, exp.Bracket),
    *(exp.IgnoreNulls, exp.RespectNulls, exp.Subquery, exp.SetOperation),
)
"""Expressions that PostgreSQL calls as it calls what they are about, or what they begin with."""
_OTHERWISE = {"trim": "btrim"}
"""What PostgreSQL calls functions that have a syntax of their own."""


def spelling_of(name: str, names: Iterable[str]) -> str | None:
    """Return the one of several names that is meant: the same, else one in other capitals."""
    known = list(names)
    if name in known:
        return name
    return next((one for one in known if one.lower() == name.lower()), None)


@dataclass(frozen=True, eq=False)
class Made:
    """A result that a query gives no name.

    Attributes:
        node: What is computed.
        dialect: What sqlglot calls the SQL of where it is.
    """

    node: exp.Expr
    dialect: str

    @cached_property
    def name(self) -> str | None:
        """What the engine calls it; None where that is not told here, as of `a + 1`.

        Raises:
            SqlRefusedError: It cannot be spelled.
        """
        if self.dialect == "postgres":
            return _in_postgres(self.node, self.dialect)
        return _spelled(self.node, self.dialect).replace("count(*)", "count_star()")

    def spelling(self, name: str) -> str | None:
        """Return how it is spelled where that name means it, which stands in quotes; else None."""
        if self.name is None or _bare(name) != _bare(self.name):
            return None
        return self.name if self.dialect == "postgres" else name


def _bare(name: str) -> str:
    return re.sub(r'["\s]', "", name).lower()


def _in_postgres(node: exp.Expr, dialect: str) -> str | None:
    """Return what PostgreSQL calls a result (`FigureColname` of its parser)."""
    while isinstance(node, _AROUND):
        node = node.this
    if isinstance(node, exp.Column | exp.Alias):
        return node.alias_or_name
    if isinstance(node, exp.Select):
        return _in_postgres(node.expressions[0], dialect) if node.expressions else None
    if isinstance(node, exp.Case | exp.If):
        other = node.args.get("default") or node.args.get("false")
        return (other and _in_postgres(other, dialect)) or "case"
    if isinstance(node, exp.AtTimeZone):
        return "timezone"
    if not isinstance(node, exp.Func) or isinstance(node, exp.Binary):
        return None
    head = _HEAD.match(_spelled(node, dialect))
    return _OTHERWISE.get(head[1], head[1]) if head else None


def _spelled(node: exp.Expr, dialect: str) -> str:
    try:
        with explained():
            return node.sql(dialect).lower()
    except UnreadableSQLError as error:
        refuse(Guard.SPELLING, f"it cannot be spelled anew: {error}; write a simpler one")


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """The columns that a query gives.

    Attributes:
        columns: In order, each its name as it is spelled, or what has none.
        few: Whether it gives few rows, whatever its tables hold.
    """

    columns: tuple[str | Made, ...]
    few: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are sure, as they are spelled."""
        return tuple(one for one in self.columns if isinstance(one, str))

    @property
    def open(self) -> bool:
        """Whether there are others, which the engine names (`count`, `sum(x)`)."""
        return len(self.names) < len(self.columns)

    def spelling(self, name: str) -> str | None:
        """Return how a column is spelled that is named in any capitals; None: it has none such."""
        found = spelling_of(name, self.names)
        if found is not None:
            return found
        made = (one.spelling(name) for one in self.columns if isinstance(one, Made))
        return next((one for one in made if one is not None), None)

    def renamed(self, alias: exp.Expr | None) -> "Output":
        """Return it with the names of `AS t(a, b)`."""
        columns = alias.args.get("columns") or () if isinstance(alias, exp.TableAlias) else ()
        given = tuple(one.name for one in columns)
        return Output(given + self.columns[len(given) :], self.few)


def of_values(node: exp.Values, dialect: str) -> Output:
    """Return the columns of VALUES: column1 and on in PostgreSQL, col0 and on in DuckDB."""
    row = node.expressions[0] if node.expressions else None
    width = len(row.expressions) if isinstance(row, exp.Tuple) else 1
    first, word = (1, "column") if dialect == "postgres" else (0, "col")
    names = tuple(f"{word}{number}" for number in range(first, first + width))
    return Output(names, few=True).renamed(node.args.get("alias"))
