"""The process that runs one statement in DuckDB, with nothing else (`core.worker`).

On its socket come open files, one for the rows of each table and one for the result where that is
wanted as Arrow, and a line of JSON: the statement, what its tables are called, and bounds. An empty
line goes back when its seconds begin, and then one of these:
`{"columns": [...], "rows": [[CELL]], "more": BOOL}`, `{"error": TEXT}`, `{"stopped": TEXT}` or,
where the rows are in the file, up to one more than are wanted, `{"written": BYTES}`.

The statement sees those tables and nothing else: DuckDB reads no file (Arrow does, before the
statement is known to it), reaches nothing, changes no setting, and runs one SELECT.
"""

import json
import mmap
import re
import resource
import socket
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import duckdb
import pyarrow as pa

from pneuma_assets.core.answers.infer_types import CellsError, literal, quoted, typed
from pneuma_assets.core.worker.limits import bound_process

_MOST_FILES = 253
"""That Linux sends at once."""

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
_AS_JSON = frozenset({
    "boolean", "tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger",
    "ubigint", "float", "double", "varchar", "blob", "list", "array", "struct", "map",
})  # fmt: skip
"""Types whose cells JSON has, or of which it can have the parts; of others it has DuckDB's text."""
_AS_ARROW = _AS_JSON | {
    "date", "time", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns",
    "timestamp with time zone", "decimal",
}  # fmt: skip
"""Types that Arrow has as DuckDB does."""
_LARGE = frozenset({"hugeint", "uhugeint"})
"""Of sums of whole numbers. Arrow would have decimals of 38 digits, which cannot be multiplied."""
_OFTEN = 6
"""Times that a statement names a table, as in a UNION of its columns, from which on its texts are
cast once: each of a view's uses casts all of its columns, and takes memory for that."""
_ARROW_ROWS = 10_000
_ENDS = 65_536
"""Bytes for what stands around the rows in a stream of Arrow: the schema, and its end."""
_WHOLE = re.compile(r"U?HUGEINT|BIGNUM|DECIMAL\([0-9]+,0\)")
"""Types of whole numbers of any size."""


class _StoppedError(Exception):
    """A bound is reached."""


def answer(line: socket.socket) -> None:
    """Run the one statement that is asked on a socket."""
    _, files, _, _ = socket.recv_fds(line, 1, _MOST_FILES)
    with line.makefile("rb") as asked:
        request = json.loads(asked.readline())
    for table in request["tables"]:
        table["file"] = files.pop(0)
    if files:
        (request["result"],) = files
    bound_process(
        {
            resource.RLIMIT_DATA: request["memory"],
            resource.RLIMIT_FSIZE: 0,
            # Where its keeper is killed and cannot end it.
            resource.RLIMIT_CPU: int(request["seconds"]) + 2,
        }
    )
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    line.sendall(b"\n")
    try:
        reply = _answer(request)
    except _StoppedError as error:
        reply = {"stopped": str(error)}
    except (MemoryError, duckdb.OutOfMemoryException, pa.ArrowMemoryError):
        reply = {"stopped": "it takes too much memory"}
    except (CellsError, duckdb.Error, pa.ArrowException, ValueError, OverflowError) as error:
        reply = {"error": str(error)[:2_000]}
    except Exception as error:  # noqa: BLE001 (whatever it is, it is told)
        reply = {"error": f"{type(error).__name__}: {error}"[:2_000]}
    line.sendall(json.dumps(reply).encode())


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    connection = duckdb.connect(":memory:", config={"memory_limit": f"{request['buffers']}B"})
    _show(connection, request)
    for name, value in _LOCKED:
        connection.execute(f"SET {name} = {literal(value)}")
    statements = connection.extract_statements(request["sql"])
    if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
        raise ValueError("it is not one SELECT")
    found = connection.sql(statements[0].query)
    # Outside the statement, so that sorting keeps no more rows than are wanted.
    limited = found.limit(request["rows"] + 1)
    if "result" in request:
        return {"written": _written(limited, request)}
    cells = (
        f"#{at}" if kind.id in _AS_JSON else f"CAST(#{at} AS VARCHAR)"
        for at, kind in enumerate(found.types, 1)
    )
    rows = limited.project(", ".join(cells))
    whole = [_WHOLE.fullmatch(str(kind)) is not None for kind in found.types]
    return {"columns": list(found.columns), **_bounded(rows, whole, request)}


def _show(connection: Any, request: Mapping[str, Any]) -> None:
    """Let the statement see its tables, under their names."""
    taken = {table["name"].lower() for table in request["tables"]}
    schemas = {table["schema"] for table in request["tables"]} - {""}
    for schema in sorted(schemas):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
    free = (name for number in count() if (name := f"pneuma_{number}") not in taken)
    for table, held in zip(request["tables"], free, strict=False):
        connection.register(held, _table(table))
        types = table.get("types", {})
        columns = typed(connection, held, table["name"], types, request["nulls"])
        view = ".".join(quoted(table[key]) for key in ("schema", "name") if table[key])
        often = request["sql"].casefold().count(table["name"].casefold()) > _OFTEN
        what = "TABLE" if often else "VIEW"
        connection.execute(f"CREATE {what} {view} AS SELECT {columns} FROM {quoted(held)}")


def _bounded(found: Any, whole: Sequence[bool], request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows that are wanted, and whether there are more."""
    rows: list[list[Any]] = []
    size = 0
    for batch in found.to_arrow_reader(_BATCH_ROWS):
        size += batch.nbytes
        if size > request["bytes"]:
            if rows:
                return {"rows": rows, "more": True}
            raise _StoppedError(f"its rows are larger than {request['bytes']:,} bytes together")
        columns = [
            [
                int(cell) if is_whole and cell is not None else _plain(cell)
                for cell in column.to_pylist()
            ]
            for column, is_whole in zip(batch.columns, whole, strict=True)
        ]
        rows += [list(row) for row in zip(*columns, strict=True)]
    return {"rows": rows[: request["rows"]], "more": len(rows) > request["rows"]}


def _written(limited: Any, request: Mapping[str, Any]) -> int:
    """Write rows as Arrow into the file for the result, which grows no more; return the bytes."""
    cells = []
    for at, (name, kind) in enumerate(zip(limited.columns, limited.types, strict=True), 1):
        other = "BIGINT" if kind.id in _LARGE else "VARCHAR"
        cell = f"#{at}" if kind.id in _AS_ARROW else f"CAST(#{at} AS {other})"
        cells.append(f"{cell} AS {quoted(name)}")
    reader = limited.project(", ".join(cells)).to_arrow_reader(_ARROW_ROWS)
    sink = pa.FixedSizeBufferWriter(pa.py_buffer(mmap.mmap(request["result"], request["bytes"])))
    left = request["bytes"] - _ENDS
    with pa.ipc.new_stream(sink, reader.schema) as writer:
        for batch in reader:
            left -= pa.ipc.get_record_batch_size(batch)
            if left < 0:
                raise _StoppedError(f"its rows are larger than {request['bytes']:,} bytes together")
            writer.write_batch(batch)
    return int(sink.tell())


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
    """Return the rows of a table, which stay where they are: in its file."""
    rows = mmap.mmap(table["file"], 0, access=mmap.ACCESS_READ)
    with pa.ipc.open_stream(pa.BufferReader(rows)) as stream:
        return stream.read_all()
