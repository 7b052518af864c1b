"""Which engines there are by the beginning of a URL, without importing a driver.

Names of data sets follow OpenLineage's naming specification
(https://openlineage.io/docs/spec/naming), so that its events mean the same tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass

_HTTP = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE", "SSL_CERT_")


@dataclass(frozen=True, slots=True)
class SqlEngine:
    """One engine.

    Attributes:
        kind: What keeps a table, as a user interface shows it.
        place: Module and class of its `Dialect`, below this package.
        driver: What SQLAlchemy calls dialect and driver; empty: as the URL says.
        extra: The extra of this package that installs the driver.
        namespace: How OpenLineage begins the address of a server.
        port: Where it listens unless the URL says otherwise.
        variables: How the environment variables begin that its driver reads.
        databases: Whether one connection or server has several, by which names are told apart.
        dependencies: What sqlglot calls its SQL, if it has a view of dependencies; empty: it has
            none.
        dependencies_wake: Whether asking that view wakes an engine that a listing lets sleep.
        statements: What sqlglot calls the SQL of the statements that its dialect runs; empty: none.
    """

    kind: str
    place: str
    driver: str = ""
    extra: str = ""
    namespace: str = ""
    port: int | None = None
    variables: tuple[str, ...] = ()
    databases: bool = True
    dependencies: str = ""
    dependencies_wake: bool = False
    statements: str = ""


_POSTGRESQL = SqlEngine(
    "postgresql",
    "postgresql:PostgreSQL",
    "postgresql+psycopg",
    "postgresql",
    "postgres",
    5432,
    ("PG",),
    dependencies="postgres",
    statements="postgres",
)
_MYSQL = SqlEngine(
    "mysql", "mysql:MySQL", "mysql+pymysql", "mysql", "mysql", 3306, (), databases=False
)

ENGINES: Mapping[str, SqlEngine] = {
    "postgresql": _POSTGRESQL,
    "postgres": _POSTGRESQL,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "redshift": SqlEngine(
        "redshift",
        "redshift:Redshift",
        "redshift+psycopg2",
        "redshift",
        "redshift",
        5439,
        ("PG", "AWS_"),
    ),
    "snowflake": SqlEngine(
        "snowflake",
        "snowflake:Snowflake",
        "snowflake",
        "snowflake",
        "snowflake",
        None,
        ("SNOWFLAKE_", *_HTTP),
        dependencies="snowflake",
        dependencies_wake=True,
    ),
    "bigquery": SqlEngine(
        "bigquery",
        "bigquery:BigQuery",
        "bigquery",
        "bigquery",
        "bigquery",
        None,
        ("GOOGLE_", "CLOUDSDK_", *_HTTP),
    ),
    "databricks": SqlEngine(
        "databricks",
        "databricks:Databricks",
        "databricks",
        "databricks",
        "databricks",
        None,
        ("DATABRICKS_", *_HTTP),
        dependencies="databricks",
    ),
    "trino": SqlEngine("trino", "trino:Trino", "trino", "trino", "trino", 8080, _HTTP),
    "sqlite": SqlEngine("sqlite", "sqlite:SQLite", "", "", "sqlite", databases=False),
}
"""By the part of a URL's beginning before any `+driver`."""


def engine_of(scheme: str) -> SqlEngine:
    """Return the engine of a URL that begins so; one that is not known is read in a general way."""
    dialect = scheme.partition("+")[0]
    return ENGINES.get(dialect) or SqlEngine(dialect, "generic:Generic", namespace=dialect)
