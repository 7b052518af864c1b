"""Workbooks and SQLite files: a table a sheet, a table a table, and nothing else of the place."""

import re
import sqlite3
import zipfile
from contextlib import closing
from datetime import date, datetime

import openpyxl
import pytest

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.pipeline.lineage import TableCatalog
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.store.edges import Declared
from pneuma_assets.core.store.tables import profile_columns
from pneuma_assets.core.tables import ForeignKey, Table, TableRef
from tests.support.lake_tables import files_below, listed, rows_in


def write_book(path, **sheets) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_a_sheet_is_a_table_with_the_first_row_as_names(lake, folder):
    write_book(
        folder / "shop.xlsx",
        people=[["name", "age"], ["ann", 1], ["bob", 2]],
        sales=[["day", "sum", "at"], [date(2024, 1, 2), 1.5, datetime(2024, 1, 2, 3, 4)]],
    )
    (folder / "shop.md").write_text("What we know.")
    refs = listed(lake)
    assert set(refs) == {"lake/shop/people", "lake/shop/sales"}
    columns = lake.profile(refs["lake/shop/people"]).columns
    assert [(c.name, c.type) for c in columns] == [("name", "VARCHAR"), ("age", "BIGINT")]
    assert rows_in(lake, refs["lake/shop/people"]) == [("ann", "1"), ("bob", "2")]
    assert rows_in(lake, refs["lake/shop/sales"]) == [("2024-01-02", "1.5", "2024-01-02 03:04:00")]
    assert list(lake.contexts(refs["lake/shop/sales"]).of_folder) == ["What we know."]


def test_what_lies_beside_a_book_is_about_its_sheets(lake, folder):
    write_book(folder / "shop.xlsx", people=[["name"], ["ann"]], sales=[["day"], ["mon"]])
    (folder / "shop.md").write_text("Of a shop.\n\n## people\nWho.\n\n## sales\nWhat.\n")
    write_book(folder / "one.xlsx", only=[["name"], ["ann"]])
    (folder / "one.md").write_text("Of one.\n\n## people\nWho.\n")
    said = {i: lake.contexts(ref) for i, ref in listed(lake).items()}
    people, sales = said["lake/shop/people"], said["lake/shop/sales"]
    assert [list(one.texts) for one in (people, sales)] == [
        ["## people\nWho."],
        ["## sales\nWhat."],
    ]
    assert list(people.of_folder) == list(sales.of_folder) == ["Of a shop."]
    (only,) = (one for i, one in said.items() if i.startswith("lake/one"))
    assert list(only.texts) == ["Of one.\n\n## people\nWho."]


def test_what_a_person_does_not_see_is_no_table(lake, folder):
    book = openpyxl.Workbook()
    book.active.title = "seen"
    book.active.append(["a"])
    book.active.append([1])
    hidden = book.create_sheet("hidden")
    hidden.append(["b"])
    hidden.sheet_state = "hidden"
    book.create_chartsheet("chart")
    book.save(folder / "b.xlsx")
    assert set(listed(lake)) == {"lake/b/seen"}


def test_titles_above_and_merged_cells(lake, folder):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Report 2024"], [], ["region", "city", "n"], ["north", "a", 1], [None, "b", 2]):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    sheet.merge_cells("A4:A5")
    book.save(folder / "b.xlsx")
    (ref,) = listed(lake).values()
    assert [c.name for c in lake.profile(ref).columns] == ["region", "city", "n"]
    assert rows_in(lake, ref) == [("north", "a", "1"), ("north", "b", "2")]


def test_two_books_of_a_name_and_a_sheet_of_any_name(lake, folder):
    write_book(folder / "a.xlsx", **{"x # 100%": [["n"], [1]]})
    write_book(folder / "a.xlsm", **{"x # 100%": [["n"], [2]]})
    refs = listed(lake)
    assert set(refs) == {"lake/a/x # 100%25", "lake/a.xlsx/x # 100%25"}
    assert {rows_in(lake, ref)[0] for ref in refs.values()} == {("1",), ("2",)}
    known = {(ref.location, ref.format): i for i, ref in refs.items()}
    (folder / "a.xlsm").unlink()
    assert [r.table_id for r in lake.list_tables(known).tables] == ["lake/a.xlsx/x # 100%25"]


