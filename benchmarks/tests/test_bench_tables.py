"""`pneuma-bench tables`: what is written is read again as a set, without what is hidden."""

import json

import pytest
from typer.testing import CliRunner

from pneuma_bench.cli.app import app
from pneuma_bench.reading import read_files


@pytest.fixture
def lake(tmp_path, monkeypatch):
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME", "PNEUMA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "lake"
    (folder / "hr").mkdir(parents=True)
    (folder / "hr/pay.2024.csv").write_text("name,salary\nann,1\nbob,2\n")
    (folder / "hr/pay.2024.md").write_text(
        "What people earn.\n\n## Columns\n\n- `name`: who earns it\n"
    )
    (folder / "long.csv").write_text("n\n" + "".join(f"{n}\n" for n in range(50)))
    (folder / "torn.parquet").write_bytes(b"PAR1 and no more")
    privacy = {"hidden_columns": ["salary"]}
    source = {"type": "folder", "name": "lake", "path": "lake", "privacy": privacy}
    (tmp_path / "pneuma.yaml").write_text(json.dumps({"sources": [source]}))
    return tmp_path


def bench(*args):
    return CliRunner().invoke(app, ["tables", *map(str, args)])


def test_a_lake_becomes_a_set_without_what_is_hidden(lake):
    result = bench("--out", "t.jsonl", "--rows", 10)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 tables written to t.jsonl\nleft out: lake/torn: ")
    (lake / "q.jsonl").write_text('{"question": "Who earns?", "tables": ["lake/hr/pay.2024"]}')
    dataset = read_files(lake / "t.jsonl", lake / "q.jsonl")
    (pay, rows), (long, drawn) = dataset.tables
    assert [dataset.spelled(one.table_id) for one in (pay, long)] == [
        "lake/hr/pay.2024", "lake/long"
    ]  # fmt: skip
    assert dataset.names == {pay.table_id: ("hr", "pay.2024"), long.table_id: ("long",)}
    assert ([one.name for one in pay.columns], sorted(rows)) == (["name"], [("ann",), ("bob",)])
    assert dataset.contexts[pay.table_id][0].startswith("What people earn.")
    assert dataset.described == {pay.table_id: {0: "who earns it"}, long.table_id: {}}
    assert len({*drawn}) == 10
    assert "salary" not in (lake / "t.jsonl").read_text()


def test_the_same_seed_draws_the_same_rows(lake):
    for out, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert bench("--out", out, "--rows", 10, "--seed", seed).exit_code == 0
    same, again, other = ((lake / name).read_bytes() for name in "abc")
    assert same == again != other


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--source", "lak"], 2, "no source is called 'lak'; there are: lake"),
        (["--out", "lake"], 1, "cannot write lake (Is a directory)"),
        (["--out", "pneuma.yaml/t.jsonl"], 1, "cannot write pneuma.yaml/t.jsonl"),
        (["--rows", "0"], 2, "--rows"),
    ],
)
def test_what_cannot_be_asked_for_says_why_and_writes_nothing(lake, arguments, code, said):
    (lake / "t.jsonl").write_text("before")
    result = bench("--out", "t.jsonl", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert (lake / "t.jsonl").read_text() == "before"
    assert not [one for one in lake.iterdir() if one.name.startswith(".t")]


def test_without_a_table_there_is_no_file(lake):
    for name in ("hr/pay.2024.csv", "long.csv"):
        (lake / "lake" / name).unlink()
    result = bench("--out", "t.jsonl")
    assert result.exit_code == 1
    assert "no table can be read" in result.stderr
    assert not (lake / "t.jsonl").exists()
