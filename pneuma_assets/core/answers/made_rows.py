"""Rows that a statement makes itself: series between constants, and lists that stand in cells.

A series is as long as its ends say, so these have to be constants. What is taken apart has to be of
a row of a table: a list that a query gathers would stand beside each of its rows, as no join may.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite, prod

from sqlglot import exp

from pneuma_assets.core.answers.statements import OF, Guard, refuse

SERIES = (exp.GenerateSeries, exp.ExplodingGenerateSeries)
"""`generate_series` of DuckDB, with its `range`, and that of PostgreSQL."""
MOST_MADE = 1_000_000
"""Rows of the series that one query selects from, also by others, multiplied with each other."""

_SECONDS: Mapping[str, float] = {
    **{"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": 86_400, "WEEK": 604_800},
    **{"MONTH": 28 * 86_400, "QUARTER": 90 * 86_400, "YEAR": 365 * 86_400},
}
"""Of a unit, at least."""
_NOW = (exp.CurrentDate, exp.CurrentTimestamp)
_GATHERED = (exp.Query, exp.AggFunc, exp.Window, *SERIES)


def check_made(tree: exp.Expr) -> None:
    """Refuse series that may be long, and lists that are not of a row of a table.

    Args:
        tree: Of which each column of a table says of which.
    """
    made = _Made(tree)
    if any(made.rows(one) > MOST_MADE for one in tree.find_all(exp.Select, *SERIES)):
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
        self._named: dict[str, list[exp.Expr]] = defaultdict(list)
        for one in tree.find_all(exp.CTE):
            self._named[one.alias].append(one.this)
        self._counted: dict[int, int] = {}

    def rows(self, node: exp.Expr) -> int:
        """Return the rows that a query, or what one selects from, makes at most."""
        if id(node) not in self._counted:
            self._counted[id(node)] = 1  # of one that is called like what it reads
            self._counted[id(node)] = min(self._rows(node), MOST_MADE + 1)
        return self._counted[id(node)]

    def _rows(self, node: exp.Expr) -> int:
        if isinstance(node, SERIES):
            return max(1, rows_of(node))
        if isinstance(node, exp.SetOperation):
            return self.rows(node.this) + self.rows(node.expression)
        source = node.args.get("from_") if isinstance(node, exp.Select) else node
        parts = [one.this for one in (source, *(node.args.get("joins") or ())) if one is not None]
        if isinstance(node, exp.Table) and not node.db and node.name in self._named:
            parts[0] = max(self._named[node.name], key=self.rows)
        kinds = (exp.Query, exp.Table, *SERIES)
        return prod(self.rows(one) for one in parts if isinstance(one, kinds))


def rows_of(series: exp.Expr) -> int:
    """Return how many rows a series has at most.

    Raises:
        SqlRefusedError: Its ends or its step are no constants.
    """
    start, end, step = map(series.args.get, ("start", "end", "step"))
    first, last = _constant(start), _constant(end)
    by = 1.0 if step is None else _constant(step)
    if first is None or last is None or not by or not isfinite((last - first) / by):
        refuse(
            Guard.SIZE,
            "generate_series has constants for its ends and its step, as in generate_series("
            "DATE '2020-01-01', DATE '2020-12-31', INTERVAL '1 month')",
        )
    return max(0, int((last - first) / by) + 1)


def _constant(node: exp.Expr | None) -> float | None:
    """Return a number, or the seconds of a time or an interval; None of what is no constant."""
    if isinstance(node, exp.Neg | exp.Cast):
        value = _constant(node.this)
        return -value if value is not None and isinstance(node, exp.Neg) else value
    if isinstance(node, _NOW):
        return datetime.now(UTC).timestamp()
    try:
        if isinstance(node, exp.Interval) and node.unit is not None:
            return float(node.this.this) * _SECONDS[node.unit.name.upper().removesuffix("S")]
        if isinstance(node, exp.Literal) and node.is_string:
            return datetime.fromisoformat(node.this).replace(tzinfo=UTC).timestamp()
        return float(node.this) if isinstance(node, exp.Literal) else None
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
