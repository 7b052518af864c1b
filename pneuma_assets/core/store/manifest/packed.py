"""How a manifest is kept: a line that says what follows, then what follows, compressed.

Whoever reads it may be another version of the program, and the bytes may be damaged: everything is
bounded and checked before it is believed.
"""

import hashlib
import zlib
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FORMAT = 1
"""Of the line and of what follows it; another one is of another version of the program."""

MAX_PACKED = 64 << 20
MAX_UNPACKED = 512 << 20
"""Bytes; a manifest of 100,000 tables takes a tenth of them."""

MAX_LINE = 1_000
"""Bytes of the first line."""


class NotReadableError(Exception):
    """What is kept is damaged, or of another version of the program; the message says which."""


class _Version(BaseModel):
    model_config = ConfigDict(strict=True)

    format: int


class Head(BaseModel):
    """The first line."""

    model_config = ConfigDict(strict=True, frozen=True)

    format: int = FORMAT
    digest: str
    """Names the contents: the same tables, described in the same way, have the same."""
    made_of: str
    """Names what the contents were made of."""
    size: Annotated[int, Field(ge=0, le=MAX_UNPACKED)]
    """Bytes of the contents."""


def pack(contents: bytes, made_of: str) -> bytes:
    """Return what is to be kept."""
    head = Head(digest=_digest(contents), made_of=made_of, size=len(contents))
    return head.model_dump_json().encode() + b"\n" + zlib.compress(contents, 3)


def head_of(packed: bytes) -> Head:
    """Return what the first line says; what follows need not be there.

    Raises:
        NotReadableError: It is no such line, or of another version.
    """
    line, _, _ = packed[:MAX_LINE].partition(b"\n")
    try:
        if _Version.model_validate_json(line).format != FORMAT:
            raise NotReadableError("was written by another version of pneuma-assets")
        return Head.model_validate_json(line)
    except ValidationError as error:
        raise NotReadableError("is damaged") from error


def unpack(packed: bytes) -> tuple[Head, bytes]:
    """Return the first line and the contents.

    Raises:
        NotReadableError: They are not as they were written, or of another version.
    """
    head = head_of(packed)
    _, _, body = packed.partition(b"\n")
    try:
        contents = zlib.decompressobj().decompress(body, head.size + 1)
    except zlib.error as error:
        raise NotReadableError("is damaged") from error
    if len(contents) != head.size or _digest(contents) != head.digest:
        raise NotReadableError("is damaged")
    return head, contents


def _digest(contents: bytes) -> str:
    return hashlib.blake2b(contents, digest_size=16).hexdigest()
