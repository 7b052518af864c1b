"""The mentions in a sketch of SQL that a language model wrote; see `parsing`."""

from collections.abc import Iterator

from sqlglot import exp

from pneuma_assets.core.entities.matching import header_of
from pneuma_assets.core.entities.mentions import Mentions
from pneuma_assets.core.lineage.parsing import UnreadableSQLError, explained, query_of
from pneuma_assets.core.tables import Definition

LONGEST = 2_000
"""Characters of a sketch."""
MOST_MENTIONS = 32
"""Of columns, and of values, the first ones."""
MOST_CHARACTERS = 200
"""Of a mention; a longer one is cut off."""

_COMPARED = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.Like, exp.ILike),
)
_FENCE = "```"


def sketch_mentions(text: str) -> Mentions:
    """Return what a sketch mentions: its columns as words, and what columns are compared with.

    What stands in double quotes where a value does is one, whatever SQL says. Numbers that are
    compared with what an aggregate gives, or limit the rows, are no values of cells.

    Args:
        text: A model's answer: SQL, maybe behind words or in a fence of Markdown.

    Raises:
        UnreadableSQLError: It is no query, or more than a sketch may be; the message says what.
    """
    if len(text) > LONGEST:
        raise UnreadableSQLError("it is too long")
    with explained():
        tree, _ = query_of(Definition(_statement(text), "duckdb"))
        values = list(_values(tree))
        misquoted = {id(node) for node in values}
        aliases = {one.alias.casefold() for one in tree.find_all(exp.Alias) if one.alias}
        columns = [
            one.name
            for one in tree.find_all(exp.Column)
            if id(one) not in misquoted and one.name.casefold() not in aliases
        ]
    return Mentions(_different(map(header_of, columns)), _different(map(_spelled, values)))


def _statement(text: str) -> str:
    """Return the SQL of an answer: from its first SELECT or WITH on, without a fence around it."""
    before, fenced, after = text.partition(_FENCE)
    if fenced:
        text = before if "select" in before.casefold() else after.partition(_FENCE)[0]
    lowered = text.lower()
    places = [at for word in ("select", "with") if (at := lowered.find(word)) >= 0]
    if "select" not in lowered:
        raise UnreadableSQLError("there is no SELECT")
    return text[min(places) :]


def _values(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes that stand for cells' values, in the order of the text."""
    for node in tree.walk(bfs=False):
        if isinstance(node, _COMPARED):
            yield from _compared(node.this, [node.expression])
            if not isinstance(node.expression, exp.Column) or not _is_quoted(node.expression):
                yield from _compared(node.expression, [node.this])
        elif isinstance(node, exp.In):
            yield from _compared(node.this, node.expressions)
        elif isinstance(node, exp.Between):
            yield from _compared(node.this, [node.args["low"], node.args["high"]])


def _compared(column: exp.Expr, others: list[exp.Expr]) -> Iterator[exp.Expr]:
    """Yield those of others that are values, if the first is of a column's own cells.

    A sign, a type (`DATE '2020-01-01'`) and brackets are no part of a value.
    """
    if column.find(exp.Column) is None or column.find(exp.AggFunc) is not None:
        return
    for other in others:
        one = other
        while isinstance(one, exp.Paren | exp.Neg | exp.Cast):
            one = one.this
        if isinstance(one, exp.Literal) or _is_quoted(one):
            yield one


def _is_quoted(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not node.table and bool(node.this.args.get("quoted"))


def _spelled(value: exp.Expr) -> str:
    return value.name.strip("%").strip()


def _different(mentions: Iterator[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(one[:MOST_CHARACTERS] for one in mentions)
    return tuple(one for one in kept if one)[:MOST_MENTIONS]
