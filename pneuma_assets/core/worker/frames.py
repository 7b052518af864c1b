"""What a worker is sent, and what it says: JSON and Arrow, never a pickle."""

import json
import struct
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


def read(
    stream: IO[bytes], most_bytes: int, *, trusted: bool = False
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Read one message of whoever may be hostile, unless `trusted`: then columns are of any type.

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
        parts = {name: _exactly(stream, size) for name, size in sizes}
        unpack = _read_all if trusted else _unpacked
        return header, {name: unpack(data) for name, data in parts.items()}
    except (pa.ArrowException, OSError, struct.error) as error:
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


def _read_all(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


def _unpacked(data: bytes) -> pa.Table:
    """Return a table of plain columns; a few bytes of others may stand for any number of cells."""
    schema = pa.ipc.open_stream(data).schema
    unknown = [str(one.type) for one in schema if not _is_plain(one.type)]
    if unknown:
        raise MessageError(f"a table of it has a column of {unknown[0][:100]}; make it text")
    for message in pa.ipc.MessageReader.open_stream(data):
        if message.type == "record batch" and _is_compressed(message.metadata):
            raise MessageError("a table of it is compressed")
    table = _read_all(data)
    table.validate(full=True)
    return table


def _is_plain(kind: pa.DataType) -> bool:
    return any(is_it(kind) for is_it in _PLAIN)


_PLAIN = (
    *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary),
    *(pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration),
)


def _is_compressed(metadata: pa.Buffer) -> bool:
    """Tell whether the header of a record batch names a codec (Arrow's format, `Message.fbs`).

    The header is a flatbuffer, which Arrow has checked. Its field 2 is the batch, whose field 3 is
    the codec.
    """
    data = metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", data)
    at = _field(data, root, 2)
    (batch,) = struct.unpack_from("<I", data, at)
    return _field(data, at + batch, 3) != 0


def _field(data: bytes, table: int, number: int) -> int:
    """Return where a field of a flatbuffer's table is; 0 where it has none."""
    (back,) = struct.unpack_from("<i", data, table)
    (size,) = struct.unpack_from("<H", data, table - back)
    place = 4 + 2 * number
    (offset,) = struct.unpack_from("<H", data, table - back + place) if place < size else (0,)
    return table + offset if offset else 0
