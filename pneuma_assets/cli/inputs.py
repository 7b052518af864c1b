"""Reads what people hand to a command in a file or on standard input, bounded."""

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
