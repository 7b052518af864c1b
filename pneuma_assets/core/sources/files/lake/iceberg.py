"""Reads Iceberg tables that lie in a folder or bucket by their newest metadata, no catalogue.

Metadata names its files by full addresses, which other people wrote. Only those below the table's
own location are read, and these are looked for in the folder the metadata was found in: so a table
may be moved or copied, and leads nowhere else.
"""

import zlib

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.lake.arrow_reader import ArrowReader
from pneuma_assets.core.sources.files.lake.arrow_table import ArrowTable
from pneuma_assets.core.sources.files.lake.folders import ICEBERG_METADATA, table_folders
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.iceberg.tables import arrow_table, explained
from pneuma_assets.core.tables import TableRef

METADATA_BYTES = 64 << 20
"""The longest metadata file that is read."""


class IcebergReader(ArrowReader):
    """Reads the newest version of Iceberg tables."""

    def read(self, table: OpenTable, storage: Storage, ref: TableRef) -> ArrowTable:
        """Read the newest metadata and the manifests of its snapshot."""
        folder = storage.path(ref.location)
        with explained():
            from pyiceberg.catalog.noop import NoopCatalog
            from pyiceberg.table import StaticTable
            from pyiceberg.table.metadata import TableMetadataUtil

            from pneuma_assets.core.sources.files.lake.iceberg_io import StorageIO

            path = _newest(storage, folder)
            metadata = TableMetadataUtil.parse_raw(_text(storage, path))
            files = StorageIO(storage, folder, metadata.location)
            # Not `from_metadata`: that lets a table's properties name a Python class to load.
            found = StaticTable(("table",), metadata, path, files, NoopCatalog("folder"))
            return arrow_table(table.connection, found)


def _newest(storage: Storage, folder: str) -> str:
    walk = storage.walk(f"{folder}{ICEBERG_METADATA}")
    found = table_folders(walk.entries).get(folder.rstrip("/"))
    if found is None:
        raise FileNotFoundError("there is no metadata left in it")
    return found.newest.path


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
