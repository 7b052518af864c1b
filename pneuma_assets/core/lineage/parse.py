"""SQL that other people wrote, parsed within bounds.

A parser that goes back and tries again may take minutes over a few thousand signs, so the steps it
takes are counted, and not the time: the same query has the same answer on every machine.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from sqlglot import TokenType, exp
from sqlglot.dialects import Dialect
from sqlglot.errors import SqlglotError

from pneuma_assets.core.tables import Definition

MOST_CHARACTERS = 200_000
"""Of a query; a longer one is not parsed."""

MOST_NESTED = 60
"""Parentheses and CASEs within each other; the parser calls itself some ten times for each."""

MOST_STEPS = 40
"""Tokens the parser looks at, for each that there is, and `FEWEST_STEPS` for the whole."""

FEWEST_STEPS = 20_000

MOST_PIVOTED = 20_000
"""Columns that one PIVOT makes: each value of each of its lists, for each aggregate."""

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END}


_quiet = ContextVar("_quiet", default=False)
"""Whether this thread parses what strangers wrote; others may parse at the same time."""
logging.getLogger("sqlglot").addFilter(lambda _: not _quiet.get())


class UnreadableSQLError(Exception):
    """A query that is not parsed; the message says why."""


@contextmanager
def explained() -> Iterator[None]:
    """Turn whatever the parser does over strangers' SQL into `UnreadableSQLError`, and quieten it.

    Over heaps of words it raises errors of all kinds, and logs the query, which may hold anything.
    """
    before = _quiet.set(True)
    try:
        yield
    except UnreadableSQLError:
        raise
    except RecursionError as error:
        raise UnreadableSQLError("it is nested too deep") from error
    except Exception as error:  # one view must not keep the others out
        lines = str(error).splitlines() or [type(error).__name__]
        raise UnreadableSQLError(" ".join(lines[0].split())[:200]) from error
    finally:
        _quiet.reset(before)


def dialect_of(definition: Definition) -> Dialect:
    """Return the engine's dialect, or a general one where its name is unknown."""
    try:
        return Dialect.get_or_raise(definition.dialect or None)
    except (SqlglotError, ValueError):
        return Dialect.get_or_raise(None)


def tokens_of(sql: str, dialect: Dialect) -> list[Any]:
    """Return the words of a query.

    Raises:
        UnreadableSQLError: It is too long, or no words can be told apart in it.
    """
    if len(sql) > MOST_CHARACTERS:
        raise UnreadableSQLError(f"it has more than {MOST_CHARACTERS:,} characters")
    with explained():
        return list(dialect.tokenize(sql))


def query_of(definition: Definition) -> tuple[exp.Query, tuple[str, ...]]:
    """Return the query that a view is, and the names that CREATE VIEW gives its columns, if any.

    Raises:
        UnreadableSQLError: It cannot be parsed, or is no query.
    """
    dialect = dialect_of(definition)
    tokens = list(_without_arrays_of_types(tokens_of(definition.sql, dialect)))
    parsed = statements_of(tokens, definition.sql, dialect)
    return _query_in(next((one for one in parsed if one is not None), None))


def statements_of(tokens: list[Any], sql: str, dialect: Dialect) -> list[exp.Expr | None]:
    """Return the statements that words are; None stands for an empty one.

    Args:
        tokens: Of `tokens_of`.
        sql: What they are the words of.
        dialect: Whose words they are.

    Raises:
        UnreadableSQLError: They are nested too deep, or parsing them takes too long.
        Exception: Whatever the parser raises; `explained` turns it into `UnreadableSQLError`.
    """
    if _depth(tokens) > MOST_NESTED:
        raise UnreadableSQLError(f"it is nested more than {MOST_NESTED} deep")
    parser = _counting(dialect.parser_class)(dialect=dialect)
    statements: list[exp.Expr | None] = parser.parse(tokens, sql)
    return statements


def _query_in(statement: exp.Expr | None) -> tuple[exp.Query, tuple[str, ...]]:
    named: tuple[str, ...] = ()
    if isinstance(statement, exp.Create):
        if isinstance(statement.this, exp.Schema):
            given = (
                one.this if isinstance(one, exp.ColumnDef) else one
                for one in statement.this.expressions
            )
            named = tuple(one.name for one in given if isinstance(one, exp.Identifier))
        statement = statement.expression
    if not isinstance(statement, exp.Query):
        raise UnreadableSQLError("it is no query")
    return statement, named


def _without_arrays_of_types(tokens: list[Any]) -> Iterator[Any]:
    """Yield the words of a query, without the `[]` of casts such as `x::oid[]`.

    The parser knows arrays of its own types alone, and no column comes from a type.
    """
    at, kinds = 0, [token.token_type for token in tokens]
    while at < len(tokens):
        yield tokens[at]
        at += 1
        if kinds[at - 1] != TokenType.DCOLON:
            continue
        while at < len(tokens):  # the type's name, its schema before it
            yield tokens[at]
            at += 1
            if kinds[at : at + 1] != [TokenType.DOT]:
                break
            yield tokens[at]
            at += 1
        while kinds[at : at + 2] == [TokenType.L_BRACKET, TokenType.R_BRACKET]:
            at += 2


@cache
def _counting(parser: Any) -> Any:
    """Return a dialect's parser, made to give up when it takes too many steps."""

    class Counting(parser):  # type: ignore[misc]
        steps = 0
        pivoted = 1

        def _parse_pivot(self) -> Any:
            around, self.pivoted = self.pivoted, 1
            try:
                return super()._parse_pivot()
            finally:
                self.pivoted = around

        def _parse_pivot_in(self) -> Any:
            values = super()._parse_pivot_in()
            self.pivoted *= max(1, len(values.expressions))
            return values

        def _pivot_column_names(self, aggregations: list[Any]) -> Any:
            """Called before the parser writes out all columns that a PIVOT makes."""
            if self.pivoted * len(aggregations) > MOST_PIVOTED:
                raise UnreadableSQLError(f"a PIVOT makes more than {MOST_PIVOTED:,} columns")
            return super()._pivot_column_names(aggregations)

        def _advance(self, times: int = 1) -> None:
            self.steps += 1
            if self.steps > FEWEST_STEPS + MOST_STEPS * self._tokens_size:
                raise UnreadableSQLError("parsing it takes too long")
            super()._advance(times)

    return Counting


def _depth(tokens: list[Any]) -> int:
    depth = most = 0
    for token in tokens:
        if token.token_type in _OPENING:
            depth += 1
            most = max(most, depth)
        elif token.token_type in _CLOSING:
            depth -= 1
    return most
