"""The figures and the code on tables' pages, beside what DuckDB and pandas make of the files."""

import bz2
import gzip
import json
import shutil
from datetime import date
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path

import duckdb
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

from pneuma_assets import open_workspace
from tests.support.indexed_home import make_home
from tests.support.served_home import client_of, local_app

pytestmark = pytest.mark.integration

LAKE = Path(__file__).resolve().parents[3] / "shared/data/lake"
TABLES = 30
NUMBERS = ("BIGINT", "DOUBLE", "INTEGER", "FLOAT", "DECIMAL", "HUGEINT")

ROWS = "id,price,note,day,sold\n1,7.5,NA,2024-01-31,yes\n2,-,café,2024-02-01,no\n3,.5,N/A,,NA\n"
GERMAN = "Größe;Preis;Anzahl\nklein;12,95;3\ngroß;1.151,80;-\nmittel;4,22;n.a.\n"
MIXED = "name;commas;points\na;1,25;1.5\nb;2,75;2.5\nc;-;3.5\n"
ODD = 'a,"b ""c"" d"\n1,"x, ""y"""\n2,"two\nlines"\nNA,?\n'
TITLES = [["Sales of 2024"], [], ["item", "amount", "day"], ["pen", 3, date(2024, 1, 2)]]
FILES = {
    "plain.csv": ROWS.encode(),
    "latin.csv": ROWS.encode("latin-1"),
    "windows.csv": ROWS.replace("café", "été 5 €").encode("cp1252"),
    "two_in_one.csv": ROWS.encode() + "4,1,été,,\n".encode("cp1252"),
    "marked.csv": ROWS.encode("utf-8-sig"),
    "unicode.csv": ROWS.replace(",", "\t").encode("utf-16"),
    "big_endian.csv": ROWS.encode("utf-16-be"),
    "packed.csv.gz": gzip.compress(ROWS.encode()),
    "squeezed.csv.bz2": bz2.compress(ROWS.encode()),
    "renamed.csv": gzip.compress(ROWS.encode()),
    "tabs.tsv": ROWS.replace(",", "\t").encode(),
    "german.csv": GERMAN.encode(),
    "mixed.csv": MIXED.encode(),
    "odd, 'quoted' #1.csv": ODD.encode(),
    "announced.csv": b"sep=;\na;b\n1;2\n3;NULL\n",
    "comments.csv": b"# made by hand\n# in 2024\na,b\n1,2\n3,..\n",
    "no_header.csv": b"1,2.5\n3,4.5\n-,NA\n",
    "days.csv": b"id,day\n1,31/01/2024\n2,03/02/2024\n3,-\n",
    "one_column.csv": b"n\n1\n\n3\nNA\n",
    "ragged.csv": b"a,b,c\n1,2,3\n4,5\n6\n",
    "wide.csv": b",".join(b"c%d" % n for n in range(60)) + b"\n" + b",".join([b"1"] * 59 + [b"-"]),
    "lines.jsonl": b'{"a": "007", "b": 1, "made_at": "x"}\n{"a": "NA", "b": null}\n',
    "array.json": json.dumps([{"a": "NA", "b": 1.5}, {"a": None, "b": 2.5}]).encode(),
    "parts/k=1/part.csv": b"a,b\n1,x\n2,NA\n",
    "parts/k=2/part.csv": b"a,b\n3,y\n-,z\n",
}  # fmt: skip
TYPED = {"n": [1.5, float("nan"), None, 2.5], "text": ["NA", "-", None, "x"], "whole": [3, 1, 2, 1]}


