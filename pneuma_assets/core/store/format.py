"""Which format a state is of: one of another format is refused, since nothing brings it to ours."""

from sqlalchemy import Connection, inspect, select

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.noted import note
from pneuma_assets.core.store.schema import METADATA, meta

FORMAT = "1"
"""Raised with every change of `schema`, or of what its columns mean."""

_KEY = "format"
_FOUND = select(meta.c.value).where(meta.c.key == _KEY)


def create(connection: Connection) -> None:
    """Make an empty state, inside the open transaction."""
    METADATA.create_all(connection, checkfirst=False)
    note(connection, _KEY, FORMAT)


def is_there(connection: Connection, schema: str | None = None) -> bool:
    """Tell whether there is a state, of whatever format."""
    return inspect(connection).has_table(meta.name, schema)


def check_format(connection: Connection, where: str) -> None:
    """Raise `StateError` unless the state, called `where`, is of this format."""
    found = connection.execute(_FOUND).scalar()
    if found != FORMAT:
        raise StateError(
            f"{where} was made by another version of pneuma-assets (format {found or 'unknown'}, "
            f"this is {FORMAT}): move it away and index anew."
        )
