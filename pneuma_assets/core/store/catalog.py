"""What a catalogue lists of all tables at once: small facts, read in few statements."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from json import loads
from typing import Any

from sqlalchemy import select

from pneuma_assets.core.store.access import described_columns
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.descriptions import Descriptions, table_description
from pneuma_assets.core.store.documents import DocumentStore
from pneuma_assets.core.store.edges import Edges
from pneuma_assets.core.store.schema import tables
from pneuma_assets.core.tables import Column
from pneuma_assets.core.text.safe import one_line

_COMMENT = 300
"""Characters of what is said of a table, in a list."""

_COLUMNS = select(tables.c.table_id, tables.c.columns).where(tables.c.columns.is_not(None))


@dataclass(frozen=True, slots=True)
class TableTexts:
    """What takes long to read of a table: its words, its columns' names, and how many are said."""

    comment: str
    columns: tuple[str, ...]
    described: int


@dataclass(frozen=True, slots=True)
class ListedLineage:
    """Who owns tables, and pairs of a table and one that is built from it.

    `fingerprint` is another one when any of that may be.
    """

    fingerprint: str
    owners: Mapping[str, tuple[str, ...]]
    derived: tuple[tuple[str, str], ...]


class CatalogFacts(StorePart):
    """The part of the store that tells what is listed of all tables."""

    def corrected(self) -> dict[str, str]:
        """Return what people said of tables in the place of all else; empty where they rejected."""
        corrections = Descriptions(self._db).corrections()
        return {one.table_id: _shown(one.text) for one in corrections if one.column is None}

    def lineage(self, before: ListedLineage | None) -> ListedLineage:
        """Return owners and lineage of all tables; `before` itself where nothing is new."""
        edges = Edges(self._db)
        fingerprint = edges.fingerprint()
        if before is not None and before.fingerprint == fingerprint:
            return before
        owners = {
            table_id: tuple(dict.fromkeys(one for part in said.values() for one in part.owners))
            for table_id, said in edges.fields().items()
        }
        pairs = ((up, down) for down, ups in edges.derived().items() for up in ups if up != down)
        return ListedLineage(fingerprint, owners, tuple(pairs))

    def texts(self, listed: Mapping[str, str]) -> dict[str, TableTexts]:
        """Return the texts of tables, given the comment of each.

        What somebody said in the place of the comment is in `corrected`.
        """
        ids: Collection[str] | None = listed.keys()
        read = {
            row.table_id: loads(row.columns)
            for row in self._db.read_by(_COLUMNS, tables.c.table_id, ids)
        }
        written = DocumentStore(self._db).beginnings(ids)
        described = described_columns(self._db, ids)
        found = {}
        for table_id, comment in listed.items():
            columns = read.get(table_id, ())
            said = table_description(
                comment, written.get(table_id, ()), (), partial(_columns, columns)
            )
            shown = "" if said is None else _shown(said.text)
            names = tuple(name for name, *_ in columns)
            found[table_id] = TableTexts(shown, names, described.get(table_id, 0))
        return found


def _columns(read: Iterable[Sequence[Any]]) -> list[Column]:
    return [Column(*one) for one in read]


def _shown(text: str) -> str:
    return one_line(text, _COMMENT)
