"""Reading a real PostgreSQL: large tables, views, what goes wrong, and what the server is asked."""

from collections import Counter
from contextlib import closing

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.pipeline.lineage import engine_dependencies, update_lineage
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.sources.privacy.source import open_private
from pneuma_assets.core.sources.sql.rows import ESTIMATED, OF_A_SAMPLE
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import ForeignKey
from tests.support import postgresql_process
from tests.support.postgresql_process import Server
from tests.support.sql_database import Database, listed

pytestmark = pytest.mark.integration


@pytest.fixture
def database(postgresql_database):
    return Database(postgresql_database)


def test_keys_comments_and_queries(database):
    database.run(
        "CREATE TABLE shops (city text, street text, PRIMARY KEY (city, street))",
        "CREATE TABLE sales (id int PRIMARY KEY, c text, s text, amount numeric(8, 2),"
        " FOREIGN KEY (c, s) REFERENCES shops (city, street))",
        "COMMENT ON TABLE sales IS 'What was sold.'",
        "COMMENT ON COLUMN sales.amount IS 'in euros'",
        "CREATE VIEW totals AS SELECT c, sum(amount) AS total FROM sales GROUP BY c",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM totals",
    )
    source = IsolatedSource(database.config(), database.environ, LimitsConfig())
    with closing(source):
        refs = listed(source)
        sales, totals, kept = (source.profile(refs[f"public/{n}"])
                               for n in ("sales", "totals", "kept"))  # fmt: skip
        contexts = source.contexts(refs["public/sales"])
    assert {name: ref.format for name, ref in refs.items()} == {
        "public/shops": "table", "public/sales": "table", "public/totals": "view",
        "public/kept": "materialized view",
    }  # fmt: skip
    assert sales.primary_key == ("id",)
    assert sales.foreign_keys == (ForeignKey(("c", "s"), ("public", "shops"), ("city", "street")),)
    assert [(c.name, c.type, c.comment) for c in sales.columns][3] == (
        "amount", "numeric(8,2)", "in euros",
    )  # fmt: skip
    assert list(contexts.texts) == ["What was sold.", "amount: in euros"]
    assert (totals.definition.dialect, totals.definition.schema) == ("postgres", "public")
    assert totals.definition.catalog == database.url.database
    assert "FROM public.sales" in totals.definition.sql
    assert "public.totals" in kept.definition.sql


def test_the_comment_of_a_domain_describes_a_column_that_has_none(database):
    database.run(
        "CREATE DOMAIN iban AS text",
        "COMMENT ON DOMAIN iban IS 'Number of a bank account'",
        "CREATE DOMAIN plain AS text",
        "CREATE TABLE accounts (a iban, b iban, c plain, d text, e boolean)",
        "COMMENT ON COLUMN accounts.b IS 'Where wages go'",
    )
    with closing(database.config().open(database.environ)) as source:
        ref = listed(source)["public/accounts"]
        columns, said = source.profile(ref).columns, source.contexts(ref)
        database.run("COMMENT ON DOMAIN iban IS 'An account'")
        later = listed(source)["public/accounts"]
    found = [one.comment for one in columns]
    assert found == ["Number of a bank account", "Where wages go", "", "", ""]
    assert list(said.texts) == ["a: Number of a bank account\nb: Where wages go"]
    assert later.version != ref.version


def test_types_of_several_fields_tell_them_and_hide_with_them(database):
    database.run(
        "CREATE TYPE contact AS (email text, since date)",
        "CREATE TYPE person AS (name text, at contact[])",
        "CREATE DOMAIN checked AS person",
        "CREATE TABLE people (id int, who checked, others person[])",
        """INSERT INTO people VALUES (1, '(ann,"{""(secret1,)""}")', '{"(bob,)"}')""",
        "CREATE VIEW whole AS SELECT id, p FROM people p",
    )
    rules = {"hidden_columns": ["email"]}
    with closing(open_private(database.config(privacy=rules), database.environ)) as source:
        refs = listed(source)
        columns = source.profile(refs["public/people"]).columns
        (row,) = source.sample(refs["public/people"], 5, 0)
        (whole,) = source.sample(refs["public/whole"], 5, 0)
    assert [column.type for column in columns] == [
        "integer",
        "public.checked ROW(email text, since date, name text, at public.contact[])",
        "public.person[] ROW(email text, since date, name text, at public.contact[])",
    ]
    assert row.cells == (*whole.cells, None) == ("1", None, None)


