"""Reads Arrow IPC (Feather), ORC and Avro files, a batch, stripe or block at a time.

A table of several files (partitions, Spark's parts) has the columns of all of them, joined by name.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Batches, Part
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.sources.names import PANDAS_INDEX, comment_in
from pneuma_assets.core.tables import Column, TableRef
from pneuma_assets.core.text.safe import one_line

_BATCH_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """One file: what its batches hold, and how they are read.

    `types` are those of columns whose type in `schema` does not tell what is inside them.
    """

    schema: pa.Schema
    parts: Sequence[Part]
    types: Mapping[str, str] = field(default_factory=dict)


class ArrowFileReader(ArrowReader):
    """Reads files of these formats, which come here whole."""

    def read(self, table: OpenTable, ref: TableRef) -> ArrowTable:  # noqa: ARG002
        """Bring the files here and look at what each begins or ends with."""
        table.place_all()
        opened = {"avro": _open_avro, "orc": _open_orc}.get(table.format, _open_ipc)
        files = [opened(table, Path(name)) for name in table.files]
        schemas = [
            pa.schema([*file.schema, *((name, pa.string()) for name in partition)])
            for file, partition in zip(files, table.partitions, strict=True)
        ]
        schema = schemas[0]
        if len(schemas) > 1:
            schema = pa.unify_schemas(schemas, promote_options="permissive")
        kept = [field for field in schema if not PANDAS_INDEX.fullmatch(field.name)]
        schema = pa.schema(kept) if kept else schema
        parts = [
            Part(partial(_aligned, part, partition, schema), part.rows)
            for file, partition in zip(files, table.partitions, strict=True)
            for part in file.parts
        ]
        described = []
        for one in schema:  # where files tell different types, all of them are shown
            types = dict.fromkeys(file.types[one.name] for file in files if one.name in file.types)
            kind = one_line(" | ".join(types))
            described.append(Column(one.name, kind, comment_in(one.metadata)))
        comment = comment_in(files[0].schema.metadata)
        return ArrowTable(table.connection, schema, parts, described, comment)


def _open_orc(table: OpenTable, path: Path) -> _OpenFile:  # noqa: ARG001
    from pyarrow import orc

    file = orc.ORCFile(path)
    check_width(len(file.schema))

    def stripe(number: int) -> Batches:
        yield from _small(file.read_stripe(number))

    rows = file.nrows if file.nstripes == 1 else None
    return _OpenFile(file.schema, [Part(partial(stripe, n), rows) for n in range(file.nstripes)])


def _open_ipc(table: OpenTable, path: Path) -> _OpenFile:
    """Open a file, or a stream that was saved as one."""
    source = table.undo.enter_context(pa.memory_map(str(path)))
    try:
        file = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        with pa.ipc.open_stream(source) as stream:
            schema = stream.schema
        check_width(len(schema))
        return _OpenFile(schema, [Part(partial(_stream, path))])
    check_width(len(file.schema))

    def batch(number: int) -> Batches:
        yield from _small(_checked(file.get_batch(number)))

    return _OpenFile(file.schema, [Part(partial(batch, n)) for n in range(file.num_record_batches)])


def _stream(path: Path) -> Batches:
    with pa.memory_map(str(path)) as source, pa.ipc.open_stream(source) as stream:
        for batch in stream:
            yield from _small(_checked(batch))


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose offsets lead nowhere else; others wrote them, and nothing has looked."""
    batch.validate(full=True)
    return batch


