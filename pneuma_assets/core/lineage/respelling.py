"""Other spellings of what a query says, by those that reading it knows."""

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.dialects import Dialect
from sqlglot.errors import SqlglotError

MOST_CHARACTERS = 1_000
"""Of a name or a pattern in quotes; a longer one stays as it is."""


def name_quoted_tables(query: exp.Query, dialect: Dialect) -> None:
    """Put a table in the place of `IDENTIFIER('db.s.t')` and `TABLE('db.s.t')`.

    A text that is no name, a variable or an expression stays: nobody can tell what it names.
    """
    for node in list(query.find_all(exp.Table, exp.TableFromRows)):
        table = _named(_quoted_in(node), dialect)
        if table is not None:
            table.set("alias", node.args.get("alias"))
            node.replace(table)


def name_rows_by_columns(query: exp.Query) -> None:
    """Put `o.total` in the place of `(o).total`, where `o` stands for a whole row of FROM.

    Else `o` is a column whose value has fields, and comes from that whole.
    """
    known: dict[int, frozenset[str]] = {}  # or fields and tables would be multiplied
    for node in list(query.find_all(exp.Dot)):
        inner = node.this.unnest() if isinstance(node.this, exp.Paren) else None
        if not isinstance(inner, exp.Column) or inner.table or isinstance(inner.this, exp.Star):
            continue
        field = node.expression
        if isinstance(field, exp.Identifier | exp.Star) and _is_read(inner.name, node, known):
            node.replace(exp.Column(this=field.copy(), table=inner.this.copy()))


def fits(name: str, pattern: str) -> bool:
    """Tell whether a name is like a pattern of `%` and `_`, whatever its capitals.

    Takes steps by the product of both lengths at most, where a regular expression may take more
    than anybody waits for.
    """
    name, pattern = name.lower(), pattern.lower()
    at = here = 0
    last, began = -1, 0
    while at < len(name):
        if here < len(pattern) and pattern[here] == "%":
            last, began = here, at
            here += 1
        elif here < len(pattern) and pattern[here] in ("_", name[at]):
            at, here = at + 1, here + 1
        elif last >= 0:
            began += 1
            at, here = began, last + 1
        else:
            return False
    return not pattern[here:].strip("%")


def _quoted_in(node: exp.Expr) -> object:
    """Return what stands in the parentheses of a table that is called so; None for any other."""
    made = node.this if isinstance(node, exp.Table) else node
    if isinstance(made, exp.DynamicIdentifier | exp.TableFromRows):
        return made.this
    if isinstance(made, exp.Anonymous) and made.name.upper() == "IDENTIFIER":  # in Databricks
        return next(iter(made.expressions), None)
    return None


def _named(given: object, dialect: Dialect) -> exp.Table | None:
    if not isinstance(given, exp.Literal) or not given.is_string:
        return None
    if len(given.name) > MOST_CHARACTERS:
        return None
    try:
        return exp.to_table(given.name, dialect=dialect)
    except (SqlglotError, ValueError):
        return None


def _is_read(name: str, node: exp.Expr, known: dict[int, frozenset[str]]) -> bool:
    """Tell whether the queries around a node read what is called so."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        if id(select) not in known:
            known[id(select)] = frozenset(_read_by(select))
        if name in known[id(select)]:
            return True
        select = select.find_ancestor(exp.Select)
    return False


def _read_by(select: exp.Select) -> Iterator[str]:
    for one in (select.args.get("from_"), *(select.args.get("joins") or [])):
        if one is not None:
            yield one.this.alias_or_name
