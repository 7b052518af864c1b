"""What was gathered of tables' rows waits in the store until the index has it."""

from contextlib import suppress

import pytest

from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import TableRef, TableTerms

ODD = TableTerms(
    rows=(("007", None, ""), ("élan 表 \U0001f600", "\0", '"],[')),
    cells=("a\nb", "it's; DROP TABLE evidence; --"),
)


@pytest.fixture
def claimed(store):
    refs = [TableRef(f"lake/{name}", "lake", f"/{name}", "csv", "1") for name in "abc"]
    store.listings.sync("lake", refs)
    store.queue.claim("run", 10, 3, ["lake"])
    return store


def test_rows_and_cells_come_back_as_they_were(claimed, open_store):
    many = TableTerms(rows=(("x" * 200,) * 100,) * 50, cells=tuple(map(str, range(5_000))))
    claimed.profiles.save_terms({"lake/a": ODD, "lake/b": many, "lake/c": TableTerms()})
    with open_store() as again:
        found = again.profiles.terms(["lake/c", "lake/b", "lake/a", "lake/other"])
        assert found == {"lake/a": ODD, "lake/b": many, "lake/c": TableTerms()}
        again.check()


def test_a_later_reading_replaces_it(claimed):
    claimed.profiles.save_terms({"lake/a": ODD, "lake/b": ODD})
    claimed.profiles.save_terms({"lake/a": TableTerms(cells=("new",))})
    found = claimed.profiles.terms(["lake/a", "lake/b"])
    assert found == {"lake/a": TableTerms(cells=("new",)), "lake/b": ODD}


def test_a_finished_table_leaves_nothing(claimed):
    claimed.profiles.save_terms({"lake/a": ODD, "lake/b": ODD, "lake/c": ODD})
    claimed.queue.finish("run", [Finished("lake/a", "h", 1)])
    assert set(claimed.profiles.terms(["lake/a", "lake/b", "lake/c"])) == {"lake/b", "lake/c"}
    claimed.queue.finish("another", [Finished("lake/b", "h", 1)])  # which does not hold it
    assert set(claimed.profiles.terms(["lake/b"])) == {"lake/b"}


def test_nor_does_one_that_is_gone_or_may_not_be_read(claimed):
    claimed.profiles.save_terms({"lake/a": ODD, "lake/b": ODD})
    claimed.removals.retract("lake/a")
    claimed.listings.sync("lake", [])
    claimed.queue.release_claims("other")
    claimed.removals.forget(["lake/b"])
    assert claimed.profiles.terms(["lake/a", "lake/b"]) == {}


def test_a_transaction_that_fails_keeps_what_was_there(claimed):
    claimed.profiles.save_terms({"lake/a": ODD})
    with suppress(KeyboardInterrupt), claimed.queue.holding("run", ["lake/a"]):
        claimed.profiles.save_terms({"lake/a": TableTerms()})
        raise KeyboardInterrupt
    assert claimed.profiles.terms(["lake/a"]) == {"lake/a": ODD}
