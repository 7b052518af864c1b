"""Which engines there are behind SQLAlchemy URLs, and what bounds the reading of one database.

Nothing here imports SQLAlchemy or a driver: a deployment file is read with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

_HTTP = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "SSL_CERT_")


@dataclass(frozen=True, slots=True)
class SqlEngine:
    """One engine, known by the beginning of a URL.

    Attributes:
        kind: What keeps a table, as a user interface shows it.
        dialect: Module and class of its `Dialect`, below this package.
        tried: Whether the tests read a server, or a file, of this engine.
        driver: What SQLAlchemy calls dialect and driver; empty: as the URL says.
        extra: The extra of this package that installs the driver.
        namespace: How OpenLineage begins the address of a server
            (https://openlineage.io/docs/spec/naming).
        port: Where it listens unless the URL says otherwise.
        variables: How the environment variables begin that its driver reads.
        sql: What sqlglot calls its SQL; empty: unknown.
        has_databases: Whether a name in it begins with a database (a catalogue, a project).
        statements: Whether it runs checked statements and has a view of dependencies.
        sleeps: Whether a listing wakes it, which costs money.
        dataset_catalogs: Whether each schema has an INFORMATION_SCHEMA of its own.
        options: Of the URL; `{size}` stands for the bytes that one query may read.
    """

    kind: str
    dialect: str = "generic:Inspected"
    tried: bool = False
    driver: str = ""
    extra: str = ""
    namespace: str = ""
    port: int | None = None
    variables: tuple[str, ...] = ()
    sql: str = ""
    has_databases: bool = True
    statements: bool = False
    sleeps: bool = False
    dataset_catalogs: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


def _warehouse(kind: str, *variables: str, driver: str = "", **other: Any) -> SqlEngine:
    """Return an engine that the tests never met: SQLAlchemy and ANSI's catalogue have to do."""
    return SqlEngine(
        kind, "generic:InformationSchema", False, driver, kind, kind, variables=variables,
        sql=kind, **other,
    )  # fmt: skip


_POSTGRESQL = SqlEngine(
    "postgresql", "postgresql:PostgreSQL", True, "postgresql+psycopg", "postgresql", "postgres",
    5432, ("PG",), "postgres", statements=True,
)  # fmt: skip
_MYSQL = SqlEngine(
    "mysql", "mysql:MySQL", True, "mysql+pymysql", "mysql", "mysql", 3306, (), "mysql",
    has_databases=False,
)  # fmt: skip

ENGINES: Mapping[str, SqlEngine] = {
    "postgresql": _POSTGRESQL,
    "postgres": _POSTGRESQL,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "sqlite": SqlEngine(
        "sqlite", "generic:SQLite", True, namespace="sqlite", sql="sqlite", has_databases=False
    ),
    "redshift": _warehouse("redshift", "PG", "AWS_", driver="redshift+psycopg2", port=5439),
    "snowflake": _warehouse("snowflake", "SNOWFLAKE_", *_HTTP, sleeps=True),
    "databricks": _warehouse("databricks", "DATABRICKS_", *_HTTP, sleeps=True),
    "trino": _warehouse("trino", *_HTTP, port=8080),
    "bigquery": _warehouse(
        "bigquery", "GOOGLE_", "CLOUDSDK_", *_HTTP, dataset_catalogs=True,
        options={"maximum_bytes_billed": "{size}"},
    ),
}  # fmt: skip
"""By the part of a URL's beginning before any `+driver`."""


def engine_of(scheme: str) -> SqlEngine:
    """Return the engine of a URL that begins so; SQLAlchemy's Inspector reads unlisted ones."""
    kind = scheme.partition("+")[0]
    return ENGINES.get(kind) or SqlEngine(kind, namespace=kind)


@dataclass(frozen=True, slots=True)
class SqlBounds:
    """How much one database may be asked for.

    Attributes:
        seconds: What one statement may take.
        rows: Tables of more are not read whole.
        size: Nor are those of more bytes.
        wake: Whether a listing may wake an engine that sleeps.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    size: int = 1_000_000_000
    wake: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables a source lists.

    Patterns (`*`, `?`, `[ab]`) are of `schema.table` or `database.schema.table`, whatever the
    case; a table is wanted that one of `include` fits (none given: any) and none of `exclude`.

    Attributes:
        schemas: Only these are asked about, spelled as the engine does; empty: all.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()

    def admits(self, database: str, schema: str, name: str) -> bool:
        """Tell whether a table is wanted."""
        names = [f"{schema}.{name}".casefold()]
        if database:
            names.append(f"{database}.{names[0]}".casefold())

        def any_fits(patterns: tuple[str, ...]) -> bool:
            return any(fnmatchcase(name, one.casefold()) for one in patterns for name in names)

        return not any_fits(self.exclude) and (not self.include or any_fits(self.include))
