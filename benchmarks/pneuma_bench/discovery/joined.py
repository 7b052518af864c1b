"""Questions that only a join of several tables answers (Octopus, section 6.2).

Of questions whose right statement is known, those stay whose statement joins tables, one a
statement, and of which each table can be joined with at least two others: for a table that joins
with one alone, there is nothing to be found out.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlglot import exp
from sqlglot.dialects import Dialect
from sqlglot.errors import SqlglotError

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.lineage.parse import UnreadableSQLError, explained, query_of
from pneuma_assets.core.measure.evaluate import json_lines, refuse
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.tables import Definition
from pneuma_assets.core.text.safe import well_formed
from pneuma_bench.discovery.records import AnswerCells, DiscoveryQuestion

LEAST_DEGREE = 2
"""Other tables with which each table of a question can be joined, at least."""

NO_SQL = "it has no statement"
UNREAD = "its statement cannot be read"
UNKNOWN = "its statement names a table that is not there"
ALONE = "its statement joins no tables"
REPEATED = "its statement is another question's, too"
SIMPLE = "one of its tables joins with fewer than {} others"

_KEPT = ("id", "schema", "gold")

Neighbours = Callable[[str], Collection[str]]
"""Returns the ids of the tables with which one can be joined."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The benchmark that was made of questions.

    Attributes:
        kept: The questions that only a join answers; `degree` in `more` is the least of a table.
        left_out: How many others there are for each reason.
    """

    kept: Sequence[DiscoveryQuestion]
    left_out: Mapping[str, int]

    @property
    def degrees(self) -> dict[int, int]:
        """How many questions have so many as the least degree of their tables (Figure 5 there)."""
        return dict(sorted(Counter(int(one.more["degree"]) for one in self.kept).items()))

    @property
    def tables(self) -> dict[int, int]:
        """How many questions need so many tables (Figure 5 there)."""
        return dict(sorted(Counter(len(one.tables) for one in self.kept).items()))


class _LeftOutError(Exception):
    """A question is none of the benchmark; the message says why."""


def join_benchmark(
    asked: Iterable[DiscoveryQuestion],
    table_ids: Iterable[str],
    neighbours: Neighbours,
    dialect: str = "",
    least: int = LEAST_DEGREE,
) -> Joined:
    """Return the questions that ask for a join that is not obvious.

    Args:
        asked: Questions with `gold` (right statements, of which the first is read) or `sql`, and
            if known `schema`, where names without one are, and `answer`, the rows of the first.
        table_ids: The tables there are.
        neighbours: The join graph.
        dialect: Of the statements, as sqlglot calls it; empty: SQL as most engines have it.
        least: The degree that each table of a question has at least.

    Raises:
        BenchmarkError: There is no such dialect.
    """
    _check(dialect)
    reading = _Reading(_Names(table_ids), neighbours, dialect, least)
    kept: list[DiscoveryQuestion] = []
    left_out: Counter[str] = Counter()
    for one in asked:
        try:
            kept.append(reading.kept(one))
        except _LeftOutError as why:
            left_out[str(why)] += 1
    return Joined(kept, dict(left_out.most_common()))


def keys_of(path: Path) -> Neighbours:
    """Read a join graph from a file: an object a line with `table` and `other`, both ids.

    Raises:
        BenchmarkError: The file cannot be read, or a line is not what it must be.
    """
    joined: dict[str, set[str]] = {}
    for number, record in json_lines(path):
        table, other = record.get("table"), record.get("other")
        if not isinstance(table, str) or not isinstance(other, str):
            refuse(path, number, "'table' and 'other' must be ids of tables")
        joined.setdefault(table, set()).add(other)
        joined.setdefault(other, set()).add(table)
    return lambda table: joined.get(table, set())


@dataclass(slots=True)
class _Reading:
    """Reads one question's statement after the other; `seen` are those that are kept."""

    names: "_Names"
    neighbours: Neighbours
    dialect: str
    least: int
    seen: set[str] = field(default_factory=set)

    def kept(self, asked: DiscoveryQuestion) -> DiscoveryQuestion:
        """Return the question with its tables and cells; raises where it is left out."""
        tree, spelled = _read(_sql_of(asked), self.dialect)
        tables = self.names.of(tree, str(asked.more.get("schema") or ""))
        if spelled in self.seen:
            raise _LeftOutError(REPEATED)
        degree = min(len(set(self.neighbours(table)) - {table}) for table in tables)
        if degree < self.least:
            raise _LeftOutError(SIMPLE.format(self.least))
        self.seen.add(spelled)
        more = {key: asked.more[key] for key in _KEPT if key in asked.more} | {"degree": degree}
        cells = _answer(tables, asked.more.get("answer"))
        return replace(asked, tables=tables, cells=cells, more=more)


class _Names:
    """The tables that there are, by how statements call them: by name, or by schema and name."""

    def __init__(self, table_ids: Iterable[str]) -> None:
        self._ids: dict[tuple[str, ...], set[str]] = {}
        for table_id in table_ids:
            parts = tuple(unescape(part).casefold() for part in table_id.split("/")[1:])
            for start in range(len(parts)):
                self._ids.setdefault(parts[start:], set()).add(table_id)

    def of(self, tree: exp.Expr, schema: str) -> tuple[str, ...]:
        """Return the tables that a statement joins, each once, in the order of their ids."""
        own = {one.alias.casefold() for one in tree.find_all(exp.CTE)}
        found = set()
        for table in tree.find_all(exp.Table):
            name, place = table.name.casefold(), (table.db or "").casefold()
            if place or name not in own:
                found.add(self._id(name, place or schema.casefold()))
        if len(found) < 2 or not any(tree.find_all(exp.Join)):
            raise _LeftOutError(ALONE)
        return tuple(sorted(found))

    def _id(self, name: str, place: str) -> str:
        ids = self._ids.get((place, name)) or (set() if place else self._ids.get((name,), set()))
        if len(ids) != 1:
            raise _LeftOutError(UNKNOWN)
        return next(iter(ids))


def _check(dialect: str) -> None:
    try:
        Dialect.get_or_raise(dialect or None)
    except (SqlglotError, ValueError) as error:
        raise BenchmarkError(f"sqlglot knows no dialect {dialect!r}; such as: postgres") from error


def _sql_of(asked: DiscoveryQuestion) -> str:
    given = asked.more.get("gold") or asked.more.get("sql")
    first = given[0] if isinstance(given, list) else given
    if not isinstance(first, str):
        raise _LeftOutError(NO_SQL)
    return well_formed(first)


def _read(sql: str, dialect: str) -> tuple[exp.Expr, str]:
    """Return a statement, and how it is spelled whatever its blanks and capitals."""
    try:
        with explained():
            tree, _ = query_of(Definition(sql, dialect))
            return tree, tree.sql(dialect or None, normalize=True)
    except UnreadableSQLError as error:
        raise _LeftOutError(UNREAD) from error


def _answer(tables: tuple[str, ...], answer: Any) -> tuple[AnswerCells, ...]:
    if not isinstance(answer, list) or not answer:
        return ()
    rows = tuple(tuple(row) if isinstance(row, list) else (row,) for row in answer)
    return (AnswerCells(tables, rows),)
