"""Generated columns of a SQLite file are columns; those that a virtual table hides are not."""

import sqlite3
from contextlib import closing

import pytest

from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig


@pytest.fixture(params=["by url", "in a folder"])
def source(request, tmp_path):
    with closing(sqlite3.connect(tmp_path / "f.sqlite")) as db, db:
        db.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, net REAL, gross REAL AS (net * 1.25),"
            " label TEXT GENERATED ALWAYS AS ('no ' || id) STORED UNIQUE, note TEXT)"
        )
        db.execute("INSERT INTO orders (id, net, note) VALUES (1, 4.0, 'paid')")
        db.execute("CREATE TABLE lines (order_label TEXT REFERENCES orders (label))")
        db.execute("CREATE TABLE parts (order_id INT REFERENCES orders)")
        db.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")  # which hides two columns
        db.execute("INSERT INTO notes VALUES ('tea')")
    if request.param == "by url":
        config = SqlSourceConfig(name="s", url=f"sqlite:///{tmp_path}/f.sqlite")
    else:
        config = FolderSourceConfig(name="s", path=tmp_path)
    with closing(config.open({})) as opened:
        yield opened


def test_a_table_with_generated_columns_is_read_whole(source):
    refs = {ref.table_id.rpartition("/")[2]: ref for ref in source.list_tables().tables}
    table = source.profile(refs["orders"])
    assert [one.name for one in table.columns] == ["id", "net", "gross", "label", "note"]
    assert [one.type for one in table.columns][2:] == ["REAL", "TEXT", "TEXT"]
    assert (table.primary_key, table.row_count) == (("id",), 1)
    cells = ("1", "4.0", "5.0", "no 1", "paid")
    assert [row.cells for row in source.sample(refs["orders"], 5, 0)] == [cells]
    (batch,) = source.scan(refs["orders"])
    assert tuple(batch.to_pylist()[0].values()) == cells
    assert source.evidence(refs["orders"], 0).terms.rows == (cells,)
    for name, columns in (("lines", ("label",)), ("parts", ("id",))):
        assert source.profile(refs[name]).foreign_keys[0].other_columns == columns


def test_columns_that_a_virtual_table_hides_are_none(source):
    refs = {ref.table_id.rpartition("/")[2]: ref for ref in source.list_tables().tables}
    assert [one.name for one in source.profile(refs["notes"]).columns] == ["body"]
    assert [row.cells for row in source.sample(refs["notes"], 5, 0)] == [("tea",)]
