"""Conformance: which tables there are, and what tells that one has changed."""

import pytest

from pneuma_assets.core.errors import SourceError
from tests.conformance.sources.support import Conformance, people


class ListingConformance(Conformance):
    def test_no_tables(self, source):
        listing = source.list_tables()
        assert (list(listing.tables), list(listing.problems), list(listing.unlisted)) == ([],) * 3

    def test_every_table_is_listed_once_by_an_id_of_its_source(self, lake, source):
        for name in ("a", "b", "c"):
            lake.write(name, people(3))
        listing = source.list_tables()
        ids = [ref.table_id for ref in listing.tables]
        assert [table_id.rpartition("/")[2] for table_id in sorted(ids)] == ["a", "b", "c"]
        assert all(table_id.startswith("s/") for table_id in ids)
        assert {ref.source for ref in listing.tables} == {source.name} == {"s"}
        assert len({ref.location for ref in listing.tables}) == 3
        assert not listing.problems
        assert not listing.unlisted

    def test_nothing_changes_until_something_does(self, lake, source, open_source):
        lake.write("a", people(3))
        lake.write("b", people(3))
        assert source.list_tables().tables == source.list_tables().tables
        assert source.list_tables().tables == open_source().list_tables().tables

    @pytest.mark.parametrize("after", [people(4), people(3, first=5)], ids=["longer", "other"])
    def test_another_version_where_the_data_changed(self, lake, source, after):
        lake.write("a", people(3))
        before = source.list_tables().tables
        lake.write("a", after)
        (now,) = source.list_tables().tables
        assert now.table_id == before[0].table_id
        assert now.version != before[0].version

    def test_another_version_where_people_wrote_something(self, lake, source):
        lake.write("a", people(3))
        before = source.list_tables().tables
        lake.describe("a", "Who works here.")
        described = source.list_tables().tables
        lake.describe("a", "Who worked here.")
        versions = {ref.version for ref in (*before, *described, *source.list_tables().tables)}
        assert len(versions) == 3

    def test_a_known_table_keeps_its_id_whatever_comes_beside_it(self, lake, source):
        lake.write("a", people(3))
        (ref,) = source.list_tables().tables
        lake.write_beside("a")
        known = {(ref.location, ref.format): ref.table_id}
        after = {one.location: one.table_id for one in source.list_tables(known).tables}
        assert after[ref.location] == ref.table_id
        assert len(set(after.values())) == 2

    def test_a_deleted_table_is_absent_and_may_come_back(self, lake, source):
        lake.write("a", people(3))
        lake.write("b", people(3))
        before = [ref.table_id for ref in source.list_tables().tables]
        lake.delete("a")
        assert [r.table_id for r in source.list_tables().tables] == [before[1]]
        lake.write("a", people(3))
        assert [r.table_id for r in source.list_tables().tables] == before

    def test_an_outage_is_no_deletion(self, lake, source):
        lake.write("a", people(3))
        source.list_tables()
        lake.vanish()
        with pytest.raises(SourceError) as caught:
            source.list_tables()
        message = str(caught.value)
        assert message.isprintable()
        assert len(message) > 20

    def test_what_cannot_be_read_does_not_hide_what_can(self, lake, source):
        lake.write("a", people(3))
        lake.damage("b")
        assert len(source.list_tables().tables) == 2
