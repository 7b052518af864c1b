"""Which tables the sources have: what a listing of a source changes of what is known of it.

What others say has changed is a notice about a source, which stays until a listing that began later
has ended: what was said while one went on, or before a process died, is not lost.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import Connection, and_, case, delete, func, select, update

from pneuma_assets.core.changes.renames import Named, renamed
from pneuma_assets.core.store.database import StorePart, get_json, put_json
from pneuma_assets.core.store.problems import SLOW, shortened
from pneuma_assets.core.store.removals import (
    CAREFUL,
    RemovalRule,
    held_among,
    report_pending_removals,
)
from pneuma_assets.core.store.renaming import move_tables
from pneuma_assets.core.store.schema import insert_new, listings, notices, problems, tables, upsert
from pneuma_assets.core.store.tables import (
    PENDING,
    THERE,
    TOLD_COLUMNS,
    listed_columns,
    update_each,
    update_rows,
)
from pneuma_assets.core.tables import TableRef, source_of

MOST_NOTICES = 10_000
"""Subjects kept of a source; where there would be more, one notice stands for the whole source."""

RESTS = 10.0
"""A source that takes long is listed again after so many times what that took."""

_SOURCES = "sources"
_TIMES = "listing times"
_TOO_LONG = "name"
"""The stage of a problem that nothing but a shorter name solves."""

_SLOW = tables.c.table_id.in_(select(problems.c.subject).where(problems.c.stage == SLOW))
"""Of a table that is as slow, likely, whatever its rows are by now."""

_COMPARED = ("table_id", "state", "version", "location", "held_since", "format", *TOLD_COLUMNS)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What one listing changed in the work list."""

    new: int
    changed: int
    unchanged: int
    gone: int
    held: int = 0
    renamed: int = 0

    @property
    def listed(self) -> int:
        """Tables that the listing showed."""
        return self.new + self.changed + self.unchanged + self.renamed


@dataclass(frozen=True, slots=True)
class ListingTime:
    """How a tick listed a source last: when it began, by the store's clock, and how long it took.

    `seconds` is what the last listing took that ended, None where none did. It is `open` while it
    goes on, or where it ended with its process.
    """

    begun_at: float
    seconds: float | None = None
    open: bool = False

    def is_slow(self, budget_s: float) -> bool:
        """Tell whether the source takes longer to list than a tick has time for."""
        return self.open or (self.seconds is not None and self.seconds > budget_s)

    def may_go_on(self, now: float, budget_s: float) -> bool:
        """Tell whether the listing that was begun last may not have ended yet."""
        return self.open and now < self.due_at(budget_s)

    def due_at(self, budget_s: float) -> float:
        """Return when a slow source is listed again; one that did not end, when it should have."""
        if self.open or self.seconds is None:
            return self.begun_at + max(2 * budget_s, self.seconds or 0.0)
        return self.begun_at + RESTS * self.seconds


@dataclass(frozen=True, slots=True)
class Notice:
    """What is said of one source and not looked at yet.

    So many of its `subjects` are named (the source itself counts as one), the first at `since`, by
    the store's clock, and the last for this `reason`, which may be empty.
    """

    subjects: int
    since: float
    reason: str


