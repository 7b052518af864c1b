"""Tables that leave: whether a listing is to be believed, and what is forgotten then.

An empty mount point lists as a folder without tables, a schema without its grant as none. So most
of a source's tables are not believed to be gone at once: they are held, searchable as they were and
read by nobody, until they are listed again or a person lets them go.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, delete, select

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart, get, put
from pneuma_assets.core.store.schema import delete_by, delete_of_tables, problems, tables, upsert
from pneuma_assets.core.store.tables import (
    FREE,
    RENAMED,
    ids_where,
    remembered,
    to_forget,
    update_rows,
)
from pneuma_assets.core.text.safe import one_line, printable

STAGE = "removals"
"""The stage of the problem that a source has while tables of it are held."""

OF_TABLE = (
    *(schema.documents, schema.column_descriptions, schema.table_narrations),
    *(schema.staged_blocks, schema.evidence, schema.drawn, schema.mined_questions),
    *(schema.narrations, schema.column_profiles),
)
"""What is known of tables alone because somebody read them."""

_RENAMING = "renaming"
_NAMED = 3
_NAME_LENGTH = 80
_UNINDEXED: Mapping[str, Any] = {"indexed_at": None, "block_count": None}
_UNREAD: Mapping[str, Any] = {
    **_UNINDEXED,
    **dict.fromkeys(("indexed_version", "sampled_rows", "sampled_row_count")),
}


@dataclass(frozen=True, slots=True)
class RemovalRule:
    """Which share of the tables that a listing could see, and at least how many, are held."""

    share: float = 0.5
    least: int = 10

    def holds(self, absent: int, seen: int) -> bool:
        """Tell whether `absent` of `seen` tables are too many to be believed."""
        return absent >= self.least and absent > self.share * seen

    def of_a_bare_source(self) -> "RemovalRule":
        """Return what holds where nothing at all is left: a small lake may be away as a whole."""
        return RemovalRule(self.share, 1)


CAREFUL = RemovalRule()
"""What holds where nobody configured anything else."""


def held_among(absent: Mapping[str, Any], seen: int, rule: RemovalRule | None) -> set[str]:
    """Return which of the absent tables of a listing, which should have `seen` so many, are held.

    Those held before count among them and stay so. Without a `rule` a person lets all of them go.
    """
    if rule is None:
        return set()
    if rule.holds(len(absent), seen):
        return set(absent)
    return {table_id for table_id, row in absent.items() if row.held_since is not None}


def report_pending_removals(
    connection: Connection, source: str, held: Sequence[str], known: int
) -> None:
    """Let a source of `known` tables have a problem while some are held, and none after."""
    here = and_(problems.c.source == source, problems.c.stage == STAGE)
    connection.execute(delete(problems).where(here))
    if held:
        row = {"subject": source, "source": source, "stage": STAGE}
        upsert(connection, problems, [{**row, "cause": _cause(source, held, known)}])


def how_to_accept(source: str) -> str:
    """Return what lets the held tables of this source go, and of no other."""
    return f"'pneuma-assets index --source {source} --accept-removals'"


def _cause(source: str, held: Sequence[str], known: int) -> str:
    named = [one_line(printable(table_id), _NAME_LENGTH) for table_id in sorted(held)[:_NAMED]]
    more = ", …" if len(held) > _NAMED else ""
    return (
        f"{len(held):,} of {known:,} tables are gone at once ({', '.join(named)}{more}), so they "
        "are held: searchable as they were. If a disk is not mounted or a grant is lost, bring it "
        f"back; if they were meant to go, run {how_to_accept(source)}, or the op of "
        f"raw_tables in Dagster with only: [{source}] and accept_removals: true"
    )


class Removals(StorePart):
    """The part of the store that forgets tables, once the index has."""

    def gone(self) -> list[str]:
        """Return the tables that have left their source, and are to leave index or store."""
        return ids_where(self._db, to_forget(self._db.clock))

    def renamed(self) -> list[str]:
        """Return those of the tables that are gone which are there under another name."""
        return ids_where(self._db, to_forget(self._db.clock), RENAMED)

    def note_renaming(self, table_ids: Collection[str]) -> None:
        """Remember what the first of these tables, which are about to be forgotten, is called."""
        named = select(tables).where(tables.c.table_id == min(table_ids, default=""))
        for row in self._db.read(named):
            put(self._db, _RENAMING, f"{row.table_id} -> {row.renamed_to}")

    def last_renaming(self) -> str:
        """Return a table of the last that got another name, as `old -> new`; empty: none did."""
        return get(self._db, _RENAMING) or ""

    def unsearchable(self) -> list[str]:
        """Return those of the tables that are gone which the index has lost, or never had."""
        return ids_where(self._db, to_forget(self._db.clock), tables.c.indexed_at.is_(None))

    def retracted(self) -> list[str]:
        """Return the failed tables of which nothing is to be found."""
        return ids_where(self._db, tables.c.state == "failed", tables.c.indexed_at.is_(None))

    def retract(self, table_id: str) -> None:
        """Forget what was read of a table that may not be read any more; `retracted` names it."""
        with self._db.write() as connection:
            update_rows(connection, [table_id], **_UNREAD)
            delete_of_tables(connection, [table_id], schema.row_counts, *OF_TABLE)

    def forget(self, table_ids: Sequence[str]) -> None:
        """Remove every trace of tables that are gone, once the index holds nothing of them.

        What is known of one that may be among the unread new ones of its source stays for a while.
        """
        gone = and_(tables.c.state == "gone", FREE)
        leaving = select(tables.c.table_id).where(gone, ~remembered(self._db.clock))
        with self._db.write() as connection:
            update_rows(connection, table_ids, gone, **_UNINDEXED)
            left = sorted({*connection.execute(leaving).scalars()} & {*table_ids})
            counted = schema.fingerprints, schema.row_counts
            delete_of_tables(connection, left, tables, *counted, *OF_TABLE)
            delete_by(connection, problems.c.subject, left)
