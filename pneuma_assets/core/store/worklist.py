"""The work list: which tables wait, what was done of each, which run works on it.

A table waits when its version differs from the one that was indexed. A run claims tables and moves
them on from stage to stage until they are searchable. What a run that is no more had claimed is
released, and whoever takes it goes on where that run stopped, unless the table changed meanwhile.
Nothing is written for a run that no longer holds the table.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    func,
    literal,
    or_,
    select,
    update,
)

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.store import schema
from pneuma_assets.core.store.comparing import compare
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.documents import replace_documents
from pneuma_assets.core.store.listings import listed_since, note_listing, note_sources
from pneuma_assets.core.store.narrations import forget_answers
from pneuma_assets.core.store.problems import shortened
from pneuma_assets.core.store.records import (
    RECORD_COLUMNS,
    Finished,
    Reconciliation,
    Sampled,
    Stage,
    TableRecord,
    ToDo,
    WorkItem,
    item_of,
    listed_columns,
    profile_columns,
    record_of,
    table_of,
)
from pneuma_assets.core.store.removals import CAREFUL, RemovalRule, tell_of_held
from pneuma_assets.core.store.runs import Runs
from pneuma_assets.core.store.schema import (
    column_descriptions,
    documents,
    evidence,
    meta,
    problems,
    staged_blocks,
    table_narrations,
    tables,
)
from pneuma_assets.core.store.statements import delete_by, insert_new, upsert
from pneuma_assets.core.tables import Problem, Table, TableRef, source_of

_ANEW: Mapping[str, Any] = {
    "state": "pending",
    "attempts": 0,
    "indexed_version": None,
    "claimed_version": None,
}
"""Lets a table wait; without a claimed version it begins anew, and no running run ends the wait."""

_SAME: BindParameter[str] = bindparam("wanted")
_TOO_LONG = "name"
"""The stage of a problem that nothing but a shorter name solves."""
_HELD = select(tables.c.table_id).where(
    tables.c.claimed_by == bindparam("run"),
    tables.c.table_id.in_(bindparam("some", expanding=True)),
)
_ASKED_AT_ONCE = 1000
_STILL_TRUE = ("contexts", "narrations", "values")
"""Stages whose problems do not keep a table from being indexed, and are not solved by that."""
_TABLE = select(tables).where(tables.c.table_id == _SAME)
_HELD_SINCE = select(tables.c.held_since).where(tables.c.table_id == _SAME)
_PENDING = tables.c.state == "pending"
_THERE = tables.c.state != "gone"
_RECORD = select(*RECORD_COLUMNS).where(tables.c.table_id == _SAME, _THERE)
_FREE = tables.c.claimed_by.is_(None)
_AT_HAND = tables.c.held_since.is_(None)
"""Of a table that can be read: one that is held is not where it was."""
_REACHABLE = tables.c.source.not_in(
    select(problems.c.source).where(
        problems.c.stage == "listing", problems.c.subject == problems.c.source
    )
)
"""Of a table whose source could be listed: others would only use up their attempts."""
_COMPARED = ("table_id", "state", "version", "location", "held_since")


class WorkList:
    """The part of the store that decides what is worked on."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._db = database
        self._runs = runs

    def use_recipe(self, recipe: str) -> bool:
        """Let every table wait if models or options differ from those used so far."""
        with self._db.write() as connection:
            known = connection.execute(select(meta.c.value).where(meta.c.key == "recipe")).scalar()
            if known == recipe:
                return False
            upsert(connection, meta, [{"key": "recipe", "value": recipe}])
            anew = update(tables).where(_THERE).values(**_ANEW, sampled_row_count=None)
            connection.execute(anew)
            return known is not None

    def recipe(self) -> str | None:
        """Return which models and options the tables are made with; None before the first run."""
        found = self._db.read(select(meta.c.value).where(meta.c.key == "recipe"))
        return found[0].value if found else None

    def reconcile(
        self,
        source: str,
        refs: Sequence[TableRef],
        unlisted: Sequence[str] = (),
        rule: RemovalRule | None = CAREFUL,
        began: float | None = None,
    ) -> Reconciliation:
        """Compare a listing of one source with what is known; absent tables are gone, or held.

        Tables whose ids begin with one of `unlisted` were out of sight and are left as they are.
        One whose id is too long for the database becomes a problem, and so do held ones together.

        Args:
            source: Its name.
            refs: What the listing showed.
            unlisted: What it could not show.
            rule: How many may be gone at once; None: all that are absent are gone, held ones too.
            began: When listing began, by the store's clock. Where somebody has listed the source
                since, this listing changes nothing; one of a person who gave no `rule` does.
        """
        columns = (tables.c[name] for name in _COMPARED)
        with self._db.write() as connection:
            now = float(connection.execute(select(self._db.clock)).scalar_one())
            found_rows = connection.execute(select(*columns).where(tables.c.source == source))
            rows = {row.table_id: row for row in found_rows}
            if rule is not None and listed_since(connection, source, began, now):
                held = sum(row.held_since is not None for row in rows.values())
                return Reconciliation(0, 0, len(refs), 0, held)
            refs = self._that_fit(connection, source, refs)
            found = compare(rows, refs, unlisted, rule)
            insert_new(connection, tables, [_new_row(source, ref) for ref in found.new])
            _update(connection, found.back, held_since=None, attempts=0, deaths=0)
            _relist(connection, found.changed)
            _update(connection, found.newly_held, held_since=now)
            _update(connection, found.gone, state="gone", held_since=None)
            tell_of_held(connection, source, found.held, found.known)
            note_listing(connection, source, unlisted, now)
        return found.counts()

    def _that_fit(
        self, connection: Connection, source: str, refs: Sequence[TableRef]
    ) -> Sequence[TableRef]:
        """Leave out what the database cannot keep under its name, and tell of it."""
        if self._db.longest_name is None:
            return refs
        too_long = [ref.table_id for ref in refs if not self._db.fits(ref.table_id)]
        here = and_(problems.c.source == source, problems.c.stage == _TOO_LONG)
        connection.execute(delete(problems).where(here))
        cause = (
            f"its id has more than {self._db.longest_name} bytes, the most that a server "
            "keeps; shorten its path"
        )
        told = {"source": source, "stage": _TOO_LONG, "cause": cause}
        upsert(connection, problems, [{**told, "subject": shortened(i)} for i in too_long])
        return [ref for ref in refs if self._db.fits(ref.table_id)] if too_long else refs

    def drop_sources(self, kept: Iterable[str]) -> int:
        """Mark the tables of every source that is no longer configured as gone."""
        kept = list(kept)
        with self._db.write() as connection:
            note_sources(connection, kept)
            connection.execute(delete(problems).where(problems.c.source.not_in(kept)))
            dropped = and_(_THERE, tables.c.source.not_in(kept))
            gone = update(tables).where(dropped).values(state="gone", held_since=None)
            return connection.execute(gone).rowcount

    def sources_but(self, names: Iterable[str]) -> list[str]:
        """Return all other sources that have tables, in order."""
        others = _THERE, tables.c.source.not_in(list(names))
        found = self._db.read(select(tables.c.source).where(*others).distinct())
        return sorted(row.source for row in found)

    def let_wait(self, table_ids: Iterable[str], *, sample: bool = False) -> None:
        """Let tables be indexed again whatever their version (lost blocks, a new context).

        A run that holds one of them does not end the wait. With `sample`, rows are drawn again.
        """
        anew = dict(_ANEW, sampled_row_count=None) if sample else _ANEW
        with self._db.write() as connection:
            _update(connection, table_ids, _THERE, **anew)

    def retry(self, sources: Sequence[str]) -> None:
        """Let failed tables of these sources be tried again: what hindered them may be cured."""
        failed = and_(tables.c.state == "failed", tables.c.source.in_(sources))
        with self._db.write() as connection:
            connection.execute(update(tables).where(failed).values(attempts=0))

    def release_claims(self, run_id: str) -> int:
        """Give up the claims of runs that no longer live; returns how many tables they held.

        A table that was being read when its run died may have killed it, and is charged. The
        claims of `run_id`, who asks, stay.
        """
        deadly = select(schema.runs.c.reading).where(schema.runs.c.run_id == tables.c.claimed_by)
        with self._db.write() as connection:
            # Asked before, a run that began meanwhile would be taken for dead.
            dead = tables.c.claimed_by.not_in({run_id, *self._runs.living()})
            connection.execute(
                update(tables)
                .where(dead, tables.c.table_id == deadly.scalar_subquery())
                .values(deaths=tables.c.deaths + 1)
            )
            return connection.execute(update(tables).where(dead).values(claimed_by=None)).rowcount

    def deadly(self, deaths: int) -> list[str]:
        """Return the waiting tables during whose reading at least `deaths` runs died."""
        return self._ids(_PENDING, _FREE, _AT_HAND, tables.c.deaths >= deaths)

    def claim(self, run_id: str, limit: int, max_attempts: int, sources: Sequence[str] = ()) -> int:
        """Take up to `limit` waiting tables for this run, at whatever stage; returns how many.

        One that changed since somebody worked on it, or failed, begins anew. Those of a source that
        cannot be listed wait until it can.
        """
        waiting = or_(_PENDING, _failed_before(max_attempts))
        chosen = (
            select(tables.c.table_id)
            .where(_FREE, _AT_HAND, _REACHABLE, waiting, tables.c.deaths < max_attempts)
            .where(tables.c.source.in_(sources))
            .order_by(tables.c.attempts, tables.c.table_id)
            .limit(limit)
        )
        begun = and_(
            _PENDING,
            tables.c.claimed_version == tables.c.version,
            tables.c.stage != str(Stage.INDEXED),
        )
        held = select(func.count()).select_from(tables).where(tables.c.claimed_by == run_id)
        with self._db.write() as connection:
            connection.execute(
                update(tables)
                .where(tables.c.table_id.in_(chosen))
                .values(
                    claimed_by=run_id,
                    claimed_version=tables.c.version,
                    attempts=tables.c.attempts + 1,
                    stage=case((begun, tables.c.stage), else_=literal(str(Stage.LISTED))),
                )
            )
            return int(connection.execute(held).scalar_one())

    def take(self, run_id: str, ready: Stage) -> list[WorkItem]:
        """Return what this run holds at a stage, and all else that waits there and nobody holds.

        So a stage goes on with what another run has left, or what was never meant to go further.
        """
        left = and_(
            _FREE,
            _PENDING,
            _AT_HAND,
            tables.c.stage == str(ready),
            tables.c.claimed_version == tables.c.version,
        )
        with self._db.write() as connection:
            self.release_claims(run_id)
            connection.execute(update(tables).where(left).values(claimed_by=run_id))
        return self.claimed(run_id, ready)

    def claimed(self, run_id: str, stage: Stage | None = None) -> list[WorkItem]:
        """Return the tables this run holds, ordered by id; failed ones have left it."""
        held = [tables.c.claimed_by == run_id]
        if stage is not None:
            held.append(tables.c.stage == str(stage))
        found = self._db.read(select(tables).where(*held).order_by(tables.c.table_id))
        return [item_of(row) for row in found]

    @contextmanager
    def holding(self, run_id: str, table_ids: Iterable[str]) -> Iterator[set[str]]:
        """Give those of these tables that this run still holds, for one transaction.

        What is written inside the `with` block of a stage's results is so written for nobody
        else, and as one act with the table's new stage.
        """
        with self._db.write() as connection:
            yield _held(connection, run_id, table_ids)

    def advance(self, run_id: str, stage: Stage, table_ids: Iterable[str]) -> None:
        """Move tables on that this run holds; last of all that a stage writes of them."""
        with self._db.write() as connection:
            _update(connection, table_ids, tables.c.claimed_by == run_id, stage=str(stage))

    def waiting(self, sources: Sequence[str]) -> int:
        """Return how many tables of these sources wait, can be read, and are claimed by no run."""
        mine = _REACHABLE, tables.c.source.in_(sources)
        return len(self._ids(_PENDING, _FREE, _AT_HAND, *mine))

    def waits(self, table_id: str) -> bool:
        """Tell whether a table waits to be indexed, be it that a run is at it."""
        return bool(self._ids(_PENDING, tables.c.table_id == table_id))

    def to_do(self, max_attempts: int, sources: Sequence[str]) -> ToDo:
        """Count what `claim` would find in these sources, and what stands otherwise in all."""
        alive = and_(_FREE, _AT_HAND, _REACHABLE, tables.c.deaths < max_attempts)
        mine = and_(alive, tables.c.source.in_(sources))
        never = tables.c.indexed_at.is_(None)
        counted = {
            "waiting": and_(mine, _PENDING),
            "failed": and_(mine, _failed_before(max_attempts)),
            "gone": and_(_FREE, tables.c.state == "gone"),
            "taken_back": and_(tables.c.state == "failed", never),
            "claimed": tables.c.claimed_by.is_not(None),
            "indexed": ~never,
            "with_blocks": and_(
                ~never, tables.c.block_count > 0, or_(and_(_AT_HAND, _REACHABLE), ~_PENDING)
            ),
        }
        columns = [func.count(case((one, 1))).label(name) for name, one in counted.items()]
        (row,) = self._db.read(select(*columns))
        return ToDo(**row._mapping)

    def pending(self) -> int:
        """Return how many tables of all sources wait to be indexed, claimed, held, or neither."""
        return len(self._ids(_PENDING))

    def known(self) -> set[str]:
        """Return the ids of all tables, those included that are gone but not yet forgotten."""
        return set(self._ids())

    def indexed(self) -> list[str]:
        """Return the ids of the tables that are searchable and have not left their source."""
        return self._ids(tables.c.indexed_at.is_not(None), _THERE)

    def listed(self) -> list[str]:
        """Return the ids of the tables that have not left their source, in order."""
        return self._ids(_THERE)

    def taken_back(self) -> list[str]:
        """Return the failed tables of which nothing is to be found."""
        return self._ids(tables.c.state == "failed", tables.c.indexed_at.is_(None))

    def gone(self) -> list[str]:
        """Return the tables that have left their source but not yet the index."""
        return self._ids(tables.c.state == "gone", _FREE)

    def _ids(self, *where: ColumnElement[bool]) -> list[str]:
        found = self._db.read(select(tables.c.table_id).where(*where).order_by(tables.c.table_id))
        return [row.table_id for row in found]

    def ids(self, source: str) -> dict[tuple[str, str], str]:
        """Return the ids of a source's tables by location and format."""
        columns = tables.c.location, tables.c.format, tables.c.table_id
        found = self._db.read(select(*columns).where(tables.c.source == source))
        return {(row.location, row.format): row.table_id for row in found}

    def tables(self, table_ids: Iterable[str]) -> Iterator[Table]:
        """Yield the profiles of these tables, of those that were ever read."""
        for table_id in table_ids:
            for row in self._db.read(_TABLE, wanted=table_id):
                table = table_of(row)
                if table is not None:
                    yield table

    def records(self) -> list[TableRecord]:
        """Return every table that has not left its source, ordered by id."""
        found = self._db.read(select(*RECORD_COLUMNS).where(_THERE).order_by(tables.c.table_id))
        return [record_of(row) for row in found]

    def record(self, table_id: str) -> TableRecord | None:
        """Return one table; None if it has left its source, or was never in it."""
        found = self._db.read(_RECORD, wanted=table_id)
        return record_of(found[0]) if found else None

    def save_profiles(self, run_id: str, profiled: Iterable[Table]) -> None:
        """Keep what was read of tables: columns, number of rows, comment."""
        rows = [{"wanted": table.table_id, **profile_columns(table)} for table in profiled]
        if not rows:
            return
        held = update(tables).where(tables.c.table_id == _SAME, tables.c.claimed_by == run_id)
        with self._db.write() as connection:
            connection.execute(held.values(stage=str(Stage.PROFILED)), rows)

    def save_samples(self, run_id: str, samples: Sequence[Sampled]) -> None:
        """Keep which rows stand for tables, and what these say, as one act."""
        rows = [
            {
                "wanted": sample.table_id,
                "sampled_rows": json.dumps([(mark.position, mark.key) for mark in sample.rows]),
                "counted": sample.row_count,
            }
            for sample in samples
        ]
        if not rows:
            return
        counted = func.coalesce(
            bindparam("counted", type_=tables.c.row_count.type), tables.c.sampled_row_count
        )
        held = update(tables).where(tables.c.table_id == _SAME, tables.c.claimed_by == run_id)
        with self._db.write() as connection:
            mine = _held(connection, run_id, (sample.table_id for sample in samples))
            kept = [sample for sample in samples if sample.table_id in mine]
            for kind in dict.fromkeys(kind for sample in kept for kind in sample.documents):
                replace_documents(connection, kind, [(s.table_id, s.documents[kind]) for s in kept])
            connection.execute(
                held.values(sampled_row_count=counted, stage=str(Stage.SAMPLED)), rows
            )

    def fail(self, problem: Problem, run_id: str | None = None) -> bool:
        """Record why a table could not be worked on and let it go; older blocks stay searchable.

        Of one that is held meanwhile the cause is known: it is let go as it was.

        Args:
            problem: Its subject is the table.
            run_id: The run that met it; nothing is written where another one has the table now.
                None: whoever has it.

        Returns:
            Whether it was written.
        """
        found = {
            "subject": problem.subject,
            "source": source_of(problem.subject),
            "stage": problem.stage,
            "cause": problem.cause,
        }
        with self._db.write() as connection:
            if run_id is not None and not _held(connection, run_id, [problem.subject]):
                return False
            if connection.execute(_HELD_SINCE, {"wanted": problem.subject}).scalar() is not None:
                _update(connection, [problem.subject], claimed_by=None)
                return False
            _update(connection, [problem.subject], state="failed", claimed_by=None)
            upsert(connection, problems, [found])
        return True

    def take_back(self, table_id: str) -> None:
        """Forget what was read of a table that may not be read any more; the index loses it, too.

        `taken_back` names it until then.
        """
        forgotten = ("indexed_version", "indexed_at", "block_count", "sampled_rows")
        with self._db.write() as connection:
            _update(connection, [table_id], **dict.fromkeys((*forgotten, "sampled_row_count")))
            for table in (
                *(documents, column_descriptions, table_narrations, staged_blocks, evidence),
            ):
                delete_by(connection, table.c.table_id, [table_id])
            forget_answers(connection, [table_id])

    def finish(self, run_id: str, finished: Iterable[Finished]) -> list[str]:
        """Record that tables are searchable as they were when claimed, and let them go.

        A table whose version moved on meanwhile waits again; one that is gone stays gone. Returns
        those that this run no longer held: somebody else may have written something newer before
        or after, so they begin anew.
        """
        by_id = {item.table_id: item for item in finished}
        with self._db.write() as connection:
            mine = _held(connection, run_id, by_id)
            rows = [
                {
                    "wanted": table_id,
                    "indexed_schema_hash": by_id[table_id].schema_hash,
                    "block_count": by_id[table_id].blocks,
                }
                for table_id in sorted(mine)
            ]
            if rows:
                connection.execute(self._finishing(), rows)
                solved = and_(
                    problems.c.subject == _SAME,
                    *(problems.c.stage != stage for stage in _STILL_TRUE),
                )
                connection.execute(delete(problems).where(solved), [{"wanted": i} for i in mine])
                for table in (staged_blocks, evidence):
                    delete_by(connection, table.c.table_id, mine)
            lost = sorted(by_id.keys() - mine)
            _update(connection, lost, _THERE, **_ANEW)
            return lost

    def _finishing(self) -> Any:
        same = tables.c.version == tables.c.claimed_version
        state = case((tables.c.state == "gone", "gone"), (same, "indexed"), else_="pending")
        return (
            update(tables)
            .where(tables.c.table_id == _SAME)
            .values(
                state=state,
                stage=str(Stage.INDEXED),
                attempts=0,
                deaths=0,
                claimed_by=None,
                indexed_version=tables.c.claimed_version,
                indexed_row_count=tables.c.row_count,
                indexed_at=self._db.clock,
            )
        )

    def forget(self, table_ids: Sequence[str]) -> None:
        """Remove every trace of tables that are gone, once the index holds nothing of them.

        One that came back meanwhile stays.
        """
        with self._db.write() as connection:
            gone = select(tables.c.table_id).where(tables.c.state == "gone", _FREE)
            table_ids = sorted({*connection.execute(gone).scalars()} & {*table_ids})
            for table in (
                *(tables, documents, column_descriptions, table_narrations),
                *(staged_blocks, evidence),
            ):
                delete_by(connection, table.c.table_id, table_ids)
            forget_answers(connection, table_ids)
            delete_by(connection, problems.c.subject, table_ids)