class Listings(StorePart):
    """The part of the store that compares listings with what is known."""

    def sync(
        self,
        source: str,
        refs: Sequence[TableRef],
        unlisted: Sequence[str] = (),
        rule: RemovalRule | None = CAREFUL,
        began: float | None = None,
    ) -> Reconciliation:
        """Compare a listing of one source with what is known; absent tables are gone, or held.

        One that is absent and one that is new are the same table where they have one identity:
        what is known and said of it goes over to its new id, which then is brought to the index.

        Tables whose ids begin with one of `unlisted` were out of sight and are left as they are.
        One whose id is too long for the database becomes a problem, and so do held ones together.

        Args:
            source: Its name.
            refs: What the listing showed.
            unlisted: What it could not show.
            rule: How many may be gone at once; None: all that are absent are gone, held ones too.
            began: When listing began, by the store's clock. Where somebody has listed the source
                since, this listing changes nothing, unless a person gave no `rule`.
        """
        columns = (tables.c[name] for name in _COMPARED)
        with self._db.write() as connection:
            now = self._db.now()
            known = connection.execute(select(*columns).where(tables.c.source == source))
            rows = {row.table_id: row for row in known}
            if rule is not None and _listed_since(connection, source, began, now):
                held = sum(row.held_since is not None for row in rows.values())
                return Reconciliation(0, 0, len(refs), 0, held)
            refs = self._that_fit(connection, source, refs)
            found = compare(rows, refs, unlisted, rule)
            insert_new(connection, tables, [_new_row(source, ref, now) for ref in found.new])
            back = {"held_since": None, "attempts": 0, "deaths": 0, "retry_at": None}
            update_rows(connection, found.back, **back)
            update_each(
                connection,
                {ref.table_id: listed_columns(ref) for ref in found.changed},
                **{"state": "pending", "deaths": 0, "claimed_version": None},
                **{"changed_at": now, "renamed_to": None},
                attempts=case((_SLOW, tables.c.attempts), else_=0),
                retry_at=case((_SLOW, tables.c.retry_at)),
                waits_since=case((PENDING, func.coalesce(tables.c.waits_since, now)), else_=now),
            )
            update_each(connection, {ref.table_id: _told(ref) for ref in found.retold})
            update_rows(connection, found.newly_held, held_since=now)
            move_tables(connection, found.renamed)
            gone = [*found.gone, *found.renamed]
            update_rows(connection, gone, state="gone", held_since=None, changed_at=now)
            report_pending_removals(connection, source, found.held, found.known)
            # This stays true when the source is away later: what it showed is known by then.
            row = {"source": source, "unlisted": json.dumps(list(unlisted)), "listed_at": now}
            upsert(connection, listings, [row])
            heeded = notices.c.source == source
            if began is not None:
                heeded &= notices.c.noted_at < began
            connection.execute(delete(notices).where(heeded))
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
        row = {"source": source, "stage": _TOO_LONG, "cause": cause}
        upsert(connection, problems, [{**row, "subject": shortened(i)} for i in too_long])
        return [ref for ref in refs if self._db.fits(ref.table_id)] if too_long else refs

    def drop_sources(self, kept: Iterable[str]) -> int:
        """Mark the tables of every source that is no longer configured as gone."""
        kept = list(kept)
        with self._db.write() as connection:
            put_json(self._db, _SOURCES, kept)
            for table in (listings, notices, problems):
                connection.execute(delete(table).where(table.c.source.not_in(kept)))
            dropped = and_(THERE, tables.c.source.not_in(kept))
            gone = update(tables).where(dropped).values(state="gone", held_since=None)
            return connection.execute(gone).rowcount

    def other_sources(self, names: Iterable[str]) -> list[str]:
        """Return all other sources that have tables, in order."""
        others = THERE, tables.c.source.not_in(list(names))
        found = self._db.read(select(tables.c.source).where(*others).distinct())
        return sorted(row.source for row in found)

    def listed_at(self) -> dict[str, float]:
        """Return when sources were listed last, by the store's clock, of those that ever were."""
        found = self._db.read(select(listings.c.source, listings.c.listed_at))
        return {row.source: row.listed_at for row in found}

    def in_sight(self, table_ids: Iterable[str]) -> set[str]:
        """Return those tables whose source was listed there, or is no longer configured."""
        found = self._db.read(select(listings.c.source, listings.c.unlisted))
        hidden = {row.source: tuple(json.loads(row.unlisted)) for row in found}
        configured = get_json(self._db, _SOURCES)

        def visible(table_id: str) -> bool:
            source = source_of(table_id)
            if source in hidden:
                return not table_id.startswith(hidden[source])
            return configured is not None and source not in configured

        return {table_id for table_id in table_ids if visible(table_id)}

    def times(self) -> dict[str, ListingTime]:
        """Return how ticks listed each source last.

        A tick may be ended from outside: what it begins is noted before, and the next begins with
        another source.
        """
        found = get_json(self._db, _TIMES) or {}
        return {source: ListingTime(**time) for source, time in found.items()}

    def _keep_times(self, known: Mapping[str, ListingTime]) -> None:
        put_json(self._db, _TIMES, {source: asdict(time) for source, time in known.items()})

    def begin(self, source: str, configured: Collection[str]) -> None:
        """Note that a source is being listed now; sources that are not configured are forgotten."""
        with self._db.write():
            known = {name: time for name, time in self.times().items() if name in configured}
            before = known.get(source)
            seconds = None if before is None else before.seconds
            known[source] = ListingTime(self._db.now(), seconds, open=True)
            self._keep_times(known)

    def end(self, source: str, seconds: float) -> None:
        """Note what the listing took that was begun last."""
        with self._db.write():
            known = self.times()
            if source in known:
                known[source] = ListingTime(known[source].begun_at, round(seconds, 3))
                self._keep_times(known)

    def mark_changed(self, source: str, subjects: Collection[str], reason: str) -> None:
        """Save a notice that these have changed, and who says so; said again, it is as new.

        `subjects` are ids of tables, or what names them to people; empty: the source itself.
        """
        here = notices.c.source == source
        with self._db.write() as connection:
            known = set(connection.execute(select(notices.c.subject).where(here)).scalars())
            named = {one if self._db.fits(one) else shortened(one) for one in subjects}
            if not named or len(known | named) > MOST_NOTICES:
                connection.execute(delete(notices).where(here))
                named = {source}
            row = {"source": source, "reason": reason, "noted_at": self._db.now()}
            upsert(connection, notices, [{**row, "subject": one} for one in sorted(named)])

    def notices(self) -> dict[str, Notice]:
        """Return the sources that are to be listed because of notices."""
        newest = select(notices.c.source, notices.c.reason).order_by(notices.c.noted_at)
        reasons = {row.source: row.reason for row in self._db.read(newest)}
        counted = select(
            notices.c.source,
            func.count().label("subjects"),
            func.min(notices.c.noted_at).label("since"),
        ).group_by(notices.c.source)
        return {
            row.source: Notice(row.subjects, row.since, reasons.get(row.source, ""))
            for row in self._db.read(counted)
        }


