"""What pyiceberg knows of a table, and its rows as Arrow batches, without those deleted."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from pneuma_assets.core.errors import PneumaError, TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.files.lake.arrow_table import ArrowTable, Part, Said
from pneuma_assets.core.sources.names import one_line

if TYPE_CHECKING:
    from pyiceberg.io.pyarrow import ArrowScan
    from pyiceberg.table import FileScanTask, Table

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
