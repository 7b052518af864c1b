"""Conformance: which rows stand for a table, and for how long they do."""

from collections import Counter
from contextlib import closing

import pytest

from tests.conformance.sources.support import Conformance, cells, only, people, rows_of


class SamplingConformance(Conformance):
    def test_rows_of_the_table_in_its_order(self, lake, source):
        lake.write("a", people(100))
        rows = source.sample(only(source), 5, 0)
        positions = [row.mark.position for row in rows]
        assert len(set(positions)) == 5
        assert positions == sorted(positions)
        assert cells(rows) == [rows_of(people(100))[position] for position in positions]

    def test_the_seed_decides_whoever_asks_and_whatever_was_read_before(
        self, lake, source, open_source
    ):
        lake.write("a", people(100))
        ref = only(source)
        before = source.sample(ref, 5, 7)
        source.profile(ref)
        assert source.sample(ref, 5, 7) == before == open_source().sample(ref, 5, 7)
        assert len({tuple(cells(source.sample(ref, 5, seed))) for seed in range(10)}) == 10

    def test_every_row_is_as_likely(self, lake):
        lake.write("a", people(100))
        with closing(lake.config.open(lake.environ)) as source:
            ref = only(source)
            samples = [source.sample(ref, 10, seed) for seed in range(50)]
        drawn = Counter(row.mark.position // 10 for rows in samples for row in rows)
        expected = 50
        chi_squared = sum((drawn[tenth] - expected) ** 2 / expected for tenth in range(10))
        assert chi_squared < 27.9  # 9 degrees of freedom: exceeded once in a thousand

    def test_more_than_there_are_are_all(self, lake, source):
        lake.write("a", people(3))
        for rows in (3, 4, 1000):
            assert cells(source.sample(only(source), rows, 0)) == rows_of(people(3))

    def test_none_are_wanted(self, lake, source):
        lake.write("a", people(3))
        assert source.sample(only(source), 0, 0) == []

    def test_cells_are_text_as_the_data_spells_them_and_none_where_there_is_no_value(
        self, lake, source
    ):
        columns = {"a": ["007", None, "1e3"], "b": [7, -2, None], "c": [None, 0.5, 2.25]}
        lake.write("a", columns)
        rows = cells(source.sample(only(source), 5, 0))
        assert rows == [("007", "7", None), (None, "-2", "0.5"), ("1e3", None, "2.25")]

    def test_a_sample_stays_while_its_rows_do(self, lake, source, open_source):
        lake.write("a", people(100))
        kept = [row.mark for row in source.sample(only(source), 5, 0)]
        assert source.sample(only(source), 5, 1, kept) is None
        lake.write("a", people(110))
        ref = only(source)
        source.profile(ref, kept)
        assert source.sample(ref, 5, 0, kept) is None
        assert open_source().sample(ref, 5, 0, kept) is None

    def test_rows_that_moved_stay(self, lake, source):
        lake.write("a", people(100))
        kept = [row.mark for row in source.sample(only(source), 5, 0)]
        moved = {name: column[::-1] for name, column in people(103).items()}
        lake.write("a", moved)
        assert source.sample(only(source), 5, 0, kept) is None

    @pytest.mark.parametrize("profiled", [False, True])
    def test_rows_that_left_are_replaced_and_no_others(self, lake, source, profiled):
        lake.write("a", people(100))
        before = source.sample(only(source), 5, 0)
        gone = {row.mark.position for row in before[:2]}
        rest = {name: [v for i, v in enumerate(column) if i not in gone]
                for name, column in people(100).items()}  # fmt: skip
        lake.write("a", rest)
        ref, kept = only(source), [row.mark for row in before]
        if profiled:
            source.profile(ref, kept)
        after = cells(source.sample(ref, 5, 0, kept))
        assert len(set(after)) == 5
        assert set(after) <= set(rows_of(rest))
        assert set(cells(before[2:])) < set(after)

    def test_a_changed_cell_is_another_row(self, lake, source):
        lake.write("a", people(20))
        before = source.sample(only(source), 20, 0)
        changed = people(20)
        changed["age"][7] = 999
        lake.write("a", changed)
        after = source.sample(only(source), 20, 0, [row.mark for row in before])
        assert cells(after) == rows_of(changed)

    def test_all_rows_may_leave(self, lake, source):
        lake.write("a", people(50))
        kept = [row.mark for row in source.sample(only(source), 5, 0)]
        lake.write("a", people(50, first=500))
        ref = only(source)
        assert source.sample(ref, 5, 0, kept) == source.sample(ref, 5, 0)

    def test_a_row_drawn_twice_stays_as_often_as_it_is_there(self, lake, source):
        lake.write("a", {"name": ["twin"] * 4, "age": [1] * 4})
        kept = [row.mark for row in source.sample(only(source), 4, 0)]
        lake.write("a", {"name": ["x", "twin", "y", "twin", "z"], "age": [2, 1, 3, 1, 4]})
        after = Counter(cells(source.sample(only(source), 4, 0, kept)))
        assert after["twin", "1"] == 2
        assert after.total() == 4
        assert len(after) == 3