def test_types_tell_the_labels_of_enums_but_not_those_of_hidden_columns(database):
    database.run(
        "CREATE TYPE state AS ENUM ('new', 'it''s paid')",
        "CREATE DOMAIN checked AS state",
        "CREATE TABLE orders (id int, one state, several state[], other checked, secret state)",
    )
    rules = {"hidden_columns": ["secret"]}
    with closing(open_private(database.config(privacy=rules), database.environ)) as source:
        table = source.profile(listed(source)["public/orders"])
    assert [column.type for column in table.columns[1:]] == [
        "public.state ENUM('new', 'it''s paid')",
        "public.state[] ENUM('new', 'it''s paid')",
        "public.checked ENUM('new', 'it''s paid')",
        "public.state ENUM",
    ]


def test_a_materialized_view_without_data_is_to_be_refreshed(database):
    database.run(
        "CREATE MATERIALIZED VIEW totals AS SELECT 1 AS n WITH NO DATA",
        "CREATE VIEW above AS SELECT n FROM totals",
    )
    with closing(open_private(database.config(), database.environ)) as source:
        refs = listed(source)
        for name in ("totals", "above"):
            with pytest.raises(TableReadError, match="REFRESH MATERIALIZED VIEW"):
                source.sample(refs[f"public/{name}"], 5, 0)
        database.run("REFRESH MATERIALIZED VIEW totals")
        assert len(source.sample(listed(source)["public/totals"], 5, 0)) == 1


