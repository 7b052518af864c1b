"""What was gathered of tables' rows waits in the store until the index has it."""

from contextlib import suppress

import pytest

from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.tables import TableRef, TableTerms

ODD = TableTerms(
    rows=(("007", None, ""), ("élan 表 \U0001f600", "\0", '"],[')),
    cells=("a\nb", "it's; DROP TABLE evidence; --"),
)


@pytest.fixture
def claimed(store):
    refs = [TableRef(f"lake/{name}", "lake", f"/{name}", "csv", "1") for name in "abc"]
    store.inventory.reconcile("lake", refs)
    store.work.claim("run", 10, 3, ["lake"])
    return store


def test_rows_and_cells_come_back_as_they_were(claimed, open_store):
    many = TableTerms(rows=(("x" * 200,) * 100,) * 50, cells=tuple(map(str, range(5_000))))
    claimed.evidence.replace({"lake/a": ODD, "lake/b": many, "lake/c": TableTerms()})
    with open_store() as again:
        found = again.evidence.of_tables(["lake/c", "lake/b", "lake/a", "lake/other"])
        assert found == {"lake/a": ODD, "lake/b": many, "lake/c": TableTerms()}
        again.check()


def test_a_later_reading_replaces_it(claimed):
    claimed.evidence.replace({"lake/a": ODD, "lake/b": ODD})
    claimed.evidence.replace({"lake/a": TableTerms(cells=("new",))})
    found = claimed.evidence.of_tables(["lake/a", "lake/b"])
    assert found == {"lake/a": TableTerms(cells=("new",)), "lake/b": ODD}


def test_a_finished_table_leaves_nothing(claimed):
    claimed.evidence.replace({"lake/a": ODD, "lake/b": ODD, "lake/c": ODD})
    claimed.results.finish("run", [Finished("lake/a", "h", 1)])
    assert set(claimed.evidence.of_tables(["lake/a", "lake/b", "lake/c"])) == {"lake/b", "lake/c"}
    claimed.results.finish("another", [Finished("lake/b", "h", 1)])  # which does not hold it
    assert set(claimed.evidence.of_tables(["lake/b"])) == {"lake/b"}


def test_nor_does_one_that_is_gone_or_may_not_be_read(claimed):
    claimed.evidence.replace({"lake/a": ODD, "lake/b": ODD})
    claimed.leaving.take_back("lake/a")
    claimed.inventory.reconcile("lake", [])
    claimed.work.release_claims("other")
    claimed.leaving.forget(["lake/b"])
    assert claimed.evidence.of_tables(["lake/a", "lake/b"]) == {}


def test_a_transaction_that_fails_keeps_what_was_there(claimed):
    claimed.evidence.replace({"lake/a": ODD})
    with suppress(KeyboardInterrupt), claimed.results.holding("run", ["lake/a"]):
        claimed.evidence.replace({"lake/a": TableTerms()})
        raise KeyboardInterrupt
    assert claimed.evidence.of_tables(["lake/a"]) == {"lake/a": ODD}
