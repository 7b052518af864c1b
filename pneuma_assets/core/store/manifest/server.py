"""A manifest on the state's server: read with little patience and no right to write."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import SQLAlchemyError

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.format import is_there
from pneuma_assets.core.store.manifest.packed import MAX_LINE, MAX_PACKED
from pneuma_assets.core.store.manifest.places import PlaceError
from pneuma_assets.core.store.postgresql_database import PostgreSQL, engine_of, told
from pneuma_assets.core.store.schema import manifests
from pneuma_assets.core.store.statements import upsert

PATIENCE_S = 3
"""A web server loads definitions meanwhile; a lock or a server that is away is waited for once."""


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