def _listed_since(connection: Connection, source: str, began: float | None, now: float) -> bool:
    """Tell whether a source was listed after `began`, by a clock that was not set back since."""
    if began is None:
        return False
    last = connection.execute(select(listings.c.listed_at).where(listings.c.source == source))
    at = last.scalar()
    return at is not None and began < at <= now


def _new_row(source: str, ref: TableRef, now: float) -> dict[str, Any]:
    """Return the row of a new table, at rest where its source does not tell when it was written."""
    return {
        "table_id": ref.table_id,
        "source": source,
        "state": "pending",
        **listed_columns(ref),
        "changed_at": None if ref.updated_at is None else now,
        "waits_since": now,
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """What is to become of the tables of a source."""

    new: Sequence[TableRef]
    """Tables that nobody knew."""
    changed: Sequence[TableRef]
    """Those that are not as they were, or were gone."""
    unchanged: int
    """How many are."""
    retold: Sequence[TableRef]
    """Those of these of which the listing tells something else than it did."""
    back: Sequence[str]
    """Those that were held and are listed again."""
    gone: Sequence[str]
    newly_held: Sequence[str]
    held: Sequence[str]
    """All that are held now."""
    known: int
    """How many there were, held ones included."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """What tables are called now, by their id before: neither new nor gone. What is known of them
    moves to a row of the new name, be it one of `new` or of `changed`."""

    def counts(self) -> Reconciliation:
        """Return how many of each there are."""
        moved = set(self.renamed.values())
        new, changed = (
            sum(ref.table_id not in moved for ref in refs) for refs in (self.new, self.changed)
        )
        others = self.unchanged, len(self.gone), len(self.held), len(moved)
        return Reconciliation(new, changed, *others)


def compare(
    known: Mapping[str, Any],
    refs: Sequence[TableRef],
    unlisted: Sequence[str],
    rule: RemovalRule | None,
) -> Compared:
    """Compare the rows of a source's tables (`_COMPARED`), by id, with a listing of it.

    The other arguments are those of `Listings.sync`.
    """
    there = {i: row for i, row in known.items() if row.state != "gone"}
    listed, out_of_sight = {ref.table_id for ref in refs}, tuple(unlisted)
    seen = {i: r for i, r in there.items() if i in listed or not i.startswith(out_of_sight)}
    absent = {i: row for i, row in seen.items() if i not in listed}
    moved = renamed(
        (Named(i, _marks(row)) for i, row in absent.items()),
        (Named(ref.table_id, _marks(ref)) for ref in refs if ref.table_id not in there),
    )
    seen = {i: row for i, row in seen.items() if i not in moved}
    absent = {i: row for i, row in absent.items() if i not in moved}
    held = held_among(absent, len(seen), rule)
    held_before = {i for i, r in there.items() if r.held_since is not None and i not in moved}
    before = [ref for ref in refs if ref.table_id in known]
    changed = [ref for ref in before if _differs(known[ref.table_id], ref)]
    same = [ref for ref in before if not _differs(known[ref.table_id], ref)]
    return Compared(
        [ref for ref in refs if ref.table_id not in known],
        changed,
        unchanged=len(same),
        retold=[ref for ref in same if _is_retold(known[ref.table_id], ref)],
        back=sorted(held_before & listed),
        gone=sorted(absent.keys() - held),
        newly_held=sorted(held - held_before),
        held=sorted(held | (held_before - seen.keys())),
        known=len(there),
        renamed=moved,
    )


def _marks(table: Any) -> tuple[object, ...]:
    """Return what of a table stays the same when it is renamed, of a row and a reference alike."""
    return () if table.identity is None else (table.identity, table.format)


def _differs(row: Any, ref: TableRef) -> bool:
    """Tell whether a listed table is another one than the stored row says."""
    return bool(row.state == "gone" or row.version != ref.version or row.location != ref.location)


def _told(ref: TableRef) -> dict[str, Any]:
    """Return what is told of a table that is as it was, which does not wait for it."""
    listed = listed_columns(ref)
    return {name: listed[name] for name in TOLD_COLUMNS}


def _is_retold(row: Any, ref: TableRef) -> bool:
    """Tell whether a listing tells of a table what the row does not."""
    return any(getattr(row, name) != value for name, value in _told(ref).items())