def _failed_before(max_attempts: int) -> ColumnElement[bool]:
    """Match failed tables that are tried again."""
    return and_(tables.c.state == "failed", tables.c.attempts < max_attempts)


def _held(connection: Connection, run_id: str, table_ids: Iterable[str]) -> set[str]:
    """Return those of some tables that a run holds; it may hold very many more."""
    held: set[str] = set()
    for some in chunks(list(table_ids), _ASKED_AT_ONCE):
        values = {"run": run_id, "some": some}
        held.update(connection.execute(_HELD, values).scalars())
    return held


def _relist(connection: Connection, changed: Sequence[TableRef]) -> None:
    """Let tables begin anew that are not as they were when last listed."""
    if changed:
        connection.execute(
            update(tables)
            .where(tables.c.table_id == _SAME)
            .values(state="pending", attempts=0, deaths=0, claimed_version=None),
            [{"wanted": ref.table_id, **listed_columns(ref)} for ref in changed],
        )


def _new_row(source: str, ref: TableRef) -> dict[str, Any]:
    return {
        "table_id": ref.table_id,
        "source": source,
        "state": "pending",
        **listed_columns(ref),
    }


def _update(
    connection: Connection,
    table_ids: Iterable[str],
    *where: ColumnElement[bool],
    **values: Any,
) -> None:
    """Set the same values in the rows of some tables, however many they are."""
    rows = [{"wanted": table_id} for table_id in table_ids]
    if rows:
        connection.execute(
            update(tables).where(tables.c.table_id == _SAME, *where).values(**values), rows
        )
