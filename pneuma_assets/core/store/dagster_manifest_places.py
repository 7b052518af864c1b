"""Where a manifest is kept: in files beside the state file, or in a table of the state's server."""

import uuid
from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import func, select

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.postgresql_database import PostgreSQLDatabase, server_of
from pneuma_assets.core.store.schema import manifests, upsert
from pneuma_assets.core.store.user_edits_journal import replace_file

MAX_PACKED = 64 << 20
"""Bytes; a manifest of 100,000 tables takes a tenth of them."""

PATIENCE_S = 3.0
"""A web server loads definitions meanwhile; a lock or a server that is away is waited for once."""

_STATE_FILE = "state.db"


class Folder:
    """A folder of this machine, a file a name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, most: int = MAX_PACKED) -> bytes | None:
        """Return the first bytes of the file, None if there is no file."""
        path = self._path(name)
        try:
            with path.open("rb") as file:
                return file.read(most)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StateError(
                f"The manifest of tables {str(path)!r} cannot be read ({error.strerror}); let this "
                "user read it."
            ) from error

    def write(self, name: str, packed: bytes) -> None:
        """Replace the file as one act; of several who do so at once, one is the last."""
        path = self._path(name)
        fresh = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
        replace_file(path, fresh, packed, "The manifest of tables")

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.manifest"


class Server(StorePart):
    """A table of the state's server."""

    def read(self, name: str, most: int = MAX_PACKED) -> bytes | None:
        """Return the first bytes of what is kept, None if nothing is."""
        first = select(func.substring(manifests.c.packed, 1, most))
        found = self._db.read(first.where(manifests.c.name == name))
        return bytes(found[0][0]) if found else None

    def write(self, name: str, packed: bytes) -> None:
        """Replace what is kept."""
        with self._db.write() as connection:
            upsert(connection, manifests, [{"name": name, "packed": packed}])


Place = Folder | Server
"""Keeps the parts of a manifest by their names; either way raises `StateError`."""


def read_part(
    loaded: LoadedDeployment, environ: Mapping[str, str], name: str
) -> tuple[bytes | None, bool]:
    """Return one part of a deployment's manifest, and whether there is a state; writes nothing.

    Raises:
        ConfigError: The password's variable is not set.
        StateError: It cannot be read.
    """
    server = server_of(loaded.deployment.state, environ)
    if server is None:
        return Folder(loaded.home).read(name), (loaded.home / _STATE_FILE).exists()
    with PostgreSQLDatabase(server, reads_within_s=PATIENCE_S) as database:
        made = database.is_made()
        return Server(database).read(name) if made else None, made
