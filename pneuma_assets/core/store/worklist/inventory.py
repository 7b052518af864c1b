"""Which tables the sources have, by their listings."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    and_,
    bindparam,
    case,
    delete,
    func,
    select,
    update,
)

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.listings import listed_since, note_listing, note_sources
from pneuma_assets.core.store.notices import forget_others, heed
from pneuma_assets.core.store.problems import shortened
from pneuma_assets.core.store.removals import CAREFUL, RemovalRule, tell_of_held
from pneuma_assets.core.store.renaming import move_tables
from pneuma_assets.core.store.schema import problems, tables
from pneuma_assets.core.store.statements import insert_new, upsert
from pneuma_assets.core.store.worklist.comparing import Reconciliation, compare
from pneuma_assets.core.store.worklist.conditions import PENDING, THERE
from pneuma_assets.core.store.worklist.listed import TOLD_COLUMNS, listed_columns
from pneuma_assets.core.store.worklist.rows import SAME, update_rows
from pneuma_assets.core.tables import TableRef

_TOO_LONG = "name"
"""The stage of a problem that nothing but a shorter name solves."""

_COMPARED = ("table_id", "state", "version", "location", "held_since", "format", *TOLD_COLUMNS)


class Inventory:
    """The part of the store that compares listings with what is known."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def reconcile(
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
                since, this listing changes nothing; one of a person who gave no `rule` does.
        """
        columns = (tables.c[name] for name in _COMPARED)
        with self._db.write() as connection:
            now = self._db.now()
            found_rows = connection.execute(select(*columns).where(tables.c.source == source))
            rows = {row.table_id: row for row in found_rows}
            if rule is not None and listed_since(connection, source, began, now):
                held = sum(row.held_since is not None for row in rows.values())
                return Reconciliation(0, 0, len(refs), 0, held)
            refs = self._that_fit(connection, source, refs)
            found = compare(rows, refs, unlisted, rule)
            insert_new(connection, tables, [_new_row(source, ref, now) for ref in found.new])
            update_rows(
                connection, found.back, held_since=None, attempts=0, deaths=0, retry_at=None
            )
            _relist(connection, found.changed, now)
            _retell(connection, found.retold)
            update_rows(connection, found.newly_held, held_since=now)
            move_tables(connection, found.renamed)
            gone = [*found.gone, *found.renamed]
            update_rows(connection, gone, state="gone", held_since=None, changed_at=now)
            tell_of_held(connection, source, found.held, found.known)
            note_listing(connection, source, unlisted, now)
            heed(connection, source, began)
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
            forget_others(connection, kept)
            connection.execute(delete(problems).where(problems.c.source.not_in(kept)))
            dropped = and_(THERE, tables.c.source.not_in(kept))
            gone = update(tables).where(dropped).values(state="gone", held_since=None)
            return connection.execute(gone).rowcount

    def sources_but(self, names: Iterable[str]) -> list[str]:
        """Return all other sources that have tables, in order."""
        others = THERE, tables.c.source.not_in(list(names))
        found = self._db.read(select(tables.c.source).where(*others).distinct())
        return sorted(row.source for row in found)


def _relist(connection: Connection, changed: Sequence[TableRef], now: float) -> None:
    """Let tables begin anew that are not as they were when last listed."""
    since = case((PENDING, func.coalesce(tables.c.waits_since, now)), else_=now)
    if changed:
        connection.execute(
            update(tables)
            .where(tables.c.table_id == SAME)
            .values(
                state="pending",
                attempts=0,
                deaths=0,
                claimed_version=None,
                retry_at=None,
                waits_since=since,
                changed_at=now,
                renamed_to=None,
            ),
            [{"wanted": ref.table_id, **listed_columns(ref)} for ref in changed],
        )


def _retell(connection: Connection, refs: Sequence[TableRef]) -> None:
    """Write down what is told of tables that are as they were, which do not wait for it."""
    if refs:
        values: dict[str, BindParameter[Any]] = {
            name: bindparam(f"new_{name}") for name in TOLD_COLUMNS
        }
        rows = [
            {"wanted": ref.table_id, **{f"new_{n}": listed_columns(ref)[n] for n in TOLD_COLUMNS}}
            for ref in refs
        ]
        connection.execute(update(tables).where(tables.c.table_id == SAME).values(values), rows)


def _new_row(source: str, ref: TableRef, now: float) -> dict[str, Any]:
    """Return the row of a table that nobody knew.

    One whose source does not tell when it was written is taken to be at rest: a database shows
    what was committed, and a warehouse that is listed for the first time should not wait.
    """
    return {
        "table_id": ref.table_id,
        "source": source,
        "state": "pending",
        **listed_columns(ref),
        "changed_at": None if ref.updated_at is None else now,
        "waits_since": now,
    }
