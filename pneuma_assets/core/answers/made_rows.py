"""Rows that a statement makes itself: series between constants, and lists that stand in cells.

A series is as long as its ends say, so these have to be constants, of few forms: each that engines
take otherwise than it is read here would be a series of any length. What is taken apart has to be
of a row of a table: a list that a query gathers would stand beside each of its rows, as no join
may.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from fractions import Fraction
from math import prod

from sqlglot import exp

from pneuma_assets.core.answers.query_scope import FOUND
from pneuma_assets.core.answers.statements import OF, Guard, refuse

SERIES = (exp.GenerateSeries, exp.ExplodingGenerateSeries)
"""`generate_series` of DuckDB, with its `range`, and that of PostgreSQL."""
MOST_MADE = 1_000_000
"""Rows of all series of a query and of those in it, multiplied with each other."""

_SECONDS: Mapping[str, int] = {
    **{"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "WEEK": 604_800},
    **{"MONTH": 28 * 86_400, "QUARTER": 90 * 86_400, "YEAR": 365 * 86_400},
}
"""Of a unit, at least."""
_NOW = (exp.CurrentDate, exp.CurrentTimestamp)
_NOW_IS_WITHIN = 2 * 86_400
"""Seconds by which an engine's day or time may be another than that of here."""
_GATHERED = (exp.Query, exp.AggFunc, exp.Window, *SERIES)

_WHOLE = frozenset({exp.DType.INT, exp.DType.BIGINT})
_MOMENTS = frozenset({exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ})
"""Not those with a zone, nor those of another precision: they are another moment than is read."""
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(_DAY.pattern + r"( [0-9]{2}:[0-9]{2}(:[0-9]{2})?)?")
_SPAN = re.compile(r"(-?[0-9]+) ([A-Z]+?)S?", re.IGNORECASE)
"""Not of a fraction of a unit: how that is rounded is not said."""


def check_made(tree: exp.Expr) -> None:
    """Refuse series that may be long, and lists that are not of a row of a table.

    Args:
        tree: Of which each column of a table says of which.
    """
    if tree.find(*SERIES):
        made = _Made(tree)
        if any(made.rows(one) > MOST_MADE for one in (tree, *made.named.values())):
            refuse(Guard.SIZE, f"generate_series would make more than {MOST_MADE:,} rows")
    if not all(isinstance(one.parent, exp.Table) for one in tree.find_all(*SERIES)):
        refuse(Guard.FUNCTION, "generate_series stands in FROM, as generate_series(1, 9) AS g(n)")
    taken = set[int]()
    for node in tree.find_all(exp.Explode, exp.Unnest):
        what = node.expressions[0] if isinstance(node, exp.Unnest) else node.this
        foreign = any(OF not in one.meta for one in what.find_all(exp.Column))
        if foreign or what.find(*_GATHERED):
            refuse(Guard.FUNCTION, "unnest takes apart a list of a row of a table, and no other")
        query = id(node.find_ancestor(exp.Select))
        if isinstance(node, exp.Unnest) and query in taken:
            refuse(Guard.FUNCTION, "one unnest stands in FROM, and not several")
        taken.add(query)


class _Made:
    """Counts how many rows each query makes of its series, whatever its tables hold."""

    def __init__(self, tree: exp.Expr) -> None:
        self.named: dict[str, exp.Expr] = {}
        for one in tree.find_all(exp.CTE):
            if self.named.setdefault(one.alias.casefold(), one.this) is not one.this:
                refuse(
                    Guard.SIZE,
                    f"WITH calls two queries {one.alias[:60]!r}; beside generate_series give each "
                    "a name of its own",
                )
        self._counted: dict[int, int] = {}

    def rows(self, node: exp.Expr) -> int:
        """Return the rows that a part of a statement makes at most, those of its parts multiplied.

        A query in another may be run for each row of that one, wherever it stands.
        """
        if id(node) not in self._counted:
            self._counted[id(node)] = min(self._rows(node), MOST_MADE + 1)
        return self._counted[id(node)]

    def _rows(self, node: exp.Expr) -> int:
        if isinstance(node, SERIES):
            return max(1, rows_of(node))
        if isinstance(node, exp.With):
            return 1  # each of its queries counts where it is read
        parts = [self.rows(one) for one in node.iter_expressions()]
        is_named = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
        if is_named and node.meta[FOUND] is None:  # no table, but what WITH names
            parts.append(self.rows(self.named[node.name.casefold()]))
        if isinstance(node, exp.SetOperation):
            both = self.rows(node.this), self.rows(node.expression)
            return sum(both) * prod(parts) // prod(both)
        if isinstance(node, exp.Select) and not node.args.get("from_"):  # of one row: each once
            return 1 + sum(part - 1 for part in parts)
        return prod(parts)


