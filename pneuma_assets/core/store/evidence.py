"""What was gathered of tables' rows, from when they were read until the index has it."""

import json
import zlib
from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import evidence
from pneuma_assets.core.store.statements import upsert
from pneuma_assets.core.tables import TableTerms

_OF_TABLE = select(evidence.c.data).where(evidence.c.table_id == bindparam("table"))


class EvidenceStore:
    """The part of the store that holds rows and cells, compressed; names stand in profiles.

    What is here is removed when its table is finished (`Results.finish`), and with the table.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def replace(self, gathered: Mapping[str, TableTerms]) -> None:
        """Make `rows` and `cells` of each of these tables exactly these."""
        rows = [{"table_id": i, "data": _packed(found)} for i, found in gathered.items()]
        with self._db.write() as connection:
            upsert(connection, evidence, rows)

    def of_tables(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return what waits for the index of these tables; one of which nothing does is absent."""
        found = ((i, self._db.read(_OF_TABLE, table=i)) for i in table_ids)
        return {table_id: _unpacked(rows[0].data) for table_id, rows in found if rows}


def _packed(gathered: TableTerms) -> bytes:
    text = json.dumps([gathered.rows, gathered.cells], ensure_ascii=False)
    return zlib.compress(text.encode("utf-8", "replace"))


def _unpacked(data: bytes) -> TableTerms:
    rows, cells = json.loads(zlib.decompress(data))
    return TableTerms(rows=tuple(map(tuple, rows)), cells=tuple(cells))
