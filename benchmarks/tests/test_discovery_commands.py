"""The commands of Octopus's benchmarks, from files to files."""

import json

import pytest
from typer.testing import CliRunner

from pneuma_assets.cli.app import app as product
from pneuma_bench.cli.app import app


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("PNEUMA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PNEUMA_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    tables = [
        {"id": "a", "columns": ["city", "people"], "rows": [["Kiel", "240"], ["Oslo", "700"]]},
        {"id": "b", "columns": ["City", "People"], "rows": [["KIEL", "250"]]},
    ]
    asked = [
        {
            "question": "How many people where the city is Kiel?",
            "tables": ["a"],
            "kind": "content",
            "made": {"sql": 'SELECT "people" WHERE "city" = \'Kiel\''},
        },
        {"question": "What is it?", "tables": [], "made": {}},
    ]
    write(tmp_path / "t.jsonl", tables)
    write(tmp_path / "q.jsonl", asked)
    return tmp_path


def write(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def called(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


INDEPENDENT = ("independent", "--tables", "t.jsonl", "--queries", "q.jsonl", "--out", "c.jsonl")


def test_all_tables_that_answer_are_written(files):
    result = called(*INDEPENDENT)
    assert result.exit_code == 0, result.output
    assert "1 question written to c.jsonl" in result.stdout
    assert "left out: 1 question: it has no SQL" in result.stdout
    assert "1 are answered by tables that q.jsonl does not name, 0 not by all" in result.stdout
    (line,) = lines(files / "c.jsonl")
    assert line["tables"] == ["a", "b"]
    assert line["cells"] == [
        {"tables": ["a"], "rows": [[240]]},
        {"tables": ["b"], "rows": [[250]]},
    ]


def indexed(files):
    """Index two tables that join, and a third that joins with one of them."""
    folder = files / "shop"
    folder.mkdir()
    (folder / "customer.csv").write_text(
        "customer_id,name\n" + "".join(f"{n},n{n}\n" for n in range(40))
    )
    (folder / "orders.csv").write_text(
        "orders_id,customer_id\n" + "".join(f"{n + 90},{n}\n" for n in range(40))
    )
    (folder / "bill.csv").write_text(
        "bill_id,orders_id\n" + "".join(f"{n},{n + 90}\n" for n in range(40))
    )
    result = CliRunner().invoke(product, ["index", str(folder)])
    assert result.exit_code == 0, result.output


def test_a_deployment_is_asked(files):
    indexed(files)
    questions = [
        {"question": "name of the customer", "tables": ["shop/customer"]},
        {"question": "name of the customer of orders", "tables": ["shop/customer", "shop/orders"]},
    ]
    write(files / "asked.jsonl", questions)
    given = ("discovery", "--queries", "asked.jsonl")
    shown = called(*given, "--of", "tables,groups")
    assert shown.exit_code == 0, shown.output
    lines_shown = [line.split() for line in shown.stdout.splitlines()]
    assert {("k", "20"), ("tau", "0.500"), ("all", "2")} <= {tuple(one[:2]) for one in lines_shown}
    figures = json.loads(called(*given, "--of", "tables", "--of", "groups", "--json").stdout)
    assert figures["tables"][0]["recall"] == 0.75  # one of one, and one of two
    assert figures["groups"][0]["hit@10"] == 1.0
    assert "groups" not in json.loads(called(*given, "--json").stdout)


def test_without_a_model_no_question_has_cells(files):
    indexed(files)
    cells = [{"tables": ["shop/customer"], "rows": [["40"]]}]
    asked = {"question": "How many customers are there?", "tables": ["shop/customer"]}
    write(files / "asked.jsonl", [{**asked, "cells": cells}])
    given = ("discovery", "--queries", "asked.jsonl", "--of", "cells", "--no-model")
    shown = called(*given, "--answers", "out/answers.jsonl")
    assert shown.exit_code == 0, shown.output
    assert "of questions that tables answer: 1 no rows" in shown.stdout
    (line,) = lines(files / "out/answers.jsonl")
    assert (line["answers"], line["tables"], line["cells"]) == ([], ["shop/customer"], cells)
    found = json.loads(called(*given, "-k", "1", "--json").stdout)["cells"]
    assert found["cells"]["F1"] == 0.0
    assert found["usage"] == {"calls": 0.0, "read": 0.0, "written": 0.0}


def test_what_cannot_be_measured_is_told_at_once(files):
    given = ("discovery", "--queries", "q.jsonl")
    assert "--of takes tables, groups, cells" in called(*given, "--of", "rows").stderr
    indexed(files)
    assert "no table has the id 'a'" in called(*given).stderr
