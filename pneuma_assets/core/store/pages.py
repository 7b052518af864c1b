"""Which asset keys this deployment has made in Dagster: only their history is its to change."""

import uuid
from collections.abc import Iterable

from sqlalchemy import select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import meta, pages
from pneuma_assets.core.store.statements import delete_by, insert_new, upsert

_NAME = "deployment"


class Pages:
    """The part of the store that knows the pages of tables in the UI, by their asset keys.

    A key is its parts joined by '/': no part of a table's id holds one.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def deployment(self) -> str:
        """Return what names this deployment in the events it logs; made once, kept for ever.

        Every page's row has it, too: with another name, all pages would be somebody else's.
        """
        with self._db.write() as connection:
            mark = connection.execute(select(pages.c.mark).limit(1)).scalar()
            made = {"key": _NAME, "value": mark or uuid.uuid4().hex}
            insert_new(connection, meta, [made])
            kept = connection.execute(select(meta.c.value).where(meta.c.key == _NAME))
            return str(kept.scalar_one())

    def keys(self) -> dict[str, str]:
        """Return the table of each key that this deployment has made."""
        found = self._db.read(select(pages.c.asset_key, pages.c.table_id))
        return {row.asset_key: row.table_id for row in found}

    def made(self, key: str, table_id: str, mark: str) -> None:
        """Record a key before its first event, so that a kill in between disowns nothing.

        `mark` is what `deployment` returned.
        """
        with self._db.write() as connection:
            upsert(connection, pages, [{"asset_key": key, "table_id": table_id, "mark": mark}])

    def forget(self, keys: Iterable[str]) -> None:
        """Forget keys whose history is no more."""
        with self._db.write() as connection:
            delete_by(connection, pages.c.asset_key, keys)