def _small(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a batch that is as long as its file."""
    rows = max(1, _BATCH_CELLS // max(1, batch.num_columns))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _aligned(part: Part, partition: Mapping[str, str | None], schema: pa.Schema) -> Batches:
    """Read a file's rows with the columns of the whole table."""
    for batch in part.batches():
        if batch.schema.equals(schema):
            yield batch
            continue
        names, columns = batch.schema.names, []
        for number, wanted in enumerate(schema):
            if wanted.name in partition:
                value = pa.scalar(partition[wanted.name], pa.string())
                columns.append(pa.repeat(value, batch.num_rows))
            elif names[number : number + 1] == [wanted.name]:  # two may have one name
                columns.append(batch.column(number).cast(wanted.type))
            elif wanted.name in names:
                columns.append(batch.column(wanted.name).cast(wanted.type))
            else:
                columns.append(pa.nulls(batch.num_rows, wanted.type))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


_SIMPLE = {
    **dict.fromkeys(("string", "enum", "uuid"), pa.string()),
    **dict.fromkeys(("int", "long"), pa.int64()),
    **dict.fromkeys(("float", "double"), pa.float64()),
    "boolean": pa.bool_(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    **dict.fromkeys(("timestamp-millis", "timestamp-micros"), pa.timestamp("us", "UTC")),
    **dict.fromkeys(("local-timestamp-millis", "local-timestamp-micros"), pa.timestamp("us")),
    **dict.fromkeys(("time-millis", "time-micros"), pa.time64("us")),
}
"""Types of Avro, logical ones among them; any other is text."""

_AVRO_CELLS = 50_000

_avro_errors = partial(library, "fastavro", "avro", "write the file again")


def _open_avro(table: OpenTable, path: Path) -> _OpenFile:  # noqa: ARG001
    """Open a file, its rows as one part, with the types of nested columns.

    Raises:
        TableReadError: fastavro is not installed, or it is no Avro file of records.
    """
    with _avro_errors(), path.open("rb") as file:
        import fastavro

        written = fastavro.reader(file).writer_schema
    if not isinstance(written, dict) or not written.get("fields"):
        raise TableReadError("its rows are no records with fields; write a table of records")
    fields = written["fields"]
    check_width(len(fields))
    schema = pa.schema([(field["name"], _arrow_type(field["type"])) for field in fields])
    named: dict[str, Any] = {}
    with _avro_errors():
        types = {field["name"]: _type_in_words(field["type"], named, set()) for field in fields}
    # Rules may be about the names of fields inside.
    nested = {name: kind for name, kind in types.items() if "(" in kind}
    return _OpenFile(schema, [Part(partial(_avro_batches, path, schema))], nested)


def _avro_batches(path: Path, schema: pa.Schema) -> Batches:
    import fastavro

    rows = max(1, _AVRO_CELLS // len(schema))
    with _avro_errors(), path.open("rb") as file:
        records: Iterator[Any] = iter(fastavro.reader(file))
        while batch := list(islice(records, rows)):
            columns = [
                pa.array(_values(batch, field.name, field.type), field.type) for field in schema
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _values(records: Sequence[Mapping[str, Any]], name: str, kind: pa.DataType) -> list[Any]:
    values = [record.get(name) for record in records]
    return [*map(_as_text, values)] if pa.types.is_string(kind) else values


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _arrow_type(kind: Any) -> pa.DataType:
    """Return the type of a column; of a union with null, that of its other side."""
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        return _arrow_type(others[0]) if len(others) == 1 else pa.string()
    if isinstance(kind, dict):
        logical = kind.get("logicalType")
        if logical == "decimal" and 0 < int(kind.get("precision", 0)) <= 38:
            return pa.decimal128(int(kind["precision"]), int(kind.get("scale", 0)))
        return _SIMPLE.get(logical or "", _SIMPLE.get(str(kind.get("type")), pa.string()))
    return _SIMPLE.get(str(kind), pa.string())


def _type_in_words(kind: Any, named: dict[str, Any], shown: set[str]) -> str:
    """Return a type with all that is inside it, each record once: they may hold themselves."""
    words = partial(_type_in_words, named=named, shown=shown)
    if isinstance(kind, str):
        return words(named[kind]) if kind in named and kind not in shown else kind
    if isinstance(kind, list):
        others = [words(one) for one in kind if one != "null"]
        return others[0] if len(others) == 1 else f"UNION({', '.join(others)})"
    what = kind["type"]
    if what in ("record", "error"):
        named[kind["name"]] = kind
        shown.add(kind["name"])
        fields = (f"{quote_identifier(one['name'])} {words(one['type'])}" for one in kind["fields"])
        return f"STRUCT({', '.join(fields)})"
    if what == "array":
        return f"{words(kind['items'])}[]"
    if what == "map":
        return f"MAP(string, {words(kind['values'])})"
    return str(kind.get("logicalType") or what) if isinstance(what, str) else words(what)
