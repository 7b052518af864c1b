"""DuckDB, set up to stay within a constant memory and to explain itself in one line."""

import atexit
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import duckdb

from pneuma_assets.core.sources.names import one_line

MEMORY_LIMIT = "512MiB"
"""Of DuckDB's buffers; with Python and the libraries a process stays under 1 GiB."""

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": MEMORY_LIMIT,
    "threads": 2,
    # Files may be replaced between two reads; keep no copy of their content.
    "enable_external_file_cache": False,
    # Never reach for the network in the middle of a read, whatever a file or a view asks for.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}

_ADVICE = re.compile(
    r"\n\n|\nLINE \d+:|\nPossible |\n\* |\n  (?:file|delimiter) ?=|Original Line:|Set the correct",
)
_KIND = re.compile(r"^(?:[A-Z][A-Za-z-]*(?: [A-Z][a-z]+)? Error: |CSV Error on )")


def settings() -> dict[str, str | bool | int | float | list[str]]:
    """Return the settings of every connection, with where to spill when memory runs short."""
    return {**_SETTINGS, "temp_directory": _spill_folder()}


@cache
def _spill_folder() -> str:
    """Return one folder a process: connections to one file must agree on their settings."""
    folder = tempfile.mkdtemp(prefix="pneuma-spill-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def reason(error: Exception, scratch: Path | None = None) -> str:
    """Return what DuckDB complained of in one line, without its advice on options."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"its rows do not fit into {MEMORY_LIMIT} of memory"
    text = str(error)
    if scratch is not None:
        text = re.sub(rf"\S*{re.escape(str(scratch))}\S*", "the file", text)
    first = _ADVICE.split(text, maxsplit=1)[0]
    return one_line(_KIND.sub("", first)).rstrip(".,;: ")


def quote_identifier(name: str) -> str:
    """Quote a table's, schema's or column's name for SQL."""
    return '"' + name.replace('"', '""') + '"'
