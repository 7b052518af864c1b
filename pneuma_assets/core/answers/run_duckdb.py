"""Runs a checked statement in DuckDB, in a process of its own that holds if a guard does not.

That process is given the rows of the statement's tables and no more, sees nothing of this one's
environment, writes no file, and is ended at bounds of time, memory and size.
"""

import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, Any, cast

import pyarrow as pa
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from pneuma_assets.core.answers.ask_duckdb import ask
from pneuma_assets.core.answers.infer_types import CANDIDATES
from pneuma_assets.core.answers.statements import Checked, ReadTable
from pneuma_assets.core.errors import SqlFailedError, SqlStoppedError, TableChangedError
from pneuma_assets.core.sources.base import StatementRows
from pneuma_assets.core.tables import MISSING
from pneuma_assets.core.text.safe import one_line

CHANGED = "has changed since it was indexed; index it again"
"""What is said of a table that is not as it was indexed, behind its name or `it`."""

_WORDS = 600
_NO_DAYS = ("0000-00-00", "0000-00-00 00:00:00")
"""What MySQL has for a day that is not known."""


@dataclass(frozen=True, slots=True)
class RunBounds:
    """What running one statement may take.

    Attributes:
        seconds: Of the statement, and of the look at cells of text before it, in its process.
        memory: Bytes of that process; half of them are DuckDB's buffers.
        input_bytes: Of the rows of all tables together, as Arrow holds them.
        result_bytes: Of the rows that it gives, likewise.
    """

    seconds: float = 20.0
    memory: int = 1_500_000_000
    input_bytes: int = 1_000_000_000
    result_bytes: int = 4_000_000


@dataclass(frozen=True, slots=True)
class Given:
    """One table of a statement, and where its rows are.

    Attributes:
        table: As the statement names it; of its rows only these columns are given.
        rows: Its rows; other columns of these are left out.
        types: What columns are that come as text, by their names: those of
            `infer_types.CANDIDATES`; others stay text.
        table_id: What people call the table; else what the statement calls it.
    """

    table: ReadTable
    rows: Iterable[pa.RecordBatch]
    types: Mapping[str, str] = field(default_factory=dict)
    table_id: str = ""


def run(checked: Checked, given: Sequence[Given], bounds: RunBounds = RunBounds()) -> StatementRows:
    """Return the rows that a statement gives.

    Args:
        checked: It, in the dialect `duckdb`.
        given: Its tables, each once.
        bounds: What it may take.

    Raises:
        SqlFailedError: DuckDB does not run it, and says why, or a column that it reads has a cell
            that is not of its type; another statement may do.
        SqlStoppedError: It or its tables are beyond a bound.
        TableChangedError: A table has not the columns any more that it was indexed with.
    """
    with _request(checked, given, bounds) as (request, files):
        return _rows(ask(request, files, bounds.seconds))


def run_to_arrow(
    checked: Checked, given: Sequence[Given], bounds: RunBounds = RunBounds()
) -> tuple[pa.Table, bool]:
    """Return the rows that a statement gives as Arrow, and whether there are others.

    They stay in a file without a name, which the system reads as they are used. Of types that are
    DuckDB's alone cells are text; whole numbers have up to 64 bits.

    Raises:
        SqlFailedError: As of `run`, also of a whole number that is larger.
    """
    with _request(checked, given, bounds) as (request, files), _nameless_file() as file:
        # As large as it may become: the process writes to it in memory alone, and may write no
        # file.
        file.truncate(bounds.result_bytes)
        reply = _checked_reply(ask(request, [*files, file.fileno()], bounds.seconds))
        rows = mmap.mmap(file.fileno(), int(reply["written"]), access=mmap.ACCESS_READ)
    with pa.ipc.open_stream(pa.BufferReader(rows)) as stream:
        table = stream.read_all()
    table.validate(full=True)
    return table.slice(0, checked.most_rows), table.num_rows > checked.most_rows


