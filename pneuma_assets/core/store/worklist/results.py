"""What runs made of the tables that they hold."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import and_, bindparam, case, delete, func, or_, select, update

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.documents import replace_documents
from pneuma_assets.core.store.patience import next_attempt
from pneuma_assets.core.store.schema import evidence, problems, staged_blocks, tables
from pneuma_assets.core.store.statements import delete_by, upsert
from pneuma_assets.core.store.worklist.conditions import THERE
from pneuma_assets.core.store.worklist.items import Finished, Sampled, Stage
from pneuma_assets.core.store.worklist.profiles import profile_columns
from pneuma_assets.core.store.worklist.rows import ANEW, SAME, held_by, update_rows
from pneuma_assets.core.tables import Problem, Table, source_of

_STILL_TRUE = ("contexts", "narrations", "values")
"""Stages whose problems do not keep a table from being indexed, and are not solved by that."""

_ABSENT = select(tables.c.table_id).where(
    tables.c.table_id == SAME, or_(tables.c.held_since.is_not(None), tables.c.state == "gone")
)


class Results:
    """The part of the store that moves tables on, from stage to stage, until a run lets them go."""

    def __init__(self, database: Database) -> None:
        self._db = database

    @contextmanager
    def holding(self, run_id: str, table_ids: Iterable[str]) -> Iterator[set[str]]:
        """Give those of these tables that this run still holds, for one transaction.

        What is written inside the `with` block of a stage's results is so written for nobody
        else, and as one act with the table's new stage.
        """
        with self._db.write() as connection:
            yield held_by(connection, run_id, table_ids)

    def advance(self, run_id: str, stage: Stage, table_ids: Iterable[str]) -> None:
        """Move tables on that this run holds; last of all that a stage writes of them."""
        with self._db.write() as connection:
            update_rows(connection, table_ids, tables.c.claimed_by == run_id, stage=str(stage))

    def save_profiles(self, run_id: str, profiled: Iterable[Table]) -> None:
        """Keep what was read of tables: columns, number of rows, comment."""
        rows = [{"wanted": table.table_id, **profile_columns(table)} for table in profiled]
        if not rows:
            return
        held = update(tables).where(tables.c.table_id == SAME, tables.c.claimed_by == run_id)
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
        held = update(tables).where(tables.c.table_id == SAME, tables.c.claimed_by == run_id)
        with self._db.write() as connection:
            mine = held_by(connection, run_id, (sample.table_id for sample in samples))
            kept = [sample for sample in samples if sample.table_id in mine]
            for kind in dict.fromkeys(kind for sample in kept for kind in sample.documents):
                replace_documents(connection, kind, [(s.table_id, s.documents[kind]) for s in kept])
            connection.execute(
                held.values(sampled_row_count=counted, stage=str(Stage.SAMPLED)), rows
            )

    def fail(self, problem: Problem, run_id: str | None = None) -> bool:
        """Record why a table could not be worked on and let it go; older blocks stay searchable.

        Of one that is held or gone meanwhile the cause is known: it is let go as it was.

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
            if run_id is not None and not held_by(connection, run_id, [problem.subject]):
                return False
            if connection.execute(_ABSENT, {"wanted": problem.subject}).first() is not None:
                update_rows(connection, [problem.subject], claimed_by=None)
                return False
            retry_at = next_attempt(self._db.clock)
            update_rows(
                connection, [problem.subject], state="failed", claimed_by=None, retry_at=retry_at
            )
            upsert(connection, problems, [found])
        return True

    def finish(self, run_id: str, finished: Iterable[Finished]) -> list[str]:
        """Record that tables are searchable as they were when claimed, and let them go.

        A table whose version moved on meanwhile waits again; one that is gone stays gone. Returns
        those that this run no longer held: somebody else may have written something newer before
        or after, so they begin anew.
        """
        by_id = {item.table_id: item for item in finished}
        with self._db.write() as connection:
            mine = held_by(connection, run_id, by_id)
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
                    problems.c.subject == SAME,
                    *(problems.c.stage != stage for stage in _STILL_TRUE),
                )
                connection.execute(delete(problems).where(solved), [{"wanted": i} for i in mine])
                for table in (staged_blocks, evidence):
                    delete_by(connection, table.c.table_id, mine)
            lost = sorted(by_id.keys() - mine)
            update_rows(connection, lost, THERE, **ANEW)
            return lost

    def _finishing(self) -> Any:
        same = tables.c.version == tables.c.claimed_version
        state = case((tables.c.state == "gone", "gone"), (same, "indexed"), else_="pending")
        return (
            update(tables)
            .where(tables.c.table_id == SAME)
            .values(
                state=state,
                stage=str(Stage.INDEXED),
                attempts=0,
                deaths=0,
                claimed_by=None,
                retry_at=None,
                waits_since=case((same, None), else_=tables.c.changed_at),
                indexed_version=tables.c.claimed_version,
                indexed_row_count=tables.c.row_count,
                indexed_at=self._db.clock,
            )
        )
