"""The work list: which tables wait, which run works on which, what came of it.

A table waits when its version differs from the one that was indexed. A run claims tables and moves
them on from stage to stage until they are searchable. Whoever takes what a dead run had claimed
goes on where that stopped, unless the table changed. Nothing is written for a run that no longer
holds the table.

A person who asks for a run wants everything now. What a sensor asks for can wait (`quiet_s`): a
file that is half written would be read in vain, and a table that failed will likely fail again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    bindparam,
    case,
    func,
    literal,
    or_,
    select,
    true,
    update,
)

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.access import UNPUBLISHED
from pneuma_assets.core.store.database import Database, get, put
from pneuma_assets.core.store.documents import replace_documents
from pneuma_assets.core.store.problems import ROWS
from pneuma_assets.core.store.profiles import Statistics
from pneuma_assets.core.store.runs import Runs
from pneuma_assets.core.store.schema import delete_by, delete_of_tables, problems, tables, upsert
from pneuma_assets.core.store.tables import (
    AT_HAND,
    FREE,
    PENDING,
    REACHABLE,
    RENAMED,
    THERE,
    ids_where,
    profile_columns,
    ref_of,
    table_of,
    to_forget,
    update_each,
    update_rows,
)
from pneuma_assets.core.tables import (
    Document,
    DocumentKind,
    Problem,
    RowMark,
    Table,
    TableRef,
    source_of,
)

MAX_ATTEMPTS = 3
"""How often a table that fails is tried before it waits for a change."""

LONGEST = 30
"""A table that is written all the time is read after so many times its quiet period."""

RETRY_AFTER_S: Sequence[float] = (1800.0, 7200.0, 28_800.0)
"""How long a table rests after its first, second and third attempt that failed; then a day."""

RETRY_DAILY_S = 86_400.0

_RECIPE = "recipe"
"""The key of what the tables are made with."""

_STILL_TRUE = ("contexts", "narrations", ROWS, "values")
"""Stages whose problems do not keep a table from being indexed, and are not solved by that."""

_FAILED = tables.c.state == "failed"
_INCOMPLETE = and_(tables.c.state == "indexed", tables.c.retry_at.is_not(None))
"""Matches searchable tables of which a part was left for a later run (`Queue.complete_later`)."""
_FROM_START: Mapping[str, Any] = {
    "state": "pending",
    "attempts": 0,
    "incomplete": 0,
    "indexed_version": None,
    "claimed_version": None,
    "retry_at": None,
}
"""Marks a table pending; without a claimed version no running run ends that."""


class Stage(StrEnum):
    """What was done last of the work on a table; the next stage takes what stands here."""

    LISTED = "listed"
    PROFILED = "profiled"
    SAMPLED = "sampled"
    NARRATED = "narrated"
    EMBEDDED = "embedded"
    INDEXED = "indexed"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """A claimed table: what the listing said, what was read since, and what was indexed last."""

    ref: TableRef
    table: Table | None
    indexed_schema_hash: str | None
    indexed_row_count: int | None
    sampled_row_count: int | None
    sampled: tuple[RowMark, ...] = ()
    stage: Stage = Stage.LISTED


@dataclass(frozen=True, slots=True)
class Sampled:
    """The rows that stand for a table from now on, and the documents made of them, by kind.

    `row_count` is that of the table when all of them were drawn; None if some are older.
    """

    table_id: str
    row_count: int | None
    rows: Sequence[RowMark]
    documents: Mapping[DocumentKind, Sequence[Document]]


@dataclass(frozen=True, slots=True)
class Finished:
    """A table that has become searchable: the schema it had, and how many blocks it has."""

    table_id: str
    schema_hash: str
    blocks: int


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many tables there are to work on, and what the index should hold."""

    waiting: int = 0
    """New and changed ones that no run holds."""
    failed: int = 0
    """Failed and incomplete ones that no run holds, and that are tried again."""
    gone: int = 0
    """Those that have left their source but not yet the index."""
    taken_back: int = 0
    """Failed ones of which nothing may be found."""
    claimed: int = 0
    """Those that a run holds."""
    indexed: int = 0
    """Those that a run has made searchable, gone ones included."""
    with_blocks: int = 0
    """Those of these that have a block, which the index must hold; without those that wait and are
    held, or cannot be listed, of which nothing can be read."""
    unpublished: int = 0
    """Searchable ones of which the index does not know yet who may see them."""
    settling: int = 0
    """New and changed ones that may still be written, and wait until they rest."""
    resting: int = 0
    """Failed ones that are tried again, but not yet."""
    renamed: int = 0
    """Gone ones that are there under another name."""


