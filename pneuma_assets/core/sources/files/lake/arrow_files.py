"""Reads Arrow IPC (Feather), ORC and Avro files, a batch, stripe or block at a time.

A table of several files (partitions, Spark's parts) has the columns of all of them, joined by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pyarrow as pa

from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.files.lake.arrow_reader import ArrowReader
from pneuma_assets.core.sources.files.lake.arrow_table import ArrowTable, Batches, Part, Said
from pneuma_assets.core.sources.files.staging import OpenTable, place_whole
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.names import one_line
from pneuma_assets.core.tables import TableRef

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

    def read(self, table: OpenTable, storage: Storage, ref: TableRef) -> ArrowTable:
        """Bring the files here and look at what each begins or ends with."""
        place_whole(table, storage, storage.path(ref.location))
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
        from pneuma_assets.core.sources.files.lake.avro import open_avro

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
