"""What a confined process is sent, and what it says: JSON and Arrow, never a pickle."""

import json
from collections.abc import Mapping
from typing import IO, Any

import pyarrow as pa

_LENGTH = 8
MOST_HEADER = 1 << 20


class MessageError(Exception):
    """Bytes that are no message, or more of them than are taken."""


class EndedError(MessageError):
    """There are no more bytes: whoever wrote them has ended."""


def write(stream: IO[bytes], header: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
    """Write one message: a JSON object, and tables by name."""
    packed = {name: _packed(table) for name, table in tables.items()}
    sizes = [[name, len(data)] for name, data in packed.items()]
    text = json.dumps({"header": dict(header), "tables": sizes}).encode()
    stream.write(len(text).to_bytes(_LENGTH, "big"))
    stream.write(text)
    for data in packed.values():
        stream.write(memoryview(data))
    stream.flush()


def read(stream: IO[bytes], most_bytes: int) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Read one message of whoever may be hostile.

    Raises:
        MessageError: It is none, or has more than so many bytes of tables.
    """
    length = int.from_bytes(_exactly(stream, _LENGTH), "big")
    if length > MOST_HEADER:
        raise MessageError(f"its header has more than {MOST_HEADER:,} bytes")
    try:
        said = json.loads(_exactly(stream, length))
        header, sizes = dict(said["header"]), [(str(n), int(s)) for n, s in said["tables"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise MessageError("its header cannot be read") from error
    if any(size < 0 for _, size in sizes) or sum(size for _, size in sizes) > most_bytes:
        raise MessageError(f"its tables have more than {most_bytes:,} bytes")
    try:
        return header, {name: _unpacked(_exactly(stream, size)) for name, size in sizes}
    except (pa.ArrowException, OSError) as error:
        raise MessageError("a table of it cannot be read") from error


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EndedError("it ends before its end")
    return data


def _packed(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _unpacked(data: bytes) -> pa.Table:
    table = pa.ipc.open_stream(data).read_all()
    table.validate(full=True)
    return table
