"""What engines know themselves of what is built from what, asked through a real server."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sections import LimitsConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.pipeline.lineage import engine_dependencies, update_lineage
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.names import unescape
from pneuma_assets.core.sources.sql.postgresql import PostgreSQL
from pneuma_assets.core.store import Store
from tests.support.postgresql_process import Server
from tests.support.sql_database import Database, listed

pytestmark = pytest.mark.integration

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


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One of the tests' own, as databases are named after engines."""
    with Server() as server:
        yield server


def database(server: Server, name: str) -> Database:
    Database(server.superuser_url).maintain(f"DROP DATABASE IF EXISTS {name}")
    shop = Database(server.url)
    shop.maintain(f"CREATE DATABASE {name}")
    shop.url = shop.url.set(database=name)
    return shop


def test_postgresql_tells_what_views_read_through_functions(server, tmp_path):
    shop = database(server, "shop")
    shop.run(*SHOP)
    source = IsolatedSource(shop.config(), shop.environ, LimitsConfig())
    with closing(source):
        rows = source.dependencies()
        assert {(row[2], row[5]) for row in rows} == {
            ("orders", "euros"), ("rates", "euros"), ("euros", "kept"), ("orders", "fields"),
            ('Odd "name', "odd"),
        }  # fmt: skip
        assert {row[:2] + row[3:5] for row in rows} == {("shop", "public") * 2}
        with Store(tmp_path / "state.db") as store:
            store.listings.sync("shop", list(listed(source).values()), rule=None)
            assert _linked(store, source, shop) == {
                "orders > euros", "rates > euros", "euros > kept", "orders > fields",
                'Odd "name > odd',
            }  # fmt: skip
            shop.run("DROP MATERIALIZED VIEW kept")
            assert "euros > kept" not in _linked(store, source, shop)


def _linked(store: Store, source, shop: Database, leave=()) -> set[str]:
    """Link tables by what the engine says alone; return the edges."""
    deployment = Deployment.model_validate({"sources": [shop.config().model_dump()]})
    told = engine_dependencies([source], deployment.sources, leave)
    update_lineage(store, "run", deployment, told)
    return {
        " > ".join(unescape(end.rpartition("/")[2]) for end in (edge.upstream, edge.downstream))
        for edge in store.edges.all()
        if edge.kind is EdgeKind.DEPENDENCY
    }


def test_rows_that_repeat_or_name_no_table_are_left_and_a_refusal_keeps_what_was_said(
    server, tmp_path, monkeypatch
):
    shop = database(server, "said")
    columns = ", ".join(f"{name} text" for name in "abcdef")
    orders = "('said', 'public', 'orders', 'said', 'public', 'revenue')"
    shop.run(
        "CREATE TABLE orders (id int)",
        "CREATE TABLE revenue (id int)",
        f"CREATE TABLE told ({columns})",
        f"INSERT INTO told VALUES {orders}, {orders}, ('said', 'public', 'x', 'said', 'p', NULL)",
    )
    asked = "SELECT * FROM public.told WHERE a = coalesce(CAST(:database AS text), a)"
    monkeypatch.setattr(PostgreSQL, "dependencies", asked)
    with Store(tmp_path / "state.db") as store, closing(shop.config().open(shop.environ)) as source:
        store.listings.sync("shop", list(listed(source).values()), rule=None)
        assert _linked(store, source, shop) == {"orders > revenue"}
        shop.run("REVOKE ALL ON told FROM CURRENT_USER")
        with pytest.raises(SourceError, match="permission denied"):
            source.dependencies()
        for _ in range(2):
            assert _linked(store, source, shop) == {"orders > revenue"}
            (problem,) = store.problems.all()
            assert problem.subject == "dependency:shop"
            assert "what it said before stays" in problem.cause
        assert _linked(store, source, shop, leave=["shop"]) == {"orders > revenue"}
        shop.run("GRANT SELECT ON told TO CURRENT_USER")
        assert _linked(store, source, shop) == {"orders > revenue"}
        assert not store.problems.all()
