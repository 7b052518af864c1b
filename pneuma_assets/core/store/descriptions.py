"""What people wrote of tables and columns: read from sources, and said in the place of all else.

A correction is kept by the table's id and the column's name, and waits where these are not there.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import delete, select

from pneuma_assets.core.store import schema
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.tables import Column, Description, Provenance, comments_on_columns
from pneuma_assets.core.text.sentences import first_words

MOST_CHARS = 500
"""Of a table's description."""

_TABLE, _COLUMN = "table", "column"
_columns, _corrected = schema.column_descriptions.c, schema.corrections.c


@dataclass(frozen=True, slots=True)
class Correction:
    """What a person says of a table (`column` is None) or a column: one line, empty to reject."""

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
        return self.column is not None and self.column == schema.storable(column)


class Descriptions(StorePart):
    """The part of the store that holds what was read of columns, and what people corrected."""

    def replace(self, described: Iterable[tuple[str, Collection[tuple[int, Description]]]]) -> None:
        """Make these all descriptions of each of these tables, by position; one a provenance."""
        described = list(described)
        rows = [
            {
                "table_id": table_id,
                "provenance": str(one.provenance),
                "position": position,
                "text": one.text,
                "said_by": one.source,
                "confidence": 0.0 if one.confidence is None else one.confidence,
            }
            for table_id, some in described
            for position, one in some
        ]
        with self._db.write() as connection:
            schema.delete_by(connection, _columns.table_id, [table_id for table_id, _ in described])
            schema.insert_rows(connection, schema.column_descriptions, rows)

    def of_tables(
        self, table_ids: Collection[str]
    ) -> dict[str, dict[int, dict[Provenance, Description]]]:
        """Return the descriptions of each table's columns, by position and provenance."""
        found: dict[str, dict[int, dict[Provenance, Description]]] = {}
        ordered = select(schema.column_descriptions).order_by(
            _columns.position, _columns.provenance
        )
        for table_id, rows in self._db.grouped(ordered, _columns.table_id, table_ids).items():
            said = found.setdefault(table_id, {})
            for row in rows:
                one = Description(row.text, Provenance(row.provenance), row.said_by, row.confidence)
                said.setdefault(row.position, {})[one.provenance] = one
        return found

    def correct(self, table_id: str, column: str | None, text: str, author: str) -> None:
        """Save a correction in the place of an earlier one; without a text it rejects."""
        with self._db.write() as connection:
            row = {
                "table_id": table_id,
                "about": _about(column),
                "column_name": column or "",
                "text": text,
                "author": author,
                "said_at": self._db.now(),
            }
            schema.upsert(connection, schema.corrections, [row])

    def withdraw(self, table_id: str, column: str | None) -> bool:
        """Forget a correction; returns whether there was one."""
        mine = (
            _corrected.table_id == table_id,
            _corrected.about == _about(column),
            _corrected.column_name == (column or ""),
        )
        with self._db.write() as connection:
            return connection.execute(delete(schema.corrections).where(*mine)).rowcount > 0

    def corrections(self, table_ids: Collection[str] | None = None) -> Sequence[Correction]:
        """Return corrections of these tables (None: all), also gone ones; a table's own first."""
        asked = select(schema.corrections).order_by(
            _corrected.table_id, _corrected.about.desc(), _corrected.column_name
        )
        return [
            Correction(
                row.table_id,
                None if row.about == _TABLE else row.column_name,
                *(row.text, row.author, row.said_at),
            )
            for row in self._db.read_by(asked, _corrected.table_id, table_ids)
        ]


def _about(column: str | None) -> str:
    return _TABLE if column is None else _COLUMN


def table_description(
    comment: str,
    written: Iterable[Description],
    corrected: Iterable[Correction],
    columns: Callable[[], Iterable[Column]],
) -> Description | None:
    """Return what a table is in people's words, at most `MOST_CHARS` of them; None if in nobody's.

    Args:
        comment: The one in the table itself.
        written: How the texts about it begin (`DocumentStore.beginnings`).
        corrected: The corrections of it; one without a text rejects what documents say.
        columns: Returns its columns; asked where a document may be made of their comments alone.
    """
    own = next((one for one in corrected if one.column is None), None)
    comments = Description(comment, Provenance.PERSON, "the table's comment")
    for one in (comments, *written) if own is None else (own.description, comments):
        words = first_words(one.text, MOST_CHARS)
        if words and not (one.provenance == Provenance.DOCUMENT and _of_columns(words, columns)):
            return replace(one, text=words)
    return None


def _of_columns(words: str, columns: Callable[[], Iterable[Column]]) -> bool:
    """Tell whether so begins the document that a source makes of the comments on columns."""
    return ": " in words and words == first_words(comments_on_columns(columns()), MOST_CHARS)
