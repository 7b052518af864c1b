"""Reads Delta tables: their log by deltalake, the data files of one snapshot by DuckDB.

The log is brought into a temporary folder and read there, so a table is read alike wherever it
lies, and without a key ever leaving this project's own storage. A path in a log may only lead into
its own table.
"""

from collections.abc import Iterator, Sequence

import duckdb
import numpy as np
import pyarrow as pa

from pneuma_assets.core.sources.files.lake.arrow_reader import ArrowReader
from pneuma_assets.core.sources.files.lake.arrow_table import ArrowTable, Part, Said
from pneuma_assets.core.sources.files.lake.delta_log import DataFile, DeltaField, read_log
from pneuma_assets.core.sources.files.layout import literal
from pneuma_assets.core.sources.files.staging import OpenTable, place_file
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import TableRef

_BATCH_CELLS = 200_000


class DeltaReader(ArrowReader):
    """Reads the newest version of Delta tables."""

    def read(self, table: OpenTable, storage: Storage, ref: TableRef) -> ArrowTable:
        """Read the log, and make every file of the snapshot readable."""
        path = storage.path(ref.location)
        log = read_log(table, storage, path)
        # Of its own: while a query reads these batches, its connection is taken.
        connection = table.undo.enter_context(table.connection.cursor())
        parts = []
        for number, file in enumerate(log.files):
            target = table.scratch / f"f{number}.parquet"
            name = place_file(table, storage, path + file.path, target, columnar=True)
            reading = _Reading(connection, name, log.fields, file)
            parts.append(Part(reading.batches, file.rows, reading.take))
        said = [Said(f.name, f.shown_type, f.comment, f.identity) for f in log.fields]
        nulls = ", ".join(f"CAST(NULL AS {f.type}) AS c{i}" for i, f in enumerate(log.fields))
        schema = connection.sql(f"SELECT {nulls} LIMIT 0").to_arrow_reader(1).schema
        return ArrowTable(table.connection, schema, parts, said, log.comment)


class _Reading:
    """How one data file is read: by the table's columns, without rows that were deleted."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        fields: Sequence[DeltaField],
        file: DataFile,
    ) -> None:
        self._connection = connection
        self._name = name
        self._fields = fields
        self._file = file

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read all rows that are left."""
        before = 0
        for batch in self._query(""):
            after = before + batch.num_rows
            if self._file.live is None:
                yield batch
            else:
                live = self._file.live[before:after]
                # It ends with the last row that was deleted.
                live = np.pad(live, (0, batch.num_rows - len(live)), constant_values=True)
                yield batch.filter(pa.array(live))
            before = after

    def take(self, positions: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Read the row groups of some rows that are left."""
        numbers = np.array(positions)
        if self._file.live is not None:
            alive = np.flatnonzero(self._file.live)
            beyond = len(self._file.live) - len(alive)
            inside = numbers < len(alive)
            numbers[inside] = alive[numbers[inside]]
            numbers[~inside] += beyond
        wanted = ", ".join(map(str, numbers.tolist()))
        return self._query(f"WHERE file_row_number IN ({wanted}) ORDER BY file_row_number")

    def _query(self, rows: str) -> Iterator[pa.RecordBatch]:
        cells, columns = [], []
        values: list[object] = []
        for number, field in enumerate(self._fields):
            if field.is_partition:
                cells.append(f"CAST(? AS {field.type}) AS c{number}")
                values.append(self._file.partition.get(field.name))
                continue
            cells.append(f"c{number}")
            columns.append(
                f"{literal(field.physical_name)}: {{name: 'c{number}', "
                f"type: {literal(field.type)}, default_value: NULL}}"
            )
        schema = f", schema = MAP {{{', '.join(columns)}}}" if columns else ""
        query = self._connection.sql(
            f"SELECT {', '.join(cells)} FROM read_parquet(?, utf8_validation = 'replace'{schema}) "
            f"{rows}",
            params=[*values, [self._name]],
        )
        yield from query.to_arrow_reader(max(1, min(10_000, _BATCH_CELLS // len(cells))))
