"""The work list: which tables wait, which run works on them, and what they were when indexed.

A table waits when its version differs from the one that was indexed. A run claims tables, works
on them stage by stage, and finishes each one when it is searchable; a claim whose run is dead is
released, so that the next run takes it up.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.documents import replace_documents
from pneuma_assets.core.store.listings import note_listing, note_sources
from pneuma_assets.core.store.records import (
    RECORD_COLUMNS,
    Finished,
    Reconciliation,
    Sampled,
    TableRecord,
    WorkItem,
    differs,
    listed_columns,
    record_of,
    ref_of,
    sampled_of,
    table_of,
)
from pneuma_assets.core.tables import DocumentKind, Problem, Table, TableRef

ANEW = "state = 'pending', attempts = 0, indexed_version = NULL, claimed_version = NULL"
"""Assignments that let a table wait; without a claimed version no running run ends the wait."""


class WorkList:
    """The part of the store that decides what is worked on."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def use_recipe(self, recipe: str) -> bool:
        """Let every table wait if models or options differ from those used so far."""
        with self._db.write() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'recipe'").fetchone()
            if row is not None and row[0] == recipe:
                return False
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('recipe', ?)", (recipe,))
            connection.execute(
                f"UPDATE tables SET {ANEW}, sampled_row_count = NULL WHERE state <> 'gone'"
            )
            return row is not None

    def reconcile(
        self, source: str, refs: Sequence[TableRef], unlisted: Sequence[str] = ()
    ) -> Reconciliation:
        """Compare a listing of one source with what is known; absent tables are gone.

        Tables whose ids begin with one of `unlisted` were out of sight and are left as they are.
        """
        known = {
            row["table_id"]: row
            for row in self._db.read(
                "SELECT table_id, state, version, location FROM tables WHERE source = ?", (source,)
            )
        }
        new = [ref for ref in refs if ref.table_id not in known]
        changed = [
            ref for ref in refs if ref.table_id in known and differs(known[ref.table_id], ref)
        ]
        listed = {ref.table_id for ref in refs}
        gone = [
            table_id
            for table_id, row in known.items()
            if table_id not in listed
            and row["state"] != "gone"
            and not table_id.startswith(tuple(unlisted))
        ]
        with self._db.write() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO tables (location, format, version, context_locations,"
                " table_id, source, state) VALUES (?, ?, ?, ?, ?, ?, 'pending')",
                [(*listed_columns(ref), ref.table_id, source) for ref in new],
            )
            connection.executemany(
                "UPDATE tables SET location = ?, format = ?, version = ?, context_locations = ?,"
                " state = 'pending', attempts = 0, deaths = 0 WHERE table_id = ?",
                [(*listed_columns(ref), ref.table_id) for ref in changed],
            )
            connection.executemany(
                "UPDATE tables SET state = 'gone' WHERE table_id = ?", [(i,) for i in gone]
            )
            note_listing(connection, source, unlisted)
        unchanged = len(refs) - len(new) - len(changed)
        return Reconciliation(len(new), len(changed), unchanged, len(gone))

    def drop_sources(self, kept: Iterable[str]) -> int:
        """Mark the tables of every source that is no longer configured as gone."""
        kept = list(kept)
        names = json.dumps(kept)
        with self._db.write() as connection:
            note_sources(connection, kept)
            cursor = connection.execute(
                "UPDATE tables SET state = 'gone' WHERE state <> 'gone'"
                " AND source NOT IN (SELECT value FROM json_each(?))",
                (names,),
            )
            connection.execute(
                "DELETE FROM problems WHERE source NOT IN (SELECT value FROM json_each(?))",
                (names,),
            )
            return cursor.rowcount

    def let_wait(self, table_ids: Iterable[str], *, sample: bool = False) -> None:
        """Let tables be indexed again whatever their version (lost blocks, a new context).

        A run that holds one of them does not end the wait. With `sample`, rows are drawn again.
        """
        sampled = "NULL" if sample else "sampled_row_count"
        with self._db.write() as connection:
            connection.executemany(
                f"UPDATE tables SET {ANEW}, sampled_row_count = {sampled}"
                " WHERE table_id = ? AND state <> 'gone'",
                [(table_id,) for table_id in table_ids],
            )

    def retry(self, sources: Sequence[str]) -> None:
        """Let failed tables of these sources be tried again: what hindered them may be cured."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE tables SET attempts = 0 WHERE state = 'failed'"
                " AND source IN (SELECT value FROM json_each(?))",
                (json.dumps(sources),),
            )

    def release_claims(self, is_alive: Callable[[str], bool]) -> int:
        """Give up the claims of runs that no longer live; returns how many tables they held.

        A table that was being read when its run died may have killed it, and is charged.
        """
        rows = self._db.read("SELECT DISTINCT claimed_by FROM tables WHERE claimed_by IS NOT NULL")
        dead = [(row[0],) for row in rows if not is_alive(row[0])]
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE tables SET deaths = deaths + 1 WHERE claimed_by = ?1"
                " AND table_id = (SELECT reading FROM runs WHERE run_id = ?1)",
                dead,
            )
            released = connection.executemany(
                "UPDATE tables SET claimed_by = NULL WHERE claimed_by = ?", dead
            )
            return released.rowcount if dead else 0

    def deadly(self, deaths: int) -> list[str]:
        """Return the waiting tables during whose reading at least `deaths` runs died."""
        rows = self._db.read(
            "SELECT table_id FROM tables WHERE state = 'pending' AND deaths >= ?", (deaths,)
        )
        return [row[0] for row in rows]

    def claim(self, run_id: str, limit: int, max_attempts: int, sources: Sequence[str] = ()) -> int:
        """Take up to `limit` waiting tables for this run; returns how many it holds now."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE tables SET claimed_by = ?4, claimed_version = version,"
                " attempts = attempts + 1 WHERE table_id IN ("
                "  SELECT table_id FROM tables WHERE claimed_by IS NULL AND (state = 'pending'"
                "  OR state = 'failed' AND attempts < ?1) AND deaths < ?1"
                "  AND source IN (SELECT value FROM json_each(?2))"
                "  ORDER BY attempts, table_id LIMIT ?3)",
                (max_attempts, json.dumps(sources), limit, run_id),
            )
            row = connection.execute(
                "SELECT count(*) FROM tables WHERE claimed_by = ?", (run_id,)
            ).fetchone()
        return int(row[0])

    def waiting(self, sources: Sequence[str]) -> int:
        """Return how many tables of these sources wait and are claimed by no run."""
        rows = self._db.read(
            "SELECT count(*) FROM tables WHERE state = 'pending' AND claimed_by IS NULL"
            " AND source IN (SELECT value FROM json_each(?))",
            (json.dumps(sources),),
        )
        return int(rows[0][0])

    def pending(self) -> int:
        """Return how many tables of all sources wait to be indexed, claimed or not."""
        ((count,),) = self._db.read("SELECT count(*) FROM tables WHERE state = 'pending'")
        return int(count)

    def known(self) -> set[str]:
        """Return the ids of all tables, those included that are gone but not yet forgotten."""
        return {row[0] for row in self._db.read("SELECT table_id FROM tables")}

    def indexed(self) -> list[str]:
        """Return the ids of the tables that are searchable and have not left their source."""
        rows = self._db.read(
            "SELECT table_id FROM tables WHERE indexed_at IS NOT NULL AND state <> 'gone'"
            " ORDER BY table_id"
        )
        return [row[0] for row in rows]

    def tables(self, table_ids: Iterable[str]) -> Iterator[Table]:
        """Yield the profiles of these tables, of those that were ever read."""
        for table_id in table_ids:
            for row in self._db.read("SELECT * FROM tables WHERE table_id = ?", (table_id,)):
                table = table_of(row)
                if table is not None:
                    yield table

    def ids(self, source: str) -> dict[tuple[str, str], str]:
        """Return the ids of a source's tables by location and format."""
        rows = self._db.read(
            "SELECT location, format, table_id FROM tables WHERE source = ?", (source,)
        )
        return {(row["location"], row["format"]): row["table_id"] for row in rows}

    def claimed(self, run_id: str) -> list[WorkItem]:
        """Return the tables this run holds, ordered by id; failed ones have left it."""
        rows = self._db.read(
            "SELECT * FROM tables WHERE claimed_by = ? ORDER BY table_id", (run_id,)
        )
        return [
            WorkItem(
                ref_of(row),
                table_of(row),
                row["indexed_schema_hash"],
                row["indexed_row_count"],
                row["sampled_row_count"],
                sampled_of(row),
            )
            for row in rows
        ]

    def save_profiles(self, tables: Iterable[Table]) -> None:
        """Keep what was read of tables: columns, number of rows, comment."""
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE tables SET columns = ?, row_count = ?, comment = ?, notes = ?"
                " WHERE table_id = ?",
                [
                    (
                        json.dumps([(c.name, c.type, c.comment) for c in table.columns]),
                        table.row_count,
                        table.comment,
                        json.dumps(table.notes),
                        table.table_id,
                    )
                    for table in tables
                ],
            )

    def save_samples(self, samples: Sequence[Sampled]) -> None:
        """Keep which rows stand for tables, and what these say, as one act."""
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE tables SET sampled_rows = ?,"
                " sampled_row_count = coalesce(?, sampled_row_count) WHERE table_id = ?",
                [
                    (
                        json.dumps([(mark.position, mark.key) for mark in sample.rows]),
                        sample.row_count,
                        sample.table_id,
                    )
                    for sample in samples
                ],
            )
            replace_documents(
                connection, DocumentKind.ROWS, [(s.table_id, s.documents) for s in samples]
            )

    def fail(self, problem: Problem) -> None:
        """Record why a table could not be worked on and let it go; older blocks stay searchable."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE tables SET state = 'failed', claimed_by = NULL WHERE table_id = ?",
                (problem.subject,),
            )
            connection.execute(
                "INSERT OR REPLACE INTO problems"
                " SELECT ?1, coalesce((SELECT source FROM tables WHERE table_id = ?1), ?1), ?2, ?3",
                (problem.subject, problem.stage, problem.cause),
            )

    def take_back(self, table_id: str) -> None:
        """Forget what was read of a table that may not be read any more; the index loses it, too.

        `taken_back` names it until then.
        """
        with self._db.write() as connection:
            connection.execute(
                "UPDATE tables SET indexed_version = NULL, indexed_at = NULL, block_count = NULL,"
                " sampled_rows = NULL, sampled_row_count = NULL WHERE table_id = ?",
                (table_id,),
            )
            for name in ("documents", "table_narrations", "staged_blocks"):
                connection.execute(f"DELETE FROM {name} WHERE table_id = ?", (table_id,))

    def taken_back(self) -> list[str]:
        """Return the failed tables of which nothing is to be found."""
        rows = self._db.read(
            "SELECT table_id FROM tables WHERE state = 'failed' AND indexed_at IS NULL"
        )
        return [row[0] for row in rows]

    def finish(self, finished: Iterable[Finished]) -> None:
        """Record that tables are searchable as they were when claimed, and let them go.

        A table whose version moved on meanwhile waits again; one that is gone stays gone.
        """
        now = time.time()
        finished = list(finished)
        with self._db.write() as connection:
            connection.executemany(
                "UPDATE tables SET state = CASE WHEN state = 'gone' THEN 'gone'"
                "  WHEN version = claimed_version THEN 'indexed' ELSE 'pending' END,"
                " attempts = 0, deaths = 0, claimed_by = NULL, indexed_version = claimed_version,"
                " indexed_row_count = row_count, indexed_schema_hash = ?, indexed_at = ?,"
                " block_count = ? WHERE table_id = ?",
                [(item.schema_hash, now, item.blocks, item.table_id) for item in finished],
            )
            connection.executemany(
                "DELETE FROM problems WHERE subject = ?"
                " AND stage NOT IN ('contexts', 'narrations')",
                [(item.table_id,) for item in finished],
            )
            connection.executemany(
                "DELETE FROM staged_blocks WHERE table_id = ?",
                [(item.table_id,) for item in finished],
            )

    def gone(self) -> list[str]:
        """Return the tables that have left their source but not yet the index."""
        rows = self._db.read(
            "SELECT table_id FROM tables WHERE state = 'gone' AND claimed_by IS NULL"
        )
        return [row[0] for row in rows]

    def forget(self, table_ids: Sequence[str]) -> None:
        """Remove every trace of tables, once the index holds nothing of them."""
        with self._db.write() as connection:
            for name in ("tables", "documents", "table_narrations", "staged_blocks"):
                connection.executemany(
                    f"DELETE FROM {name} WHERE table_id = ?", [(i,) for i in table_ids]
                )
            connection.executemany(
                "DELETE FROM problems WHERE subject = ?", [(i,) for i in table_ids]
            )

    def records(self) -> list[TableRecord]:
        """Return every table that has not left its source, ordered by id."""
        rows = self._db.read(
            f"SELECT {RECORD_COLUMNS} FROM tables WHERE state <> 'gone' ORDER BY table_id"
        )
        return [record_of(row) for row in rows]

    def listed(self) -> list[str]:
        """Return the ids of the tables that have not left their source, in order."""
        rows = self._db.read("SELECT table_id FROM tables WHERE state <> 'gone' ORDER BY table_id")
        return [row[0] for row in rows]
