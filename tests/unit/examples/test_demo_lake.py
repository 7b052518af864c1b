"""The demo's lake is complete, honest about its licences, and the same every time."""

import importlib.util
import re
import sys
from pathlib import Path

import duckdb
import pytest
import yaml
from rich.console import Console

from pneuma_assets.core.search.results import ScoreParts, TableResult
from pneuma_assets.core.tables import DocumentKind

DEMO = Path(__file__).resolve().parents[3] / "examples" / "demo"
sys.path.insert(0, str(DEMO))

import ask  # noqa: E402
import demo_display  # noqa: E402
import demo_origins  # noqa: E402
import demo_tables  # noqa: E402
import prepare  # noqa: E402

MISSING = [
    package for package in demo_origins.DISTRIBUTIONS if importlib.util.find_spec(package) is None
]
needs_packages = pytest.mark.skipif(
    bool(MISSING), reason=f"install pneuma-assets[demo] for {', '.join(MISSING)}"
)
QUESTIONS = yaml.safe_load((DEMO / "questions.yaml").read_text(encoding="utf-8"))
READERS = {
    "csv": "read_csv(?)",
    "csv.gz": "read_csv(?)",
    "parquet": "read_parquet(?)",
    "jsonl": "read_json(?, format = 'newline_delimited')",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "lake"
    prepare.build_lake(folder)
    return folder


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def words(text):
    return {word.rstrip("s") for word in re.findall(r"[a-z0-9]+", text.lower())}


def table_ids():
    return [table.table_id for table in demo_tables.TABLES]


@needs_packages
def test_holds_exactly_the_listed_files(lake):
    expected = {f"{table.folder}/{table.name}.{table.format}" for table in demo_tables.TABLES}
    expected |= {
        f"{table.folder}/{table.name}.{table.context}"
        for table in demo_tables.TABLES
        if table.context
    }
    assert set(snapshot(lake)) == expected


@needs_packages
@pytest.mark.parametrize("table", demo_tables.TABLES, ids=table_ids())
def test_every_table_is_the_package_s_own(lake, table):
    path = lake / table.folder / f"{table.name}.{table.format}"
    original = demo_origins.read_rows(table)
    result = duckdb.connect().execute(f"FROM {READERS[table.format]}", [str(path)])
    columns = [column[0] for column in result.description]
    assert columns == original.column_names
    assert len(result.fetchall()) == original.num_rows
    assert original.num_rows > 0


@needs_packages
def test_every_document_names_source_and_licence(lake):
    for table in demo_tables.TABLES:
        if table.context:
            text = (lake / table.folder / f"{table.name}.{table.context}").read_text("utf-8")
            assert table.licence in text, table
            assert f"Python package {demo_origins.DISTRIBUTIONS[table.package]}" in text, table
            assert len(text) > 200, table


def test_the_readme_names_every_table_with_its_licence():
    lines = (DEMO / "README.md").read_text(encoding="utf-8").splitlines()
    for table in demo_tables.TABLES:
        cell = f"| `{table.folder}/{table.name}.{table.format}` |"
        line = next(line for line in lines if line.startswith(cell))
        assert line.endswith(f"| {table.licence} |")


def test_ten_questions_of_every_kind_and_none_repeats_its_table_s_name():
    assert len(QUESTIONS) == len({question["question"] for question in QUESTIONS}) == 10
    assert {question["kind"] for question in QUESTIONS} == {"content", "column", "row", "context"}
    named = {question["table"] for question in QUESTIONS}
    assert len(named) == len(named & {*table_ids()}) == 10
    for question in QUESTIONS:
        assert not words(question["table"].rsplit("/", 1)[1]) & words(question["question"])


@needs_packages
def test_built_again_it_is_the_same(lake, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in lake.rglob("*")}
    assert prepare.build_lake(lake) == 0
    assert {path: path.stat().st_mtime_ns for path in lake.rglob("*")} == before
    assert [path.name for path in lake.parent.iterdir()] == [lake.name]
    prepare.build_lake(tmp_path / "deep" / "lake")
    assert snapshot(tmp_path / "deep" / "lake") == snapshot(lake)


@needs_packages
def test_repairs_what_is_damaged_and_keeps_what_is_not_its_own(lake, tmp_path):
    out = tmp_path / "lake"
    prepare.build_lake(out)
    (out / "climate" / "co2.md").write_text("damaged", encoding="utf-8")
    (out / "climate" / "nile.csv").unlink()
    (out / "climate" / "mine.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert prepare.build_lake(out) == 2
    assert (out / "climate" / "mine.csv").read_text(encoding="utf-8") == "a,b\n1,2\n"
    (out / "climate" / "mine.csv").unlink()
    assert snapshot(out) == snapshot(lake)


def run_main(monkeypatch, out):
    monkeypatch.setattr(sys, "argv", ["prepare.py", "--out", str(out)])
    return prepare.main()


def test_says_which_package_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(prepare.DISTRIBUTIONS, "no_such_package_here", "no-such-package")
    assert run_main(monkeypatch, tmp_path / "lake") == 1
    assert "no-such-package: run pip install 'pneuma-assets[demo]'" in capsys.readouterr().out
    assert not (tmp_path / "lake").exists()


def test_asking_without_an_index_is_one_line_and_makes_nothing(monkeypatch, capsys, tmp_path):
    home = tmp_path / "home"
    monkeypatch.setattr(sys, "argv", ["ask.py", "--home", str(home)])
    assert ask.main() == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: nothing is indexed in ")
    assert captured.err.count("\n") == 1
    assert not home.exists()


def result(table_id, text):
    parts = ScoreParts(1.0, 0.5, None, 3.0, 0.4)
    return TableResult(table_id, 0.75, parts, DocumentKind.ROWS, text, text, "block")


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([result("lake/a/b", "x: 1")], "first"),
        ([result("lake/a/c", "x: 1"), result("lake/a/b", "x: 1")], "wanted lake/a/b"),
        ([], "wanted lake/a/b"),
    ],
    ids=["first", "second", "no answer"],
)
def test_shows_whether_the_wanted_table_was_first(capsys, results, verdict):
    demo_display.show_answer(Console(width=100), 1, "Where?", "lake/a/b", results)
    assert verdict in capsys.readouterr().out.splitlines()[0]


def test_text_of_a_table_cannot_steer_the_terminal(capsys):
    hostile = result("lake/a/b\x1b[2J", "name: [red]x[/red]\x1b]0;owned\x07 | " + "y " * 500)
    demo_display.show_answer(Console(width=100), 1, "Where?", "lake/a/b", [hostile])
    shown = capsys.readouterr().out
    assert "[red]x[/red]" in shown
    assert not set("\x1b\x07") & set(shown)
    assert max(map(len, shown.splitlines())) <= 100
    assert len(shown.splitlines()) <= 8
