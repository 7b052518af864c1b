"""Conformance: what a table is, and what people wrote about it."""

import pytest

from tests.conformance.sources.support import Conformance, named, only, people, rows_of


class ProfileConformance(Conformance):
    def test_columns_in_order_their_types_and_the_number_of_rows(self, lake, source):
        lake.write("a", {"name": ["x", "y"], "n": [7, 12], "share": [0.5, 2.25]})
        ref = only(source)
        table = source.profile(ref)
        assert [(column.name, column.type) for column in table.columns] == [
            ("name", self.types[str]), ("n", self.types[int]), ("share", self.types[float]),
        ]  # fmt: skip
        assert (table.table_id, table.location) == (ref.table_id, ref.location)
        assert table.row_count == 2
        assert table.notes == ()

    @pytest.mark.parametrize("count", [1, 1000, 30_000])
    def test_rows_are_counted_not_guessed(self, lake, source, count):
        lake.write("a", people(count))
        assert source.profile(only(source)).row_count == count

    def test_a_table_without_rows(self, lake, source):
        if not self.has_empty_tables:
            pytest.skip("where there are no rows, this kind knows no columns")
        lake.write("a", people(0))
        table = source.profile(only(source))
        assert [column.name for column in table.columns] == ["name", "age"]
        assert table.row_count == 0
        assert source.sample(only(source), 5, 0) == []
        assert sum(batch.num_rows for batch in source.scan(only(source))) == 0

    def test_the_same_again_and_in_another_process(self, lake, source, open_source):
        lake.write("a", people(20))
        ref = only(source)
        assert source.profile(ref) == source.profile(ref) == open_source().profile(ref)

    def test_a_change_is_seen_with_its_version(self, lake, source):
        lake.write("a", people(3))
        assert source.profile(only(source)).row_count == 3
        lake.write("a", {"name": ["x"], "city": ["y"]})
        table = source.profile(only(source))
        assert (len(table.columns), table.columns[1].name, table.row_count) == (2, "city", 1)

    def test_the_schema_is_the_same_whatever_the_rows(self, lake, source):
        lake.write("a", people(3))
        before = source.profile(only(source)).schema_hash
        lake.write("a", people(5, first=7))
        assert source.profile(only(source)).schema_hash == before


class ContextsConformance(Conformance):
    def test_nobody_wrote_anything(self, lake, source):
        lake.write("a", people(3))
        contexts = source.contexts(only(source))
        assert (list(contexts.texts), list(contexts.problems)) == ([], [])

    def test_what_people_wrote_is_of_its_table_alone(self, lake, source):
        lake.write("a", people(3))
        lake.write("b", people(3))
        lake.describe("a", "Who works here.")
        assert list(source.contexts(named(source, "a")).texts) == ["Who works here."]
        assert list(source.contexts(named(source, "b")).texts) == []

    @pytest.mark.parametrize("text", ["Élan, 表 and 😀", 'it\'s "quoted"; -- DROP TABLE a'])
    def test_texts_are_as_people_wrote_them(self, lake, source, text):
        lake.write("a", people(3))
        lake.describe("a", text)
        assert list(source.contexts(only(source)).texts) == [text]

    def test_texts_are_text_and_bounded(self, lake, source):
        lake.write("a", people(3))
        lake.describe("a", "\x1b[31mred\x07 " + "word " * 300_000)
        (text,) = source.contexts(only(source)).texts
        assert text.startswith("[31mred word word")
        assert len(text) < 250_000


class ScanConformance(Conformance):
    def test_all_rows_in_order_in_small_batches(self, lake, source):
        lake.write("a", people(1000))
        ref = only(source)
        table = source.profile(ref)
        batches = list(source.scan(ref, batch_rows=300))
        assert max(batch.num_rows for batch in batches) <= 300
        assert {tuple(batch.schema.names) for batch in batches} == {("name", "age")}
        assert sum(batch.num_rows for batch in batches) == table.row_count
        found = [tuple(map(str, row.values())) for batch in batches for row in batch.to_pylist()]
        assert found == rows_of(people(1000))

    def test_without_a_profile(self, lake, source):
        lake.write("a", people(10))
        assert [batch.num_rows for batch in source.scan(only(source))] == [10]

    def test_missing_values_are_none(self, lake, source):
        lake.write("a", {"name": ["x", None, "z"], "n": [1, 2, None]})
        rows = [row for batch in source.scan(only(source)) for row in batch.to_pylist()]
        assert [row["name"] for row in rows] == ["x", None, "z"]
        assert [row["n"] is None for row in rows] == [False, False, True]

    def test_a_scan_that_is_left_holds_up_nothing(self, lake, source):
        lake.write("a", people(5000))
        ref = only(source)
        scan = source.scan(ref, batch_rows=10)
        assert next(iter(scan)).num_rows == 10
        assert source.profile(ref).row_count == 5000
        scan.close()
        assert sum(batch.num_rows for batch in source.scan(ref)) == 5000
