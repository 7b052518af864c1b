"""What a listing of PostgreSQL shows after each kind of change, and what it does not show."""

from contextlib import closing

import pytest

from tests.support.sql_database import Database, listed

pytestmark = pytest.mark.integration


@pytest.fixture
def database(postgresql_database):
    database = Database(postgresql_database)
    database.run(
        "CREATE TABLE orders (id int PRIMARY KEY, amount numeric)",
        "INSERT INTO orders SELECT g, g * 1.5 FROM generate_series(1, 100) g",
        "CREATE TABLE other (id int)",
    )
    return database


@pytest.fixture
def look(database):
    with closing(database.config().open(database.environ)) as source:
        yield lambda: listed(source)["public/orders"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE orders SET amount = 0 WHERE id <= 25",
        "UPDATE orders SET amount = 0 WHERE id <= 5",
        "DELETE FROM orders WHERE id <= 7",
        "INSERT INTO orders SELECT g FROM generate_series(200, 209) g",
        "TRUNCATE orders",
        "ALTER TABLE orders ADD COLUMN note text",
        "ALTER TABLE orders RENAME COLUMN amount TO price",
        "ALTER TABLE orders ALTER COLUMN id TYPE bigint",
        "ALTER TABLE orders DROP CONSTRAINT orders_pkey",
        "COMMENT ON COLUMN orders.amount IS 'in euros'",
        "COMMENT ON TABLE orders IS 'paid ones'",
    ],
)
def test_a_change_is_another_version_of_the_same_table(database, look, statement):
    before = look()
    database.run(statement)
    after = look()
    assert after.version != before.version
    assert after.identity == before.identity


@pytest.mark.parametrize(
    "statement",
    [
        "VACUUM ANALYZE",
        "ANALYZE orders",
        "CREATE TABLE new (i int)",
        "CREATE INDEX ON orders (amount)",
        "GRANT SELECT ON orders TO PUBLIC",
    ],
)
def test_maintenance_and_what_happens_elsewhere_is_none(database, look, statement):
    before = look()
    database.maintain(statement)
    database.run("SELECT count(*) FROM orders")
    assert look().version == before.version


def test_a_renamed_table_is_known_by_its_identity(database):
    with closing(database.config().open(database.environ)) as source:
        before = listed(source)
        database.run("ALTER TABLE orders RENAME TO sales")
        after = listed(source)
    assert after.keys() == {"public/sales", "public/other"}
    assert after["public/sales"].identity == before["public/orders"].identity


def test_a_renamed_column_is_known_by_its_identity(database):
    with closing(database.config().open(database.environ)) as source:
        before = source.profile(listed(source)["public/orders"])
        database.run(
            "ALTER TABLE orders RENAME COLUMN amount TO price",
            "ALTER TABLE orders DROP id",
            "ALTER TABLE orders ADD note text",
        )
        after = source.profile(listed(source)["public/orders"])
    assert [(c.name, c.identity) for c in before.columns] == [("id", "1"), ("amount", "2")]
    assert [(c.name, c.identity) for c in after.columns] == [("price", "2"), ("note", "3")]


def test_a_view_changes_with_what_it_reads_and_with_its_query(database):
    database.run("CREATE VIEW big AS SELECT * FROM orders WHERE amount > 100",
                 "CREATE VIEW bigger AS SELECT * FROM big WHERE amount > 140",
                 "CREATE MATERIALIZED VIEW kept AS SELECT * FROM orders")  # fmt: skip
    with closing(database.config().open(database.environ)) as source:
        first = listed(source)
        database.run("INSERT INTO other VALUES (1)")
        assert all(listed(source)[f"public/{n}"].version == first[f"public/{n}"].version
                   for n in ("big", "bigger", "kept"))  # fmt: skip
        database.run("DELETE FROM orders WHERE id = 1")
        second = listed(source)
        database.run("CREATE OR REPLACE VIEW bigger AS SELECT * FROM big WHERE amount > 145",
                     "REFRESH MATERIALIZED VIEW kept")  # fmt: skip
        third = listed(source)
    versions = {
        name: [one[f"public/{name}"].version for one in (first, second, third)]
        for name in ("big", "bigger", "kept")
    }
    assert [len(set(versions[name])) for name in ("big", "bigger", "kept")] == [2, 3, 2]
    assert versions["kept"][0] == versions["kept"][1]


def test_partitions_are_one_table(database):
    database.run(
        "CREATE TABLE events (day date, kind text) PARTITION BY RANGE (day)",
        "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')"
        " PARTITION BY LIST (kind)",
        "CREATE TABLE events_1a PARTITION OF events_1 FOR VALUES IN ('a')",
        "CREATE TABLE events_2 PARTITION OF events DEFAULT",
        "INSERT INTO events VALUES ('2026-01-05', 'a'), ('2026-02-05', 'b'), ('2026-02-06', 'c')",
    )
    with closing(database.config().open(database.environ)) as source:
        refs = listed(source)
        assert refs.keys() == {"public/events", "public/orders", "public/other"}
        before = refs["public/events"]
        assert source.profile(before).row_count == 3
        database.run("UPDATE events SET kind = 'd' WHERE kind = 'b'")
        after = listed(source)["public/events"]
    assert before.identity == after.identity
    assert after.version != before.version
