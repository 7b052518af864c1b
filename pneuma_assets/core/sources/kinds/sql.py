"""`type: sql`: the tables and views of a database or warehouse, by its SQLAlchemy URL."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from pydantic import AfterValidator, Field, model_validator

from pneuma_assets.core.config.secrets import Url, VariableName, read_secret
from pneuma_assets.core.config.section_base import absolute
from pneuma_assets.core.config.sources import SourceConfig, TableAddress
from pneuma_assets.core.sources.names import escape, unescape
from pneuma_assets.core.sources.sql.engines import SqlBounds, SqlEngine, Wanted, engine_of

if TYPE_CHECKING:
    from pneuma_assets.core.sources.sql.source import SqlSource

_GIGABYTE = 1_000_000_000


def _address(value: str) -> str:
    """Check the form of a database's URL."""
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError:
        parts = SplitResult("", "", "", "", "")
    usable = parts.scheme and "://" in value and value.isprintable() and " " not in value
    if not usable or not re.fullmatch(r"[a-z][a-z0-9_]*(\+[a-z0-9_]+)?", parts.scheme):
        raise ValueError("must be a SQLAlchemy URL, such as postgresql://user@host:5432/database")
    if engine_of(parts.scheme).kind == "sqlite" and (parts.netloc or not parts.path.strip("/")):
        raise ValueError("must name a file: sqlite:///shop.sqlite, or sqlite:////data/shop.sqlite")
    return value


_DATABASE_IN_URL = frozenset({"bigquery", "databricks"})
"""Engines whose database is told by the host or an option of the URL, not by its path."""

_Names = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=512)], ...], Field()]


