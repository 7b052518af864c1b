"""Tables that left are taken out of the real index, and each is counted once."""

from contextlib import ExitStack

import pytest

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.pipeline.write import Removed, index_tables, remove_gone
from pneuma_assets.core.store import Store, tables
from pneuma_assets.core.store.queue import Sampled, Stage
from pneuma_assets.core.tables import Column, Problem, RowMark, Table, TableRef
from tests.support.word_encoder import WordEncoder

ENCODER = WordEncoder()
RUN = "run"


class Lake:
    """One source, and what runs do to its tables."""

    def __init__(self, store: Store, index: EmbeddedIndex) -> None:
        self.store, self.index = store, index

    def show(self, *names: str) -> None:
        refs = [TableRef(f"lake/{one}", "lake", one, "csv", "1") for one in names]
        self.store.listings.sync("lake", refs, rule=None)

    def take_on(self) -> list[str]:
        self.store.queue.claim(RUN, 1000, 3, ["lake"])
        return [item.ref.table_id for item in self.store.queue.claimed(RUN)]

    def make(self) -> None:
        """Read and index whatever waits."""
        ids = self.take_on()
        self.store.queue.save_profiles(RUN, [Table(i, (Column("a", "INT"),), 1, i) for i in ids])
        self.store.queue.save_samples(RUN, [Sampled(i, 1, [RowMark(0, 7)], {}) for i in ids])
        self.store.queue.advance(RUN, Stage.EMBEDDED, ids)
        index_tables(self.store, RUN, ENCODER.name, self.index, lambda table: None)

    def remove(self) -> Removed:
        return remove_gone(self.store, self.index, lambda gone: None)


@pytest.fixture
def lake(tmp_path):
    with ExitStack() as stack:
        store = stack.enter_context(Store(tmp_path / "state.db"))
        index = EmbeddedIndex(tmp_path / "index", ENCODER.name, ENCODER.dimension)
        stack.callback(index.close)
        yield Lake(store, index)


def test_a_table_that_is_remembered_for_new_ones_is_removed_once(lake):
    lake.show("old", "other")
    lake.make()
    lake.show("new", "other")
    assert lake.remove() == Removed(removed=1), "nobody knows yet whether the new one is this one"
    assert lake.store.tables.known() == {"lake/new", "lake/old", "lake/other"}
    assert lake.remove() == Removed()
    lake.make()
    assert lake.remove() == Removed(forgotten=1)
    assert lake.store.tables.known() == {"lake/new", "lake/other"}
    assert lake.remove() == Removed()


def test_a_table_that_turns_out_to_have_another_name_is_forgotten_under_the_old(lake):
    lake.show("old", "other")
    lake.make()
    lake.show("new", "other")
    lake.remove()
    lake.make()
    lake.store.renaming.take_over("lake/old", "lake/new")
    assert lake.remove() == Removed(forgotten=1)


def test_a_table_that_has_another_name_is_not_removed(lake):
    lake.show("old", "other")
    lake.make()
    lake.show("new", "other")
    lake.store.renaming.take_over("lake/old", "lake/new")
    assert lake.remove() == Removed(renamed=1)
    assert lake.store.removals.last_renaming() == "lake/old -> lake/new"


def test_a_table_that_nobody_could_find_is_forgotten(lake):
    lake.show("broken", "other")
    for table_id in lake.take_on():
        lake.store.queue.fail(Problem(table_id, "profile", "it is no table"))
    lake.show("other")
    assert lake.remove() == Removed(forgotten=1)


def test_a_run_that_was_killed_before_the_store_knew_has_told_nobody(lake):
    lake.show("old", "other")
    lake.make()
    lake.show("other")
    lake.index.delete_tables(["lake/old"])
    assert lake.remove() == Removed(removed=1)


def test_what_is_remembered_for_too_long_is_forgotten(lake, monkeypatch):
    lake.show("old", "other")
    lake.make()
    lake.show("new", "other")
    assert lake.remove() == Removed(removed=1)
    monkeypatch.setattr(tables, "REMEMBERED_S", 0.0)
    assert lake.remove() == Removed(forgotten=1)


def test_a_table_that_leaves_while_others_are_let_go_waits_for_the_next_run(lake, monkeypatch):
    lake.show("broken", "other")
    for table_id in lake.take_on():
        lake.store.queue.fail(Problem(table_id, "profile", "it is no table"))
    gone = lake.store.removals.gone

    def before():
        found = gone()
        lake.show("other")
        return found

    monkeypatch.setattr(lake.store.removals, "gone", before)
    assert lake.remove() == Removed()
    assert lake.store.tables.known() == {"lake/broken", "lake/other"}
    assert lake.remove() == Removed(forgotten=1)
