"""What TARGET publishes is read as the same set, in JSON lines and in Parquet."""

import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.reading import read_files

TABLES = [
    {
        "database_id": "0",
        "table_id": "totto/example-1.json",
        "table": [["Year", "Winner"], ["1982", "Thompson"], ["1986"]],
        "context": {"table_page_title": "Illinois election", "table_section_title": None},
    },
    {"database_id": "0", "table_id": "totto/2", "table": [["Year"], ["1990"]], "context": None},
]
QUERIES = [
    {"query_id": 1, "query": "Who won?", "database_id": "0", "table_id": "totto/example-1.json"},
    {"query_id": 2, "query": "When?", "database_id": "0", "table_id": "totto/2", "answer": "1990"},
]


@pytest.fixture(params=["jsonl", "parquet"])
def files(request, tmp_path):
    paths = [tmp_path / f"{name}.{request.param}" for name in ("corpus", "queries")]
    for path, records in zip(paths, (TABLES, QUERIES), strict=True):
        if request.param == "parquet":
            parquet.write_table(pa.Table.from_pylist(records), path)
        else:
            path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return paths


def test_a_corpus_is_read(files):
    dataset = read_files(*files)
    (first, rows), (second, _) = dataset.tables
    assert [column.name for column in first.columns] == ["Year", "Winner"]
    assert rows == [("1982", "Thompson"), ("1986", None)]
    assert dataset.contexts[first.table_id] == ["table_page_title: Illinois election"]
    assert dataset.contexts[second.table_id] == []
    assert dataset.relevant == [{first.table_id}, {second.table_id}]
    assert dataset.spelled(second.table_id) == "0.totto/2"


def test_a_question_may_need_several_tables(tmp_path):
    asked = {"query": "Who won when?", "database_id": "d", "table_id": ["a", "b"]}
    tables = [{"database_id": "d", "table_id": one, "table": [["x"]]} for one in "ab"]
    paths = [tmp_path / "t.jsonl", tmp_path / "q.jsonl"]
    for path, records in zip(paths, (tables, [asked]), strict=True):
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    dataset = read_files(*paths)
    assert dataset.relevant == [{"t/d/a", "t/d/b"}]
    assert dataset.names["t/d/a"] == ("d", "a")


def test_what_is_no_parquet_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(BenchmarkError, match="is it a Parquet file"):
        read_files(path, path)
