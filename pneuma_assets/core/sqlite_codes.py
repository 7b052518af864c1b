"""What SQLite says is wrong, also where Python's module raises an error without a code."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


def code_of(error: sqlite3.Error) -> int:
    """Return the extended result code of an error; its low byte is the kind.

    Python itself raises an error without one where a text is not UTF-8, which is damage, and
    where a connection is used wrongly (https://docs.python.org/3/library/sqlite3.html#exceptions).
    """
    misused = isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError)
    default = sqlite3.SQLITE_MISUSE if misused else sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", default))


@contextmanager
def errors_in_text() -> Iterator[None]:
    """Raise an error of SQLite's where its words quote a damaged name, which no text is made of.

    Reading the schema, SQLite says which entry is wrong; of bytes that are no UTF-8, Python says
    only that it cannot read these words.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("its schema holds a name that is no text") from error
