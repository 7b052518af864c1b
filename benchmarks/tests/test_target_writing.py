"""A set is written in TARGET's format, and read from it again as the same set."""

import json
from dataclasses import replace

import pytest

from benchmarks.tests.support.bench_sets import small_set
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.reading import read_files
from pneuma_bench.target.writing import Place, place_of, write_target


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_is_written_is_read_as_the_same_set(tmp_path):
    dataset = small_set()
    corpus, queries, number = write_target(dataset, tmp_path)
    again = read_files(corpus, queries)
    assert [again.spelled(t.table_id) for t, _ in again.tables] == [
        f"0.{dataset.spelled(t.table_id)}" for t, _ in dataset.tables
    ]
    assert [rows for _, rows in again.tables] == [rows for _, rows in dataset.tables]
    assert again.questions == dataset.questions[:-1]
    assert number == len(again.questions) == 7


def test_a_schema_is_a_database_and_a_question_may_need_several_tables(tmp_path):
    dataset = small_set()
    names = {t.table_id: ("geo", t.table_id.split("/")[1]) for t, _ in dataset.tables}
    named = _with_schema_ids(replace(dataset, names=names))
    assert place_of(named, "small/geo/geo.lakes") == Place("geo", "lakes")
    corpus, queries, _ = write_target(named, tmp_path, "test")
    *_, last = lines(queries)
    assert (last["database_id"], last["table_id"]) == ("geo", ["lakes", "rivers"])
    assert all(isinstance(one["table_id"], list) for one in lines(queries))
    assert lines(corpus)[0]["table"][0] == ["river", "length_km"]
    assert all(isinstance(one["context"]["text"], str) for one in lines(corpus))


def test_one_table_a_question_is_a_text(tmp_path):
    _, queries, _ = write_target(small_set().first(3), tmp_path)
    assert [one["table_id"] for one in lines(queries)] == ["rivers", "lakes", "authors"]


def test_nulls_and_odd_texts_survive(tmp_path):
    dataset = small_set().first(1)
    table, _ = dataset.tables[0]
    rows = [(None, "né\u2028|"), ("", '"')]
    odd = replace(dataset, tables=[(table, rows)])
    corpus, queries, _ = write_target(odd, tmp_path)
    assert read_files(corpus, queries).tables[0][1] == rows


def test_a_question_over_two_databases_is_refused(tmp_path):
    dataset = small_set()
    names = {"small/rivers": ("a", "rivers"), "small/lakes": ("b", "lakes")}
    split = replace(dataset, names=names)
    with pytest.raises(BenchmarkError, match="several databases"):
        write_target(_with_schema_ids(split), tmp_path)
    assert not list(tmp_path.iterdir())


def _with_schema_ids(dataset):
    """The set with ids that are the names of its tables where they have two parts."""
    new = {
        table_id: f"small/{name[0]}/{'.'.join(name)}" for table_id, name in dataset.names.items()
    }
    return replace(
        dataset,
        tables=[
            (replace(table, table_id=new.get(table.table_id, table.table_id)), rows)
            for table, rows in dataset.tables
        ],
        names={new[table_id]: name for table_id, name in dataset.names.items()},
        relevant=[{new.get(one, one) for one in relevant} for relevant in dataset.relevant],
    )


def test_a_split_that_the_package_has_not_is_refused(tmp_path):
    with pytest.raises(BenchmarkError, match="no split"):
        write_target(small_set(), tmp_path, "dev")