def test_a_book_is_opened_once_a_version(lake, folder):
    write_book(folder / "b.xlsx", a=[["n"], [1]])
    opened = []
    look, lake.look_inside = lake.look_inside, lambda ref: opened.append(ref) or look(ref)
    assert listed(lake) == listed(lake)
    assert len(opened) == 1
    write_book(folder / "b.xlsx", a=[["n"], [1]], b=[["m"], [2], [3]])
    assert set(listed(lake)) == {"lake/b/a", "lake/b/b"}


def list_again(path, names) -> None:
    """Let a workbook list the one sheet it has under each of these names."""
    with zipfile.ZipFile(path) as book:
        parts = {one: book.read(one) for one in book.namelist()}
    entry = re.search(rb'<sheet [^>]*name="only"[^>]*/>', parts["xl/workbook.xml"])[0]
    more = b"".join(entry.replace(b'"only"', b'"%s"' % name.encode()) for name in names)
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(entry, more)
    write_parts(path, parts)


def write_parts(path, parts) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)


def write_many(path, names) -> None:
    """Write a small file that lists so many tables."""
    path.unlink(missing_ok=True)
    if path.suffix == ".sqlite":
        write_database(path, *(f'CREATE TABLE "{name}" (n)' for name in names))
    elif path.suffix == ".ods":
        cell = "<table:table-row><table:table-cell/></table:table-row>"
        sheets = "".join(f'<table:table table:name="{n}">{cell}</table:table>' for n in names)
        body = f"<office:body><office:spreadsheet>{sheets}</office:spreadsheet></office:body>"
        spaces = " ".join(
            f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"'
            for one in ("office", "table")
        )
        content = f"<office:document-content {spaces}>{body}</office:document-content>"
        kind = "application/vnd.oasis.opendocument.spreadsheet"
        manifest = '<manifest:manifest xmlns:manifest="urn:oasis"/>'
        parts = {"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content}
        write_parts(path, parts)
    else:
        write_book(path, only=[["n"], [1]])
        list_again(path, names)


@pytest.mark.parametrize("suffix", ["xlsx", "ods", "sqlite"])
def test_a_file_of_more_tables_than_anybody_makes_is_one_problem(lake, folder, suffix):
    file = folder / f"many.{suffix}"
    write_many(file, ["t0"])
    (ref,) = listed(lake).values()
    write_many(file, [f"t{n}" for n in range(bounds.MAX_TABLES + 1)])
    listing = lake.list_tables({(ref.location, ref.format): ref.table_id})
    assert not listing.tables
    (problem,) = listing.problems
    assert problem.subject == f"lake/many.{suffix}"
    assert f"{file} cannot be read: it holds 1,001 tables, more than 1,000; split" in problem.cause
    assert ref.table_id.startswith(tuple(listing.unlisted)), "what was indexed of it stays"
    write_many(file, [f"t{n}" for n in range(bounds.MAX_TABLES)])
    assert len(listed(lake)) == bounds.MAX_TABLES


def test_a_sheet_that_is_listed_twice_is_one_table(lake, folder):
    write_book(folder / "b.xlsx", only=[["n"], [1]])
    list_again(folder / "b.xlsx", ["a", "b", "a"])
    assert set(listed(lake)) == {"lake/b/a", "lake/b/b"}


@pytest.mark.parametrize("name", ["b.xlsx", "b.xls", "b.ods", "b.sqlite"])
def test_a_file_that_does_not_open_takes_no_table_away(lake, folder, name):
    (folder / name).write_bytes(b"PK\x03\x04 no book at all" * 20)
    listing = lake.list_tables()
    assert list(listing.tables) == []
    if name.endswith("sqlite"):
        assert not listing.problems
    else:
        assert listing.problems[0].cause.isprintable()
        assert "lake/b/" in listing.unlisted


def test_a_bomb_is_refused_by_what_it_says_of_its_size(lake, folder):
    with zipfile.ZipFile(folder / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet1.xml", b"0" * 60_000_000)
    before = bounds.limits()
    bounds.use(LimitsConfig(memory_gigabytes=1).model_copy(update={"memory_gigabytes": 0.1}))
    try:
        (problem,) = lake.list_tables().problems
    finally:
        bounds.use(before)
    assert "unpacked" in problem.cause


def write_database(path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_tables_and_views_of_a_database(lake, folder):
    write_database(
        folder / "shop.db",
        "CREATE TABLE people (name TEXT, age INTEGER, photo BLOB)",
        "INSERT INTO people VALUES ('ann', 7, x'00ff'), ('bob', NULL, NULL)",
        "CREATE VIEW grown AS SELECT upper(name) AS name FROM people WHERE age > 5",
        "CREATE VIRTUAL TABLE words USING fts5(text)",
    )
    (folder / "Thumbs.db").write_bytes(b"something else")
    refs = listed(lake)
    assert set(refs) == {f"lake/shop/{name}" for name in ("people", "grown", "words")}
    columns = lake.profile(refs["lake/shop/people"]).columns
    assert [(c.name, c.type) for c in columns] == [
        ("name", "TEXT"), ("age", "INTEGER"), ("photo", "BLOB")]  # fmt: skip
    assert rows_in(lake, refs["lake/shop/people"]) == [("ann", "7", "x'00ff'"), ("bob", None, None)]
    assert rows_in(lake, refs["lake/shop/grown"]) == [("ANN",)]
    assert files_below(folder) == {"shop.db", "Thumbs.db"}, "nothing was made beside it"


def declared(ref: TableRef, table: Table) -> Declared:
    """What lineage is made of, as the store keeps it."""
    kept = profile_columns(table)
    return Declared(
        ref.table_id, ref.source, ref.location, ref.format, kept["columns"], kept["relations"], None
    )


@pytest.mark.parametrize(("file", "place"), [("shop.db", ()), ("a/b/shop.db", ("b",))])
def test_keys_and_queries_of_a_database(lake, folder, file, place):
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    write_database(
        folder / file,
        "CREATE TABLE shops (street TEXT, city TEXT, PRIMARY KEY (city, street))",
        "CREATE TABLE staff (id INTEGER PRIMARY KEY, c TEXT, s TEXT, boss INTEGER "
        "REFERENCES staff, FOREIGN KEY (c, s) REFERENCES shops (city, street))",
        "CREATE VIEW bosses AS SELECT boss, count(*) AS people FROM Staff GROUP BY boss",
    )
    below = f"lake/{file.removesuffix('.db')}"
    refs = listed(lake)
    shops, staff, bosses = (
        lake.profile(refs[f"{below}/{name}"]) for name in ("shops", "staff", "bosses")
    )
    assert (shops.primary_key, shops.foreign_keys) == (("city", "street"), ())
    assert staff.primary_key == ("id",)
    assert set(staff.foreign_keys) == {
        ForeignKey(("boss",), (*place, "shop", "staff"), ("id",)),
        ForeignKey(("c", "s"), (*place, "shop", "shops"), ("city", "street")),
    }
    assert shops.definition is None
    assert (bosses.definition.dialect, bosses.definition.schema) == ("sqlite", "shop")
    assert bosses.definition.catalog == "".join(place)
    assert "FROM Staff" in bosses.definition.sql
    source = FolderSourceConfig(name="lake", path=folder)
    tables = TableCatalog(
        [declared(refs[table.table_id], table) for table in (shops, staff, bosses)],
        {"lake": source},
    )
    found = [
        edge
        for table in (staff, bosses)
        for edge in tables.origin("", declared(refs[table.table_id], table)).edges
    ]
    assert {(edge.upstream, edge.downstream, edge.columns) for edge in found} == {
        (f"{below}/staff", f"{below}/staff", (("id", "boss"),)),
        (f"{below}/shops", f"{below}/staff", (("city", "c"), ("street", "s"))),
        (f"{below}/staff", f"{below}/bosses", (("boss", "boss"),)),
    }


def test_rows_that_wait_in_the_log_are_read(lake, folder):
    with closing(sqlite3.connect(folder / "a.sqlite")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE t (n)")
        writer.commit()
        before = listed(lake)["lake/a/t"]
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        after = listed(lake)["lake/a/t"]
        assert after.version != before.version
        assert rows_in(lake, after) == [("1",)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT load_extension('/tmp/x')",
        "SELECT * FROM pragma_database_list",
        "SELECT no_such_function(1)",
    ],
)
def test_a_view_that_wants_more_is_its_own_problem(lake, folder, query):
    write_database(
        folder / "a.sqlite", f"CREATE VIEW v(a) AS {query}", "CREATE TABLE t AS SELECT 1 AS n"
    )
    refs = listed(lake)
    with pytest.raises(TableReadError) as caught:
        lake.profile(refs["lake/a/v"])
    assert str(caught.value).isprintable()
    assert rows_in(lake, refs["lake/a/t"]) == [("1",)]


def test_a_view_without_an_end_is_stopped(folder):
    endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"
    write_database(folder / "a.sqlite", f"CREATE VIEW v AS {endless}")
    config = FolderSourceConfig(name="lake", path=folder)
    short = {"seconds_per_table": 3, "seconds_per_gigabyte": 0}
    source = IsolatedSource(config, {}, LimitsConfig().model_copy(update=short))
    (ref,) = source.list_tables().tables
    with pytest.raises(TableReadError, match="was stopped"):
        source.profile(ref)
    source.close()


def test_a_wide_sheet_needs_little_memory(tmp_path):
    """298 x 312 cells: as many counts of misfits as columns, in a process bounded as by default."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("wide")
    sheet.append([f"measure {column}" for column in range(312)])
    for row in range(298):
        sheet.append([f"sample {row}", *(row / (column + 7) for column in range(311))])
    book.save(tmp_path / "wide.xlsx")
    config = FolderSourceConfig(name="s", path=tmp_path)
    with closing(IsolatedSource(config, {}, LimitsConfig())) as source:
        (ref,) = source.list_tables().tables
        table = source.profile(ref)
        assert (table.row_count, len(table.columns)) == (298, 312)
        assert {column.type for column in table.columns[1:]} == {"DOUBLE"}
        assert len(source.sample(ref, 5, 0)) == 5


def test_a_sheet_that_is_only_announced_is_a_problem_of_its_table(lake, folder):
    write_book(folder / "shop.xlsx", people=[["name"], ["ann"]], sales=[["sum"], [1]])
    with zipfile.ZipFile(folder / "shop.xlsx") as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(folder / "shop.xlsx", "w") as book:
        for name, part in parts.items():
            if name != "xl/worksheets/sheet2.xml":
                book.writestr(name, part)
    refs = listed(lake)
    assert rows_in(lake, refs["lake/shop/people"]) == [("ann",)]
    with pytest.raises(TableReadError, match="save it again"):
        lake.profile(refs["lake/shop/sales"])


@pytest.mark.parametrize("name", ["", "x" * 256])
def test_a_table_without_a_usable_name_is_named_as_a_problem_of_its_file(lake, folder, name):
    write_database(
        folder / "shop.sqlite",
        f'CREATE TABLE "{name}" (a)',
        "CREATE TABLE people (name)",
        f"CREATE TABLE {'y' * 255} (a)",
    )
    listing = lake.list_tables()
    names = ["people", "y" * 255]
    assert [ref.table_id for ref in listing.tables] == [f"lake/shop/{one}" for one in names]
    cause = "a table in it has no name, or one of more than 255 characters; rename that table"
    assert [(p.subject, p.cause) for p in listing.problems] == [("lake/shop.sqlite", cause)]
