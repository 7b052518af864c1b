"""What a statement may read, and by which guards it is refused."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NoReturn

from sqlglot import exp

from pneuma_assets.core.errors import SqlRefusedError


class Guard(StrEnum):
    """What refuses a statement, in the order in which they look at it."""

    LENGTH = "length"
    """It has too many characters, or some that no statement needs (NUL, control characters)."""
    PARSER = "parser"
    """It is no SQL of its dialect, is nested too deep, or takes too long to parse."""
    ONE_STATEMENT = "one statement"
    """It is none, or more than one."""
    QUERY = "query"
    """It is no SELECT, set operation or WITH of these."""
    SYNTAX = "syntax"
    """A part of it is not on the list of what may stand in a statement."""
    FUNCTION = "function"
    """A function of it is not on the list, or stands where a table does."""
    TYPE = "type"
    """It casts to a type that is not on the list."""
    RECURSION = "recursion"
    """It is WITH RECURSIVE."""
    SIZE = "size"
    """It has too many parts, tables or subqueries, or names a number that makes a value large."""
    TABLE = "table"
    """It reads what is none of the tables that it may read."""
    COLUMN = "column"
    """It names a column that is not there, or that rules of privacy hide."""
    CROSS_JOIN = "cross join"
    """Tables stand beside each other without a condition that joins them."""
    SPELLING = "spelling"
    """Spelled anew it would be another statement."""


def refuse(guard: Guard, message: str) -> NoReturn:
    """Raise the error by which a guard refuses a statement."""
    raise SqlRefusedError(guard, message)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that a statement may read.

    Attributes:
        name: What the statement calls it as it was written; no other table that it may read has
            the same name in other capitals.
        columns: Those that it may read, as they are spelled.
        schema: What may stand before the name.
        hidden: Columns that rules of privacy hide, so that a person is told why.
        own: Schema and name where it lies, if it is called otherwise there.
    """

    name: str
    columns: tuple[str, ...]
    schema: str = ""
    hidden: tuple[str, ...] = ()
    own: tuple[str, str] | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Its schema and name where it lies, by which the statement is run and shown."""
        return self.own or (self.schema, self.name)


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement that no guard refuses.

    Attributes:
        sql: It, respelled: every name quoted as it is spelled where it is kept, every column with
            its table, no `*` and no comment.
        dialect: What sqlglot calls its SQL.
        most_rows: How many of its rows may be shown; one more tells that there are others.
        tables: What it reads, each once, in the order in which it names them.
        columns: Table and column, each once; all columns where it says `*`.
        tree: Its syntax tree, which nobody changes; each column of a table has that table's name
            in `meta[OF]`.
    """

    sql: str
    dialect: str
    most_rows: int
    tables: tuple[ReadTable, ...]
    columns: tuple[tuple[str, str], ...]
    tree: exp.Expr = field(compare=False, repr=False)


OF = "of"
"""What is noted of a column: the name of the table that has it."""


@dataclass(frozen=True, eq=False)
class Relation:
    """One thing that a query selects from.

    Attributes:
        name: What the query calls it.
        called: What it is called in the statement that is run.
        columns: Of it, in order, as names are compared; '' stands for one without a known name.
        query: What gives it, where that is a query and no table.
        table: Which table it is.
        spelled: Of a table's columns, as it has them.
    """

    name: str
    called: str
    columns: tuple[str, ...]
    query: exp.Expr | None = None
    table: ReadTable | None = None
    spelled: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def times(self) -> Mapping[str, int]:
        """How often each name of a column is there."""
        return Counter(self.columns)
