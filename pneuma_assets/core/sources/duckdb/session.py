"""DuckDB, set up to stay within a constant memory and to explain itself in one line.

Whoever writes a database file writes programs: its views run in the process that reads them. So
no view reaches files, the network, the environment or the objects of this process, and none can
change a setting to get there.
"""

import atexit
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import duckdb

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.bounds import limits
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line

Settings = dict[str, str | bool | int | float | list[str]]

_BUFFER_SHARE = 0.25
"""DuckDB's buffers of a reader's memory: beside them it holds what it parses, and Python."""

_SETTINGS: Settings = {
    "threads": 2,
    # Files may be replaced between two reads; keep no copy of their content.
    "enable_external_file_cache": False,
    # Never reach for the network in the middle of a read, whatever a file or a view asks for.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    # Or a table that is missing is looked for among the variables of the calling code.
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
    # Where it is empty DuckDB shows HTTP_PROXY in its place, which may hold a password.
    "http_proxy": "none",
}

_ADVICE = re.compile(
    r"\n\n|\nLINE \d+:|\nPossible |\n\* |\n  (?:file|delimiter) ?=|Original Line:|Set the correct",
)
# A temporary file's name with the words and quotes that DuckDB puts around it.
_NAME = r"(?:\b(?:the )?(?:Parquet )?[Ff]ile )?[\"'\[]*[^\s\"'\[]*{0}([^\s\"',;\])]*)(?<!:)[\"'\]]*"
_RAISED = re.compile(r"^[A-Za-z_][\w.]*: (.+)$", re.MULTILINE)
"""The line of a traceback that says what was raised; the last one is what came of the others."""
_KIND = re.compile(r"^(?:[A-Z][A-Za-z-]*(?: [A-Z][a-z]+)? Error: |CSV Error on )")


def settings(spill: str = "memory") -> Settings:
    """Return the settings of every connection, with where to spill when memory runs short.

    A view may read the folder it spills to, so each database (`spill` names it) has its own.
    """
    folder = _spill_folder(spill)
    return {
        **_SETTINGS,
        "memory_limit": f"{_buffers_gigabytes():g}GB",
        "temp_directory": folder,
        "max_temp_directory_size": f"{limits().temporary_gigabytes}GB",
        "secret_directory": f"{folder}/none",
    }


def lock_down(connection: duckdb.DuckDBPyConnection, spill: str) -> None:
    """Close a connection to all but its own database.

    External access goes after all else but the lock: without it no folder can be set. (Given to
    `duckdb.connect` with the others, it is applied in an order that DuckDB does not promise.)
    Connections of one process to one file share their settings, so it may be locked already: what
    it came to is asked with the function's full name, as the database may hold a macro of a shorter
    one.

    Raises:
        SourceError: It was locked before, in another state.
    """
    locked = {"enable_external_access": False, "lock_configuration": True}
    try:
        for name, value in {**settings(spill), **locked}.items():
            connection.execute(f"SET {name} = {_literal(value)}")
    except duckdb.InvalidInputException as error:
        if "the configuration has been locked" not in str(error):
            raise
    ask = f"SELECT {builtin('current_setting')}(?)"
    for name, wanted in {**locked, "python_enable_replacements": False}.items():
        if connection.execute(ask, [name]).fetchall() != [(wanted,)]:
            raise SourceError(
                f"the connection was locked with {name} = {str(not wanted).lower()}; open it with "
                f"{name} = {_literal(wanted)}, or set external_views: true on its source if you "
                "trust who wrote its views"
            )


def builtin(name: str) -> str:
    """Return a function's full name, which no macro of the database that is read can stand for.

    Operators are functions, too: `+`, `-`, `||` and `LIKE` have to be called by this name.
    Comparisons, `AND`, `IN`, `CASE` and casts cannot be replaced.
    """
    return f"system.main.{quote_identifier(name)}"


def _literal(value: object) -> str:
    return (
        str(value).lower() if isinstance(value, bool) else "'" + str(value).replace("'", "''") + "'"
    )


def _buffers_gigabytes() -> float:
    return limits().memory_gigabytes * _BUFFER_SHARE


@cache
def _spill_folder(database: str) -> str:
    """Return one folder a database: connections to one file must agree on their settings."""
    return tempfile.mkdtemp(prefix=f"{content_hash(database)}-", dir=_spill_root())


@cache
def _spill_root() -> str:
    folder = tempfile.mkdtemp(prefix="pneuma-spill-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def reason(error: Exception, scratch: Path | None = None) -> str:
    """Return what DuckDB complained of in one line, without its advice on options."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"its rows do not fit into {_buffers_gigabytes():g} GB of memory"
    text = _raised(str(error))
    if scratch is not None:
        text = re.sub(_NAME.format(re.escape(str(scratch))), _spoken, text)
    first = _ADVICE.split(text, maxsplit=1)[0]
    return one_line(_KIND.sub("", first)).rstrip(".,;: ")


def _raised(text: str) -> str:
    """Return what an error of Python says that DuckDB passes on as a traceback, else the text."""
    if not text.startswith("Traceback (most recent call last)"):
        return text
    said = _RAISED.findall(text)
    return said[-1] if said else text


def _spoken(name: re.Match[str]) -> str:
    """Return what people may know of a temporary file's name: the partition it is in."""
    partition = name[1].strip("/").rpartition("/")[0]
    return f"the file in {partition}" if partition else "the file"


def quote_identifier(name: str) -> str:
    """Quote a table's, schema's or column's name for SQL."""
    return '"' + name.replace('"', '""') + '"'
