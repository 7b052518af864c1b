"""Runs queries over the rows of a table, and tells which of them ask for something.

Pneuma's authors run none of theirs, and so ask for the average of a code, or for "fewer than one
record". Here a question is one that has an answer, and whose every part matters to it.
"""

from collections import OrderedDict
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.sources.duckdb.session import quote_identifier, reason, settings
from pneuma_bench.generator.queries import Order, SqlQuery, Subject

_KEPT = 64
"""Tables that are held ready."""
_TABLE = "t"


class Workbench(Closing):
    """A database in memory, of one table at a time; it reaches no file and no network.

    DuckDB takes as much memory as where it reads sources (`limits`), and spills beyond it. Whatever
    runs a query raises `BenchmarkError` where that does not suffice.
    """

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={**settings(), "threads": 1})
        # After the folder for what does not fit into memory, which could not be set behind it.
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._kept: OrderedDict[str, pa.Table] = OrderedDict()

    def rows(self, subject: Subject, query: SqlQuery) -> list[tuple[Any, ...]]:
        """Return what a query gives."""
        return self._ask(subject, query.sql(_names(subject), _TABLE))

    def answers(self, subject: Subject, query: SqlQuery) -> bool:
        """Tell whether a query gives anything but nothing."""
        return not is_nothing(self.rows(subject, query))

    def why_not(self, subject: Subject, query: SqlQuery) -> str:
        """Return why a query asks for nothing in this table; empty if it does ask for something."""
        if not (query.where or query.having or query.order):
            alone = len(query.columns) == 1 < len(subject.columns)
            plain = not any(one.aggregate for one in query.select)
            if plain or alone:
                return "asks for every row" if plain else "asks about one column alone"
        rows = self.rows(subject, query)
        if is_nothing(rows):
            return "no value" if rows else "no row"
        if query.where and self._is_idle(subject, query):
            return "where keeps every row"
        if query.having and len(rows) == len(self.rows(subject, replace(query, having=None))):
            return "having keeps every group"
        if query.order and self._is_tied(subject, query, query.order):
            return "tie at the limit"
        return ""

    def cuts_equal_rows(self, subject: Subject, query: SqlQuery) -> bool:
        """Tell whether a LIMIT takes some of several equal rows, so that chance decides which."""
        if query.order is None:
            return False
        found = self._first(subject, query, query.order)
        return len(found) > query.order.limit and found[-1] == found[-2]

    def close(self) -> None:
        """Let the database go."""
        self._connection.close()

    def _is_idle(self, subject: Subject, query: SqlQuery) -> bool:
        """Tell whether all rows fulfil one of the conditions, so that it asks for nothing."""
        names = _names(subject)
        counts = ", ".join(f"count(*) FILTER ({one.sql(names)})" for one in query.where)
        (kept,) = self._ask(subject, f"SELECT {counts} FROM {_TABLE}")
        return len(subject.rows) in kept

    def _is_tied(self, subject: Subject, query: SqlQuery, order: Order) -> bool:
        """Tell whether other rows could be among the first just as well, or there are no others."""
        found = self._first(subject, query, order)
        return len(found) <= order.limit or found[-1] == found[-2]

    def _first(self, subject: Subject, query: SqlQuery, order: Order) -> list[tuple[Any, ...]]:
        """Return by what the rows are ordered that a LIMIT takes, and of one row more."""
        names = _names(subject)
        by = quote_identifier(names[order.column])
        where = " AND ".join([f"{by} IS NOT NULL", *(one.sql(names) for one in query.where)])
        first = replace(order, limit=order.limit + 1).sql(names)
        return self._ask(subject, f"SELECT {by} FROM {_TABLE} WHERE {where} {first}")

    def _ask(self, subject: Subject, sql: str) -> list[tuple[Any, ...]]:
        self._connection.register(_TABLE, self._loaded(subject))
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.OutOfMemoryException as error:
            raise BenchmarkError(
                f"{subject.table_id} cannot be asked: {reason(error)}; give fewer rows of it"
            ) from error

    def _loaded(self, subject: Subject) -> pa.Table:
        found = self._kept.pop(subject.table_id, None)
        if found is None:
            found = _arrow(subject)
        self._kept[subject.table_id] = found
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found


def _names(subject: Subject) -> list[str]:
    """Return names of ours for the columns: two may be called the same, but for capitals."""
    return [f"c{at}" for at in range(len(subject.columns))]


def _arrow(subject: Subject) -> pa.Table:
    columns = [
        pa.array([row[at] for row in subject.rows], pa.float64() if number else pa.string())
        for at, number in enumerate(subject.numeric)
    ]
    return pa.table(columns, names=_names(subject))


def is_nothing(rows: list[tuple[Any, ...]]) -> bool:
    """Tell whether no cell of a result holds anything, as of an aggregate over no row."""
    return all(cell is None for row in rows for cell in row)
