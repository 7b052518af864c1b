"""Text in any encoding becomes UTF-8, in a stream.

UTF-16 and UTF-32 are known by their byte order mark or by their zero bytes. Everything else is
read as UTF-8, and each byte that is not valid there as Windows-1252 (the superset of Latin-1 that
people mean by it): right for UTF-8, for Latin-1, and for files where somebody mixed the two.
"""

import codecs
import errno
import gzip
import io
import lzma
import os
import re
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

HEAD_BYTES = 64 * 1024
"""How much of a file is looked at to guess its encoding."""

GZIP = "gzip"
"""The one compression that DuckDB reads by itself and tells when it is cut off."""

_MAGIC = {
    b"\x1f\x8b": GZIP,
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
_CHUNK_BYTES = 1 << 20
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TOLERANT = "pneuma-windows-1252"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_RAW_CONTROLS = re.compile("[\x00-\x09\x0b\x0c\x0e-\x1f]")


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Decode the bytes that are not UTF-8; the five that Windows leaves undefined as Latin-1."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    text = "".join(
        byte.decode("cp1252", "ignore") or byte.decode("latin-1")
        for byte in (wrong[i : i + 1] for i in range(len(wrong)))
    )
    return text, error.end


codecs.register_error(_TOLERANT, _as_windows_1252)


def guess_encoding(head: bytes) -> str:
    """Return `utf-8`, `utf-16`, `utf-16-le`, `utf-16-be` or `utf-32` from a file's beginning."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half >= 2 and odd > 0.3 * half and even < 0.02 * half:
        return "utf-16-le"
    if half >= 2 and even > 0.3 * half and odd < 0.02 * half:
        return "utf-16-be"
    return "utf-8"


def nothing_in(head: bytes) -> str:
    """Say what a file without text holds; nothing if it is empty."""
    mark = next((mark for mark, _ in _MARKS if head.startswith(mark)), b"")
    mark = mark or (codecs.BOM_UTF8 if head.startswith(codecs.BOM_UTF8) else b"")
    if mark and len(head) == len(mark):
        return "the file is empty but for a byte order mark"
    return "the file is empty but for blanks" if head else ""


def looks_binary(head: bytes) -> bool:
    """Tell whether bytes that are read as UTF-8 can hardly be text: many control characters."""
    return len(head.translate(None, _CONTROLS)) < 0.9 * len(head)


def decode(data: bytes, encoding: str | None = None) -> str:
    """Return bytes as text; `encoding` is guessed if None. Never fails."""
    encoding = encoding or guess_encoding(data)
    text = data.decode(encoding, _errors(encoding))
    return text.removeprefix("\ufeff")


def read_head(path: Path) -> tuple[bytes, str]:
    """Return the beginning of a file, decompressed, and how it is compressed: `GZIP`, or nothing.

    Raises:
        OSError: The file cannot be read; `EOFError` where its compressed data is cut off.
        zlib.error: Its compressed data is damaged; `lzma.LZMAError` likewise.
    """
    with path.open("rb") as file:
        compression = _compression(file)
        return unpacked(file).read(HEAD_BYTES), compression


def transcode(
    source: Path, target: Path, encoding: str, *, json_lines: bool, most: int | None = None
) -> int:
    """Write a text file, compressed or not, as plain UTF-8, a megabyte at a time.

    Zero characters are dropped. In JSON Lines every raw control character becomes a blank: it is
    an error inside a JSON string and means nothing outside.

    Returns:
        The number of bytes written.

    Raises:
        OSError: The file cannot be read, or has more than `most` bytes as UTF-8.
    """
    decoder = codecs.getincrementaldecoder(encoding)(_errors(encoding))
    with source.open("rb") as packed, target.open("wb") as writer:
        reader, first, written = unpacked(packed), True, 0
        for chunk in chain(iter(partial(reader.read, _CHUNK_BYTES), b""), [b""]):
            text = decoder.decode(chunk, final=not chunk)
            text = text.removeprefix("\ufeff") if first else text
            first = first and not text
            written += writer.write(_without_controls(text, json_lines).encode("utf-8", "replace"))
            if most is not None and written > most:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return written


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return an open file as a stream that is decompressed if need be; its content tells how."""
    compression = _compression(file)
    return _OPENERS[compression](file) if compression else file


def _compression(file: BinaryIO) -> str:
    head = file.read(max(map(len, _MAGIC)))
    file.seek(0)
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def _through_arrow(name: str, file: BinaryIO) -> BinaryIO:
    stream = pa.CompressedInputStream(pa.PythonFile(file, "r"), name)
    return cast(BinaryIO, io.BufferedReader(stream))


def _through_lzma(file: BinaryIO) -> BinaryIO:
    opened = lzma.LZMAFile(file)  # noqa: SIM115 (ends with its file)
    # Else padding, or a damaged stream, would end the data behind the first stream in silence.
    opened._buffer.raw._trailing_error = ()  # type: ignore[attr-defined]
    return cast(BinaryIO, opened)


_OPENERS: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    GZIP: lambda file: cast(BinaryIO, gzip.GzipFile(fileobj=file)),
    "bz2": partial(_through_arrow, "bz2"),
    "xz": _through_lzma,
    "zstd": partial(_through_arrow, "zstd"),
    "lz4": partial(_through_arrow, "lz4"),
}


def _without_controls(text: str, json_lines: bool) -> str:
    return _RAW_CONTROLS.sub(" ", text) if json_lines else text.replace("\0", "")


def _errors(encoding: str) -> str:
    return _TOLERANT if encoding == "utf-8" else "replace"
