"""What was measured is not measured again, and what fails says why."""

import pytest

from benchmarks.tests.support.bench_sets import small_set
from pneuma_assets.core.errors import ModelError
from pneuma_bench.ablations.cells import BenchSet, Cell, run
from pneuma_bench.ablations.contestants import Prepared


class Counted:
    """Finds the rivers; says how often it was prepared, and fails where it is told to."""

    def __init__(self, log, key="counted", error=None):
        self.name, self.key, self._log, self._error = key, key, log, error

    def prepare(self, dataset, folder):
        self._log.append(self.key)
        if self._error:
            raise self._error
        return Prepared(1.0, 2, 3, 4)

    def answer(self, questions, k):
        return [["small/rivers"] for _ in questions]

    def close(self):
        self._log.append(f"{self.key} closed")


@pytest.fixture
def small():
    return BenchSet("small", small_set())


def cell(log, on, key="counted", error=None, k=10):
    return Cell(lambda: Counted(log, key, error), on, k)


def test_a_cell_is_measured_once(small, tmp_path):
    log = []
    cells = [cell(log, small), cell(log, small), cell(log, small, k=5)]
    first = run(cells, tmp_path)
    assert log.count("counted") == 2
    again = run(cells, tmp_path)
    assert log.count("counted") == 2
    for key, found in first.items():
        assert (again[key].places, again[key].facts) == (found.places, found.facts)
    assert first[cells[0].key].places == [1, 0, 0, 0, 0, 0, 1]


def test_what_cannot_run_here_says_why_and_is_tried_again(small, tmp_path):
    log = []
    bad = cell(log, small, "bad", ModelError("no such\nmodel"))
    cells = [bad, cell(log, small)]
    for _ in range(2):
        results = run(cells, tmp_path)
        assert results[bad.key] == "no such model"
        assert results[cells[1].key].places
    assert (log.count("bad"), log.count("bad closed"), log.count("counted")) == (2, 2, 1)


def test_what_is_kept_alone_measures_nothing(small, tmp_path):
    log = []
    known, new = cell(log, small), cell(log, small, "new")
    run([known], tmp_path)
    results = run([known, new], tmp_path, kept_only=True)
    assert results[known.key].places
    assert results[new.key] == "not measured yet"
    assert "new" not in log


def test_after_an_end_midway_it_goes_on_with_what_is_missing(small, tmp_path):
    log = []
    torn = cell(log, small, "torn", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run([cell(log, small), torn], tmp_path)
    assert "torn closed" in log
    whole = cell(log, small, "torn")
    run([cell(log, small), whole], tmp_path)
    assert (log.count("counted"), log.count("torn")) == (1, 2)


def test_a_cut_set_asks_what_its_tables_answer(small):
    cut = small.cut(3)
    ids = {table.table_id for table, _ in cut.dataset.tables}
    assert len(ids) == 3
    assert all(relevant and ids.issuperset(relevant) for relevant in cut.dataset.relevant)
    assert (cut.name, cut.key == small.key, small.cut(3).key == cut.key) == ("small", False, True)
    assert small.cut(6) is small
