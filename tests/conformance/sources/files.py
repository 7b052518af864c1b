"""Table files as bytes, for every kind of source that is made of files."""

import io
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from tests.conformance.sources.support import Cell, Columns, arrow_table, kinds_of, people


def csv_file(columns: Columns) -> bytes:
    """Quote texts and nothing else; a missing value is nothing at all."""
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(map(_quoted, row)) for row in (tuple(columns), *rows)]
    return "".join(f"{line}\n" for line in lines).encode()


def _quoted(cell: Cell) -> str:
    if cell is None:
        return ""
    return '"' + cell.replace('"', '""') + '"' if isinstance(cell, str) else str(cell)


def jsonl_file(columns: Columns) -> bytes:
    rows = zip(*columns.values(), strict=True)
    lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def parquet_file(columns: Columns) -> bytes:
    """Write groups of a few rows, as large files have many."""
    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file, row_group_size=5000)
    return file.getvalue()


def orc_file(columns: Columns) -> bytes:
    file = io.BytesIO()
    orc.write_table(arrow_table(columns), file)
    return file.getvalue()


def arrow_file(columns: Columns) -> bytes:
    file = io.BytesIO()
    table = pa.table(dict(columns))
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=5000)
    return file.getvalue()


AVRO = {str: "string", int: "long", float: "double"}


def avro_file(columns: Columns) -> bytes:
    """Let every column have nulls; names that Avro takes, as it takes few."""
    kinds = zip(columns, kinds_of(columns, AVRO), strict=True)
    fields = [{"name": name, "type": ["null", kind]} for name, kind in kinds]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    file = io.BytesIO()
    schema = {"type": "record", "name": "row", "fields": fields}
    fastavro.writer(file, fastavro.parse_schema(schema), rows)
    return file.getvalue()


WRITERS: dict[str, Callable[[Columns], bytes]] = {
    "csv": csv_file,
    "jsonl": jsonl_file,
    "parquet": parquet_file,
    "orc": orc_file,
    "arrow": arrow_file,
    "avro": avro_file,
}

DAMAGED = b"PAR1\x00\x01\x02\xff{" * 100
"""Begins like what it is not, and is no text either."""


class FileLake:
    """Files of one format, wherever they are put; what people write lies beside them."""

    environ: Mapping[str, str] = MappingProxyType({})
    extension = "csv"

    def put(self, name: str, content: bytes) -> None:
        raise NotImplementedError

    def remove(self, name: str) -> None:
        raise NotImplementedError

    def write(self, name: str, columns: Columns) -> None:
        self.put(f"{name}.{self.extension}", WRITERS[self.extension](columns))

    def write_beside(self, name: str) -> None:
        first = "pq" if self.extension == "parquet" else "parquet"
        self.put(f"{name}.{first}", WRITERS["parquet"](people(3)))

    def describe(self, name: str, text: str) -> None:
        self.put(f"{name}.md", text.encode())

    def damage(self, name: str) -> None:
        self.put(f"{name}.{self.extension}", DAMAGED)

    def delete(self, name: str) -> None:
        self.remove(f"{name}.{self.extension}")