class Queue:
    """The part of the store that knows what there is to do, and deals it out to runs."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._db = database
        self._runs = runs
        self._statistics = Statistics(database)

    def use_recipe(self, recipe: str) -> bool:
        """Let every table wait if models or options differ from those used so far."""
        with self._db.write() as connection:
            known = self.recipe()
            if known == recipe:
                return False
            put(self._db, _RECIPE, recipe)
            from_start = {**_FROM_START, "sampled_row_count": None}
            connection.execute(update(tables).where(THERE).values(**from_start))
            return known is not None

    def recipe(self) -> str | None:
        """Return which models and options the tables are made with; None before the first run."""
        return get(self._db, _RECIPE)

    def mark_pending(self, table_ids: Iterable[str], *, sample: bool = False) -> None:
        """Let tables be indexed again whatever their version (lost blocks, a new context).

        A run that holds one of them does not end the wait. With `sample`, rows are drawn again.
        """
        values = {**_FROM_START, "sampled_row_count": None} if sample else _FROM_START
        with self._db.write() as connection:
            update_rows(connection, table_ids, THERE, **values)

    def mark_for_embedding(self, run_id: str, table_ids: Iterable[str]) -> None:
        """Let tables be embedded and indexed again of which a text changed, and nothing else.

        They are not read again (`Tables.unchanged`), but those that another run holds: it may be
        past the texts.
        """
        table_ids = list(table_ids)
        mine = tables.c.claimed_by == run_id
        embedded = tables.c.stage == str(Stage.EMBEDDED)
        again: dict[str, Any] = {"stage": str(Stage.NARRATED)}
        with self._db.write() as connection:
            others = and_(tables.c.claimed_by.is_not(None), ~mine)
            update_rows(connection, table_ids, THERE, others, **_FROM_START)
            update_rows(connection, table_ids, mine, embedded, **again)
            left = and_(FREE, or_(tables.c.state == "indexed", and_(PENDING, embedded)))
            again |= {"state": "pending", "attempts": 0, "claimed_version": tables.c.version}
            update_rows(connection, table_ids, left, **again)

    def mark_for_description(self, run_id: str, table_ids: Iterable[str]) -> None:
        """Let tables be read again whose columns are described otherwise, unless the run is to."""
        read = tables.c.stage.in_([str(Stage.PROFILED), str(Stage.SAMPLED)])
        yet = and_(tables.c.claimed_by == run_id, read)
        with self._db.write() as connection:
            update_rows(connection, table_ids, THERE, func.coalesce(~yet, true()), **_FROM_START)

    def retry(self, sources: Sequence[str]) -> None:
        """Let failed and incomplete tables of these sources be tried again at once."""
        chosen = and_(or_(_FAILED, _INCOMPLETE), tables.c.source.in_(sources))
        now = {"attempts": 0, "incomplete": 0, "retry_at": self._db.clock}
        with self._db.write() as connection:
            connection.execute(update(tables).where(chosen).values(now))

    def waiting(self, sources: Sequence[str], quiet_s: float | None = None) -> int:
        """Return how many tables of these sources wait, can be read, and are claimed by no run."""
        mine = REACHABLE, tables.c.source.in_(sources), _at_rest(self._db.clock, quiet_s)
        return len(ids_where(self._db, PENDING, FREE, AT_HAND, *mine))

    def pending(self) -> set[str]:
        """Return the tables of all sources that wait to be indexed, claimed, held, or neither."""
        return {*ids_where(self._db, PENDING)}

    def counts(
        self, max_attempts: int, sources: Sequence[str], quiet_s: float | None = None
    ) -> QueueCounts:
        """Count what `claim` would find in these sources, and what stands otherwise in all."""
        rested = _at_rest(self._db.clock, quiet_s)
        tried = _tried_again(self._db.clock, max_attempts, quiet_s)
        alive = and_(FREE, AT_HAND, REACHABLE, tables.c.deaths < max_attempts)
        mine = and_(alive, tables.c.source.in_(sources))
        never = tables.c.indexed_at.is_(None)
        left = to_forget(self._db.clock)
        counted = {
            "waiting": and_(mine, PENDING, rested),
            "settling": and_(mine, PENDING, ~rested),
            "failed": and_(mine, tried),
            "resting": and_(mine, _FAILED, ~tried, tables.c.attempts < max_attempts),
            "gone": left,
            "renamed": and_(left, RENAMED),
            "taken_back": and_(_FAILED, never),
            "claimed": tables.c.claimed_by.is_not(None),
            "indexed": ~never,
            "with_blocks": and_(
                ~never, tables.c.block_count > 0, or_(and_(AT_HAND, REACHABLE), ~PENDING)
            ),
            "unpublished": UNPUBLISHED,
        }
        columns = [func.count(case((one, 1))).label(name) for name, one in counted.items()]
        (row,) = self._db.read(select(*columns))
        return QueueCounts(**row._mapping)

    def release_claims(self, run_id: str) -> int:
        """Give up the claims of runs that died, but for `run_id`; returns of how many tables.

        A table that was being read when its run died may have killed it, and is charged.
        """
        deadly = select(schema.runs.c.reading).where(schema.runs.c.run_id == tables.c.claimed_by)
        with self._db.write() as connection:
            # Asked before, a run that began meanwhile would be taken for dead.
            dead = tables.c.claimed_by.not_in({run_id, *self._runs.living()})
            killed = and_(dead, tables.c.table_id == deadly.scalar_subquery())
            connection.execute(update(tables).where(killed).values(deaths=tables.c.deaths + 1))
            return connection.execute(update(tables).where(dead).values(claimed_by=None)).rowcount

    def deadly(self, deaths: int) -> list[str]:
        """Return the waiting tables during whose reading at least `deaths` runs died."""
        return ids_where(self._db, PENDING, FREE, AT_HAND, tables.c.deaths >= deaths)

    def claim(
        self,
        run_id: str,
        limit: int,
        max_attempts: int,
        sources: Sequence[str] = (),
        quiet_s: float | None = None,
    ) -> int:
        """Take up to `limit` waiting tables for this run, at whatever stage; returns how many.

        One that changed since somebody worked on it, or failed, starts from its first stage. Those
        of a source that cannot be listed wait until it can.

        Args:
            run_id: The run.
            limit: The most tables to take.
            max_attempts: How often a table may fail.
            sources: Whose tables.
            quiet_s: For how many seconds a changed table must not have been written; failed ones
                wait longer after each attempt. None: a person wants everything now.
        """
        ready = and_(PENDING, _at_rest(self._db.clock, quiet_s))
        waiting = or_(ready, _tried_again(self._db.clock, max_attempts, quiet_s))
        chosen = (
            select(tables.c.table_id)
            .where(FREE, AT_HAND, REACHABLE, waiting, tables.c.deaths < max_attempts)
            .where(tables.c.source.in_(sources))
            .order_by(tables.c.attempts, tables.c.table_id)
            .limit(limit)
        )
        begun = and_(PENDING, _UNCHANGED, tables.c.stage != str(Stage.INDEXED))
        held = select(func.count()).select_from(tables).where(tables.c.claimed_by == run_id)
        with self._db.write() as connection:
            connection.execute(
                update(tables)
                .where(tables.c.table_id.in_(chosen))
                .values(
                    claimed_by=run_id,
                    claimed_version=tables.c.version,
                    attempts=tables.c.attempts + 1,
                    state=case((_INCOMPLETE, "pending"), else_=tables.c.state),
                    retry_at=case((begun, tables.c.retry_at)),
                    stage=case((begun, tables.c.stage), else_=literal(str(Stage.LISTED))),
                )
            )
            return int(connection.execute(held).scalar_one())

    def take(self, run_id: str, ready: Stage) -> list[WorkItem]:
        """Return what this run holds at a stage, and what waits there since another run left it."""
        left = and_(FREE, PENDING, AT_HAND, tables.c.stage == str(ready), _UNCHANGED)
        with self._db.write() as connection:
            self.release_claims(run_id)
            connection.execute(update(tables).where(left).values(claimed_by=run_id))
        return self.claimed(run_id, ready)

    def claimed(self, run_id: str, stage: Stage | None = None) -> list[WorkItem]:
        """Return the tables this run holds, ordered by id; failed ones have left it."""
        held = select(tables).where(tables.c.claimed_by == run_id).order_by(tables.c.table_id)
        at_stage = true() if stage is None else tables.c.stage == str(stage)
        return [_item_of(row) for row in self._db.read(held.where(at_stage))]

    @contextmanager
    def holding(self, run_id: str, table_ids: Iterable[str]) -> Iterator[set[str]]:
        """Give those of these tables that this run still holds, for one transaction.

        A stage's results are written in it, as one act with the table's new stage.
        """
        held = select(tables.c.table_id).where(tables.c.claimed_by == run_id)
        with self._db.write():
            found = self._db.read_by(held, tables.c.table_id, table_ids)
            yield {row.table_id for row in found}

    def advance(self, run_id: str, stage: Stage, table_ids: Iterable[str]) -> None:
        """Move tables on that this run holds; last of all that a stage writes of them."""
        with self._db.write() as connection:
            update_rows(connection, table_ids, tables.c.claimed_by == run_id, stage=str(stage))

    def complete_later(
        self, run_id: str, table_ids: Iterable[str], *, released: bool = False
    ) -> None:
        """Let tables that this run makes searchable be completed later, each time after longer.

        Those that it does not (`released`) wait at their stage.
        """
        times = tables.c.incomplete + 1
        later: dict[str, Any] = {"incomplete": times, "retry_at": self._db.clock + _rest(times)}
        later |= {"claimed_by": None} if released else {}
        with self._db.write() as connection:
            update_rows(connection, table_ids, tables.c.claimed_by == run_id, **later)

    def save_profiles(self, run_id: str, profiled: Iterable[Table]) -> None:
        """Save what was read of tables: columns, number of rows, comment."""
        rows = {table.table_id: profile_columns(table) for table in profiled}
        with self._db.write() as connection, self.holding(run_id, rows) as mine:
            held = {table_id: rows[table_id] for table_id in rows if table_id in mine}
            update_each(connection, held, stage=str(Stage.PROFILED))
            self._statistics.note_row_counts({i: row["row_count"] for i, row in held.items()})

    def save_samples(self, run_id: str, samples: Sequence[Sampled]) -> None:
        """Save which rows stand for tables, and what these say, as one act."""
        with self.holding(run_id, (one.table_id for one in samples)) as mine:
            kept = [one for one in samples if one.table_id in mine]
            with self._db.write() as connection:
                for kind in dict.fromkeys(kind for one in kept for kind in one.documents):
                    made = [(one.table_id, one.documents[kind]) for one in kept]
                    replace_documents(connection, kind, made)
                rows = {
                    one.table_id: {
                        "sampled_rows": json.dumps([(r.position, r.key) for r in one.rows]),
                        "sampled_row_count": one.row_count,
                    }
                    for one in kept
                }
                known = tables.c.sampled_row_count
                count = func.coalesce(bindparam("new_sampled_row_count", type_=known.type), known)
                update_each(connection, rows, stage=str(Stage.SAMPLED), sampled_row_count=count)

    def fail(self, problem: Problem, run_id: str | None = None) -> bool:
        """Record why a table could not be worked on and let it go; older blocks stay searchable.

        Nothing is written where it is held or gone meanwhile, which is known, or another run than
        `run_id` has it now. Returns whether it was written.
        """
        table_id = problem.subject
        row = {**asdict(problem), "source": source_of(table_id)}
        state = select(tables.c.state, tables.c.held_since, tables.c.claimed_by)
        with self._db.write() as connection:
            found = connection.execute(state.where(tables.c.table_id == table_id)).first()
            if run_id is not None and (found is None or found.claimed_by != run_id):
                return False
            if found is not None and (found.held_since is not None or found.state == "gone"):
                update_rows(connection, [table_id], claimed_by=None)
                return False
            retry_at = self._db.clock + _rest(tables.c.attempts)
            failed = {"state": "failed", "claimed_by": None, "retry_at": retry_at}
            update_rows(connection, [table_id], **failed)
            upsert(connection, problems, [row])
        return True

    def mark_unannounced(self, run_id: str, table_ids: Iterable[str]) -> None:
        """Note before the index is written that people are to be told of these tables.

        Of a run that is killed before `finish`, the next one tells.
        """
        with self._db.write() as connection:
            mine = tables.c.claimed_by == run_id
            update_rows(connection, table_ids, mine, indexed_row_count=None)

    def finish(self, run_id: str, finished: Iterable[Finished]) -> list[str]:
        """Record that tables are searchable as they were when claimed, and let them go.

        One whose version moved on waits again. Returns those that this run no longer held, which
        begin anew: somebody else may have written something newer.
        """
        rows = {
            one.table_id: {"indexed_schema_hash": one.schema_hash, "block_count": one.blocks}
            for one in finished
        }
        with self.holding(run_id, rows) as mine, self._db.write() as connection:
            update_each(
                connection,
                {table_id: rows[table_id] for table_id in sorted(mine)},
                state=case((~THERE, "gone"), (_UNCHANGED, "indexed"), else_="pending"),
                stage=str(Stage.INDEXED),
                attempts=0,
                incomplete=case((tables.c.retry_at.is_(None), 0), else_=tables.c.incomplete),
                deaths=0,
                claimed_by=None,
                waits_since=case((_UNCHANGED, None), else_=tables.c.changed_at),
                indexed_version=tables.c.claimed_version,
                indexed_row_count=tables.c.row_count,
                indexed_at=self._db.clock,
            )
            hindered = problems.c.stage.not_in(_STILL_TRUE)
            delete_by(connection, problems.c.subject, sorted(mine), hindered)
            delete_of_tables(connection, mine, schema.staged_blocks, schema.evidence)
            lost = sorted(rows.keys() - mine)
            update_rows(connection, lost, THERE, **_FROM_START)
            return lost


_UNCHANGED = tables.c.version == tables.c.claimed_version
"""Of a table that is as it was when it was claimed."""


def _item_of(row: Row[Any]) -> WorkItem:
    marks = tuple(RowMark(*mark) for mark in json.loads(row.sampled_rows or "[]"))
    counts = row.indexed_schema_hash, row.indexed_row_count, row.sampled_row_count
    return WorkItem(ref_of(row), table_of(row), *counts, marks, Stage(row.stage))


def _at_rest(now: ColumnElement[float], quiet_s: float | None) -> ColumnElement[bool]:
    """Match tables that are not being written as far as anybody can tell, nor rest as slow ones.

    When a file was written is told by another clock, which may be ahead of this one; when the
    change was seen, by this one. The earlier of both counts.
    """
    if quiet_s is None:
        return true()
    quiet, longest = now - quiet_s, now - LONGEST * quiet_s
    written = or_(
        tables.c.changed_at.is_(None),
        tables.c.changed_at <= quiet,
        and_(tables.c.updated_at.is_not(None), tables.c.updated_at <= quiet),
        and_(tables.c.waits_since.is_not(None), tables.c.waits_since <= longest),
    )
    return and_(written, func.coalesce(tables.c.retry_at, now) <= now)


def _rest(times: ColumnElement[int]) -> ColumnElement[float]:
    """Return how long a table rests that was tried so many times."""
    return case(dict(enumerate(RETRY_AFTER_S, start=1)), value=times, else_=RETRY_DAILY_S)


def _tried_again(
    now: ColumnElement[float], max_attempts: int, quiet_s: float | None
) -> ColumnElement[bool]:
    """Match failed tables that have attempts left and, where they must, have rested.

    Incomplete ones always rest, as a run that a person starts is followed by others.
    """
    rested = or_(tables.c.retry_at.is_(None), tables.c.retry_at <= now)
    tried = and_(_FAILED, tables.c.attempts < max_attempts, true() if quiet_s is None else rested)
    return or_(tried, and_(_INCOMPLETE, rested))