@contextmanager
def _request(
    checked: Checked, given: Sequence[Given], bounds: RunBounds
) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Yield what the process is asked, and the open files that it is given: rows of the tables."""
    with ExitStack() as stack:
        left, tables, files = bounds.input_bytes, [], []
        for one in given:
            file = stack.enter_context(_nameless_file())
            table, size = _written(one, checked, file, left)
            tables.append(table)
            files.append(file.fileno())
            left -= size
        request = {
            "sql": checked.sql,
            "nulls": (*MISSING, *_NO_DAYS),
            "tables": tables,
            "rows": checked.most_rows,
            "bytes": bounds.result_bytes,
            "memory": bounds.memory,
            "buffers": bounds.memory // 2,
            "seconds": bounds.seconds,
        }
        yield request, files


def _nameless_file() -> IO[bytes]:
    """Return an open file without a name: however the process ends, nothing of it is left."""
    return cast(IO[bytes], TemporaryFile(prefix="pneuma-statement-"))


def _written(
    given: Given, checked: Checked, file: IO[bytes], most: int
) -> tuple[dict[str, Any], int]:
    """Return what the process is told of a table, and the bytes written for it."""
    _check_apart(given.table)
    (schema, name), size = given.table.place, 0
    batches = map(partial(_kept, given), given.rows)
    texts = pa.schema([(column, pa.string()) for column in given.table.columns])
    first = next(batches, pa.RecordBatch.from_pylist([], texts))
    with pa.ipc.new_stream(file, first.schema) as writer:
        for batch in chain([first], batches):
            size += batch.nbytes
            if size > most:
                raise SqlStoppedError(
                    f"the rows of {given.table.name!r} and those before it are more than "
                    f"{most:,} bytes; ask about smaller tables, or where the table lies in a "
                    "database, let that run the statement"
                )
            writer.write_batch(batch)
    file.flush()
    types = _casts(given, checked, first.schema)
    return {"schema": schema, "name": name, "types": types}, size


def _kept(given: Given, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the columns of rows that are given, in their order."""
    gone = set(given.table.columns).difference(batch.schema.names)
    if gone:
        named = repr(given.table.name) if not given.table_id else given.table_id
        why = one_line(f"{named} has no column {min(gone)!r}", _WORDS)
        raise TableChangedError(f"{why}: it {CHANGED}")
    return batch.select(given.table.columns)


def _check_apart(table: ReadTable) -> None:
    """Refuse columns of which DuckDB would show one twice: it tells no capitals apart."""
    met: dict[str, str] = {}
    for name in table.columns:
        other = met.setdefault(name.lower(), name)
        if other != name:
            raise SqlFailedError(
                f"columns {other[:60]!r} and {name[:60]!r} of table {table.name[:60]!r} differ in "
                "capitals alone, which DuckDB does not tell apart; ask for one of them"
            )


def _casts(given: Given, checked: Checked, schema: pa.Schema) -> dict[str, str]:
    """Return the types of columns of text that the statement reads: of others no cell matters."""
    read = {column for table, column in checked.columns if table == given.table.name}
    return {
        name: given.types[name]
        for name in given.table.columns
        if name in read
        and given.types.get(name) in CANDIDATES
        and pa.types.is_string(schema.field(name).type)
    }


def _checked_reply(reply: dict[str, Any]) -> dict[str, Any]:
    if "stopped" in reply:
        raise SqlStoppedError(f"{reply['stopped']}; ask for less")
    if "error" in reply:
        raise SqlFailedError(one_line(reply["error"], _WORDS))
    return reply


def _rows(reply: dict[str, Any]) -> StatementRows:
    _checked_reply(reply)
    return StatementRows(tuple(reply["columns"]), tuple(map(tuple, reply["rows"])), reply["more"])


_Type = exp.DataType.Type
_SPELLED = {"mssql": "tsql", "postgresql": "postgres"}
"""Engines that sqlglot calls otherwise than SQLAlchemy."""
_DAYS = {_Type.DATE, _Type.DATE32}
_MEANT = {
    **dict.fromkeys(exp.DataType.REAL_TYPES, "DECIMAL"),  # sums of cents are exact
    **dict.fromkeys((_Type.FLOAT, _Type.DOUBLE, _Type.UDOUBLE, _Type.DECFLOAT), "DOUBLE"),
    **dict.fromkeys(exp.DataType.INTEGER_TYPES - {_Type.BIT}, "BIGINT"),
    **dict.fromkeys((_Type.SMALLSERIAL, _Type.SERIAL, _Type.BIGSERIAL, _Type.YEAR), "BIGINT"),
    # Those with a zone, too: `TIMESTAMP` is tried first, and loses no zone that a cell has.
    **dict.fromkeys(exp.DataType.TEMPORAL_TYPES - _DAYS - {_Type.TIMETZ}, "TIMESTAMP"),
    **dict.fromkeys(_DAYS, "DATE"),
    _Type.BOOLEAN: "BOOLEAN",
    _Type.TIME: "TIME",
}
"""To which of `CANDIDATES` texts of a type are cast; those of others stay text."""


@lru_cache(maxsize=4096)
def statement_type(type_name: str, engine: str) -> str:
    """Return what a column is to a statement; of a type that is not known here, the type itself.

    Args:
        type_name: As the engine spells it: `decimal(10,2)`, `int unsigned`, `TIMESTAMP_NTZ(9)`.
        engine: What SQLAlchemy calls it, without a driver.
    """
    if type_name in CANDIDATES:
        return type_name
    spelled = _SPELLED.get(engine, engine)
    dialect = spelled if Dialect.get(spelled) else None
    try:
        kind = exp.DataType.build(type_name, dialect=dialect).this
    except (SqlglotError, ValueError):  # of its own, as `mood`, or no SQL at all
        return type_name
    return _MEANT.get(kind, type_name)