class _Kind(Enum):
    NUMBER = auto()
    TIME = auto()
    SPAN = auto()


_Constant = tuple[_Kind, Fraction]
"""A number, or the seconds of a time or an interval: exact, since ends may be near each other."""
_STEPS = {(_Kind.NUMBER, _Kind.NUMBER): _Kind.NUMBER, (_Kind.TIME, _Kind.TIME): _Kind.SPAN}
"""Of which kind the step is, by those of the ends."""


def rows_of(series: exp.Expr) -> int:
    """Return how many rows a series has at most.

    Raises:
        SqlRefusedError: Its ends or its step are no constants.
    """
    start, end, step = map(series.args.get, ("start", "end", "step"))
    first, last = _constant(start), _constant(end)
    by = (_Kind.NUMBER, Fraction(1)) if step is None else _constant(step)
    if (
        first is None
        or last is None
        or by is None
        or not by[1]
        or _STEPS.get((first[0], last[0])) != by[0]
    ):
        refuse(
            Guard.SIZE,
            "generate_series has constants for its ends and its step, as in generate_series("
            "DATE '2020-01-01', DATE '2020-12-31', INTERVAL '1 month') or generate_series(1, 12)",
        )
    more = _NOW_IS_WITHIN if isinstance(start, _NOW) or isinstance(end, _NOW) else 0
    return max(0, int((last[1] - first[1]) / by[1] + more / abs(by[1])) + 1)


def _constant(node: exp.Expr | None) -> _Constant | None:
    """Return what a number, a time or an interval is; None of whatever else.

    A text is nothing but under one cast, as engines take it by where it stands; a cast of anything
    else may make it another value.
    """
    if isinstance(node, exp.Neg):
        found = _constant(node.this)
        return (found[0], -found[1]) if found and found[0] != _Kind.TIME else None
    if isinstance(node, _NOW):
        return _Kind.TIME, _seconds(datetime.now(UTC).replace(tzinfo=None))
    if isinstance(node, exp.Interval) and isinstance(node.unit, exp.Var):
        return _span(f"{node.name} {node.unit.name}")
    if isinstance(node, exp.Literal) and not node.is_string:
        return (_Kind.NUMBER, Fraction(node.this)) if _NUMBER.fullmatch(node.this) else None
    if type(node) is exp.Cast and isinstance(node.this, exp.Literal) and not node.to.expressions:
        return _cast(node.this, node.to.this)
    return None


def _cast(literal: exp.Literal, kind: object) -> _Constant | None:
    text: str = literal.this
    if not literal.is_string:
        return (_Kind.NUMBER, Fraction(text)) if kind in _WHOLE and text.isdecimal() else None
    if kind == exp.DType.INTERVAL:
        return _span(text)
    form = _DAY if kind == exp.DType.DATE else _MOMENT if kind in _MOMENTS else None
    if form is None or not form.fullmatch(text):
        return None
    try:
        return _Kind.TIME, _seconds(datetime.fromisoformat(text))
    except ValueError:  # a 30th of February
        return None


def _span(text: str) -> _Constant | None:
    """Return an interval of whole units, as `1 month`."""
    found = _SPAN.fullmatch(text)
    unit = _SECONDS.get(found[2].upper()) if found else None
    return (_Kind.SPAN, Fraction(int(found[1]) * unit)) if found and unit else None


def _seconds(moment: datetime) -> Fraction:
    return Fraction((moment - datetime.min) // timedelta(microseconds=1), 1_000_000)
