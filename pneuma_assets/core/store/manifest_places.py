"""Where a manifest is: a file beside the state file, or a table of the state's server.

A server is read with little patience and no right to write.
"""

import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError, StateError
from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.postgresql_database import (
    PostgreSQL,
    engine_of,
    server_of,
    told,
)
from pneuma_assets.core.store.schema import is_there, manifests, upsert

MAX_PACKED = 64 << 20
MAX_UNPACKED = 512 << 20
"""Bytes; a manifest of 100,000 tables takes a tenth of them."""

MAX_LINE = 1_000
"""Bytes of the first line."""

PATIENCE_S = 3
"""A web server loads definitions meanwhile; a lock or a server that is away is waited for once."""

_STATE_FILE = "state.db"


class PlaceError(Exception):
    """What is kept cannot be reached; the message says why and what to do."""


class Place(Protocol):
    """Where a manifest's parts are read without the store that they were made of."""

    def read(self, name: str) -> bytes | None:
        """Return what is kept, None if nothing was; writes nothing. Raises `PlaceError`."""
        ...

    def has_state(self) -> bool:
        """Tell whether anything was ever remembered here. Raises `PlaceError`."""
        ...


class Keeper(Protocol):
    """Where an open store keeps a manifest's parts."""

    def begin(self, name: str) -> bytes:
        """Return the beginning of what is kept, with its first line; empty if nothing is."""
        ...

    def write(self, name: str, packed: bytes) -> None:
        """Replace what is kept, as one act. Raises `StateError`."""
        ...


class Folder:
    """A folder of this machine, a file a name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        """Return the file's bytes, None if there is no file."""
        path = self._path(name)
        try:
            with path.open("rb") as file:
                packed = file.read(MAX_PACKED + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise PlaceError(
                f"The manifest of tables {str(path)!r} cannot be read ({error.strerror}); let this "
                "user read it."
            ) from error
        if len(packed) > MAX_PACKED:
            raise PlaceError(f"The manifest of tables {str(path)!r} is too large; remove it.")
        return packed

    def begin(self, name: str) -> bytes:
        """Return the beginning of the file; empty if it cannot be read."""
        try:
            with self._path(name).open("rb") as file:
                return file.read(MAX_LINE)
        except OSError:
            return b""

    def write(self, name: str, packed: bytes) -> None:
        """Write beside it, then put that in its place: a reader sees the old one or the new one."""
        path = self._path(name)
        beside = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
        try:
            try:
                with beside.open("xb") as file:
                    file.write(packed)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
        except OSError as error:
            raise StateError(
                f"The manifest of tables {str(path)!r} cannot be written ({error.strerror}); free "
                "disk space, or let this user write there, and run again."
            ) from error

    def has_state(self) -> bool:
        """Tell whether there is a state file."""
        return (self._folder / _STATE_FILE).exists()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.manifest"


class ServerPlace:
    """Reads the manifest of a state on a server."""

    def __init__(self, at: PostgreSQL) -> None:
        self._at = at

    def read(self, name: str) -> bytes | None:
        """Return what is kept; None if nothing was."""
        kept = manifests.c.name == name
        with self._connected() as connection:
            if not is_there(connection, self._at.schema):
                return None
            size = connection.execute(select(func.length(manifests.c.packed)).where(kept)).scalar()
            if size is None:
                return None
            if size > MAX_PACKED:
                raise PlaceError("The manifest of tables is too large; index again.")
            return bytes(connection.execute(select(manifests.c.packed).where(kept)).scalar_one())

    def has_state(self) -> bool:
        """Tell whether there is a state, of whatever format."""
        with self._connected() as connection:
            return is_there(connection, self._at.schema)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        engine = engine_of(self._at, patience_s=PATIENCE_S)
        try:
            with engine.connect() as connection:
                connection.execute(text("SET TRANSACTION READ ONLY"))
                connection.execute(text(f"SET LOCAL statement_timeout = {PATIENCE_S * 2000}"))
                yield connection
        except SQLAlchemyError as error:
            raise PlaceError(str(told(self._at, error))) from error
        finally:
            engine.dispose()


class ServerKeeper:
    """Keeps the manifest of an open store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def begin(self, name: str) -> bytes:
        """Return the beginning of what is kept."""
        first = func.substring(manifests.c.packed, 1, MAX_LINE)
        found = self._db.read(select(first).where(manifests.c.name == name))
        return bytes(found[0][0]) if found else b""

    def write(self, name: str, packed: bytes) -> None:
        """Replace what is kept."""
        with self._db.write() as connection:
            upsert(connection, manifests, [{"name": name, "packed": packed}])


def place_of(loaded: LoadedDeployment, environ: Mapping[str, str]) -> Place:
    """Return where the manifest of a deployment is; reaches nothing before its first call.

    Args:
        loaded: The deployment.
        environ: Holds the password of a server.

    Raises:
        PlaceError: The password's variable is not set.
    """
    try:
        server = server_of(loaded.deployment.state, environ)
    except ConfigError as error:
        raise PlaceError(str(error)) from error
    return ServerPlace(server) if server else Folder(loaded.home)
