"""Texts of a PostgreSQL server that are none in UTF-8.

A database of encoding SQL_ASCII keeps whatever bytes it is given, and checks them when they are
sent: one wrong byte in a comment would fail the whole listing. Here the server is told that bytes
are Latin 1, as which any will do, and they are decoded, and statements encoded, by ourselves: as
UTF-8, with surrogates where a name is something else, so that it is found again, and U+FFFD in
all other text. Names of roles are the whole server's, so they may be such in any database.
"""

from typing import Any

from psycopg import Connection
from psycopg.adapt import Buffer, Loader
from psycopg.types.string import StrDumperUnknown

_WIRE = "LATIN1"
_TEXTS = ("text", "varchar", "bpchar")


class _NameLoader(Loader):
    """Reads a name, whatever its bytes."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "surrogateescape")


class _TextLoader(Loader):
    """Reads a text, with a mark in the place of what is none."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "replace")


class _Dumper(StrDumperUnknown):
    """Sends a text as the bytes that it was read from."""

    def dump(self, obj: str) -> Buffer | None:
        return obj.encode("utf-8", "surrogateescape")


def prepare_texts(cursor: Any) -> None:
    """Let a new connection read texts and names of any bytes.

    Args:
        cursor: Of the driver, on that connection.
    """
    connection: Connection[Any] = cursor.connection
    adapters = connection.adapters
    adapters.register_loader("name", _NameLoader)
    if connection.info.parameter_status("server_encoding") != "SQL_ASCII":
        return
    cursor.execute(f"SET client_encoding = '{_WIRE}'")
    for kind in _TEXTS:
        adapters.register_loader(kind, _TextLoader)
    adapters.register_loader("json", _NameLoader)  # it holds names, and is parsed where it is used
    adapters.register_dumper(str, _Dumper)


def spelled(
    _connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any
) -> tuple[str, Any]:
    """Return a statement as the server takes it, names in it as the bytes that they were read from.

    SQLAlchemy calls it before each statement (`before_cursor_execute`).
    """
    status = cursor.connection.info.parameter_status
    if status("server_encoding") == "SQL_ASCII" and status("client_encoding") == _WIRE:
        return statement.encode("utf-8", "surrogateescape").decode("latin-1"), parameters
    return statement, parameters


def told(words: str) -> str:
    """Return what the server said of an error, which the driver reads as what the server was told.

    Words that were read as they should be are not UTF-8 when they are spelled as Latin 1.
    """
    try:
        return words.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return words
