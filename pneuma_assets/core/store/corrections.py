"""What people say of tables and columns in the place of everything else.

A correction is kept by the table's id and the column's name, so it follows a column that moves, and
waits where the table or the column is not there: an outage or a name changed by mistake costs
nobody's work.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import corrections, storable
from pneuma_assets.core.store.statements import upsert
from pneuma_assets.core.tables import Description, Provenance

_TABLE, _COLUMN = "table", "column"
_said = corrections.c
_ALL = select(corrections).order_by(_said.table_id, _said.about.desc(), _said.column_name)
_OF_TABLE = _ALL.where(_said.table_id == bindparam("table"))


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says of a table, or of a column of it.

    Attributes:
        table_id: The table.
        column: The column's name; None: it is about the table itself.
        text: One line; empty where the person only rejects what is said.
        author: Who.
        said_at: When, in seconds since 1970 by the store's clock.
    """

    table_id: str
    column: str | None
    text: str
    author: str
    said_at: float

    @property
    def rejects(self) -> bool:
        """Whether it silences machines and documents and says nothing itself."""
        return not self.text

    @property
    def description(self) -> Description:
        """The same, as all others speak; its text is empty where it `rejects`."""
        return Description(self.text, Provenance.CORRECTION, self.author, None, self.said_at)

    def is_of(self, column: str) -> bool:
        """Tell whether it is about a column of this name, as far as a database keeps names."""
        return self.column is not None and self.column == storable(column)


class Corrections:
    """The part of the store that keeps corrections until somebody takes them back."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, table_id: str, column: str | None, text: str, author: str) -> None:
        """Keep a correction in the place of an earlier one; without a text it rejects."""
        with self._db.write() as connection:
            row = {
                "table_id": table_id,
                "about": _about(column),
                "column_name": column or "",
                "text": text,
                "author": author,
                "said_at": self._db.now(),
            }
            upsert(connection, corrections, [row])

    def withdraw(self, table_id: str, column: str | None) -> bool:
        """Forget a correction; returns whether there was one."""
        mine = (
            _said.table_id == table_id,
            _said.about == _about(column),
            _said.column_name == (column or ""),
        )
        with self._db.write() as connection:
            return connection.execute(delete(corrections).where(*mine)).rowcount > 0

    def of_table(self, table_id: str) -> Sequence[Correction]:
        """Return the corrections of a table and its columns, the table's own first."""
        return [_correction_of(row) for row in self._db.read(_OF_TABLE, table=table_id)]

    def all(self) -> Sequence[Correction]:
        """Return every correction, also of what is not there now, by table and column."""
        return [_correction_of(row) for row in self._db.read(_ALL)]


def _about(column: str | None) -> str:
    return _TABLE if column is None else _COLUMN


def _correction_of(row: Sequence[Any]) -> Correction:
    """Return what a row of the table says, its values in order."""
    table_id, about, column, text, author, said_at = row
    return Correction(table_id, None if about == _TABLE else column, text, author, said_at)
