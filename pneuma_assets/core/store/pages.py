"""Which asset keys this deployment has made in Dagster: only their history is its to change."""

import uuid
from collections.abc import Iterable

from pneuma_assets.core.store.database import Database


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
            connection.execute(
                "INSERT OR IGNORE INTO meta"
                " SELECT 'deployment', coalesce((SELECT mark FROM pages LIMIT 1), ?)",
                (uuid.uuid4().hex,),
            )
            row = connection.execute("SELECT value FROM meta WHERE key = 'deployment'").fetchone()
        return str(row[0])

    def keys(self) -> dict[str, str]:
        """Return the table of each key that this deployment has made."""
        return {row[0]: row[1] for row in self._db.read("SELECT asset_key, table_id FROM pages")}

    def made(self, key: str, table_id: str, mark: str) -> None:
        """Record a key before its first event, so that a kill in between disowns nothing.

        `mark` is what `deployment` returned.
        """
        with self._db.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (key, table_id, mark)
            )

    def forget(self, keys: Iterable[str]) -> None:
        """Forget keys whose history is no more."""
        with self._db.write() as connection:
            connection.executemany("DELETE FROM pages WHERE asset_key = ?", [(k,) for k in keys])
