"""Whether what a deployment file wants of a database lets anything through."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.letting import nothing_fits, unknown_schema
from pneuma_assets.core.sources.sql.catalog import CatalogTable, Wanted
from pneuma_assets.core.sources.sql.connecting import Server


def check_schemas(source: str, server: Server, unseen: Collection[str]) -> None:
    """Refuse a schema that no database has, where the engine tells at once which it has.

    Args:
        source: Whose schemas they are.
        server: Its databases.
        unseen: Wanted schemas in which no table was found.

    Raises:
        SourceError: One is in none of the databases.
    """
    known: set[str] = set()
    for database in server.databases if unseen else ():
        with server.reading(database, SourceError, f"source {source!r}") as connection:
            names = server.dialect.schema_names(connection)
        if names is None:
            return
        known.update(names)
    for name in unseen:
        if name not in known:
            raise unknown_schema(source, name, known)


def check_wanted(
    source: str, wanted: Wanted, tables: Callable[[Wanted], Iterable[CatalogTable]]
) -> None:
    """Refuse what lets nothing through though there are tables.

    Args:
        source: Whose deployment file it is.
        wanted: What lets nothing through.
        tables: Lists those that this user may read, if other things were wanted.

    Raises:
        SourceError: Without one of its conditions there are tables.
    """
    for key, looser in (
        ("exclude", replace(wanted, exclude=())),
        ("include", replace(wanted, include=(), exclude=())),
        ("schemas", Wanted()),
    ):
        given: tuple[str, ...] = getattr(wanted, key)
        names = {
            ".".join(name for name in (table.database, table.schema, table.name) if name)
            for table in (tables(looser) if given else ())
        }
        if names:
            raise nothing_fits(source, key, given, names)
