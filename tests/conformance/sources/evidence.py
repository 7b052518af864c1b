"""Conformance: what all rows of a table say."""

import pytest

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.terms.collect import (
    CELL_CHARACTERS,
    COLUMN_CELLS,
    ROWS_KEPT,
    TABLE_BYTES,
    TermCollector,
)
from tests.conformance.sources.support import Conformance, only, people, rows_of


class EvidenceConformance(Conformance):
    def test_every_row_of_a_small_table(self, lake, source):
        lake.write("a", people(ROWS_KEPT))
        evidence = source.evidence(only(source), 0).terms
        assert list(evidence.rows) == rows_of(people(ROWS_KEPT))
        assert evidence.cells == ()

    def test_cells_are_spelled_as_those_of_sampled_rows(self, lake, source):
        columns = {"a": ["007", None, "1e3"], "b": [7, -2, None], "c": [None, 0.5, 2.0]}
        lake.write("a", columns)
        ref = only(source)
        sampled = [row.cells for row in source.sample(ref, 3, 0)]
        assert list(source.evidence(ref, 0).terms.rows) == sampled

    def test_cells_of_the_rows_that_are_not_kept(self, lake, source):
        lake.write("a", people(400))
        evidence = source.evidence(only(source), 0).terms
        assert len(evidence.rows) == ROWS_KEPT
        said = {cell for row in evidence.rows for cell in row} | {*evidence.cells}
        assert {f"p{number}" for number in range(400)} <= said

    def test_the_same_again_profiled_or_not_and_in_another_process(self, lake, source, open_source):
        lake.write("a", people(30_000))
        ref = only(source)
        before = source.evidence(ref, 7)
        source.profile(ref)
        assert source.evidence(ref, 7) == before == open_source().evidence(ref, 7)
        assert source.evidence(ref, 8) != before
        assert COLUMN_CELLS <= len(before.terms.cells) < 2 * COLUMN_CELLS

    def test_the_same_whether_rows_are_in_memory_or_scanned(self, lake, source):
        lake.write("a", people(500))
        ref = only(source)
        source.profile(ref)
        gatherer = TermCollector(3)
        for batch in source.scan(ref, batch_rows=70):
            gatherer.add(batch)
        assert source.evidence(ref, 3) == gatherer.collected()

    def test_a_sample_is_the_same_before_and_after(self, lake, source):
        lake.write("a", people(100))
        ref = only(source)
        source.profile(ref)
        before = source.sample(ref, 5, 0)
        source.evidence(ref, 0)
        assert source.sample(ref, 5, 0) == before

    def test_a_cell_of_a_million_characters_is_cut(self, lake, source):
        lake.write("a", {"a": ["x" * 1_000_000, "y"], "b": [1, 2]})
        evidence = source.evidence(only(source), 0).terms
        assert evidence.rows == (("x" * CELL_CHARACTERS, "1"), ("y", "2"))

    def test_text_is_bounded(self, lake, source):
        lake.write("a", {f"c{i}": [f"{i} {row} {'long ' * 40}" for row in range(90)]
                         for i in range(20)})  # fmt: skip
        evidence = source.evidence(only(source), 0).terms
        texts = [cell for row in evidence.rows for cell in row] + [*evidence.cells]
        assert 0.9 * TABLE_BYTES < sum(len(text.encode()) for text in texts) <= TABLE_BYTES

    def test_a_damaged_table(self, lake, source):
        lake.damage("a")
        with pytest.raises(TableReadError):
            source.evidence(only(source), 0)
