"""Which asset keys this deployment has made in Dagster: only their history is its to change."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from sqlalchemy import func, select

from pneuma_assets.core.store.database import StorePart, get, put
from pneuma_assets.core.store.schema import corrections, delete_by, pages, problems, tables, upsert
from pneuma_assets.core.tables import content_hash

_NAME = "deployment"
_HISTORY = "history"
_ROWS = "rows on pages"


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """What Dagster was last told of a table: when it was written, and what was wrong with it."""

    table_id: str
    updated_at: float | None = None
    problem: str | None = None


class OwnedAssetKeys(StorePart):
    """The part of the store that knows the pages of tables in the UI, by their asset keys.

    A key is its parts joined by '/': no part of a table's id holds one.
    """

    def deployment(self) -> str:
        """Return what names this deployment in the events it logs; made once, kept for ever."""
        with self._db.write() as connection:
            kept = get(self._db, _NAME)
            if kept is None:
                mark = connection.execute(select(pages.c.mark).limit(1)).scalar()
                kept = str(mark or uuid.uuid4().hex)
                put(self._db, _NAME, kept)
            return kept

    def keys(self) -> dict[str, str]:
        """Return the table of each key that this deployment has made."""
        found = self._db.read(select(pages.c.asset_key, pages.c.table_id))
        return {row.asset_key: row.table_id for row in found}

    def has(self, key: str) -> bool:
        """Tell whether this deployment has made a key."""
        return bool(self._db.read(select(pages.c.mark).where(pages.c.asset_key == key)))

    def published(self) -> dict[str, PublishedPage]:
        """Return what was last told under each key that this deployment has made."""
        found = self._db.read(select(pages))
        return {r.asset_key: PublishedPage(r.table_id, r.updated_at, r.problem) for r in found}

    def use_history(self, history: str) -> None:
        """Note which history of Dagster's the pages are in, as `history_of` names it."""
        put(self._db, _HISTORY, history)

    def history(self) -> str | None:
        """Return which history that was; None where no command line has indexed."""
        return get(self._db, _HISTORY)

    def use_rows(self, shown: bool) -> None:
        """Note whether all pages were told with sampled rows, or all without."""
        put(self._db, _ROWS, str(shown))

    def shows_rows(self) -> bool:
        """Return which it was; new pages are made without, where nobody asks for them."""
        return get(self._db, _ROWS) == str(True)

    def fingerprint(self) -> str:
        """Return what is another one when any table's page is to say something else."""
        asked = (
            select(func.count(pages.c.asset_key)),
            select(func.count(tables.c.table_id), func.max(tables.c.indexed_at)),
            select(problems.c.subject, problems.c.stage, problems.c.cause).order_by(
                problems.c.subject, problems.c.stage
            ),
            select(func.count(corrections.c.table_id), func.max(corrections.c.said_at)),
        )
        return content_hash(*(repr([tuple(row) for row in self._db.read(one)]) for one in asked))

    def record(self, mark: str, told: Mapping[str, PublishedPage]) -> None:
        """Record keys of a `deployment` before their first event: a kill then disowns nothing."""
        rows = [{"asset_key": key, "mark": mark, **asdict(page)} for key, page in told.items()]
        with self._db.write() as connection:
            upsert(connection, pages, rows)

    def forget(self, keys: Iterable[str]) -> None:
        """Forget keys whose history is no more."""
        with self._db.write() as connection:
            delete_by(connection, pages.c.asset_key, keys)
