"""Conformance: a table that cannot be read is its own problem; what is closed leaves nothing."""

import tempfile

import pytest

from pneuma_assets.core.errors import TableReadError
from tests.conformance.sources.support import Conformance, named, only, people


class ErrorsConformance(Conformance):
    @pytest.mark.parametrize("what", ["deleted", "damaged", "gone with its source"])
    def test_every_reading_of_it_says_why_in_one_line(self, lake, source, what):
        lake.write("a", people(3))
        ref = only(source)
        if what == "deleted":
            lake.delete("a")
        elif what == "damaged":
            lake.damage("a")
            ref = only(source)
        else:
            lake.vanish()
        for read in (
            lambda: source.profile(ref),
            lambda: source.sample(ref, 5, 0),
            lambda: list(source.scan(ref)),
        ):
            with pytest.raises(TableReadError) as caught:
                read()
            assert str(caught.value).isprintable()
            assert str(caught.value).count(ref.location) == 1

    def test_the_others_are_read(self, lake, source):
        lake.write("a", people(3))
        lake.damage("b")
        lake.write("c", people(4))
        with pytest.raises(TableReadError):
            source.profile(named(source, "b"))
        assert source.profile(named(source, "c")).row_count == 4
        assert source.profile(named(source, "a")).row_count == 3

    def test_a_table_that_is_mended_is_read(self, lake, source):
        lake.damage("a")
        with pytest.raises(TableReadError):
            source.profile(only(source))
        lake.delete("a")
        lake.write("a", people(3))
        assert source.profile(only(source)).row_count == 3

    def test_what_is_closed_leaves_nothing_and_may_be_closed_again(
        self, lake, open_source, tmp_path, monkeypatch
    ):
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(scratch))
        lake.write("a", people(3))
        source = open_source()
        ref = only(source)
        source.profile(ref)
        source.sample(ref, 5, 0)
        next(iter(source.scan(ref)))
        source.close()
        source.close()
        # DuckDB's folder for what does not fit into memory is this process's, not the source's.
        left = [path for path in scratch.rglob("*") if "pneuma-spill-" not in str(path)]
        assert left == []
