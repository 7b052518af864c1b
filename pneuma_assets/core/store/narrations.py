"""Narrations kept between runs, so that a schema is described once.

The key is (model and prompt version, schema, column): tables with the same schema share their
narrations, and a second run asks the model nothing. A table whose schema changed a little keeps
the narrations of the columns it still has, so a renamed column costs one call.
"""

from collections.abc import Iterable, Mapping

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.tables import Table

KEPT_SHARE = 0.5
"""Below this share of surviving columns the rest of the schema, which every prompt shows, is
another one, and all columns are described anew."""


class NarrationCache:
    """The part of the store that remembers what the model said of columns."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def known(self, model: str, table: Table) -> dict[int, str]:
        """Return what was said of this schema, by column position; the rest is to be asked."""
        rows = self._db.read(
            "SELECT position, text FROM narrations WHERE model = ? AND schema_hash = ?",
            (model, table.schema_hash),
        )
        return {int(row["position"]): str(row["text"]) for row in rows}

    def carry_over(self, model: str, table: Table) -> None:
        """Let the columns a table still has keep their narrations under its new schema."""
        rows = self._db.read(
            "SELECT column_name, column_type, text FROM table_narrations"
            " WHERE table_id = ? AND model = ?",
            (table.table_id, model),
        )
        before = {(row["column_name"], row["column_type"]): row["text"] for row in rows}
        kept = [
            (table.schema_hash, position, before[column.name, column.type])
            for position, column in enumerate(table.columns)
            if (column.name, column.type) in before
        ]
        if len(kept) >= KEPT_SHARE * max(len(before), len(table.columns)):
            known = self.known(model, table)
            self.save(model, [answer for answer in kept if answer[1] not in known])

    def save(self, model: str, answers: Iterable[tuple[str, int, str]]) -> None:
        """Keep answers, each a schema hash, a column position and the narration."""
        answers = list(answers)
        if not answers:
            return
        with self._db.write() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO narrations VALUES (?, ?, ?, ?)",
                [(model, *answer) for answer in answers],
            )

    def assign(self, model: str, narrated: Iterable[tuple[Table, Mapping[int, str]]]) -> None:
        """Keep what was said of the columns of tables, for their next schema and for people."""
        narrated = list(narrated)
        with self._db.write() as connection:
            connection.executemany(
                "DELETE FROM table_narrations WHERE table_id = ?",
                [(table.table_id,) for table, _ in narrated],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO table_narrations VALUES (?, ?, ?, ?, ?)",
                [
                    (table.table_id, model, column.name, column.type, texts[position])
                    for table, texts in narrated
                    for position, column in enumerate(table.columns)
                    if position in texts
                ],
            )

    def forget_empty(self) -> None:
        """Let columns be asked again of which the model had nothing to say."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM narrations WHERE text = ''")

    def of_table(self, table_id: str) -> dict[str, str]:
        """Return what was said of the columns of a table, by name."""
        rows = self._db.read(
            "SELECT column_name, text FROM table_narrations WHERE table_id = ?", (table_id,)
        )
        return {row["column_name"]: row["text"] for row in rows}
