import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.duckdb.database import DuckDBFileSource

SETUP = """
CREATE TABLE people (name VARCHAR, age BIGINT);
INSERT INTO people SELECT 'p' || i, i FROM range(1000) r(i);
DELETE FROM people WHERE age % 2 = 0;
COMMENT ON TABLE people IS 'Who works here.';
COMMENT ON COLUMN people.age IS 'In whole years.';
CREATE SCHEMA "odd/sche""ma";
CREATE TABLE "odd/sche""ma"."new\nline" ("x y" DATE, "drop table people; --" DECIMAL(9, 2));
CREATE VIEW adults AS SELECT * FROM people WHERE age >= 501;
CREATE TABLE own_row_ids (rowid VARCHAR, position BIGINT);
INSERT INTO own_row_ids SELECT 'r' || i, i FROM range(10) r(i);
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(SETUP)
    return path


@pytest.fixture
def source(path: Path) -> DuckDBFileSource:
    return DuckDBFileSource("d", path)


def test_tables_and_views_of_all_schemas(source):
    tables = {ref.table_id: ref for ref in source.list_tables().tables}
    assert list(tables) == [
        "d/main/adults",
        "d/main/own_row_ids",
        "d/main/people",
        'd/odd%2Fsche"ma/new%0Aline',
    ]
    profile = source.profile(tables["d/main/people"])
    assert profile.row_count == 500
    assert profile.comment == "Who works here."
    assert [(c.name, c.type, c.comment) for c in profile.columns] == [
        ("name", "VARCHAR", ""),
        ("age", "BIGINT", "In whole years."),
    ]
    assert list(source.contexts(tables["d/main/people"]).texts) == [
        "Who works here.",
        "age: In whole years.",
    ]
    odd = source.profile(tables['d/odd%2Fsche"ma/new%0Aline'])
    assert [c.type for c in odd.columns] == ["DATE", "DECIMAL(9,2)"]
    assert source.contexts(tables['d/odd%2Fsche"ma/new%0Aline']).texts == []


def test_file_is_free_between_calls(source, path):
    source.list_tables()
    with duckdb.connect(path) as connection:
        connection.execute("DROP VIEW adults")
    assert len(source.list_tables().tables) == 3


def test_locked_by_a_writer_is_no_deletion(source, path):
    script = (
        "import duckdb, sys\n"
        "with duckdb.connect(sys.argv[1]):\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as writer:  # fmt: skip
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        with pytest.raises(SourceError, match="run again when that has finished") as caught:
            source.list_tables()
        assert "\n" not in str(caught.value)
        writer.communicate("")
    assert len(source.list_tables().tables) == 4


@pytest.mark.parametrize("content", [None, b"", b"not a database"])
def test_no_database(tmp_path, content):
    path = tmp_path / "x.duckdb"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SourceError, match="cannot be read") as caught:
        DuckDBFileSource("d", path).list_tables()
    assert "\n" not in str(caught.value)
