"""Reads Iceberg tables that lie in a folder or bucket by their newest metadata, no catalogue.

Metadata names its files by full addresses, which other people wrote. Only those below the table's
own location are read, and these are looked for in the folder the metadata was found in: so a table
may be moved or copied, and leads nowhere else.
"""

import zlib
from functools import partial
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Batches, Part
from pneuma_assets.core.sources.files.part_files import ICEBERG_METADATA, table_folders
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import Column, TableRef
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from pyiceberg.io.pyarrow import ArrowScan
    from pyiceberg.table import FileScanTask, Table


METADATA_BYTES = 64 << 20
"""The longest metadata file that is read."""

_COMMENT_CHARACTERS = 1000

explained = partial(library, "pyiceberg", "iceberg", "look whether its metadata is whole")
"""Says in one line what is wrong with a table; its metadata may make pyiceberg raise anything."""


class IcebergReader(ArrowReader):
    """Reads the newest version of Iceberg tables."""

    def read(self, table: OpenTable, ref: TableRef) -> ArrowTable:  # noqa: ARG002
        """Read the newest metadata and the manifests of its snapshot."""
        storage, folder = table.storage, table.path
        with explained():
            from pyiceberg.catalog.noop import NoopCatalog
            from pyiceberg.table import StaticTable
            from pyiceberg.table.metadata import TableMetadataUtil

            from pneuma_assets.core.sources.files.iceberg_io import StorageIO

            walk = storage.walk(f"{folder}{ICEBERG_METADATA}")
            there = table_folders(walk.entries).get(folder.rstrip("/"))
            if there is None:
                raise FileNotFoundError("there is no metadata left in it")
            path = there.newest.path
            metadata = TableMetadataUtil.parse_raw(_text(storage, path))
            files = StorageIO(storage, folder, metadata.location)
            # Not `from_metadata`: that lets a table's properties name a Python class to load.
            found = StaticTable(("table",), metadata, path, files, NoopCatalog("folder"))
            return arrow_table(table.connection, found)


def _text(storage: Storage, path: str) -> str:
    """Return a metadata file, unpacked where it is compressed."""
    data = storage.read(path, METADATA_BYTES + 1)
    if ".gz" in path.rpartition("/")[2]:
        data = zlib.decompressobj(wbits=31).decompress(data, METADATA_BYTES + 1)
    if len(data) > METADATA_BYTES:
        raise TableReadError(
            f"its metadata is larger than {METADATA_BYTES >> 20} MiB; expire old snapshots"
        )
    return data.decode()


def arrow_table(connection: duckdb.DuckDBPyConnection, table: "Table") -> ArrowTable:
    """Return the current snapshot of a table; a data file is a part.

    Raises:
        TableReadError: Its metadata is damaged, or it has what pyiceberg does not read
            (equality deletes).
    """
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow

    with explained():
        fields = table.schema().fields
        bounds.check_width(len(fields))
        described = [
            Column(
                field.name, "", one_line(field.doc or "", _COMMENT_CHARACTERS), str(field.field_id)
            )
            for field in fields
        ]
        schema = schema_to_pyarrow(table.schema(), include_field_ids=False)
        scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
        tasks = sorted(table.scan().plan_files(), key=lambda task: task.file.file_path)
        parts = [
            Part(
                partial(_batches, scan, task, schema),
                None if task.delete_files else task.file.record_count,
            )
            for task in tasks
        ]
        comment = one_line(table.properties.get("comment", ""), _COMMENT_CHARACTERS)
    return ArrowTable(connection, schema, parts, described, comment)


def _batches(scan: "ArrowScan", task: "FileScanTask", schema: pa.Schema) -> Batches:
    """Read one data file.

    `ArrowScan.to_record_batches` makes a list of a whole file's batches; what it makes it of does
    not.
    """
    from pyiceberg.io.pyarrow import _read_all_delete_files

    with explained():
        bounds.reading(bounds.SMALLEST_FILE)
        deletes = _read_all_delete_files(scan._io, [task])
        for batch in scan._record_batches_from_scan_tasks_and_deletes([task], deletes):
            yield batch.cast(schema)
