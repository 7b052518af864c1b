"""What the checks find, from the store's own tables."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.service.checks import (
    CheckResult,
    Known,
    check_names,
    index_findings,
    overview,
    state_findings,
)
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Problem, TableRef

IDS = [f"lake/{number:02}" for number in range(20)]
BLOCKS = dict.fromkeys(IDS, 2)


def listing(store: Store, ids) -> None:
    store.listings.sync("lake", [TableRef(i, "lake", f"/{i}.csv", "csv", "1") for i in ids])


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as opened:
        listing(opened, IDS)
        opened.queue.claim("run", 100, 3, ["lake"])
        opened.queue.finish("run", [Finished(i, "hash", 2) for i in IDS])
        yield opened


def findings(store: Store, held=BLOCKS, later_s: float = 0.0, sources=("lake",), checking=None):
    known = Known.of(store, checking)
    known = replace(known, now=known.now + later_s)
    found = [*index_findings(known, sources, held), *state_findings(known, sources, 26.0)]
    return {finding.check: finding for finding in found}


def failing(found: dict[str, CheckResult]) -> set[str]:
    return {name for name, finding in found.items() if not finding.passed}


def test_all_is_well(store):
    found = findings(store, later_s=1800)
    assert failing(found) == set()
    assert found["every_table_indexed"].figures == {
        "tables": 20,
        "indexed": 20,
        "waiting": 0,
        "problems": 0,
        "held": 0,
        "hours since the oldest listing": 0.5,
    }
    assert found["block_counts_agree"].figures == {"differing": 0, "blocks": 40}
    assert found["listed_lake"].figures == {"hours since the listing": 0.5}


def test_held_tables_are_told_of_and_wait_for_nobody(store):
    store.queue.use_recipe("one")
    store.queue.use_recipe("another")
    listing(store, [])
    found = findings(store, later_s=7200)
    assert failing(found) == {"no_removals_held", "every_table_readable"}
    told = found["no_removals_held"]
    assert told.severe
    assert told.figures == {"held": 20}
    assert told.rows[0] == ("lake/00", 2.0)
    assert "20 of 20 tables are gone at once" in told.told
    assert "--accept-removals" in told.told
    assert found["every_table_indexed"].figures["held"] == 20
    listing(store, IDS)
    assert "no_removals_held" not in failing(findings(store))


def test_tables_that_wait_are_less_than_those_that_were_left(store):
    listing(store, [*IDS, "lake/new"])
    found = findings(store)["every_table_indexed"]
    assert (found.passed, found.severe, found.figures["waiting"]) == (False, False, 1)
    store.queue.claim("next", 100, 3, ["lake"])
    found = findings(store)["every_table_indexed"]
    assert (found.passed, found.severe, found.rows) == (False, True, [("lake/new",)])


def test_tables_that_a_living_run_works_on_are_not_left(store):
    listing(store, [*IDS, "lake/new"])
    with store.runs.alive("next"):
        store.queue.claim("next", 100, 3, ["lake"])
        found = findings(store)["every_table_indexed"]
        assert (found.passed, found.severe, found.rows) == (False, False, [])
        assert "0 tables wait for the next run, a run works on 1, 0 were taken" in found.told
        own = findings(store, checking="next")["every_table_indexed"]
        assert (own.severe, own.rows) == (True, [("lake/new",)]), "its stages are over"


@pytest.mark.parametrize(("hours", "passed"), [(25.9, True), (26.1, False)])
def test_a_source_that_is_not_listed_any_more(store, hours, passed):
    found = findings(store, later_s=hours * 3600)["listed_lake"]
    assert found.passed == passed
    assert found.figures == {"hours since the listing": pytest.approx(hours, abs=0.01)}
    if not passed:
        assert "26 may pass (dagster.listed_within_hours)" in found.told
        assert "daemon runs" in found.told


def test_a_source_that_cannot_be_listed_says_why(store):
    store.problems.record("lake", "listing", [Problem("lake", "listing", "No such bucket.")])
    found = findings(store, later_s=30 * 3600, sources=["lake", "hill"])
    assert "No such bucket" in found["listed_lake"].told
    assert "has not been listed yet" in found["listed_hill"].told
    assert found["listed_hill"].figures == {}


def test_an_index_that_cannot_be_used_fails_what_asks_it(store):
    found = findings(store, "It is damaged; do this.")
    assert failing(found) == {"every_table_indexed", "block_counts_agree"}
    assert found["block_counts_agree"].told == "It is damaged; do this."


def test_blocks_that_differ_are_named(store):
    found = findings(store, {**BLOCKS, "lake/00": 1, "lake/strange": 7})["block_counts_agree"]
    assert found.rows == [("lake/00", 2, 1), ("lake/strange", "none", 7)]
    assert found.told == "2 of 20 tables differ; the next run fixes them."


def test_of_sources_nobody_listed_there_is_no_age(tmp_path):
    with Store(tmp_path / "state.db") as empty:
        assert "hours since the oldest listing" not in overview(Known.of(empty), ["lake"])


SOURCES = st.lists(st.text("aB0_.-", min_size=1, max_size=5), unique=True, max_size=8)


@given(SOURCES)
def test_each_source_has_a_check_of_its_own(sources):
    names = check_names(sources)
    assert list(names) == sources
    assert len(set(names.values())) == len(sources)
    for source, name in names.items():
        assert name.isascii()
        assert name.replace("_", "a").isalnum()
        if source.replace("_", "a").isalnum():
            assert name == f"listed_{source}", "others do not change it"
