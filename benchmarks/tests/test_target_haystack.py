"""A haystack holds the needles, real tables and made ones; the same seed makes the same."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import SIDES, small_set, write_small_set
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.cli.app import app
from pneuma_bench.lab import Lab
from pneuma_bench.settings import setting_of
from pneuma_bench.target import curve
from pneuma_bench.target.haystack import MOST_ROWS, Haystack, haystack
from tests.support.word_encoder import WordEncoder


def hay(size, seed=0, questions=2):
    return haystack(small_set(), [small_set()], questions, size, seed)


def test_the_needles_are_there_and_real_tables_come_first():
    dataset = hay(40)
    ids = [table.table_id for table, _ in dataset.tables]
    assert len({*ids}) == len(ids) == len(dataset.tables) == 40
    assert set().union(*dataset.relevant) == {"small/rivers", "small/lakes"} == {*ids[:2]}
    assert len(dataset.tables.real) == 12
    assert all(one.startswith("hay/hay-") for one in ids[12:])
    assert dataset.questions == small_set().questions[:2]


def test_a_smaller_haystack_is_the_beginning_of_a_larger_one():
    small, large = hay(20).tables, hay(60).tables
    assert [*small] == large[:20] == [large[at] for at in range(20)]
    assert small[-1] == large[19]
    assert large[20:] != hay(60, seed=1).tables[20:]
    with pytest.raises(IndexError):
        small[20]


def test_no_row_of_a_needle_is_used_again():
    dataset = haystack(small_set(), [], 2, 300, 0)
    needles = {cell for _, rows in dataset.tables[:2] for row in rows for cell in row}
    others = dataset.tables[6:]
    assert needles.isdisjoint(cell for _, rows in others for row in rows for cell in row)
    for table, rows in others:
        assert all(len(row) == len(table.columns) for row in rows)
        assert 1 <= len(rows) <= MOST_ROWS
        assert table.row_count == len(rows)


def test_a_made_table_is_re_headed_or_re_sampled():
    real = {tuple(c.name for c in table.columns): rows for table, rows in small_set().tables}
    made = hay(200).tables[12:]
    strange = [rows != real[tuple(c.name for c in table.columns)] for table, rows in made]
    assert all(tuple(c.name for c in table.columns) in real for table, _ in made)
    assert sum(strange) > 150


@pytest.mark.parametrize(
    ("asked", "others", "size", "says"),
    [(2, 0, 1, "ask fewer"), (1, 1, 3, "no two tables")],
)
def test_what_cannot_be_made_is_told(asked, others, size, says):
    tables = small_set().tables
    with pytest.raises(BenchmarkError, match=says):
        Haystack(tables[:asked], tables[asked : asked + others], size, 0)


@pytest.mark.parametrize(
    "wrong", ["--sizes=0", "--sizes=many", "--sizes=-5", "--sizes=2000000", "--plot=c.gif"]
)
def test_what_cannot_be_is_refused_before_anything_is_measured(tmp_path, wrong, monkeypatch):
    monkeypatch.setenv("PNEUMA_HOME", str(tmp_path / "home"))
    tables, queries = write_small_set(tmp_path)
    called = ["target", "needle", "--tables", tables, "--queries", queries, "--keep",
              tmp_path / "kept", wrong]  # fmt: skip
    assert CliRunner().invoke(app, [*map(str, called)]).exit_code == 2
    assert not (tmp_path / "kept").exists()


def test_options_of_questions_count(tmp_path, monkeypatch):
    asked = []

    class Engine:
        def ask_many(self, questions, **options):
            asked.append(options)
            return [[] for _ in questions]

    monkeypatch.setattr(Lab, "engine", lambda *_, **__: Engine())
    monkeypatch.setattr(
        curve, "Lab", lambda *_: Lab(small_set(), None, {}, lambda _: WordEncoder())
    )
    files = [*map(Path, write_small_set(tmp_path))]
    one, other = (
        curve.Curve(*files, (), 3, 0, setting_of(SIDES, given), tmp_path)
        for given in ({}, {"alpha": 1.0})
    )
    curve._ask(other, 6)
    assert asked
    assert all(options == {"alpha": 1.0, "k": 10} for options in asked)
    assert one.key != other.key
