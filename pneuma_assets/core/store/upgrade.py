"""Brings a state of an earlier format to today's, with everything it holds.

Narrations took hours of a model and contexts were written by people, so no format is ever given
up. Each step is an Alembic revision in `migrations/versions`; all of them happen in one
transaction. A new state is made as the newest revision leaves it. Revisions after 0003 also run on
PostgreSQL and take their types from `schema`: what SQLite calls REAL has half the digits there.
"""

from sqlalchemy import Connection, insert, inspect, select

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.schema import METADATA, revision

REVISIONS = tuple(f"{number:04}" for number in range(1, 22))
"""All there are, oldest first; importing Alembic to ask takes longer than a search."""

HEAD = REVISIONS[-1]


def create(connection: Connection) -> None:
    """Make an empty state of today's format, inside the open transaction."""
    METADATA.create_all(connection, checkfirst=False)
    connection.execute(insert(revision).values(version_num=HEAD))


def stamp(connection: Connection, name: str) -> None:
    """Say which revision a state is of that does not say so itself."""
    revision.create(connection)
    connection.execute(insert(revision).values(version_num=name))


def revision_of(connection: Connection, schema: str | None = None) -> str | None:
    """Return which revision a state is of; None where there is none yet."""
    if not inspect(connection).has_table(revision.name, schema):
        return None
    return connection.execute(select(revision.c.version_num)).scalar()


def upgrade(connection: Connection) -> None:
    """Bring a state to `HEAD`, inside the open transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "pneuma_assets.core.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def newer(where: str, found: str | None) -> StateError:
    """Return the refusal of a state that a newer version of the program has written."""
    return StateError(
        f"{where} was written by a newer version of pneuma-assets (format {found}, this one reads "
        f"up to {HEAD}); upgrade pneuma-assets here, too."
    )
