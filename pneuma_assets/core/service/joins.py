"""By which columns tables can be joined, and people's last word on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.service.describe import (
    absent_column,
    author_of,
    moment,
)
from pneuma_assets.core.service.visible_tables import check_table, seen_among, seen_tables
from pneuma_assets.core.text.suggest import check_known

if TYPE_CHECKING:
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.relations.join_graph import On
    from pneuma_assets.core.store import Store


@dataclass(frozen=True, slots=True)
class KnownJoin:
    """A join of a table with another.

    Attributes:
        columns: Of the table that was asked about.
        other: The other table.
        other_columns: Of that, in the same order.
        refers: Whether the table that was asked about holds the key of the other one; False: the
            other way round.
        kind: Who says so: a person, a key that is declared, the query of a view, the names and
            cells (`inferred`), or the cells alone, of the same domain of values (`domain`: no key).
        score: How sure that is, from 0 to 1.
        share: Of the cells of who refers, the share that the other has; None where not told.
        way: What the table does with the other one: `refers to`, `is referred to by`, or `shares
            values with`.
    """

    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    refers: bool
    kind: str
    score: float
    share: float | None
    way: str


@dataclass(frozen=True, slots=True)
class JudgedJoin:
    """What somebody said of a join.

    Attributes:
        table_id: The table that refers.
        columns: Of it; 'hidden' where one is not there and may be one whose name is hidden.
        other: The table that is referred to.
        other_columns: Of that, likewise.
        holds: Whether they can be joined so; False: they cannot.
        author: Who says so.
        said_at: When, as ISO 8601 in UTC.
    """

    table_id: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    holds: bool
    author: str
    said_at: str


def judged_joins(
    store: "Store", deployment: "Deployment", readers: Sequence[str] | None = None
) -> list[JudgedJoin]:
    """Return all that people said of joins.

    To who may see all, also of tables that are not there now; columns need not be there.
    """
    said, seen = store.joins.verdicts(), seen_tables(store, readers)
    if readers is not None:
        said = [one for one in said if seen.issuperset(one.edge.tables)]
    ids = sorted({table for one in said for table in one.edge.tables} & seen)
    there = {
        table.table_id: {column.name for column in table.columns}
        for table in store.tables.profiles(ids)
    }

    def shown(table_id: str, columns: Sequence[str]) -> tuple[str, ...]:
        known = there.get(table_id, set())
        return tuple(
            one if one in known else absent_column(deployment, table_id, one) for one in columns
        )

    return [
        JudgedJoin(
            one.edge.table,
            shown(one.edge.table, one.edge.columns),
            one.edge.other,
            shown(one.edge.other, one.edge.other_columns),
            one.confirmed,
            one.author,
            str(moment(one.said_at)),
        )
        for one in said
    ]


def joins_of_table(store: "Store", table_id: str, readers: Sequence[str] | None) -> list[KnownJoin]:
    """Return by which columns a table can be joined with others, the surest first.

    Raises:
        ConfigError: There is no such table, or none that who asks may see.
    """
    from pneuma_assets.core.pipeline.relate import with_shares  # which loads the store

    check_table(store, table_id, readers)
    edges = store.joins.of_tables([table_id])
    seen = seen_among(store, {end for edge in edges for end in edge.tables}, readers)
    edges = [one for one in edges if seen.issuperset(one.tables)]
    edges = sorted(with_shares(store, edges), key=attrgetter("doubt"))
    return [_of(table_id, edge) for edge in edges]


def judge_join(
    store: "Store",
    on: "On",
    holds: bool | None,
    author: str | None,
    readers: Sequence[str] | None = None,
) -> None:
    """Keep what somebody says of a join, or take back what was said (None).

    Raises:
        ConfigError: There is no such table or column, the numbers of columns differ, the tables
            are one, or there is nothing to take back.
    """
    table, columns, other, other_columns = on
    if readers is not None:
        for one in (table, other):
            check_table(store, one, readers)
    if holds is None:
        if not store.joins.withdraw(on):
            raise ConfigError(f"nobody has said anything of {_spelled(on)}")
        return
    for one, names in ((table, columns), (other, other_columns)):
        check_table(store, one)
        known = {
            column.name for profile in store.tables.profiles([one]) for column in profile.columns
        }
        check_known("column", names, known, ConfigError, within=f" of {one}")
    if table == other:
        raise ConfigError(
            f"{table} is joined with itself by any of its columns; name another table"
        )
    if not columns or len(columns) != len(other_columns):
        raise ConfigError("name as many columns of the one table as of the other, at least one")
    edge = JoinEdge(*on, JoinKind.PERSON, 1.0)
    store.joins.judge(edge, confirmed=holds, author=author_of(author))


def _of(table_id: str, edge: JoinEdge) -> KnownJoin:
    refers = edge.table == table_id
    other = edge.other if refers else edge.table
    mine, theirs = edge.columns, edge.other_columns
    if not refers:
        mine, theirs = theirs, mine
    way = edge.way(refers=refers)
    return KnownJoin(mine, other, theirs, refers, str(edge.kind), edge.score, edge.share, way)


def _spelled(on: "On") -> str:
    table, columns, other, other_columns = on
    return f"{table} ({', '.join(columns)}) and {other} ({', '.join(other_columns)})"
