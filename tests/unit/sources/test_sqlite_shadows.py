"""Indexes over text and space in a SQLite file are tables; what these are made of is none."""

import sqlite3
from contextlib import closing

import pytest

from pneuma_assets.core.sources.files import sqlite as books
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.sources.sql import generic


@pytest.fixture(params=["by url", "in a folder"])
def source(request, tmp_path):
    with closing(sqlite3.connect(tmp_path / "f.sqlite")) as db, db:
        db.execute("CREATE VIRTUAL TABLE notes USING fts5(title, body)")
        db.execute("INSERT INTO notes VALUES ('tea', 'green leaves')")
        db.execute("CREATE VIRTUAL TABLE old USING fts4(title)")
        db.execute("INSERT INTO old VALUES ('coffee')")
        db.execute("CREATE VIRTUAL TABLE boxes USING rtree(id, low, high)")
        db.execute("INSERT INTO boxes VALUES (1, 2, 3)")
        db.execute("CREATE TABLE other_data (n)")  # of no virtual table
        db.execute("CREATE TABLE notes_more (n)")  # named as none of its parts is
    if request.param == "by url":
        config = SqlSourceConfig(name="s", url=f"sqlite:///{tmp_path}/f.sqlite")
    else:
        config = FolderSourceConfig(name="s", path=tmp_path)
    with closing(config.open({})) as opened:
        yield opened


def test_a_virtual_table_is_listed_without_its_shadows_and_read(source):
    refs = {ref.table_id.rpartition("/")[2]: ref for ref in source.list_tables().tables}
    assert refs.keys() == {"notes", "old", "boxes", "other_data", "notes_more"}
    cells = {name: [row.cells for row in source.sample(ref, 5, 0)] for name, ref in refs.items()}
    assert cells["notes"] == [("tea", "green leaves")]
    assert cells["old"] == [("coffee",)]
    assert cells["boxes"] == [("1", "2.0", "3.0")]
    assert [source.profile(refs[name]).row_count for name in ("notes", "boxes")] == [1, 1]


@pytest.mark.parametrize("kind", ["by url", "in a folder"])
def test_an_older_sqlite_lists_what_it_cannot_tell_apart(tmp_path, monkeypatch, kind):
    """SQLite 3.34 of RHEL 9 has no such view, and refuses the statement that asks it."""
    with closing(sqlite3.connect(tmp_path / "f.sqlite")) as db, db:
        db.execute("CREATE VIRTUAL TABLE notes USING fts5(title)")
        db.execute(
            "CREATE TABLE keys (id INTEGER PRIMARY KEY AUTOINCREMENT)"
        )  # and sqlite_sequence
        db.execute("CREATE VIEW titles AS SELECT title FROM notes")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(generic, "_SHADOWS", "SELECT name FROM no_such_view")
    monkeypatch.setattr(books, "_LISTED", "SELECT name FROM no_such_view")
    if kind == "by url":
        config = SqlSourceConfig(name="s", url=f"sqlite:///{tmp_path}/f.sqlite")
    else:
        config = FolderSourceConfig(name="s", path=tmp_path)
    with closing(config.open({})) as opened:
        listing = opened.list_tables()
    names = {ref.table_id.rpartition("/")[2] for ref in listing.tables}
    assert {"notes", "notes_content", "keys", "titles"} <= names
    assert "sqlite_sequence" not in names