class SqlSourceConfig(SourceConfig):
    """The tables and views of one or several databases of a server or warehouse."""

    technologies: ClassVar[frozenset[str]] = frozenset({"sql"})

    type: Literal["sql"] = "sql"
    url: Annotated[Url, AfterValidator(_address)] = Field(
        description="SQLAlchemy's: dialect://user@host:port/database?option=value, no password."
    )
    password_env: VariableName | None = Field(
        None, description="Names the variable with the password or token."
    )
    databases: _Names = Field((), description="Several at this server; ids then name them, too.")
    schemas: _Names = Field((), description="Only these are asked about.")
    include: _Names = Field((), description="Patterns of schema.table; none: all tables.")
    exclude: _Names = Field((), description="Patterns of schema.table that are left out.")
    statement_timeout_seconds: float = Field(30.0, ge=0.001, le=86_400)
    read_rows: int = Field(
        1_000_000, ge=0, description="Larger tables are not read whole: a sample stands for them."
    )
    read_gigabytes: float = Field(
        1.0, gt=0, description="Likewise; and what a query may be billed for (BigQuery)."
    )
    wake: bool = Field(False, description="Whether a listing may wake a sleeping warehouse.")

    @model_validator(mode="after")
    def _databases_can_be_several(self) -> Self:
        """Refuse databases where one URL reaches no other."""
        engine = self.engine
        if self.databases and (not engine.has_databases or engine.kind in _DATABASE_IN_URL):
            raise ValueError(
                f"databases: one URL of {engine.kind} reaches one alone; name its schemas in "
                "schemas, or make each database a source of its own"
            )
        return self

    @property
    def engine(self) -> SqlEngine:
        """What answers at the URL."""
        return engine_of(urlsplit(self.url).scheme)

    @property
    def caveat(self) -> str | None:
        """Says that its engine is untried, if it is."""
        kind = self.engine.kind
        return None if self.engine.tried else f"{kind} is untried: see docs/warehouses.md"

    @property
    def sql_dialect(self) -> str:
        """That of the engine, or plain SQL."""
        return self.engine.sql

    @property
    def dependency_dialect(self) -> str | None:
        """That of the engine, if it has a view of dependencies."""
        return self.statement_dialect

    @property
    def statement_dialect(self) -> str | None:
        """That of the engine, if it runs statements."""
        return self.engine.sql if self.engine.statements else None

    @property
    def spells_types(self) -> str | None:
        """The engine."""
        return self.engine.kind

    @property
    def location(self) -> str:
        """The URL."""
        return self.url

    def resolved(self, base: Path) -> Self:
        """Let the file of a SQLite database start from the deployment file's folder."""
        scheme, _, path = self.url.partition(":///")
        if self.engine.kind != "sqlite" or not path or path.startswith("/"):
            return super().resolved(base)
        return self.model_copy(update={"url": f"{scheme}:///{absolute(base, Path(path))}"})

    @property
    def variables(self) -> tuple[Collection[str | None], tuple[str, ...]]:
        """The password's, and what the engine's driver looks for by itself."""
        return {self.password_env}, self.engine.variables

    def password(self, environ: Mapping[str, str]) -> str | None:
        """Return the password; None: the driver looks for one by itself.

        Raises:
            ConfigError: The variable that should hold it is not set.
        """
        if self.password_env is None:
            return None
        where, holds = f"source {self.name!r}", "the password of its database"
        return read_secret(environ, self.password_env, where, holds)

    def address_of(self, table_id: str, location: str, format: str) -> TableAddress:  # noqa: A002, ARG002
        """Return the name as the engine spells it, with its database, and OpenLineage's address."""
        names = self._names(table_id)
        spelled = ".".join(quote(name, safe="", errors="surrogateescape") for name in names)
        return TableAddress(
            ".".join(escape(name) for name in names),
            f"{self.namespace}{spelled}",
            (self.engine.kind, *({format.replace(" ", "_")} - {"table"})),
        )

    def location_of(self, table_id: str) -> str:
        """Return where a table is, for people: as its address, with the name as it is written."""
        return self.namespace + ".".join(escape(name) for name in self._names(table_id))

    def holds(self, address: str) -> bool:
        """Tell whether a table is in one of the databases, and wanted.

        Args:
            address: Its URI as OpenLineage has it, or its name with database and schema; where the
                engine has no databases, with a schema that `schemas` names. In any capitals. The
                address of the server or file alone stands for all in it.
        """
        server, wanted = self.namespace, Wanted(self.include, self.exclude)
        if address.rstrip("/#") == server.rstrip("/#"):
            return True
        is_uri = address[: len(server)].casefold() == server.casefold()
        if "://" in address and not is_uri:
            return False
        name = unquote(address[len(server) :]) if is_uri else address
        schemas = {one.casefold() for one in self.schemas}
        for database in self.databases or (unescape(self._database),):
            start = f"{database}." if self.engine.has_databases and database else ""
            schema, _, table = name[len(start) :].partition(".")
            known = schema.casefold() in schemas or (not schemas and bool(start or is_uri))
            starts = name[: len(start)].casefold() == start.casefold()
            if starts and schema and table and known and wanted.admits(database, schema, table):
                return True
        return False

    def _names(self, table_id: str) -> list[str]:
        """Return the parts of a table's name, its database before them where the engine has one."""
        names = [unescape(name) for name in table_id.split("/")[1:]]
        database = self._database
        if self.engine.has_databases and not self.databases and database:
            names.insert(0, unescape(database))
        return names

    @property
    def _database(self) -> str:
        """What the URL names: a database, BigQuery's project, a catalogue of Databricks."""
        parts = urlsplit(self.url)
        if self.engine.kind == "bigquery":
            return parts.netloc
        if self.engine.kind == "databricks":
            return dict(parse_qsl(parts.query)).get("catalog", "")
        return parts.path.strip("/").partition("/")[0]

    @property
    def namespace(self) -> str:
        """What OpenLineage calls the server, and what parts it from a name in it."""
        parts, engine = urlsplit(self.url), self.engine
        if engine.kind == "sqlite":
            return f"{Path(unescape(parts.path[1:])).as_uri()}#"
        if engine.kind == "bigquery":
            return "bigquery://"
        port = parts.port or engine.port
        name = parts.hostname or ""
        host = quote(unescape(name), safe=":.-")
        host = f"[{host}]" if ":" in name else host.replace(":", "%3A")  # one of IPv6, or a name
        return f"{engine.namespace}://{host}{f':{port}' if port else ''}/"

    @property
    def bounds(self) -> SqlBounds:
        """How much is asked of it."""
        return SqlBounds(
            self.statement_timeout_seconds,
            self.read_rows,
            int(self.read_gigabytes * _GIGABYTE),
            self.wake,
        )

    def open(self, environ: Mapping[str, str]) -> "SqlSource":
        """Return what reads the database; it connects when first needed.

        Raises:
            ConfigError: The password's variable is not set, or a driver is not installed.
        """
        from pneuma_assets.core.sources.sql.server import Server
        from pneuma_assets.core.sources.sql.source import SqlSource

        password = self.password(environ)
        server = Server(self.name, self.engine, self.bounds, self.url, password, self.databases)
        wanted = Wanted(self.include, self.exclude, self.schemas)
        return SqlSource(self.name, server, wanted, self.location_of)
