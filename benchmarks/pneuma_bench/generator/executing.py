"""Runs queries over the rows of a table, and tells which of them ask for something.

Pneuma's authors run none of theirs, and so ask for the average of a code, or for "fewer than one
record". Here a question is one that has an answer, and whose every part matters to it.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import duckdb
import pyarrow as pa

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.sources.duckdb.session import reason, settings
from pneuma_bench.generator.queries import Order, SqlQuery, Subject

Rows = list[tuple[Any, ...]]
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

    def rows(self, subject: Subject, query: SqlQuery) -> Rows:
        """Return what a query gives."""
        return self._ask(subject, query.sql(_names(subject), _TABLE))

    def why_not(self, subject: Subject, query: SqlQuery) -> str:
        """Return why a query asks for nothing in this table; empty if it does ask for something."""
        if not (query.where or query.having or query.order):
            if not any(one.aggregate for one in query.select):
                return "asks for every row"
            if len(query.columns) == 1 < len(subject.columns):
                return "asks about one column alone"
        rows = self.rows(subject, query)
        if is_nothing(rows):
            return "no value" if rows else "no row"
        return self._why_idle(subject, query, rows)

    def _why_idle(self, subject: Subject, query: SqlQuery, rows: Rows) -> str:
        """Return which part of a query changes nothing, or nothing that is sure."""
        if query.where and self._is_idle(subject, query):
            return "where keeps every row"
        if query.having and len(rows) == len(self.rows(subject, replace(query, having=None))):
            return "having keeps every group"
        if query.order:
            found = self._first(subject, query, query.order)
            if len(found) <= query.order.limit or found[-1] == found[-2]:
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

    def _first(self, subject: Subject, query: SqlQuery, order: Order) -> Rows:
        """Return by what the rows are ordered that a LIMIT takes, and of one row more."""
        names = _names(subject)
        by = names[order.column]
        where = " AND ".join([f"{by} IS NOT NULL", *(one.sql(names) for one in query.where)])
        first = replace(order, limit=order.limit + 1).sql(names)
        return self._ask(subject, f"SELECT {by} FROM {_TABLE} WHERE {where} {first}")

    def _ask(self, subject: Subject, sql: str) -> Rows:
        self._connection.register(_TABLE, _arrow(subject))
        try:
            return self._connection.execute(sql).fetchall()
        except duckdb.OutOfMemoryException as error:
            raise BenchmarkError(
                f"{subject.table_id} cannot be asked: {reason(error)}; give fewer rows of it"
            ) from error


def _names(subject: Subject) -> list[str]:
    """Return names of ours for the columns: two may be called the same, but for capitals."""
    return [f"c{at}" for at in range(len(subject.columns))]


@lru_cache(64)
def _arrow(subject: Subject) -> pa.Table:
    columns = [
        pa.array(subject.values(at), pa.float64() if number else pa.string())
        for at, number in enumerate(subject.numeric)
    ]
    return pa.table(columns, names=_names(subject))


def is_nothing(rows: Rows) -> bool:
    """Tell whether no cell of a result holds anything, as of an aggregate over no row."""
    return all(cell is None for row in rows for cell in row)
