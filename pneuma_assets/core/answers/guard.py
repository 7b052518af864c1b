"""Whether a statement that a model wrote may run: one that only reads, and only what it may.

A model's words may be shaped by what a table holds, so its SQL is taken for that of a stranger. It
is parsed, every part is looked up in a list of what is allowed, every name is found among the
tables it may read, and what is run is spelled anew from that tree: nothing of the text itself ever
reaches an engine. (Octopus, section 5, runs what the model wrote.) What is run is what people are
shown, and its rows are bounded where they are fetched. The process or role that runs it holds
alone, too (`run_duckdb`, `sources.sql.postgresql_statements`, `sources.privacy.statements`).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp
from sqlglot.dialects import Dialect
from sqlglot.errors import ErrorLevel

from pneuma_assets.core.answers.allowed_sql import (
    ARGUMENTS,
    DIALECTS,
    FUNCTIONS,
    JOIN_KINDS,
    JOIN_METHODS,
    NAMED_FUNCTIONS,
    QUERIES,
    SYNTAX,
    TYPES,
    check_sizes,
    check_text,
    check_words,
)
from pneuma_assets.core.answers.made_rows import check_made
from pneuma_assets.core.answers.names import qualified
from pneuma_assets.core.answers.statements import Checked, Guard, ReadTable, refuse
from pneuma_assets.core.lineage.parse import (
    UnreadableSQLError,
    explained,
    statements_of,
    tokens_of,
)

_WORD = re.compile(r"[A-Za-z_]+")


def checked(sql: str, tables: Sequence[ReadTable], dialect: str, most_rows: int) -> Checked:
    """Return a statement as it may be run.

    Args:
        sql: What a model or a stranger wrote.
        tables: What it may read.
        dialect: What sqlglot calls the SQL of where it will run: duckdb or postgres.
        most_rows: How many rows are wanted at most, of whoever runs it.

    Raises:
        SqlRefusedError: A guard refuses it.
    """
    if dialect not in DIALECTS:
        refuse(Guard.PARSER, f"no statement is run in {dialect!r}; there are {sorted(DIALECTS)}")
    check_text(sql)
    spoken = Dialect.get_or_raise(dialect)
    tree = _parsed(sql, spoken)
    _check_parts(tree, dialect)
    read, columns = qualified(tree, tables, dialect)
    check_made(tree)
    return Checked(_spelled(tree, spoken), dialect, most_rows, read, columns, tree)


def names_read(sql: str, dialect: str) -> set[str]:
    """Return the names of the tables that a statement reads.

    Raises:
        SqlRefusedError: It is no query.
    """
    tree = _parsed(sql, Dialect.get_or_raise(dialect))
    own = {one.alias for one in tree.find_all(exp.CTE)}
    return {one.name for one in tree.find_all(exp.Table) if one.db or one.name not in {*own, ""}}


def _parsed(sql: str, dialect: Dialect) -> exp.Expr:
    with _understood(Guard.PARSER, "it cannot be parsed: {}"):
        words = tokens_of(sql, dialect)
    check_words(words)
    with _understood(Guard.PARSER, "it cannot be parsed: {}"):
        statements = statements_of(words, sql, dialect)
    whole = [one for one in statements if one is not None and not isinstance(one, exp.Semicolon)]
    if len(whole) != 1:
        refuse(Guard.ONE_STATEMENT, f"it is {len(whole)} statements; write one SELECT")
    if type(whole[0]) not in QUERIES:
        name = type(whole[0]).__name__.upper()
        refuse(Guard.QUERY, f"it is {name}, which is no query; write one SELECT")
    return whole[0]


@contextmanager
def _understood(guard: Guard, message: str) -> Iterator[None]:
    """Refuse by a guard what sqlglot does not understand, telling in the message why."""
    try:
        with explained():
            yield
    except UnreadableSQLError as error:
        refuse(guard, message.format(error))


def _check_parts(tree: exp.Expr, dialect: str) -> None:
    """Refuse what is not on the lists, whatever part of the statement it is."""
    nodes = list(tree.walk())
    for node in nodes:
        _check_kind(node, dialect)
        allowed = ARGUMENTS.get(type(node), node.args)
        for key, value in node.args.items():
            if value and key not in allowed:
                _refuse_clause(node, key)
        if isinstance(node, exp.Join) and node.kind not in JOIN_KINDS[dialect]:
            kinds = sorted(filter(None, JOIN_KINDS[dialect]))
            refuse(Guard.SYNTAX, f"a join is none of {kinds}")
        if isinstance(node, exp.Join) and node.method not in JOIN_METHODS[dialect]:
            told = f"{node.method} joins are not run; say by ON which columns are equal"
            refuse(Guard.SYNTAX, told)
        if isinstance(node, exp.Limit | exp.Fetch):
            _check_limit(node)
    check_sizes(nodes)


def _check_kind(node: exp.Expr, dialect: str) -> None:
    if isinstance(node, exp.TryCast) and dialect == "postgres":
        refuse(Guard.SYNTAX, "PostgreSQL has no TRY_CAST; cast only what is of the type")
    elif isinstance(node, exp.Func):
        _check_function(node, dialect)
    elif isinstance(node, exp.ObjectIdentifier) or (
        isinstance(node, exp.DataType) and node.this not in TYPES
    ):
        refuse(Guard.TYPE, f"the type {node.sql()[:60]!r} is not allowed")
    elif isinstance(node, exp.Qualify) and dialect == "postgres":
        refuse(Guard.SYNTAX, "PostgreSQL has no QUALIFY; filter what a subquery in FROM gives")
    elif type(node) not in SYNTAX:
        refuse(Guard.SYNTAX, f"{type(node).__name__.upper()} may not stand in a statement")
    elif isinstance(node, exp.Dot):
        if isinstance(node.expression, exp.Func):
            refuse(Guard.FUNCTION, "a function has a schema before its name; leave that out")
        refuse(Guard.SYNTAX, "a name has too many parts; name table and column")
    elif isinstance(node, exp.Var) and not _WORD.fullmatch(node.this):
        refuse(Guard.SYNTAX, f"the word {node.this[:60]!r} is not allowed")


def _check_function(node: exp.Func, dialect: str) -> None:
    if isinstance(node, exp.Anonymous):
        if not isinstance(node.this, str) or node.this.lower() not in NAMED_FUNCTIONS[dialect]:
            refuse(Guard.FUNCTION, f"the function {node.name[:60]!r} is not allowed")
    elif type(node) not in FUNCTIONS:
        refuse(Guard.FUNCTION, f"the function {type(node).__name__.upper()} is not allowed")


def _refuse_clause(node: exp.Expr, key: str) -> None:
    name = key.rstrip("_").upper()
    if isinstance(node, exp.With) and key == "recursive":
        refuse(Guard.RECURSION, "WITH RECURSIVE is not allowed; write a query without it")
    if isinstance(node, exp.Table) and key == "catalog":
        refuse(Guard.TABLE, "a table's name has too many parts; name it without its database")
    refuse(Guard.SYNTAX, f"{name} may not stand in a {type(node).__name__.upper()}")


def _check_limit(given: exp.Expr) -> None:
    """Refuse what asks for anything but a number of rows."""
    count = given.expression
    if isinstance(given, exp.Fetch):
        options = given.args.get("limit_options")
        if options and (options.args.get("percent") or options.args.get("with_ties")):
            refuse(Guard.SYNTAX, "FETCH is of a number of rows, without PERCENT or TIES")
        count = given.args.get("count")
    if count is not None and not (isinstance(count, exp.Literal) and count.is_int):
        refuse(Guard.SYNTAX, "LIMIT is of a whole number of rows")


def _spelled(tree: exp.Expr, dialect: Dialect) -> str:
    """Return the statement, every name quoted; it has to be read again as it was meant."""
    with _understood(Guard.SPELLING, "it cannot be spelled anew: {}; write a simpler one"):
        sql = _text(tree, dialect)
        again = statements_of(tokens_of(sql, dialect), sql, dialect)
        same = len(again) == 1 and again[0] is not None and _text(again[0], dialect) == sql
    if not same:
        refuse(Guard.SPELLING, "spelled anew it would be another statement; write a simpler one")
    return sql


def _text(tree: exp.Expr, dialect: Dialect) -> str:
    return tree.sql(
        dialect, identify=True, comments=False, unsupported_level=ErrorLevel.RAISE, copy=True
    )
