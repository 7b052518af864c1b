"""Statements that a table's own rows make true or false."""

import json
import re
import sqlite3

import pytest
from typer.testing import CliRunner

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.cli.app import app
from pneuma_bench.reading import read_files, read_tables
from pneuma_bench.target.statements import statements_about
from pneuma_bench.target.writing import read_answers

ABOUT_PEOPLE = re.compile(r"The (?:\w+ )?people where the city is city \d+ is")
"""Of these, one of the tables says another number."""
COLUMNS = ["city", "people", "land"]
ROWS = [[f"city {n}", str(n * n + 7), "NO" if n % 2 else "SE"] for n in range(12)]


@pytest.fixture
def tables(tmp_path):
    path = tmp_path / "t.tables.jsonl"
    others = [[f"city {n}", str(n * n + 8), "NO" if n % 2 else "SE"] for n in range(12)]
    made = [
        {"id": "towns", "columns": COLUMNS, "rows": ROWS},
        {"id": "towns_again", "columns": COLUMNS, "rows": ROWS},
        {"id": "bare", "columns": ["x"], "rows": []},
        {"id": "ships", "columns": ["ship", "metres"], "rows": [["a", "3"], ["b", "9"]]},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in made))
    twisted = [*made, {"id": "other_towns", "columns": COLUMNS, "rows": others}]
    (tmp_path / "u.tables.jsonl").write_text("".join(json.dumps(one) + "\n" for one in twisted))
    return path


def test_every_other_statement_is_true_and_the_value_tells(tables):
    made = statements_about(read_tables(tables), 16)
    assert len({one.text.casefold() for one in made}) == len(made) == 16
    assert sum(one.is_true for one in made) == 8
    for one in made:
        verb = "are" if one.text.startswith(("The metres", "The highest metres")) else "is"
        assert one.text.endswith(f" {verb} {one.value}.") is one.is_true, one
        assert one.tables[0] in ("towns", "towns_again", "ships")
        if "towns" in one.tables:
            assert {*one.tables} == {"towns", "towns_again"}, "they say the same"
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (city TEXT, people REAL, land TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        told = [one for one in made if "towns" in one.tables]
        assert told
        for one in told:
            query = re.sub(" (WHERE|ORDER)", r" FROM t \1", one.sql, count=1)
            ((value,), *_) = database.execute(query).fetchall()
            assert one.value == (value if isinstance(value, str) else f"{round(value, 2):.15g}")


def test_nothing_is_stated_of_which_another_table_says_otherwise(tables):
    made = statements_about(read_tables(tables.with_name("u.tables.jsonl")), 30)
    assert made
    for one in made:
        assert "towns" not in one.tables or not ABOUT_PEOPLE.match(one.text), one


def test_the_seed_decides_which(tables):
    dataset = read_tables(tables)
    assert statements_about(dataset, 8, 1) == statements_about(dataset, 8, 1)
    assert statements_about(dataset, 8, 1) != statements_about(dataset, 8, 2)


def test_tables_of_which_nothing_can_be_stated_are_an_error(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"id": "a", "columns": ["x"], "rows": []}\n')
    with pytest.raises(BenchmarkError, match="nothing can be stated of 1 tables"):
        statements_about(read_tables(tmp_path / "t.jsonl"), 2)


def test_the_command_writes_questions_with_their_answers(tables, tmp_path):
    out = tmp_path / "made.jsonl"
    arguments = ["statements", "--tables", str(tables), "--out", str(out)]
    result = CliRunner().invoke(app, [*arguments, "--number", "10"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"10 statements written to {out}, 5 of them true\n"
    assert read_answers(out) == ["True", "False"] * 5
    dataset = read_files(tables, out)
    assert {*dataset.kinds} == {"statement"}
    first = out.read_bytes()
    CliRunner().invoke(app, [*arguments, "--number", "10"])
    assert out.read_bytes() == first
    result = CliRunner().invoke(app, [*arguments, "--number", "90000", "--json"])
    assert json.loads(result.stdout)["statements"] < 90000


def test_nothing_is_stated_of_columns_that_are_called_alike(tmp_path):
    path = tmp_path / "t.tables.jsonl"
    rows = [[str(n * 7 % 31), str(n * n % 53), f"boat {n}", str(n * 5 % 37)] for n in range(20)]
    path.write_text(json.dumps({"id": "t", "columns": ["x", "X", "boat", "knots"], "rows": rows}))
    made = statements_about(read_tables(path), 20)
    assert made
    assert not [one.text for one in made if re.search(r"\bx\b", one.text, re.IGNORECASE)]
