"""Conformance: names and cells come from outside; a table may be far larger than memory."""

import tracemalloc

import pyarrow as pa
import pytest

from tests.conformance.sources.support import Conformance, cells, named, only, people, rows_of

NAMES = [
    "a'b\"c`d",
    "x; DROP TABLE people; --",
    "new\nline",
    "a*[1]?{b,c}",
    "é表😀",
    "\u202eevil\u2066",
    "100%41",
    " two  blanks ",
    "a.b..c",
    "$HOME ${x} {0}",
]
ESCAPED = "%\n\u202e\u2066"


class HostileConformance(Conformance):
    def test_tables_of_any_name_are_read_and_kept_apart(self, lake, source):
        names = [name for name in NAMES if self.admits(name)]
        for number, name in enumerate(names, 1):
            lake.write(name, people(number))
            lake.describe(name, f"The number {number}.")
        refs = source.list_tables().tables
        assert len({ref.table_id for ref in refs}) == len(names)
        for ref in refs:
            assert ref.table_id.encode("utf-8").decode().isprintable()
            assert ref.location.isprintable()
            number = source.profile(ref).row_count
            name = names[number - 1]
            assert cells(source.sample(ref, 99, 0)) == rows_of(people(number)), name
            assert sum(batch.num_rows for batch in source.scan(ref)) == number, name
            assert list(source.contexts(ref).texts) == [f"The number {number}."], name
            if not any(mark in name for mark in ESCAPED):
                assert ref.table_id.endswith(f"/{name}")

    def test_a_very_long_name(self, lake, source):
        name = "long" * (self.longest_name // 4)
        lake.write(name, people(3))
        assert source.profile(named(source, name)).row_count == 3

    def test_columns_of_any_name(self, lake, source):
        given = list(filter(self.admits, NAMES))
        lake.write("a", {name: [f"x{i}", f"y{i}"] for i, name in enumerate(given)})
        ref = only(source)
        table = source.profile(ref)
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(given)
        assert all(name.isprintable() for name in names)
        assert names[0] == NAMES[0]
        (batch,) = source.scan(ref)
        assert batch.schema.names == names
        assert cells(source.sample(ref, 1, 0))[0][0] in {"x0", "y0"}

    def test_cells_that_look_like_anything(self, lake, source):
        columns = {"a": [*NAMES], "b": ["=cmd()", "NULL", "NaN", "'", '"', ",", ";", "\\",
                                                 "<b>", "0x1"]}  # fmt: skip
        lake.write("a", columns)
        assert cells(source.sample(only(source), 99, 0)) == rows_of(columns)

    def test_a_cell_of_a_million_characters(self, lake, source):
        lake.write("a", {"a": ["x" * 1_000_000, "y"], "b": [1, 2]})
        ref = only(source)
        first, second = cells(source.sample(ref, 5, 0))
        assert 100 <= len(first[0]) <= 1_000_000
        assert set(first[0]) == {"x"}
        assert second == ("y", "2")
        kept = [row.mark for row in source.sample(ref, 5, 0)]
        assert source.sample(ref, 5, 0, kept) is None

    @pytest.mark.slow
    def test_memory_does_not_grow_with_the_table(self, lake):
        """Of this process; the one that reads for others has a limit of its own."""
        if not self.memory_is_its_own:
            pytest.skip("the server that is read takes memory of this process, too")
        lake.write("a", people(200_000))
        source = lake.config.open(lake.environ)
        ref = only(source)
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        assert source.profile(ref).row_count == 200_000
        kept = [row.mark for row in source.sample(ref, 5, 0)]
        assert source.sample(ref, 5, 0, kept) is None
        rows = arrow = 0
        for batch in source.scan(ref, batch_rows=1000):
            rows += batch.num_rows
            arrow = max(arrow, pa.total_allocated_bytes() - before)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        source.close()
        assert rows == 200_000
        assert most < 8_000_000
        assert arrow < 8_000_000
