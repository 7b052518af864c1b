"""The process that runs one statement in DuckDB: started by `running`, which ends it in time.

Run as `python -I FILE`, FILE being this one, with DuckDB and Arrow and nothing of this project. A
request of JSON comes on standard input: the statement, its tables as files of this machine, and
bounds. One of these goes to standard output: `{"columns": [...], "types": [...], "rows": [[CELL]],
"more": BOOL}`, `{"error": TEXT}`, or `{"stopped": TEXT}`.

The statement sees those tables and nothing else: DuckDB reads no file (Arrow does, before the
statement is known to it), reaches nothing, changes no setting, and runs one SELECT.
"""

import json
import os
import resource
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

_LOCKED = (
    ("python_enable_replacements", False),
    ("python_scan_all_frames", False),
    ("autoinstall_known_extensions", False),
    ("autoload_known_extensions", False),
    ("allow_community_extensions", False),
    ("allow_unsigned_extensions", False),
    ("allow_persistent_secrets", False),
    ("enable_external_file_cache", False),
    ("threads", 1),
    # Nothing is spilled: what does not fit into memory is an error, and no file is written.
    ("temp_directory", ""),
    # After all others but the lock: without it some cannot be set.
    ("enable_external_access", False),
    ("lock_configuration", True),
)
_BATCH_ROWS = 100


class _StoppedError(Exception):
    """A bound is reached."""


def main() -> None:
    """Answer the one request."""
    request = json.load(sys.stdin)
    _bound_process(request)
    import duckdb
    import pyarrow as pa

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    try:
        reply = _answer(request)
    except _StoppedError as error:
        reply = {"stopped": str(error)}
    except (MemoryError, duckdb.OutOfMemoryException, pa.ArrowMemoryError):
        reply = {"stopped": "it takes too much memory"}
    except (duckdb.Error, pa.ArrowException, ValueError, OverflowError) as error:
        reply = {"error": str(error)[:2_000]}
    sys.stdout.write(json.dumps(reply))
    sys.stdout.flush()
    os._exit(0)  # Nothing is left to be put in order, and no library may fail over that.


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    import duckdb

    connection = duckdb.connect(":memory:", config={"memory_limit": f"{request['buffers']}B"})
    for number, table in enumerate(request["tables"]):
        held = connection.register(f"pneuma_{number}", _table(table))
        held.execute(f'CREATE VIEW {_quoted(table["name"])} AS SELECT * FROM "pneuma_{number}"')
    for name, value in _LOCKED:
        connection.execute(f"SET {name} = {_literal(value)}")
    statements = connection.extract_statements(request["sql"])
    if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
        raise ValueError("it is not one SELECT")
    clock = threading.Timer(request["seconds"], connection.interrupt)
    clock.start()
    try:
        return _bounded(connection.sql(statements[0].query).to_arrow_reader(_BATCH_ROWS), request)
    except duckdb.InterruptException as error:
        raise _StoppedError(f"it takes more than {request['seconds']:g} s") from error
    finally:
        clock.cancel()
        clock.join()


def _bounded(found: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows that are wanted, and whether there are more."""
    rows: list[list[Any]] = []
    size = 0
    for batch in found:
        size += batch.nbytes
        if size > request["bytes"]:
            raise _StoppedError(f"its rows are larger than {request['bytes']:,} bytes together")
        columns = [list(_cells(column)) for column in batch.columns]
        rows += [list(row) for row in zip(*columns, strict=True)]
        if len(rows) > request["rows"]:
            break
    return {
        "columns": list(found.schema.names),
        "types": [str(kind) for kind in found.schema.types],
        "rows": rows[: request["rows"]],
        "more": len(rows) > request["rows"],
    }


def _cells(column: Any) -> Iterator[Any]:
    """Yield the cells of a column as JSON has them, and as exact text what it has not."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_decimal(kind) and kind.scale == 0:  # a sum of whole numbers
        yield from (None if cell is None else int(cell) for cell in column.to_pylist())
    elif pa.types.is_decimal(kind) or pa.types.is_temporal(kind):
        yield from _texts(column)
    else:
        yield from map(_plain, column.to_pylist())


def _texts(column: Any) -> list[Any]:
    import pyarrow as pa

    try:
        texts: list[Any] = column.cast(pa.string()).to_pylist()
    except pa.ArrowNotImplementedError:
        return [None if cell is None else str(cell) for cell in column.to_pylist()]
    return texts


def _plain(cell: Any) -> Any:
    """Return a value as JSON has it: bytes in hexadecimal digits, what is no number as text."""
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return cell if cell - cell == 0 else str(cell)
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, list | tuple):
        return [_plain(one) for one in cell]
    if isinstance(cell, dict):
        return {str(key): _plain(value) for key, value in cell.items()}
    return str(cell)


def _table(table: Mapping[str, Any]) -> Any:
    """Return the rows of a table; of a file of Parquet, what reads its columns, and no others."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if table["format"] == "parquet":
        whole = ds.dataset(table["file"], format="parquet")
        kept = pa.schema([whole.schema.field(name) for name in table["columns"]])
        return ds.dataset(table["file"], schema=kept, format="parquet")
    with pa.ipc.open_stream(pa.memory_map(table["file"])) as stream:
        return stream.read_all()


def _bound_process(request: Mapping[str, Any]) -> None:
    """Let the system refuse what DuckDB does not bound: memory of texts, files, and time."""
    for kind, wanted in (
        (resource.RLIMIT_DATA, request["memory"]),
        (resource.RLIMIT_FSIZE, 0),
        # What cannot be interrupted ends here, beside the seconds that the start takes.
        (resource.RLIMIT_CPU, int(request["seconds"]) + 5),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(kind)
        value = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(kind, (value, value))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | int) else f"'{value}'"


if __name__ == "__main__":
    main()
