"""Tables are called as strangers please; nothing of that may keep a code location from loading."""

import logging
from dataclasses import replace

import dagster as dg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pneuma_assets.assets.table_assets import table_specs
from pneuma_assets.assets.table_events import CHECK, problem_checks
from pneuma_assets.core.store.dagster_manifest import Folder, TablePage, write_pages
from pneuma_assets.definitions import build_definitions
from tests.support.pipeline_support import deployment


@pytest.fixture
def loaded(tmp_path):
    found = deployment(tmp_path, tmp_path / "lake")
    found.home.mkdir()
    return found


def ill(name: str) -> TablePage:
    key = f"pneuma/lake/{name}"
    return TablePage(f"lake/{name}", "lake", key, "", name, None, problem="too long")


def checked(loaded, *pages):
    """Return the tables with a check, after Dagster has taken all of them."""
    checks = problem_checks(pages, loaded.deployment)
    dg.Definitions.merge(
        build_definitions(loaded, with_tables=False), dg.Definitions(asset_checks=checks)
    ).get_repository_def()
    return {"/".join(key.asset_key.path[2:]) for one in checks for key in one.check_keys}


def test_a_table_whose_name_no_output_can_bear_has_no_check(loaded):
    pages = [ill(name) for name in ("good", "sales 2024", "Umsätze", 'a"b', "a.b-c/d", "", "e\n")]
    assert checked(loaded, *pages) == {"good", "a.b-c/d", ""}
    described = [one.description for one in table_specs(pages, loaded.deployment)]
    assert described == ["Problem: too long"] * len(pages)


def test_tables_that_dagster_would_take_for_one_have_no_check(loaded):
    assert checked(loaded, ill("a-b"), ill("a_b"), ill("a/c"), ill("a__c"), ill("d")) == {"d"}
    # Which of them is ill just now changes nothing.
    assert checked(loaded, ill("a-b"), replace(ill("a_b"), problem=None), ill("d")) == {"d"}


def test_what_definitions_cannot_hold_is_left_out_and_told_of(loaded, caplog):
    stage = replace(ill("x"), key="pneuma/search_index")
    odd = replace(ill("b"), kinds=("CSV!", "csv", "a", "b", "c"))
    write_pages(Folder(loaded.home), [ill("a"), ill("a"), stage, odd], "")
    with caplog.at_level(logging.WARNING):
        specs = build_definitions(loaded).resolve_all_asset_specs()
    assert "pneuma/search_index" in caplog.text
    shown = {"/".join(spec.key.path[2:]): spec for spec in specs if len(spec.key.path) > 2}
    assert shown.keys() == {"a", "b"}
    assert shown["b"].kinds == {"csv", "a", "b"}


NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text("a-_./\\\" 'ä\n\0[]*", max_size=6),
    st.sampled_from(["a" * 300, "raw_tables", "..", "//", CHECK, "é", "e\u0301"]),
)
PAGES = st.builds(
    TablePage,
    table_id=NAMES.map("lake/{}".format),
    source=st.just("lake"),
    key=NAMES.map("pneuma/{}".format) | NAMES.map("pneuma/lake/{}".format),
    description=NAMES,
    table_name=NAMES,
    uri=st.none() | NAMES,
    kinds=st.lists(NAMES, max_size=5).map(tuple),
    owners=st.lists(NAMES, max_size=2).map(tuple),
    problem=st.none() | NAMES,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PAGES, max_size=8))
def test_whatever_a_manifest_says_definitions_load(loaded, pages):
    write_pages(Folder(loaded.home), pages, "")
    definitions = build_definitions(loaded)
    dg.Definitions.validate_loadable(definitions)
    definitions.get_repository_def()
    assert len(definitions.resolve_all_asset_specs()) >= 5