def test_a_large_table_is_sampled_by_its_engine_and_rows_that_stay_are_kept(database):
    database.run(
        "CREATE TABLE big AS SELECT g AS n, md5(g::text) AS t FROM generate_series(0, 119999) g"
    )
    with closing(database.config(read_rows=100_000).open(database.environ)) as source:
        ref = listed(source)["public/big"]
        table = source.profile(ref)
        assert (table.row_count, table.notes) == (120_000, (OF_A_SAMPLE,))
        drawn = Counter()
        for seed in range(12):
            drawn.update(int(row.cells[0]) // 12_000 for row in source.sample(ref, 50, seed))
        before = source.sample(ref, 5, 0)
        gathered = source.evidence(ref, 0)
        gone = ", ".join(row.cells[0] for row in before[:2])
        database.run(f"DELETE FROM big WHERE n IN ({gone})")
        after = source.sample(listed(source)["public/big"], 5, 0, [row.mark for row in before])
    expected = 60
    assert sum((drawn[tenth] - expected) ** 2 / expected for tenth in range(10)) < 27.9
    assert {row.cells for row in before[2:]} < {row.cells for row in after}
    assert len({row.cells for row in after}) == 5
    assert len(gathered.terms.rows) == 50
    assert gathered.sketch is None


@pytest.mark.slow
def test_a_view_that_joins_each_row_with_each_has_a_number_of_rows_that_can_be_kept(database):
    series = ", ".join(f"generate_series(1, 1000000) AS s{n}" for n in range(5))
    database.run(f"CREATE VIEW huge AS SELECT s0 FROM {series}")
    source = open_private(database.config(), database.environ)
    with closing(source):
        table = source.profile(listed(source)["public/huge"])
    assert 10_000_000 < table.row_count < 2**63
    assert table.notes[0] == ESTIMATED


def test_a_table_dropped_since_the_listing_is_its_own_problem(database):
    database.run("CREATE TABLE a (n int)", "CREATE TABLE b (n int)")
    with closing(database.config().open(database.environ)) as source:
        refs = listed(source)
        database.run("DROP TABLE a")
        for read in (source.profile, lambda ref: source.sample(ref, 5, 0)):
            with pytest.raises(TableReadError, match=r'relation "public\.a" does not exist; the'):
                read(refs["public/a"])
        assert source.profile(refs["public/b"]).row_count == 0


def test_nothing_can_be_written_through_a_view(database):
    database.run(
        "CREATE TABLE a (n int)",
        "CREATE FUNCTION put() RETURNS int LANGUAGE sql AS 'INSERT INTO public.a VALUES (1) "
        "RETURNING n'",
        "CREATE VIEW writes AS SELECT public.put() AS n WHERE public.put() = 1",
    )
    with (
        closing(database.config().open(database.environ)) as source,
        pytest.raises(TableReadError, match="read-only transaction"),
    ):
        source.profile(listed(source)["public/writes"])
    assert database.run("SELECT count(*) FROM a") == [(0,)]


@pytest.mark.timeout(120)  # or it waits for as long as the lock is held
def test_a_locked_table_holds_up_no_listing(database):
    database.run("CREATE TABLE a (n int)", "CREATE VIEW v AS SELECT * FROM a")
    with closing(database.config().open(database.environ)) as source, database.connected() as other:
        other.execute("LOCK TABLE a IN ACCESS EXCLUSIVE MODE")
        assert listed(source).keys() == {"public/a", "public/v"}


def test_several_databases_behind_one_source(database, postgresql_url):
    other = Database(postgresql_url)
    database.run("CREATE TABLE a (n int)")
    name = database.url.database
    config = database.config(databases=[name, other.url.database], include=[f"{name}.*.*"])
    with closing(config.open(database.environ)) as source:
        (ref,) = source.list_tables().tables
        assert ref.table_id == f"shop/{name}/public/a"
        assert source.profile(ref).row_count == 0
        address = config.address_of(ref.table_id, ref.location, ref.format)
    assert address.name == f"{name}.public.a"
    assert (
        address.uri == ref.location == f"postgres://127.0.0.1:{database.url.port}/{name}.public.a"
    )


@pytest.mark.slow
def test_500_tables_are_listed_by_two_statements_of_the_server(monkeypatch):
    monkeypatch.setitem(postgresql_process.SETTINGS, "log_statement", "all")
    with Server() as server:
        database = Database(server.url)
        database.run(*(f"CREATE TABLE t{n} (id int PRIMARY KEY, a text, b date)"
                       for n in range(500)))  # fmt: skip
        with closing(database.config().open(database.environ)) as source:
            source.list_tables()  # connects
            heard = len(server.log)
            assert len(source.list_tables().tables) == 500
            said = server.log[heard:]
            ref = source.list_tables().tables[0]
            heard = len(server.log)
            source.profile(ref)
            profiling = server.log[heard:]
    asked = [line for line in said.splitlines() if "LOG:  " in line and "BEGIN" not in line
             and "ROLLBACK" not in line and "duration" not in line]  # fmt: skip
    assert len(asked) <= 4, asked
    assert "pg_catalog.pg_class" in said
    assert not any(f".t{n}" in said or f'"t{n}"' in said for n in range(500))
    assert profiling.count("count(*)") == 1


@pytest.mark.slow
def test_a_server_that_is_restarted_is_named_and_reached_again(postgresql_server):
    database = Database(postgresql_server.url)
    database.run(
        "CREATE TABLE people AS SELECT g AS id, repeat('x', 500) AS note"
        " FROM generate_series(1, 60000) g"
    )
    with closing(database.config().open(database.environ)) as source:
        (ref,) = source.list_tables().tables
        batches = source.scan(ref, 1000)
        next(batches)
        postgresql_server.kill()
        with pytest.raises(TableReadError, match=r"the connection was lost.*run again") as caught:
            list(batches)
        assert "view" not in str(caught.value)
        with pytest.raises(TableReadError, match="check that the server runs"):
            source.sample(ref, 5, 0)
        with pytest.raises(SourceError, match="check that the server runs") as caught:
            source.list_tables()
        assert database.url.password not in str(caught.value)
        postgresql_server.restart()
        assert source.profile(ref).row_count == 60000


SHOP = (
    "CREATE TABLE orders (id int, total numeric)",
    "CREATE TABLE rates (euro numeric)",
    'CREATE TABLE "Odd ""name" (n int)',
    "CREATE FUNCTION rate() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT max(euro) FROM rates;"
    " END",
    "CREATE FUNCTION twice() RETURNS numeric LANGUAGE sql BEGIN ATOMIC SELECT 2 * rate(); END",
    "CREATE FUNCTION hidden() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM orders'",
    "CREATE VIEW euros AS SELECT id, total * twice() AS total FROM orders",
    "CREATE MATERIALIZED VIEW kept AS SELECT * FROM euros",
    "CREATE VIEW fields AS SELECT (o).total, hidden() AS h FROM orders o",
    'CREATE VIEW odd AS SELECT n FROM "Odd ""name"',
)


def test_postgresql_tells_what_views_read_through_functions(database, tmp_path):
    database.run(*SHOP)
    source = IsolatedSource(database.config(), database.environ, LimitsConfig())
    with closing(source):
        rows = source.dependencies()
        assert {(row[2], row[5]) for row in rows} == {
            ("orders", "euros"), ("rates", "euros"), ("euros", "kept"), ("orders", "fields"),
            ('Odd "name', "odd"),
        }  # fmt: skip
        assert {row[:2] + row[3:5] for row in rows} == {(database.url.database, "public") * 2}
        with Store(tmp_path / "state.db") as store:
            store.listings.sync("shop", list(listed(source).values()), rule=None)
            assert _linked(store, source, database) == {
                "orders > euros", "rates > euros", "euros > kept", "orders > fields",
                'Odd "name > odd',
            }  # fmt: skip
            database.run("DROP MATERIALIZED VIEW kept")
            assert "euros > kept" not in _linked(store, source, database)


def _linked(store: Store, source, database: Database) -> set[str]:
    """Link tables by what the engine says alone; return the edges."""
    deployment = Deployment.model_validate({"sources": [database.config().model_dump()]})
    told = engine_dependencies([source], deployment.sources, ())
    update_lineage(store, "run", deployment, told)
    return {
        " > ".join(unescape(end.rpartition("/")[2]) for end in (edge.upstream, edge.downstream))
        for edge in store.edges.all()
        if edge.kind is EdgeKind.DEPENDENCY
    }
