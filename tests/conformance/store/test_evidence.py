"""What was gathered of tables' rows waits in the store until the index has it."""

from contextlib import suppress

import pytest

from pneuma_assets.core.tables import TableTerms
from tests.conformance.store.lake import claim, finish

ODD = TableTerms(
    rows=(("007", None, ""), ("élan 表 \U0001f600", "\0", '"],[')),
    cells=("a\nb", "it's; DROP TABLE evidence; --"),
)


@pytest.fixture
def claimed(store):
    claim(store, "a", "b", "c")
    return store


def test_rows_and_cells_come_back_as_they_were(claimed, open_store):
    many = TableTerms(rows=(("x" * 200,) * 100,) * 50, cells=tuple(map(str, range(5_000))))
    claimed.profiles.save_terms({"lake/a": ODD, "lake/b": many, "lake/c": TableTerms()})
    with open_store() as again:
        found = again.profiles.terms(["lake/c", "lake/b", "lake/a", "lake/other"])
        assert found == {"lake/a": ODD, "lake/b": many, "lake/c": TableTerms()}
        again.check()


def test_a_table_that_is_finished_gone_or_taken_back_leaves_nothing(claimed):
    claimed.profiles.save_terms({"lake/a": ODD, "lake/b": ODD, "lake/c": ODD})
    finish(claimed, "a")
    assert set(claimed.profiles.terms(["lake/a", "lake/b", "lake/c"])) == {"lake/b", "lake/c"}
    finish(claimed, "b", run="another")  # which does not hold it
    assert set(claimed.profiles.terms(["lake/b"])) == {"lake/b"}
    claimed.removals.retract("lake/b")
    claimed.listings.sync("lake", [])
    claimed.queue.release_claims("other")
    claimed.removals.forget(["lake/c"])
    assert claimed.profiles.terms(["lake/b", "lake/c"]) == {}


def test_a_later_reading_replaces_it_unless_its_transaction_fails(claimed):
    claimed.profiles.save_terms({"lake/a": TableTerms(cells=("old",)), "lake/b": ODD})
    claimed.profiles.save_terms({"lake/a": ODD})
    assert claimed.profiles.terms(["lake/a", "lake/b"]) == {"lake/a": ODD, "lake/b": ODD}
    with suppress(KeyboardInterrupt), claimed.queue.holding("run", ["lake/a"]):
        claimed.profiles.save_terms({"lake/a": TableTerms()})
        raise KeyboardInterrupt
    assert claimed.profiles.terms(["lake/a"]) == {"lake/a": ODD}
