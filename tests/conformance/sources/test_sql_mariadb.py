"""The databases of a real MariaDB server keep the contract, and MySQL's dialect reads them."""

import secrets
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pymysql
import pytest

from pneuma_assets.core.errors import AccessRefusedError, SourceError, TableReadError
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.tables import ForeignKey
from tests.conformance.sources.suite import SourceConformance
from tests.conformance.sources.support import Columns, cells, kinds_of, named, only
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TYPES = {str: "longtext", int: "bigint(20)", float: "double"}


class MariaDBLake:
    """A database and a user of its own, who sees no other."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.name = f"test_{secrets.token_hex(6)}"
        self.password = secrets.token_hex(8)
        self.environ = {"LAKE_PASSWORD": self.password}
        self.config = self.configured()
        self._written: dict[str, int] = {}
        self.run(f"CREATE DATABASE {self.name} CHARACTER SET utf8mb4",
                 f"CREATE USER {self.name}@'127.0.0.1' IDENTIFIED BY '{self.password}'",
                 f"GRANT ALL ON `{self.name}%`.* TO {self.name}@'127.0.0.1'")  # fmt: skip

    def configured(self, **keys: object) -> SqlSourceConfig:
        url = f"mysql://{self.name}@127.0.0.1:{self._port}/"
        return SqlSourceConfig(name="s", url=url, password_env="LAKE_PASSWORD", **keys)

    @contextmanager
    def _connected(self) -> Iterator[pymysql.Connection]:
        with pymysql.connect(
            host="127.0.0.1", port=self._port, user="pneuma", password="hunter2", autocommit=True
        ) as connection:
            yield connection

    def run(self, *statements: str) -> None:
        with self._connected() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def write(self, name: str, columns: Columns) -> None:
        kinds = zip(columns, kinds_of(columns, TYPES), strict=True)
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds)
        marks = ", ".join("%s" for _ in columns)
        # The server tells no changes of one table apart that are within a second.
        wait_until(lambda: int(time.time()) > self._written.get(name, 0), "time stands still")
        self.delete(name)
        self.run(f"CREATE TABLE {self.place(name)} ({declared})")
        with self._connected() as connection, connection.cursor() as cursor:
            cursor.execute("SET autocommit = 0")
            target = self.place(name).replace("%", "%%")
            cursor.executemany(
                f"INSERT INTO {target} VALUES ({marks})", list(zip(*columns.values(), strict=True))
            )
            connection.commit()
        self._written[name] = int(time.time())

    def write_beside(self, name: str) -> None:
        self.run(f"CREATE DATABASE {self.name}_x",
                 f"CREATE TABLE {self.name}_x.{quoted(name)} (a int)")  # fmt: skip

    def describe(self, name: str, text: str) -> None:
        with self._connected() as connection, connection.cursor() as cursor:
            table = self.place(name).replace("%", "%%")
            cursor.execute(f"ALTER TABLE {table} COMMENT = %s", [text])

    def damage(self, name: str) -> None:
        self.delete(name)
        self.run(f"CREATE TABLE {self.place('its_table')} (a int)",
                 f"CREATE VIEW {self.place(name)} AS SELECT * FROM {self.place('its_table')}",
                 f"DROP TABLE {self.place('its_table')}")  # fmt: skip

    def delete(self, name: str) -> None:
        self.run(f"DROP VIEW IF EXISTS {self.place(name)}",
                 f"DROP TABLE IF EXISTS {self.place(name)}")  # fmt: skip

    def vanish(self) -> None:
        """Let nobody in, and end the connections there are."""
        with self._connected() as connection, connection.cursor() as cursor:
            cursor.execute(f"DROP USER {self.name}@'127.0.0.1'")
            cursor.execute(
                "SELECT id FROM information_schema.processlist WHERE user = %s", [self.name]
            )
            for (number,) in cursor.fetchall():
                cursor.execute(f"KILL {number}")

    def drop(self) -> None:
        self.run(f"DROP DATABASE {self.name}", f"DROP DATABASE IF EXISTS {self.name}_x",
                 f"DROP USER IF EXISTS {self.name}@'127.0.0.1'")  # fmt: skip

    def place(self, name: str) -> str:
        return f"{self.name}.{quoted(name)}"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.fixture
def lake(mariadb_port: int) -> Iterator[MariaDBLake]:
    lake = MariaDBLake(mariadb_port)
    yield lake
    lake.drop()


class TestMariaDB(SourceConformance):
    types = TYPES
    longest_name = 64
    # Its comments have no emoji, and 2,048 characters at most.
    test_texts_are_as_people_wrote_them = test_texts_are_text_and_bounded = None

    def admits(self, name):
        """No name ends with a blank, or has characters beyond the first 65,536."""
        return name == name.rstrip() and max(name) < "\U00010000"


@pytest.fixture
def source(lake):
    with closing(lake.config.open(lake.environ)) as source:
        yield source


def test_keys_comments_and_a_views_query_are_told(lake, source):
    lake.run(
        f"CREATE TABLE {lake.name}.shops (id int PRIMARY KEY) COMMENT 'Where we sell.'",
        f"CREATE TABLE {lake.name}.orders (shop int COMMENT 'its shop', n int,"
        f" PRIMARY KEY (shop, n), FOREIGN KEY (shop) REFERENCES {lake.name}.shops (id))",
        f"CREATE VIEW {lake.name}.seen AS SELECT n FROM {lake.name}.orders",
        f"CREATE SEQUENCE {lake.name}.numbers",
    )
    assert len(source.list_tables().tables) == 3
    orders, seen = source.profile(named(source, "orders")), source.profile(named(source, "seen"))
    assert orders.primary_key == ("shop", "n")
    assert orders.foreign_keys == (ForeignKey(("shop",), (lake.name, "shops"), ("id",)),)
    assert orders.columns[0].comment == "its shop"
    assert source.profile(named(source, "shops")).comment == "Where we sell."
    assert (seen.comment, seen.definition.dialect) == ("", "mysql")
    assert "orders" in seen.definition.sql


def test_cells_of_every_type_are_text(lake, source):
    lake.run(
        f"CREATE TABLE {lake.name}.t (a decimal(30, 4), b datetime(3), c blob, d json, e bit(3),"
        " f enum('x', 'y'), g time, h year, i point)",
        f"INSERT INTO {lake.name}.t VALUES (1.5, '2026-01-02 03:04:05.678', x'ff00',"
        """ '{"k": 1}', b'101', 'y', '-12:00:01', 2026, point(1, 2))""",
    )
    ((a, b, c, d, _, f, g, h, i),) = cells(source.sample(only(source), 5, 0))
    assert (a, b, d) == ("1.5000", "2026-01-02 03:04:05.678", '{"k": 1}')
    assert (c, f, g, h, i) == ("FF00", "y", "-12:00:01", "2026", "POINT(1 2)")


def test_a_large_table_is_sampled_by_a_hash_of_its_rows(lake, source):
    lake.run(f"CREATE TABLE {lake.name}.big SELECT seq AS n FROM {lake.name}.seq_1_to_160000")
    ref = only(source)
    assert (source.profile(ref).row_count, source.profile(ref).notes) == (160_000, ())
    first = source.sample(ref, 40, 0)
    assert first == source.sample(ref, 40, 0) != source.sample(ref, 40, 1)
    assert len({int(row.cells[0]) // 40_001 for row in first}) == 4


def test_nothing_is_written_and_a_slow_statement_is_stopped(lake):
    lake.run(
        f"CREATE TABLE {lake.name}.t (n int)",
        f"CREATE FUNCTION {lake.name}.put() RETURNS int MODIFIES SQL DATA"
        f" BEGIN INSERT INTO {lake.name}.t VALUES (1); RETURN 1; END",
        f"CREATE VIEW {lake.name}.writes AS SELECT {lake.name}.put() AS n",
        f"CREATE VIEW {lake.name}.slow AS SELECT sleep(9) AS n",
    )
    config = lake.configured(statement_timeout_seconds=0.5)
    with closing(config.open(lake.environ)) as source:
        with pytest.raises(TableReadError, match="READ ONLY transaction"):
            source.sample(named(source, "writes"), 5, 0)
        with pytest.raises(TableReadError, match="raise statement_timeout_seconds"):
            source.sample(named(source, "slow"), 5, 0)


def test_a_schema_that_is_not_there_is_named(lake):
    lake.write("a", {"n": [1]})
    config = lake.configured(schemas=[lake.name, f"{lake.name}_y"])
    with (
        closing(config.open(lake.environ)) as source,
        pytest.raises(SourceError, match=f"schemas name {lake.name}_y, which is not there"),
    ):
        source.list_tables()


def test_a_missing_grant_is_named_and_the_password_is_not(lake, source):
    lake.write("a", {"n": [1]})
    ref = only(source)
    lake.run(f"REVOKE SELECT ON `{lake.name}%`.* FROM {lake.name}@'127.0.0.1'")
    source.close()
    with pytest.raises(AccessRefusedError, match="grant its user SELECT on it") as caught:
        source.sample(ref, 5, 0)
    assert lake.password not in str(caught.value)
