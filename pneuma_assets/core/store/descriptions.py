"""What people wrote of columns, and what their values show, between the stages of a run."""

from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import bindparam, insert, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import column_descriptions
from pneuma_assets.core.store.statements import delete_by
from pneuma_assets.core.tables import Description, Provenance

_said = column_descriptions.c
_OF_TABLE = (
    select(_said.position, _said.provenance, _said.text, _said.said_by, _said.confidence)
    .where(_said.table_id == bindparam("table"))
    .order_by(_said.position, _said.provenance)
)


class Descriptions:
    """The part of the store that holds what was read of columns, several descriptions a column."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, described: Iterable[tuple[str, Collection[tuple[int, Description]]]]) -> None:
        """Make these the descriptions of each of these tables, by position; it has no others.

        Of one provenance a column has one.
        """
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
            delete_by(connection, _said.table_id, [table_id for table_id, _ in described])
            if rows:
                connection.execute(insert(column_descriptions), rows)

    def of_table(self, table_id: str) -> Mapping[int, Mapping[Provenance, Description]]:
        """Return the descriptions of each column that has any, by position and provenance."""
        found: dict[int, dict[Provenance, Description]] = {}
        for row in self._db.read(_OF_TABLE, table=table_id):
            one = Description(row.text, Provenance(row.provenance), row.said_by, row.confidence)
            found.setdefault(row.position, {})[one.provenance] = one
        return found
