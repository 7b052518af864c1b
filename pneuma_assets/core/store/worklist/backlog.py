"""Which tables wait, and what lets them wait again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, case, func, or_, select, true, update

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.facts import UNTOLD
from pneuma_assets.core.store.noted import note, noted
from pneuma_assets.core.store.patience import Patience, at_rest, tried_again
from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.store.worklist.conditions import (
    AT_HAND,
    FREE,
    PENDING,
    REACHABLE,
    RENAMED,
    THERE,
    to_forget,
)
from pneuma_assets.core.store.worklist.items import Stage
from pneuma_assets.core.store.worklist.rows import ANEW, ids_where, update_rows

_RECIPE = "recipe"
"""Under which it is noted what the tables are made with."""


@dataclass(frozen=True, slots=True)
class ToDo:
    """How many tables there are to work on, and what the index should hold.

    Attributes:
        waiting: New and changed ones that no run holds.
        failed: Failed ones that no run holds, and that are tried again.
        gone: Those that have left their source but not yet the index.
        renamed: Those of these that are there under another name.
        taken_back: Failed ones of which nothing may be found.
        claimed: Those that a run holds.
        indexed: Those that a run has made searchable, gone ones included.
        with_blocks: Those of these that have a block, which the index must hold; without those
            that wait and are held, or cannot be listed, of which nothing can be read.
        untold: Searchable ones of which the index does not know yet who may see them.
        settling: New and changed ones that may still be written, and wait until they rest.
        resting: Failed ones that are tried again, but not yet.
    """

    waiting: int = 0
    failed: int = 0
    gone: int = 0
    taken_back: int = 0
    claimed: int = 0
    indexed: int = 0
    with_blocks: int = 0
    untold: int = 0
    settling: int = 0
    resting: int = 0
    renamed: int = 0


class Backlog:
    """The part of the store that knows what there is to do."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def use_recipe(self, recipe: str) -> bool:
        """Let every table wait if models or options differ from those used so far."""
        with self._db.write() as connection:
            known = self.recipe()
            if known == recipe:
                return False
            note(connection, _RECIPE, recipe)
            anew = update(tables).where(THERE).values(**ANEW, sampled_row_count=None)
            connection.execute(anew)
            return known is not None

    def recipe(self) -> str | None:
        """Return which models and options the tables are made with; None before the first run."""
        return noted(self._db, _RECIPE)

    def let_wait(self, table_ids: Iterable[str], *, sample: bool = False) -> None:
        """Let tables be indexed again whatever their version (lost blocks, a new context).

        A run that holds one of them does not end the wait. With `sample`, rows are drawn again.
        """
        anew = dict(ANEW, sampled_row_count=None) if sample else ANEW
        with self._db.write() as connection:
            update_rows(connection, table_ids, THERE, **anew)

    def let_embed(self, run_id: str, table_ids: Iterable[str]) -> None:
        """Let tables be embedded and indexed again of which a text changed, and nothing else.

        They are not read again, and keep the rows that the index has of them: see
        `Tables.unchanged`. One that another run holds begins anew when that lets go of it: it may
        be past the texts.
        """
        table_ids = list(table_ids)
        mine = tables.c.claimed_by == run_id
        embedded = tables.c.stage == str(Stage.EMBEDDED)
        again = {"stage": str(Stage.NARRATED)}
        with self._db.write() as connection:
            others = and_(tables.c.claimed_by.is_not(None), ~mine)
            update_rows(connection, table_ids, THERE, others, **ANEW)
            update_rows(connection, table_ids, mine, embedded, **again)
            left = and_(FREE, or_(tables.c.state == "indexed", and_(PENDING, embedded)))
            anew = {"state": "pending", "attempts": 0, "claimed_version": tables.c.version}
            update_rows(connection, table_ids, left, **anew, **again)

    def let_describe(self, run_id: str, table_ids: Iterable[str]) -> None:
        """Let tables be read anew whose columns somebody else describes otherwise.

        Those that the run has yet to describe are described by it.
        """
        # No `IN`: its list cannot be filled in where one statement is run for several tables.
        read = or_(tables.c.stage == str(Stage.PROFILED), tables.c.stage == str(Stage.SAMPLED))
        yet = and_(tables.c.claimed_by == run_id, read)
        with self._db.write() as connection:
            update_rows(connection, table_ids, THERE, func.coalesce(~yet, true()), **ANEW)

    def retry(self, sources: Sequence[str]) -> None:
        """Let failed tables of these sources be tried again: what hindered them may be cured."""
        failed = and_(tables.c.state == "failed", tables.c.source.in_(sources))
        with self._db.write() as connection:
            connection.execute(update(tables).where(failed).values(attempts=0, retry_at=None))

    def waiting(self, sources: Sequence[str], patience: Patience | None = None) -> int:
        """Return how many tables of these sources wait, can be read, and are claimed by no run."""
        mine = REACHABLE, tables.c.source.in_(sources), at_rest(self._db.clock, patience)
        return len(ids_where(self._db, PENDING, FREE, AT_HAND, *mine))

    def waits(self, table_id: str) -> bool:
        """Tell whether a table waits to be indexed, be it that a run is at it."""
        return bool(ids_where(self._db, PENDING, tables.c.table_id == table_id))

    def to_do(
        self, max_attempts: int, sources: Sequence[str], patience: Patience | None = None
    ) -> ToDo:
        """Count what `Work.claim` would find in these sources, and what stands otherwise in all."""
        rested = at_rest(self._db.clock, patience)
        tried = tried_again(self._db.clock, max_attempts, patience)
        alive = and_(FREE, AT_HAND, REACHABLE, tables.c.deaths < max_attempts)
        mine = and_(alive, tables.c.source.in_(sources))
        never = tables.c.indexed_at.is_(None)
        counted = {
            "waiting": and_(mine, PENDING, rested),
            "settling": and_(mine, PENDING, ~rested),
            "failed": and_(mine, tried),
            "resting": and_(mine, tables.c.state == "failed", ~tried)
            & (tables.c.attempts < max_attempts),
            "gone": to_forget(self._db.clock),
            "renamed": and_(to_forget(self._db.clock), RENAMED),
            "taken_back": and_(tables.c.state == "failed", never),
            "claimed": tables.c.claimed_by.is_not(None),
            "indexed": ~never,
            "with_blocks": and_(
                ~never, tables.c.block_count > 0, or_(and_(AT_HAND, REACHABLE), ~PENDING)
            ),
            "untold": UNTOLD,
        }
        columns = [func.count(case((one, 1))).label(name) for name, one in counted.items()]
        (row,) = self._db.read(select(*columns))
        return ToDo(**row._mapping)

    def pending(self) -> int:
        """Return how many tables of all sources wait to be indexed, claimed, held, or neither."""
        return len(self.pending_tables())

    def pending_tables(self) -> set[str]:
        """Return these."""
        return {*ids_where(self._db, PENDING)}
