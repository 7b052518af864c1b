"""What a dbt project says is read whatever version wrote it, and nothing that it is not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.lineage.dbt import read_dbt
from pneuma_assets.core.lineage.external import MOST_CHARACTERS, fields_of, text_about


def node(kind: str, name: str, *above: str, **more: object) -> dict:
    return {
        "resource_type": kind,
        "database": "shop",
        "schema": "main",
        "name": name,
        "depends_on": {"nodes": list(above), "macros": ["macro.dbt.run"]},
        **more,
    }


MANIFEST = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v99.json"}
    | {"adapter_type": "duckdb"},
    "nodes": {
        "model.shop.stg": node(
            "model", "stg", "source.shop.raw.orders", config={"materialized": "ephemeral"}
        ),
        "model.shop.revenue": node(
            "model",
            "revenue_v2",
            "model.shop.stg",
            "seed.shop.regions",
            alias="revenue",
            description="What each region\nbrought in.",
            columns={"total": {"name": "total", "description": "In euros."}, "x": {"name": "x"}},
            meta={"owner": {"name": "Ann", "email": "ann@example.com"}},
            config={"tags": ["finance"], "materialized": "table"},
            tags=["finance", "daily"],
            compiled_code="select sum(amount) as total from shop.main.orders",
        ),
        "seed.shop.regions": node("seed", "regions"),
        "test.shop.a": node(
            "test",
            "accepted",
            "model.shop.revenue",
            attached_node="model.shop.revenue",
            column_name="region",
            test_metadata={"name": "accepted_values", "kwargs": {"values": ["north", "south"]}},
        ),
        "operation.shop.b": node("operation", "b"),
        "model.shop.broken": {"resource_type": "model", "name": 7, "columns": [1], "tags": {}},
    },
    "sources": {"source.shop.raw.orders": node("source", "orders_raw", identifier="orders")},
    "exposures": {
        "exposure.shop.board": {
            "name": "board",
            "label": "Board report",
            "type": "dashboard",
            "description": "For Mondays.",
            "depends_on": {"nodes": ["model.shop.revenue"]},
        }
    },
}
CATALOG = {
    "nodes": {
        "model.shop.revenue": {
            "columns": {
                "TOTAL": {"name": "TOTAL", "comment": "sum"},
                "R": {"name": "R", "comment": "Place."},
            }
        }
    }
}


def test_a_model_brings_words_owners_checks_and_what_it_is_built_from():
    tables = {str(one.name): one for one in read_dbt(MANIFEST, CATALOG).tables}
    assert sorted(tables) == ["shop.main.orders", "shop.main.regions", "shop.main.revenue"]
    revenue = tables["shop.main.revenue"]
    # The model between is no table: what it reads is read.
    assert [str(one.name) for one in revenue.upstream] == ["shop.main.regions", "shop.main.orders"]
    assert revenue.definition is not None
    assert revenue.definition.dialect == "duckdb"
    assert text_about(fields_of(revenue)).splitlines() == [
        "What each region brought in.",
        "Owners: ann@example.com",
        "Tags: finance, daily",
        "Read by the dashboard Board report: For Mondays.",
        "Checked of region: accepted values north, south",
        "TOTAL: In euros.",
        "R: Place.",
    ]
    assert text_about(fields_of(tables["shop.main.regions"])) == ""


def text_of_model(**more) -> str:
    manifest = {"metadata": VERSION, "nodes": {"m": node("model", "m", **more)}}
    (table,) = read_dbt(manifest).tables
    return text_about(fields_of(table))


def test_tags_and_meta_of_columns_are_told():
    columns = {
        "email": {"tags": ["contact"], "meta": {"pii": True, "gdpr": False, "level": "high"}},
        "phone": {"config": {"tags": ["contact"], "meta": {"pii": True, "nested": {"x": 1}}}},
        "id": {"tags": [], "meta": {"pii": False}},
    }
    meta = {"domain": "sales", "owner": "Ann", "contains_pii": "false", "pii": "No", "gold": True}
    more = {"columns": columns, "meta": meta, "tags": ["daily"]}
    assert text_of_model(**more).splitlines() == [
        "Owners: Ann",
        "Tags: daily",
        "Marked as domain=sales, gold",
        "Column email is tagged contact, pii, level=high",
        "Column phone is tagged contact, pii",
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"version": 1, "latest_version": 2}, "Deprecated: version 2 is the latest"),
        ({"version": 2, "latest_version": 2}, ""),
        ({"version": 3, "latest_version": 2}, ""),  # not yet released
        ({"version": None, "latest_version": None}, ""),
        ({"version": "1", "latest_version": [2]}, ""),
        ({"version": "9", "latest_version": "10"}, "Deprecated: version 10 is the latest"),
        ({"version": "10", "latest_version": 9}, ""),
        ({"version": "old", "latest_version": "new"}, ""),
        ({"version": 1, "latest_version": 10**400}, ""),
        ({"deprecation_date": "2020-01-01T00:00:00"}, "Deprecated: 2020-01-01T00:00:00"),
        ({"deprecation_date": "2020-01-01"}, "Deprecated: 2020-01-01"),
        ({"deprecation_date": "9999-01-01T00:00:00+00:00"}, ""),
        ({"deprecation_date": "soon"}, ""),
    ],
)
def test_older_and_deprecated_versions_are_told(more, said):
    assert text_of_model(**more) == said


VERSION = MANIFEST["metadata"]
RUN_RESULTS = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json"}


@pytest.mark.parametrize(
    "wrong",
    [
        *(None, [], "text", 7, {}, {"hello": 1}, {"nodes": []}, {"metadata": VERSION}),
        {"metadata": VERSION, "nodes": []},
        {"nodes": MANIFEST["nodes"]},
        {"metadata": RUN_RESULTS, "nodes": MANIFEST["nodes"]},
        {"metadata": {"dbt_schema_version": 12}, "nodes": MANIFEST["nodes"]},
    ],
)
def test_what_is_no_manifest_says_so(wrong):
    found = read_dbt(wrong)
    assert not found.tables
    assert "is no manifest of dbt" in found.problems[0]


@pytest.mark.parametrize("nodes", [{}, {"a": None}])
def test_a_project_without_tables_is_one_all_the_same(nodes):
    found = read_dbt({"metadata": VERSION, "nodes": nodes})
    assert (list(found.tables), list(found.problems)) == ([], [])


def test_texts_are_bounded():
    wide = {f"c{n}": {"name": f"c{n}", "description": "x" * 900} for n in range(5_000)}
    manifest = {
        "metadata": VERSION,
        "nodes": {"m": node("model", "m", columns=wide, description="y" * 100_000)},
    }
    (table,) = read_dbt(manifest).tables
    assert len(text_about(fields_of(table))) <= MOST_CHARACTERS


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
KEYS = st.sampled_from([*MANIFEST, *MANIFEST["nodes"]["model.shop.revenue"], "name", "nodes"])
ANY = st.recursive(
    LEAVES, lambda one: st.lists(one, max_size=3) | st.dictionaries(KEYS, one, max_size=6)
)


@given(ANY, ANY)
def test_no_json_of_any_shape_raises(manifest, catalog):
    for table in read_dbt(manifest, catalog).tables:
        text_about(fields_of(table))


@given(st.dictionaries(st.sampled_from(["a", "b"]), ANY, min_size=1))
def test_no_node_of_any_shape_raises(nodes):
    made = {**MANIFEST, "nodes": {**MANIFEST["nodes"], **nodes}, "sources": nodes}
    whole = json.loads(json.dumps(made))
    assert len(read_dbt(whole).tables) >= 2


@pytest.mark.parametrize(
    ("more", "owners"),
    [
        ({"meta": {"owner": "Ann"}}, ["Ann"]),
        ({"meta": {"owner": {"name": "Ann"}, "owners": ["Bo"]}}, ["Ann", "Bo"]),
        ({"config": {"meta": {"dagster": {"owners": ["team:a"]}, "owner": "team:a"}}}, ["team:a"]),
        ({"config": {"group": "finance"}}, ["fin@example.org"]),
        ({"group": "sales"}, ["sales"]),
        ({"meta": {"dagster": "no mapping"}, "group": 7}, []),
    ],
)
def test_owners_are_a_models_own_and_its_groups(more, owners):
    finance = {"name": "finance", "owner": {"name": "Finance", "email": "fin@example.org"}}
    groups = {"group.shop.finance": finance, "group.shop.sales": {"name": "sales", "owner": {}}}
    nodes = {"model.shop.m": node("model", "m", **more)}
    sources = {"source.shop.s": node("source", "s")}
    manifest = {"metadata": VERSION, "nodes": nodes, "sources": sources, "groups": groups}
    model, source = read_dbt(manifest).tables
    assert list(model.owners) == owners
    assert (model.kinds, source.kinds) == (("dbt",), ())
