"""Reads what people hand to a command in a file or on standard input, bounded."""

import codecs
import re
import sys
from pathlib import Path

from pneuma_assets.cli.failures import UsageError


def read_input(file: Path | None, most_bytes: int, option: str) -> tuple[str, bytes]:
    """Return the name of an input, for messages, and its bytes.

    Args:
        file: The file; None or `-` is standard input.
        most_bytes: A larger input is an error.
        option: The option that named the file.

    Raises:
        UsageError: The input cannot be read, or is too large.
    """
    name = "standard input"
    try:
        if file is None or str(file) == "-":
            data = sys.stdin.buffer.read(most_bytes + 1)
        else:
            name = str(file)
            with file.open("rb") as stream:
                data = stream.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {name} ({reason}); check {option}") from error
    if len(data) > most_bytes:
        raise UsageError(f"{name} is larger than {most_bytes // 1024:,} KiB; split it")
    return name, data


def lines_of(name: str, data: bytes) -> dict[int, str | None]:
    """Return the lines of an input that hold anything, by number; None for one that is no UTF-8.

    Lines end as on Linux, Windows or an old Mac; a byte order mark is no text.

    Raises:
        UsageError: The whole input is UTF-16.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"{name} is UTF-16; save it as UTF-8")
    lines = re.split(rb"\r\n|\r|\n", data.removeprefix(codecs.BOM_UTF8))
    return {number: _text(line) for number, line in enumerate(lines, start=1) if line.strip()}


def _text(line: bytes) -> str | None:
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError:
        return None
