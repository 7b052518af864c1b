"""What a statement may read, what its names may mean there, and by which guards it is refused."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope
from sqlglot.schema import MappingSchema

from pneuma_assets.core.errors import SqlRefusedError
from pneuma_assets.core.lineage.parse import UnreadableSQLError, explained


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


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """One thing that a query selects from.

    Attributes:
        name: What the query calls it.
        columns: Of it, as names are compared.
        table: Which table it is; None for what a query gives.
        query: That query.
    """

    name: str
    columns: tuple[str, ...]
    table: ReadTable | None
    query: exp.Expr | None


TABLE, AS_IT_IS = "table", "as it is"
"""What is noted of a table of the tree: which one is meant, and that it is called by its name."""


class VisibleSchema:
    """The tables that a statement may read, and its own names.

    Attributes:
        tables: They.
        postgres: Whether it is run in PostgreSQL, and not in DuckDB.
        dialect: What sqlglot calls its SQL.
        apart: Columns that differ from another of their table in capitals alone.
        columns: Of each table, as they are spelled, by how they are compared.
        mapping: The same for sqlglot, by `placeholder`.
        spelled: How other names are shown, by how they are compared.
        named: Ids of the results that the statement itself gives a name.
    """

    def __init__(self, tables: Sequence[ReadTable], dialect: str) -> None:
        self.tables, self.postgres, self.dialect = tables, dialect == "postgres", dialect
        self.named: set[int] = set()
        lower = [Counter(map(str.lower, table.columns)) for table in tables]
        self.apart = {
            name
            for table, count in zip(tables, lower, strict=True)
            for name in table.columns
            if count[name.lower()] > 1
        }
        self.columns = [{self.key(one): one for one in table.columns} for table in tables]
        self.spelled = {key: name for columns in self.columns for key, name in columns.items()}
        self.mapping = MappingSchema(
            {placeholder(at): dict.fromkeys(one, "unknown") for at, one in enumerate(self.columns)},
            dialect=dialect,
            normalize=False,
        )

    def key(self, name: str, quoted: bool = True) -> str:
        """Return how a name is compared."""
        return name if quoted and name in self.apart else name.lower()

    def columns_of(self, node: exp.Expr) -> Iterable[str]:
        """Return a table's columns, as they are compared; of what is none, nothing."""
        at = node.meta.get(TABLE)
        return () if at is None else self.columns[at]

    def shown(self, key: str) -> str:
        """Return how a name is shown that is no table's and no table's column."""
        return self.spelled.get(key, key)


def placeholder(at: int) -> str:
    """Return what a table is called while names are looked for: no statement can say it."""
    return f"\0{at}"  # (`allowed.check_text`)


def scopes_of(tree: exp.Expr) -> list[Scope]:
    """Return the queries of a statement, those within others first.

    Raises:
        SqlRefusedError: It is not understood.
    """
    try:
        with explained():
            return traverse_scope(tree)
    except UnreadableSQLError as error:
        refuse(Guard.PARSER, f"it cannot be understood: {error}; write a simpler one")