def write_typed(lake: Path) -> None:
    """Write a table of types of its own in formats that have some, and a workbook."""
    table = pa.table(TYPED)
    pq.write_table(table, lake / "typed.parquet")
    feather.write_feather(table, str(lake / "typed.feather"))
    orc.write_table(table, lake / "typed.orc")
    offsets = pa.array([0, 1, 2], pa.int32()).buffers()[1]
    torn = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"\xe9a"))
    pq.write_table(pa.table({"torn": torn}), lake / "torn.parquet")
    for part in (1, 2):
        folder = lake / f"typed_parts/k={part}"
        folder.mkdir(parents=True)
        pq.write_table(table, folder / "part.parquet")
    for code in ("00139", "10001"):
        (lake / f"zips/zip={code}").mkdir(parents=True)
        pq.write_table(table, lake / f"zips/zip={code}/part.parquet")
    book = openpyxl.Workbook()
    second = book.create_sheet("Second")
    for row in [*TITLES, ["ink", "n.a.", date(2024, 1, 3)], [], ["cap", 2, date(2024, 1, 4)]]:
        book.active.append(row)
    for row in [["other"], ["NAM"], ["NAM"]]:
        second.append(row)
    book.save(lake / "book.xlsx")
    book = openpyxl.Workbook()
    for row in [["commas", "points"], ["1,25", 1.5], ["2,75", 2.5]]:
        book.active.append(row)
    book.save(lake / "commas.xlsx")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of tables of a lake of files in many spellings, by their files."""
    folder = tmp_path_factory.mktemp("files")
    for name, data in FILES.items():
        path = folder / "lake" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    write_typed(folder / "lake")
    with open_workspace(config=make_home(folder, {})) as workspace:
        found = [workspace.table(one) for one in workspace.known_tables()]
        yield {one.location.partition("/lake/")[2].removesuffix("#Sheet"): one for one in found}


def by_sql(page):
    """Return what DuckDB's SUMMARIZE says of all rows that the SQL on a page reads."""
    rows = page.snippets["sql"].rpartition(" LIMIT ")[0]
    with duckdb.connect() as connection:
        return connection.sql(f"SELECT * FROM (SUMMARIZE {rows})").df()


def by_pandas(page):
    """Return the table that the code for pandas on a page makes."""
    names: dict[str, object] = {}
    exec(page.snippets["pandas"], names)
    return names["table"]


def check_sql(page):
    """Compare the columns, types, shares of NULL and extremes on a page with DuckDB's."""
    found = by_sql(page)
    assert [*found["column_name"]] == [one.name for one in page.columns]
    assert [*found["column_type"]] == [one.type for one in page.columns]
    for (_, read), column in zip(found.iterrows(), page.columns, strict=True):
        profile = column.profile
        assert read["count"] == page.card.rows
        if "NaN" in profile.missing or "nan" in profile.missing:
            continue  # in a column of numbers, NaN is no NULL to DuckDB
        assert float(read["null_percentage"]) == pytest.approx(100 * profile.nulls, abs=0.0051)
        assert profile.distinct <= round(page.card.rows * (1 - profile.nulls))
        if column.type.startswith(NUMBERS) and profile.least is not None:
            for name, cell in (("min", profile.least), ("max", profile.greatest)):
                told = float(cell.replace(",", ".") if "," in cell else cell)
                assert float(read[name]) == pytest.approx(told)


def check_pandas(page, read):
    """Compare the names, shares of missing values and types on a page with those of a table."""
    assert [*map(str, read.columns)] == [one.name for one in page.columns]
    assert len(read) == page.card.rows
    for at, column in enumerate(page.columns):
        cells = read.iloc[:, at]
        assert cells.isna().mean() == pytest.approx(column.profile.nulls), column.name
        if column.type.startswith(NUMBERS) and cells.dtype != "category":  # as a partition's is
            assert pd.api.types.is_numeric_dtype(cells), column.name


TRANSCODED = {
    *("latin.csv", "windows.csv", "two_in_one.csv", "unicode.csv", "big_endian.csv"),
    "squeezed.csv.bz2",
}
BY_NO_CODE = {*TRANSCODED, "mixed.csv", "commas.xlsx"}
BY_PANDAS_ALONE = {"typed.feather", "typed.orc", "book.xlsx", "book.xlsx#Second"}
IN_FOLDERS = {"parts/", "typed_parts/", "zips/"}


