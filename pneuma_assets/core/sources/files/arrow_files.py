"""Reads Arrow IPC (Feather), ORC and Avro files, a batch, stripe or block at a time.

A table of several files (partitions, Spark's parts) has the columns of all of them, joined by name.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Batches, Part, Said
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text.safe import one_line

_BATCH_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class OpenFile:
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
        files = [_opened(table, Path(name)) for name in table.files]
        schemas = [
            _with_partition(file.schema, partition)
            for file, partition in zip(files, table.partitions, strict=True)
        ]
        schema = schemas[0]
        if len(schemas) > 1:
            schema = pa.unify_schemas(schemas, promote_options="permissive")
        parts = [
            Part(partial(_aligned, part, partition, schema), part.rows)
            for file, partition in zip(files, table.partitions, strict=True)
            for part in file.parts
        ]
        said = [Said(name, _told(name, files)) for name in schema.names]
        return ArrowTable(table.connection, schema, parts, said)


def _told(name: str, files: Sequence[OpenFile]) -> str:
    """Return the types that files tell of a column; where these differ, all of them."""
    types = dict.fromkeys(file.types[name] for file in files if name in file.types)
    return one_line(" | ".join(types))


def _opened(table: OpenTable, path: Path) -> OpenFile:
    if table.format == "avro":
        from pneuma_assets.core.sources.files.arrow_files import open_avro

        return OpenFile(*open_avro(path))
    return _open_orc(path) if table.format == "orc" else _open_ipc(table, path)


def _open_orc(path: Path) -> OpenFile:
    from pyarrow import orc

    file = orc.ORCFile(path)
    check_width(len(file.schema))

    def stripe(number: int) -> Batches:
        yield from _small(file.read_stripe(number))

    if file.nstripes == 1:
        return OpenFile(file.schema, [Part(partial(stripe, 0), file.nrows)])
    return OpenFile(file.schema, [Part(partial(stripe, number)) for number in range(file.nstripes)])


def _open_ipc(table: OpenTable, path: Path) -> OpenFile:
    """Open a file, or a stream that was saved as one."""
    source = table.undo.enter_context(pa.memory_map(str(path)))
    try:
        file = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        with pa.ipc.open_stream(source) as stream:
            schema = stream.schema
        check_width(len(schema))
        return OpenFile(schema, [Part(partial(_stream, path))])
    check_width(len(file.schema))

    def batch(number: int) -> Batches:
        yield from _small(_checked(file.get_batch(number)))

    return OpenFile(
        file.schema, [Part(partial(batch, number)) for number in range(file.num_record_batches)]
    )


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


def _with_partition(schema: pa.Schema, partition: Mapping[str, str | None]) -> pa.Schema:
    for name in partition:
        schema = schema.append(pa.field(name, pa.string()))
    return schema


def _aligned(part: Part, partition: Mapping[str, str | None], schema: pa.Schema) -> Batches:
    """Read a file's rows with the columns of the whole table."""
    for batch in part.batches():
        if batch.schema.equals(schema):
            yield batch
            continue
        values = {name: pa.scalar(value, pa.string()) for name, value in partition.items()}
        columns = []
        for number, wanted in enumerate(schema):
            if wanted.name in values:
                columns.append(pa.repeat(values[wanted.name], batch.num_rows))
            elif number < batch.num_columns and batch.schema.names[number] == wanted.name:
                columns.append(batch.column(number).cast(wanted.type))
            elif wanted.name in batch.schema.names:
                columns.append(batch.column(wanted.name).cast(wanted.type))
            else:
                columns.append(pa.nulls(batch.num_rows, wanted.type))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


_SIMPLE = {
    "string": pa.string(),
    "enum": pa.string(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "bytes": pa.binary(),
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "time-millis": pa.time64("us"),
    "time-micros": pa.time64("us"),
    "uuid": pa.string(),
}
_AVRO_CELLS = 50_000


_avro_errors = partial(library, "fastavro", "avro", "write the file again")


def open_avro(path: Path) -> tuple[pa.Schema, list[Part], dict[str, str]]:
    """Return the columns of a file, its rows as one part, and the types of nested columns.

    Raises:
        TableReadError: fastavro is not installed, or it is no Avro file of records.
    """
    with _avro_errors(), path.open("rb") as file:
        import fastavro

        written = fastavro.reader(file).writer_schema
    if not isinstance(written, dict) or not written.get("fields"):
        raise TableReadError("its rows are no records with fields; write a table of records")
    check_width(len(written["fields"]))
    schema = pa.schema([(field["name"], _arrow_type(field["type"])) for field in written["fields"]])
    with _avro_errors():
        types = _nested_types(written["fields"])
    return schema, [Part(partial(_avro_batches, path, schema))], types


def _avro_batches(path: Path, schema: pa.Schema) -> Batches:
    import fastavro

    rows = max(1, _AVRO_CELLS // len(schema))
    spell = [_spelling(kind) for kind in schema.types]
    with _avro_errors(), path.open("rb") as file:
        records: Iterator[Any] = iter(fastavro.reader(file))
        while batch := list(islice(records, rows)):
            columns = [
                pa.array([to(record.get(field.name)) for record in batch], field.type)
                for field, to in zip(schema, spell, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


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


def _nested_types(fields: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return by name the types of columns with fields inside, whose names rules may be about."""
    named: dict[str, Any] = {}
    types = {field["name"]: _type_in_words(field["type"], named, set()) for field in fields}
    return {name: kind for name, kind in types.items() if "(" in kind}


def _type_in_words(kind: Any, named: dict[str, Any], told: set[str]) -> str:
    """Return a type with all that is inside it, each record once: they may hold themselves."""
    if isinstance(kind, str):
        return (
            kind if kind not in named or kind in told else _type_in_words(named[kind], named, told)
        )
    if isinstance(kind, list):
        others = [_type_in_words(one, named, told) for one in kind if one != "null"]
        return others[0] if len(others) == 1 else f"UNION({', '.join(others)})"
    what = kind["type"]
    if what in {"record", "error"}:
        named[kind["name"]] = kind
        told.add(kind["name"])
        fields = (
            f"{quote_identifier(field['name'])} {_type_in_words(field['type'], named, told)}"
            for field in kind["fields"]
        )
        return f"STRUCT({', '.join(fields)})"
    if what == "array":
        return f"{_type_in_words(kind['items'], named, told)}[]"
    if what == "map":
        return f"MAP(string, {_type_in_words(kind['values'], named, told)})"
    return (
        str(kind.get("logicalType") or what)
        if isinstance(what, str)
        else _type_in_words(what, named, told)
    )


def _spelling(kind: pa.DataType) -> Callable[[Any], Any]:
    return _as_text if pa.types.is_string(kind) else lambda value: value


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
