"""The tables of a query that no parser understands: the names after FROM and JOIN.

This may miss tables and never tells columns, but a view whose SQL is newer than the parser keeps
its place between the tables that it names.
"""

from collections.abc import Iterator
from typing import Any

from sqlglot import TokenType

from pneuma_assets.core.lineage.names import TableName, folded
from pneuma_assets.core.lineage.parsing import UnreadableSQLError, dialect_of, tokens_of
from pneuma_assets.core.tables import Definition

_BEFORE = {TokenType.FROM, TokenType.JOIN, TokenType.PIVOT, TokenType.UNPIVOT}
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}


def tables_by_words(definition: Definition) -> list[TableName]:
    """Return the names that stand where tables do, in order; none where no words can be told apart.

    Names that the query gives itself in a WITH are left out, and so are functions.
    """
    try:
        tokens = tokens_of(definition.sql, dialect_of(definition))
    except UnreadableSQLError:
        return []
    own = set(_own_names(tokens, definition.dialect))
    found = dict.fromkeys(_named(tokens, definition.dialect))
    return [name for name in found if not (name.parts == (name.name,) and name.name in own)]


def _named(tokens: list[Any], dialect: str) -> Iterator[TableName]:
    for position, token in enumerate(tokens):
        at = position + 1
        while token.token_type in _BEFORE:
            while at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
                at += 1
            parts, at = _parts(tokens, at, dialect)
            function = at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN
            if parts and not function:
                yield TableName(*([""] * (3 - len(parts[-3:]))), *parts[-3:])
            at = _past_alias(tokens, at)
            if not parts or at >= len(tokens) or tokens[at].token_type is not TokenType.COMMA:
                break
            at += 1


def _parts(tokens: list[Any], at: int, dialect: str) -> tuple[list[str], int]:
    """Return the parts of a name that begins here, and where it ends."""
    parts: list[str] = []
    while at < len(tokens) and _is_name(tokens[at]):
        parts.append(_part(tokens[at], dialect))
        at += 1
        if at >= len(tokens) or tokens[at].token_type is not TokenType.DOT:
            break
        at += 1
    return parts, at


def _past_alias(tokens: list[Any], at: int) -> int:
    if at < len(tokens) and tokens[at].token_type is TokenType.ALIAS:
        at += 1
    return at + 1 if at < len(tokens) and _is_name(tokens[at]) else at


def _own_names(tokens: list[Any], dialect: str) -> Iterator[str]:
    """Yield what stands before AS and a parenthesis: the names of common table expressions."""
    for name, alias, opening in zip(tokens, tokens[1:], tokens[2:], strict=False):
        is_alias = alias.token_type is TokenType.ALIAS
        if is_alias and opening.token_type is TokenType.L_PAREN and _is_name(name):
            yield _part(name, dialect)


def _is_name(token: Any) -> bool:
    return token.token_type in _NAMES


def _part(token: Any, dialect: str) -> str:
    return folded(token.text, dialect, quoted=token.token_type is TokenType.IDENTIFIER)
