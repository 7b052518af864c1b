"""`pneuma-bench generate --context`: questions about documents, by the packaged encoder."""

import json

from typer.testing import CliRunner

from benchmarks.tests.support.documented_tables import documented_set
from pneuma_bench.cli.app import app
from pneuma_bench.reading import read_set


def write_tables(folder):
    dataset = documented_set()
    records = [
        {
            "id": dataset.spelled(table.table_id),
            "columns": [column.name for column in table.columns],
            "rows": [*map(list, rows)],
            "contexts": dataset.contexts[table.table_id],
        }
        for table, rows in dataset.tables
    ]
    path = folder / "d.tables.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def generate(tables, out, *more):
    arguments = ["generate", "--tables", str(tables), "--out", str(out), *more]
    return CliRunner().invoke(app, arguments)


def test_both_kinds_stand_in_one_file_and_are_counted_apart(tmp_path):
    tables = write_tables(tmp_path)
    more = ("--content", "4", "--context", "3", "--json")
    for out in ("a", "b"):
        result = generate(tables, tmp_path / out, *more)
        assert result.exit_code == 0, result.output
    manifest = json.loads(result.stdout)
    assert (manifest["asked"], manifest["context"]["asked"]) == (4, 3)
    for name in ("d.queries.jsonl", "d.rejected.jsonl", "d.manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    (tmp_path / "a/d.tables.jsonl").write_bytes(tables.read_bytes())
    assert read_set(tmp_path / "a", "d").kinds == ["content"] * 4 + ["context"] * 3


def test_where_there_are_no_documents_what_rows_answer_is_written(tmp_path):
    lines = write_tables(tmp_path).read_text().splitlines()
    bare = tmp_path / "bare.tables.jsonl"
    bare.write_text(
        "".join(json.dumps({**json.loads(one), "contexts": []}) + "\n" for one in lines)
    )
    result = generate(bare, tmp_path / "a", "--content", "4", "--context", "3")
    assert result.exit_code == 1
    assert "4 questions written" in result.stdout
    assert "nothing can be asked of the documents" in result.stderr
    assert len((tmp_path / "a/bare.queries.jsonl").read_text().splitlines()) == 4
    result = generate(bare, tmp_path / "b", "--content", "4", "--context", "3", "--json")
    assert "documents" in json.loads(result.stdout)["missing"]
    result = generate(bare, tmp_path / "c", "--content", "0", "--context", "3")
    assert result.exit_code == 1
    assert not (tmp_path / "c").exists(), "nothing can be made"


def test_where_there_are_no_rows_what_documents_answer_is_written(tmp_path):
    lines = write_tables(tmp_path).read_text().splitlines()
    bare = tmp_path / "bare.tables.jsonl"
    bare.write_text("".join(json.dumps({**json.loads(one), "rows": []}) + "\n" for one in lines))
    result = generate(bare, tmp_path / "a", "--content", "4", "--context", "3")
    assert result.exit_code == 1
    assert "3 questions written" in result.stdout
    assert "can be asked about; they need named columns and rows" in result.stderr


def test_context_questions_alone_and_what_cannot_be(tmp_path):
    tables = write_tables(tmp_path)
    result = generate(tables, tmp_path / "a", "--content", "0", "--context", "90")
    assert result.exit_code == 0, result.output
    assert "90 were asked for; these tables give no more" in result.stdout
    assert "annotation" in result.stdout
    result = generate(tables, tmp_path / "a", "--content", "0")
    assert result.exit_code == 2
    assert "give --content or --context" in result.stderr