def test_all_code_on_pages_reads_what_they_show(pages):
    assert pages.keys() == {
        *(name for name in FILES if not name.startswith("parts/")),
        *("typed.parquet", "torn.parquet", "commas.xlsx"),
        *BY_PANDAS_ALONE,
        *IN_FOLDERS,
    }
    for name, page in pages.items():
        print(name, *page.snippets.values(), sep="\n")  # which one fails
        assert ("pandas" in page.snippets) == (name not in BY_NO_CODE)
        assert ("sql" in page.snippets) == (name not in BY_NO_CODE | BY_PANDAS_ALONE)
        if "sql" in page.snippets:
            check_sql(page)
        if "pandas" in page.snippets:
            check_pandas(page, by_pandas(page))


def column(pages, file, name):
    return next(one for one in pages[file].columns if one.name == name)


def test_a_cell_without_a_value_is_null_in_text_and_a_text_in_typed_files(pages):
    price, note = (column(pages, "plain.csv", one) for one in ("price", "note"))
    assert (price.type, price.profile.nulls, price.profile.missing) == ("DOUBLE", 1 / 3, ("-",))
    assert (note.type, note.profile.missing, note.profile.distinct) == ("VARCHAR", ("N/A", "NA"), 1)
    text, number = (column(pages, "typed.parquet", one).profile for one in ("text", "n"))
    assert (text.nulls, text.distinct, text.missing) == (0.25, 3, ())
    assert (number.nulls, number.distinct, number.least) == (0.5, 2, "1.5")
    assert column(pages, "lines.jsonl", "a").profile.nulls == 0


def test_the_page_says_how_missing_cells_are_spelled(tmp_path):
    file = make_home(tmp_path, {"lake/a.csv": "n\n1\nNA\n-\nNA\n"})
    with client_of(local_app(file)) as client:
        page = " ".join(client.get("/tables/lake/a").text.split())
    assert (
        '1 value, 75 % NULL (<span class="ink">-</span>, <span class="ink">NA</span>)</li>' in page
    )


def test_code_reads_numbers_dates_and_letters_as_a_person_does(pages):
    read = by_pandas(pages["german.csv"])
    assert [*read["Preis"]] == [12.95, 1151.8, 4.22]
    assert read["Anzahl"].mean() == 3
    assert [*by_sql(pages["german.csv"])["column_type"]] == ["VARCHAR", "DOUBLE", "BIGINT"]
    assert [*by_pandas(pages["zips/"])["zip"].unique()] == ["00139", "10001"]
    assert [*by_pandas(pages["book.xlsx#Second"])["other"]] == ["NAM", "NAM"]
    assert [*by_pandas(pages["days.csv"])["day"].dt.month[:2]] == [1, 2]
    assert [*by_pandas(pages["lines.jsonl"])["a"]] == ["007", "NA"]
    assert by_pandas(pages["plain.csv"])["sold"].eq(True).sum() == 1


def some_of_lake() -> list[Path]:
    """Return files of all folders of the lake in turn, in an order that their names decide."""
    if not LAKE.is_dir():
        pytest.skip(f"there are no tables in {LAKE}")
    folders = [
        sorted(files, key=lambda file: sha256(file.name.encode()).digest())
        for folder in sorted(LAKE.iterdir())
        if (files := [*folder.glob("*.csv"), *folder.glob("*.parquet")])
    ]
    return [one for one in chain.from_iterable(zip_longest(*folders)) if one is not None][:TABLES]


def test_figures_of_real_tables_are_those_of_duckdb_and_pandas(tmp_path):
    chosen = some_of_lake()
    for file in chosen:
        (tmp_path / "lake" / file.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, tmp_path / "lake" / file.parent.name)
    with open_workspace(config=make_home(tmp_path, {})) as workspace:
        pages = [workspace.table(one) for one in workspace.known_tables()]
    assert len(pages) == TABLES
    for page in pages:
        print(page.card.table_id)  # which one fails
        check_sql(page)
        check_pandas(page, by_pandas(page))
        plain = pd.read_csv if page.location.endswith(".csv") else pd.read_parquet
        table = plain(page.location)
        for at, one in enumerate(page.columns):
            cells, profile = table.iloc[:, at], one.profile
            assert profile.nulls == pytest.approx(cells.isna().mean()), one.name
            assert (profile.distinct, profile.distinct_exact) == (cells.nunique(), True), one.name
