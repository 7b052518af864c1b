"""Reads Iceberg tables that lie in a folder or bucket by their newest metadata, no catalogue.

Metadata names its files by full addresses, which other people wrote. Only those below the table's
own location are read, and these are looked for in the folder the metadata was found in: so a table
may be moved or copied, and leads nowhere else.
"""

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import duckdb
import pyarrow as pa
from pyiceberg.io import FileIO, InputFile, InputStream, OutputFile

from pneuma_assets.core.errors import PneumaError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Part, Said
from pneuma_assets.core.sources.files.part_files import ICEBERG_METADATA, table_folders
from pneuma_assets.core.sources.files.staging import OpenTable
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import TableRef

if TYPE_CHECKING:
    from pyiceberg.io.pyarrow import ArrowScan
    from pyiceberg.table import FileScanTask, Table


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

            from pneuma_assets.core.sources.files.iceberg import StorageIO

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


_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(//)?", re.IGNORECASE)
_ALIKE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}


class StorageIO(FileIO):
    """Reads what lies below a table's location, and writes nothing."""

    def __init__(self, storage: Storage, folder: str, location: str) -> None:
        """Take where a table is.

        Args:
            storage: Keeps its files.
            folder: Its path there, with a final `/` unless it is the root.
            location: Where its metadata says it is.
        """
        super().__init__()
        self._storage = storage
        self._folder = folder
        self._location = f"{plain_address(location).rstrip('/')}/"

    def new_input(self, location: str) -> InputFile:
        """Return one of the table's files; raises `TableReadError` for any other."""
        path = plain_address(location)
        inside = path.removeprefix(self._location)
        if inside == path or ".." in inside.split("/"):
            raise TableReadError(
                "its metadata names files outside its own folder; read it through its catalogue "
                "(type: iceberg)"
            )
        return StoredFile(location, self._storage, f"{self._folder}{inside}")

    def new_output(self, location: str) -> OutputFile:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Refuse; raises `io.UnsupportedOperation`."""
        refuse(location)


class StoredFile(InputFile):
    """One file of a table."""

    def __init__(self, location: str, storage: Storage, path: str) -> None:
        super().__init__(location)
        self._storage = storage
        self._path = path

    def __len__(self) -> int:
        with self._storage.open(self._path) as file:
            return _size(file)

    def exists(self) -> bool:
        """Tell whether it can be opened."""
        try:
            self._storage.open(self._path).close()
        except FileNotFoundError:
            return False
        return True

    def open(self, seekable: bool = True) -> InputStream:  # noqa: ARG002
        """Open it; its bytes count as about to be read."""
        file = self._storage.open(self._path)
        bounds.reading(max(_size(file), bounds.SMALLEST_FILE))
        stream: InputStream = file
        return stream


def _size(file: BinaryIO) -> int:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return size


def plain_address(location: str) -> str:
    """Return an address in the one form of several that mean the same (`file:/a`, `file:///a`)."""
    scheme = _SCHEME.match(location)
    if scheme is None:
        return location
    kind = scheme[1].lower()
    rest = location[scheme.end() :]
    return rest if kind == "file" else f"{_ALIKE.get(kind, kind)}://{rest}"


def refuse(location: object) -> NoReturn:
    """Raise what says that nothing is written."""
    raise io.UnsupportedOperation(f"nothing is written to {location}")


_COMMENT_CHARACTERS = 1000
_REASON_CHARACTERS = 300
INSTALL = "pyiceberg is not installed; run: pip install 'pneuma-assets[iceberg]'"


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
        said = [
            Said(
                field.name,
                comment=one_line(field.doc or "", _COMMENT_CHARACTERS),
                identity=str(field.field_id),
            )
            for field in fields
        ]
        schema = schema_to_pyarrow(table.schema(), include_field_ids=False)
        scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
        tasks = sorted(table.scan().plan_files(), key=lambda task: task.file.file_path)
        parts = [_part(scan, task, schema) for task in tasks]
        comment = one_line(table.properties.get("comment", ""), _COMMENT_CHARACTERS)
    return ArrowTable(connection, schema, parts, said, comment)


def _part(scan: "ArrowScan", task: "FileScanTask", schema: pa.Schema) -> Part:
    rows = None if task.delete_files else task.file.record_count
    return Part(partial(_batches, scan, task, schema), rows)


def _batches(
    scan: "ArrowScan", task: "FileScanTask", schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
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


@contextmanager
def explained() -> Iterator[None]:
    """Say in one line what is wrong with a table; its metadata may make pyiceberg raise anything.

    Raises:
        TableReadError: For all but what says enough by itself (files that are gone, memory).
    """
    try:
        yield
    except (PneumaError, OSError, MemoryError):
        raise
    except ImportError as error:
        raise TableReadError(INSTALL) from error
    except Exception as error:
        words = one_line(f"{type(error).__name__}: {error}", _REASON_CHARACTERS)
        raise TableReadError(
            f"pyiceberg says {words}; look whether its metadata is whole"
        ) from error
