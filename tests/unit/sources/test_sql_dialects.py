"""The SQL of engines for which no server is at hand, as SQLAlchemy makes it, read by a parser."""

from dataclasses import replace

import pytest
import sqlglot
from sqlalchemy import make_url
from sqlglot import exp

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.sources.sql.asking import AskingDialect
from pneuma_assets.core.sources.sql.bigquery import BigQuery
from pneuma_assets.core.sources.sql.bounds import SqlBounds
from pneuma_assets.core.sources.sql.catalog import CatalogTable
from pneuma_assets.core.sources.sql.databricks import Databricks
from pneuma_assets.core.sources.sql.mysql import MySQL
from pneuma_assets.core.sources.sql.redshift import Redshift
from pneuma_assets.core.sources.sql.selecting import count_up_to, hashed_rows_of, rows_of
from pneuma_assets.core.sources.sql.snowflake import Snowflake
from pneuma_assets.core.sources.sql.trino import Trino
from pneuma_assets.core.tables import Column

URLS = {
    MySQL: "mysql+pymysql://me@host/shop",
    Redshift: "redshift+psycopg2://me@host/shop",
    Snowflake: "snowflake://me@account/SHOP?warehouse=small",
    BigQuery: "bigquery://project",
    Databricks: "databricks://token@host?http_path=/sql/1.0/warehouses/ab12&catalog=shop",
    Trino: "trino://me@host:443/shop",
}
DIALECTS = [*URLS, "snowflake awake"]
HOSTILE = 'we"ird`; DROP TABLE x; --'
TABLE = CatalogTable(
    "", "sales", HOSTILE, "table",
    tuple(Column(HOSTILE + str(n), kind) for n, kind in enumerate(
        ["varchar(10)", "ARRAY<INT64>", "varbinary", "BYTES", "VARIANT", "row(a int)", "super"])),
)  # fmt: skip
HARMLESS = replace(
    TABLE,
    name=HOSTILE.translate({ord("`"): None, ord('"'): None}),
    columns=tuple(
        Column(one.name.translate({ord("`"): None, ord('"'): None}), one.type)
        for one in TABLE.columns
    ),
)
LABELS = {"schema_name", "table_name"}


@pytest.fixture(params=DIALECTS, ids=str)
def dialect(request) -> AskingDialect:
    if request.param == "snowflake awake":
        return Snowflake(SqlBounds(wake=True))
    return request.param(SqlBounds())


def table_for(dialect: AskingDialect) -> CatalogTable:
    """A table as hostile as the engine can have one: BigQuery is asked for no backtick."""
    return TABLE if dialect.can_quote(HOSTILE) else HARMLESS


def spelled(dialect: AskingDialect, statement) -> str:
    """The text that would be sent, values in it."""
    made = make_url(URLS[type(dialect)]).get_dialect()()
    compiled = statement.compile(
        dialect=made, compile_kwargs={"literal_binds": True, "render_postcompile": True}
    )
    return str(compiled).replace("%%", "%") if made.paramstyle in {"format", "pyformat"} else str(
        compiled
    )  # fmt: skip


def parsed(dialect: AskingDialect, statement) -> exp.Expression:
    """The one statement that a text is."""
    found = sqlglot.parse(spelled(dialect, statement), read=dialect.sql)
    assert len(found) == 1
    assert not isinstance(found[0], exp.Command), "the parser did not understand it"
    return found[0]


@pytest.mark.parametrize("database", ["", "shop", HOSTILE])
@pytest.mark.parametrize("schemas", [["sales"], ["sales", "o'brien; DROP TABLE x"]])
def test_what_is_asked_of_a_catalogue_is_sql_of_its_dialect(dialect, database, schemas):
    if isinstance(dialect, BigQuery) and database == HOSTILE:
        with pytest.raises(SourceError, match="no project or dataset"):
            dialect.questions(database, schemas)
        return
    questions = dialect.questions(database, schemas)
    assert questions.tables
    assert questions.columns
    for statement in (*questions.tables, *questions.columns, *questions.keys):
        tree = parsed(dialect, statement)
        assert not list(tree.find_all(exp.Drop))
        if isinstance(tree, exp.Show):
            continue
        names = [one.alias_or_name for one in tree.selects]
        assert set(names) >= LABELS
        assert len(names) == len(set(names))


def test_the_number_of_statements_does_not_grow_with_that_of_tables(dialect):
    one, many = (len(dialect.questions("shop", [f"s{n}" for n in range(count)]))
                 for count in (1, 5))  # fmt: skip
    assert many <= 5 * one
    if not isinstance(dialect, BigQuery) and (not isinstance(dialect, Snowflake)
                                              or dialect.bounds.wake):  # fmt: skip
        assert many == one <= 4


def test_what_is_selected_is_sql_of_its_dialect_and_every_name_is_quoted(dialect):
    table = table_for(dialect)
    for statement in (
        rows_of(dialect, table).limit(50_000),
        count_up_to(table, 10),
        rows_of(dialect, table, dialect.sampling(table, 1 / 1024, 2**70)).limit(10),
    ):
        tree = parsed(dialect, statement)
        (found,) = tree.find_all(exp.Table)
        assert found.name == table.name
        assert not list(tree.find_all(exp.Drop))
    selected = parsed(dialect, rows_of(dialect, table))
    assert [one.alias.lower() for one in selected.selects] == [f"c{n}" for n in range(7)]
    read = {column.name for column in selected.find_all(exp.Column)}
    assert read == {column.name for column in table_for(dialect).columns}


def test_rows_are_chosen_by_the_engine(dialect):
    table = table_for(dialect)
    suffix = dialect.sampling(table, 1 / 1024, 7)
    if isinstance(dialect, MySQL | Redshift):
        assert suffix is None
        tree = parsed(dialect, hashed_rows_of(dialect, table, 1024, 7))
        assert tree.find(exp.Where).find(exp.Mod)
    else:
        tree = parsed(dialect, rows_of(dialect, table, suffix))
        sample = tree.find(exp.TableSample)
        assert float(str((sample.args.get("percent") or sample.args.get("size")).this)) == (
            pytest.approx(100 / 1024, rel=0.01)
        )


@pytest.mark.parametrize("kind", URLS)
def test_a_source_of_each_engine_opens_and_says_where_its_tables_are(kind):
    url = URLS[kind].replace("+pymysql", "").replace("+psycopg2", "")
    config = SqlSourceConfig(name="w", url=url, password_env="SECRET")
    source = config.open({"SECRET": "hunter2"})
    assert source.name == "w"
    source.close()
    address = config.address_of("w/sales/orders", "", "table")
    assert address.name.split(".")[-2:] == ["sales", "orders"]
    assert address.name.lower().startswith(("shop.", "project.", "sales."))
    assert address.uri.endswith(address.name)
    assert "://" in address.uri
