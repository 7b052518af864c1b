"""What a webserver says is read strictly: whatever else it answers names no table."""

from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.lineage.dagster_assets import below_ours, read_assets, tables_among


def asset(*path: str, **definition: object) -> dict:
    return {"key": {"path": list(path)}, "definition": definition}


def entry(label: str, text: str) -> dict:
    return {"label": label, "text": text}


def named(*path: str, name: str, **more: object) -> dict:
    return asset(*path, metadataEntries=[entry("dagster/table_name", name)], **more)


def column_entries(column: str, said: str, above: str) -> list[dict]:
    dep = {"assetKey": {"path": ["raw"]}, "columnName": above}
    return [
        {"label": "dagster/column_schema", "schema": {"columns": [
            {"name": column, "description": said}, {"name": "bare", "description": None}]}},
        {"label": "dagster/column_lineage",
         "lineage": [{"columnName": column, "columnDeps": [dep]}]},
    ]  # fmt: skip


def test_definitions_and_last_events_become_what_is_said_of_tables():
    nodes = [
        named("raw", name="d.s.raw", description="As it came."),
        named(
            "made",
            name="d.s.made",
            owners=[{"email": "ann@x.org"}, {"team": "data"}, {}],
            tags=[
                {"key": "tier", "value": "1"},
                {"key": "pii", "value": ""},
                {"key": "dagster/kind/dbt", "value": ""},
            ],
            kinds=["dbt", 7],
            dependencyKeys=[{"path": ["raw"]}, {"path": ["no table"]}],
        ),
        asset("no table", description="A model."),
        {"key": {"path": ["observed"]}, "definition": None},
    ]
    event = {"metadataEntries": column_entries("total", "In euros.", "amount")}
    events = [{"assetKey": {"path": ["made"]}, "assetMaterializations": [event]}]
    raw, made = read_assets(tables_among(nodes), events).tables
    assert (str(raw.name), raw.description, raw.upstream) == ("d.s.raw", "As it came.", [])
    assert (made.owners, made.tags) == (["ann@x.org", "team:data"], ["tier=1", "pii"])
    assert (made.kinds, made.asset, raw.asset) == (["dbt"], "made", "raw")
    assert [str(one.name) for one in made.upstream] == ["d.s.raw"]
    assert made.columns == {"total": "In euros."}
    assert [(str(one.name), above) for one, above in made.column_sources["total"]] == [
        ("d.s.raw", "amount")
    ]


def test_a_path_and_an_address_are_whole_and_a_definition_comes_before_an_event():
    entries = [entry("dagster/uri", "s3://lake/a.csv"), *column_entries("n", "Defined.", "m")]
    nodes = [named("raw", name="/lake/raw.csv"), asset("a", metadataEntries=entries)]
    event = {"metadataEntries": column_entries("n", "Seen.", "m")}
    events = [{"assetKey": {"path": ["a"]}, "assetMaterializations": [event]}]
    raw, a = read_assets(tables_among(nodes), events).tables
    assert (raw.name.parts, a.uri) == (("/lake/raw.csv",), "s3://lake/a.csv")
    assert a.columns == {"n": "Defined."}


def test_the_pages_of_any_deployment_of_ours_are_left_out():
    stages = ("raw_tables", "sampled_rows", "embedding_blocks", "search_index")
    nodes = [
        *(asset("team", "lake", stage) for stage in stages),
        named("team", "lake", "shop", "orders", name="shop.orders"),
        named("team", "orders", name="shop.orders"),
        asset("other", "raw_tables"),
        named("other", "raw", name="other.raw"),
    ]
    assert set(tables_among(nodes)) == {("team", "orders"), ("other", "raw")}


def test_what_depends_on_a_page_of_ours_is_upstream_of_none():
    stages = ("raw_tables", "sampled_rows", "embedding_blocks", "search_index")
    page = {"path": ["team", "lake", "orders"]}
    nodes = [
        *(asset("team", stage) for stage in stages),
        named("report", name="shop.report", dependencyKeys=[{"path": ["between"]}]),
        asset("between", dependencyKeys=[page]),
        named(*page["path"], name="shop.orders", dependencyKeys=[{"path": ["ingest", "orders"]}]),
        named("ingest", "orders", name="shop.orders"),
        named("in/gest", "orders", name="shop.parts"),
    ]
    said = read_assets(tables_among(nodes), ours=below_ours(nodes)).tables
    assert {str(one.name): one.asset for one in said} == {
        **{"shop.report": "", "shop.orders": "ingest/orders"},
        "shop.parts": "",  # a key that cannot be told from one of more parts
    }


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "key", "path", "definition", "metadataEntries", "label", "text", "schema", "columns",
        "name", "description", "lineage", "columnName", "columnDeps", "assetKey", "owners",
        "tags", "kinds", "dependencyKeys", "assetMaterializations",
    ]), inner, max_size=6),
    max_leaves=30,
)  # fmt: skip


@given(st.lists(ANYTHING, max_size=4), st.lists(ANYTHING, max_size=3))
def test_whatever_is_answered_nothing_breaks(nodes, events):
    nodes = [*nodes, named("a", name="t")]
    read_assets(tables_among(nodes), events, below_ours(nodes))
