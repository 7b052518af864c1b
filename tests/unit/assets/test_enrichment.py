"""What is laid over other teams' definitions, and that nothing of theirs is ever harmed."""

import logging
import warnings
from dataclasses import replace

import dagster as dg
import pytest

from pneuma_assets import with_narrations
from pneuma_assets.core.store.dagster_manifest import (
    COLUMNS,
    DescribedTable,
    Folder,
    write_described,
)
from pneuma_assets.core.tables import Description, Provenance
from tests.support.pipeline_support import deployment

MM = Description("Rain in a day", Provenance.MODEL, "tiny", 0.5, 1.7e9)
SITE = Description("site identifier", Provenance.PROFILE, "the column's name and values", 1.0)
RAIN = DescribedTable(
    *("lake/rain", "weather.main.rain", "duckdb:///lake/Weather.db"),
    {"mm": MM, "site_id": SITE},
    {"mm": "DOUBLE", "site_id": "BIGINT"},
)
MM_TOLD = "Rain in a day (pneuma-assets: machine-made by tiny, 2023-11-14)"


@pytest.fixture
def loaded(tmp_path):
    found = deployment(tmp_path, tmp_path / "lake")
    found.home.mkdir()
    return found


def describe(loaded, *tables):
    write_described(Folder(loaded.home), tables, "a store")


def schema_of(defs: dg.Definitions, key: str = "rain") -> dg.TableSchema | None:
    return spec_of(defs, key).metadata.get("dagster/column_schema")


def spec_of(defs: dg.Definitions, key: str = "rain") -> dg.AssetSpec:
    return next(spec for spec in defs.resolve_all_asset_specs() if spec.key == dg.AssetKey(key))


def columns_of(defs: dg.Definitions, key: str = "rain") -> dict[str, tuple[str, str | None]]:
    schema = schema_of(defs, key)
    return {} if schema is None else {c.name: (c.type, c.description) for c in schema.columns}


def named(name: object = "weather.main.rain", **more: object) -> dg.Definitions:
    """Another team's definitions, with one asset for a table of this name."""
    metadata = {"dagster/table_name": name, **more}
    return dg.Definitions(assets=[dg.AssetSpec("rain", metadata=metadata)])


@pytest.mark.parametrize(
    "metadata",
    [
        {"dagster/table_name": "weather.main.rain"},
        {"dagster/table_name": dg.MetadataValue.text(" WEATHER.MAIN.Rain")},
        {"dagster/uri": "duckdb:///lake/Weather.db"},
        {"dagster/uri": dg.MetadataValue.url("DuckDB:///lake/Weather.db/")},
        {"dagster/table_name": "weather.main.rain", "dagster/uri": "s3://elsewhere"},
    ],
    ids=["name", "capitals", "address", "url", "one of both"],
)
def test_an_asset_is_known_by_its_tables_name_or_address(loaded, metadata):
    describe(loaded, RAIN)
    theirs = dg.Definitions(assets=[dg.AssetSpec("rain", metadata=metadata)])
    columns = columns_of(with_narrations(theirs, loaded))
    assert columns["mm"] == ("DOUBLE", MM_TOLD)
    assert columns["site_id"][0] == "BIGINT"
    assert "machine-made from the column's name and values" in columns["site_id"][1]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"dagster/table_name": "other.weather.main.rain"},
        {"dagster/table_name": "main.rain"},
        {"dagster/table_name": ""},
        {"dagster/uri": "duckdb:///lake/weather.db"},
        {"dagster/uri": "http://[bad"},
        {"dagster/table_name": "weather.main.rain", "dagster/uri": "file:///snow.csv"},
        {"dagster/table_name": "other.main.rain", "dagster/uri": "duckdb:///lake/Weather.db"},
        {"dagster/uri": "duckdb:///lake/Weather.db#main.snow"},
    ],
    ids=[
        *("none", "longer", "shorter", "empty", "capitals of a path", "broken", "two"),
        *("an address with another name", "another part of it"),
    ],
)
def test_any_other_asset_stays_as_it_is(loaded, metadata):
    describe(loaded, RAIN, DescribedTable("lake/snow", "snow", "file:///snow.csv", {"mm": MM}))
    theirs = dg.Definitions(assets=[dg.AssetSpec("rain", metadata=metadata)])
    assert spec_of(with_narrations(theirs, loaded)) == spec_of(theirs)


def test_a_name_that_two_tables_have_is_nobodys(loaded):
    describe(loaded, RAIN, DescribedTable("lake/copy", "Weather.main.rain", None, {"mm": MM}))
    assert columns_of(with_narrations(named(), loaded)) == {}
    for name in ("", RAIN.table_name):
        by_address = named(name, **{"dagster/uri": RAIN.uri})
        assert "mm" in columns_of(with_narrations(by_address, loaded))


def test_a_name_or_address_is_a_tables_also_if_nothing_is_said_of_it(loaded):
    describe(loaded, RAIN, DescribedTable("lake/Rain", "Weather.main.Rain", RAIN.uri))
    by_address = named("", **{"dagster/uri": RAIN.uri})
    for theirs in (named(), by_address):
        assert columns_of(with_narrations(theirs, loaded)) == {}


def test_tables_of_which_nothing_is_said_are_told_of(loaded, caplog):
    describe(loaded, replace(RAIN, columns={}))
    assert spec_of(with_narrations(named(), loaded)) == spec_of(named())
    assert "nothing is described yet" in caplog.text


def test_what_people_wrote_stays_and_the_rest_of_a_column_too(loaded):
    describe(loaded, replace(RAIN, said=Description("Ours.", Provenance.PERSON, "a comment")))
    theirs = dg.TableSchema(
        columns=[
            dg.TableColumn("MM", "float", tags={"unit": "mm"}),
            dg.TableColumn("site_id", "int", "Where it fell."),
            dg.TableColumn("day", "date", constraints=dg.TableColumnConstraints(nullable=False)),
        ],
        constraints=dg.TableConstraints(other=["rows > 0"]),
    )
    spec = dg.AssetSpec(
        "rain",
        description="Words of theirs.",
        group_name="weather",
        owners=["team:rain"],
        metadata={"dagster/table_name": "weather.main.rain", "dagster/column_schema": theirs},
    )
    found = spec_of(with_narrations(dg.Definitions(assets=[spec]), loaded))
    schema = found.metadata["dagster/column_schema"]
    assert [column.description for column in schema.columns] == [MM_TOLD, "Where it fell.", None]
    assert [(c.type, c.tags, c.constraints) for c in schema.columns] == [
        (c.type, c.tags, c.constraints) for c in theirs.columns
    ]
    assert schema.constraints == theirs.constraints
    same = found.replace_attributes(metadata=spec.metadata)
    assert same == spec


def test_columns_that_differ_by_capitals_alone_are_not_mixed_up(loaded):
    """The UI merges columns by their names in lower case, so one would be shown at both."""
    other = Description("Something else", Provenance.MODEL, "tiny")
    describe(loaded, DescribedTable("lake/rain", "rain", None, {"Mm": MM, "mm": other, "a": MM}))
    assert list(columns_of(with_narrations(named("rain"), loaded))) == ["a"]
    describe(loaded, DescribedTable("lake/rain", "rain", None, {"mm": MM, "A": MM}))
    theirs = dg.TableSchema([dg.TableColumn(name) for name in ("MM", "mm", "a")])
    mixed = named("rain", **{"dagster/column_schema": dg.MetadataValue.table_schema(theirs)})
    columns = columns_of(with_narrations(mixed, loaded))
    assert [name for name, (_, said) in columns.items() if said] == ["a"]


@pytest.mark.parametrize("columns", [{}, RAIN.columns], ids=["alone", "with columns"])
def test_an_asset_without_a_description_gets_its_tables_with_who_says_so(loaded, columns):
    said = Description("Falls in *May*.", Provenance.CORRECTION, "ann", None, 1.7e9)
    describe(loaded, replace(RAIN, said=said, columns=columns))
    assert spec_of(with_narrations(named(), loaded)).description == (
        "Falls in \\*May\\*. (pneuma-assets: said by ann, 2023-11-14)"
    )


def test_an_asset_of_a_table_of_which_nobody_said_anything_stays_without(loaded):
    describe(loaded, RAIN)
    assert spec_of(with_narrations(named(), loaded)).description is None


def test_texts_from_anywhere_are_bounded_and_pose_as_nothing(loaded):
    said = Description("x" * 9000, Provenance.CORRECTION, "[Eve](http://e)\n# " * 900)
    wide = {f"c{n}": MM for n in range(2000)}
    describe(loaded, DescribedTable("lake/rain", "rain", None, {"evil": said, **wide}))
    columns = columns_of(with_narrations(named("rain"), loaded))
    assert len(columns) == 500
    assert len(columns["evil"][1]) < 2500
    assert "](" not in columns["evil"][1].replace("\\]", "")


def test_assets_that_compute_something_still_do(loaded):
    describe(loaded, RAIN)

    @dg.asset(metadata={"dagster/table_name": "weather.main.rain"}, key="rain")
    def rain() -> int:
        """Their words."""
        return 4

    @dg.multi_asset(
        specs=[
            dg.AssetSpec("a", metadata={"dagster/table_name": "weather.main.rain"}),
            dg.AssetSpec("b", deps=["rain"]),
        ]
    )
    def several():
        yield dg.MaterializeResult("a")
        yield dg.MaterializeResult("b")

    @dg.asset_check(asset="rain")
    def falls() -> dg.AssetCheckResult:
        return dg.AssetCheckResult(passed=True)

    job = dg.define_asset_job("all_of_them", "*")
    theirs = dg.Definitions([rain, several], asset_checks=[falls], jobs=[job])
    enriched = with_narrations(theirs, loaded)
    assert columns_of(enriched)["mm"] == columns_of(enriched, "a")["mm"] == ("DOUBLE", MM_TOLD)
    assert spec_of(enriched).description == "Their words."
    with dg.DagsterInstance.ephemeral() as instance:
        run = enriched.resolve_job_def("all_of_them").execute_in_process(instance=instance)
        assert run.success
        made = instance.get_latest_materialization_event(dg.AssetKey("rain"))
        assert "dagster/column_schema" not in made.asset_materialization.metadata
        assert len(instance.get_asset_keys()) == 3


def test_nothing_is_written(loaded):
    describe(loaded, RAIN)
    before = {path: path.stat().st_mtime_ns for path in loaded.base.rglob("*")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_narrations(named(), loaded)
    assert {path: path.stat().st_mtime_ns for path in loaded.base.rglob("*")} == before


def test_our_own_pages_are_left_alone(loaded):
    describe(loaded, RAIN)
    ours = dg.AssetSpec(["pneuma", "x"], metadata={"dagster/table_name": "weather.main.rain"})
    enriched = with_narrations(dg.Definitions(assets=[ours]), loaded)
    (found,) = enriched.resolve_all_asset_specs()
    assert found.metadata == ours.metadata


def test_a_deployment_may_be_named_by_its_file(loaded):
    describe(loaded, RAIN)
    assert loaded.file is not None
    assert "mm" in columns_of(with_narrations(named(), str(loaded.file)))


@pytest.mark.parametrize("what", ["absent", "broken", "unindexed", "state", "damaged", "locked"])
def test_whatever_has_become_of_ours_theirs_loads_and_a_warning_says_why(loaded, what, caplog):
    caplog.set_level(logging.WARNING)
    file = loaded.file
    assert file is not None
    if what == "absent":
        file.unlink()
    elif what == "broken":
        file.write_text("sources: [")
    elif what == "state":
        (loaded.home / "state.db").write_bytes(b"no database")
    elif what in ("damaged", "locked"):
        describe(loaded, RAIN)
        manifest = loaded.home / f"{COLUMNS}.manifest"
        if what == "damaged":
            manifest.write_bytes(manifest.read_bytes()[:-20])
        else:  # nobody may read it, whoever runs the test
            manifest.unlink()
            manifest.mkdir()
    theirs = named()
    assert with_narrations(theirs, file) is theirs
    assert "without what pneuma-assets knows" in caplog.text


def test_what_cannot_be_mapped_is_returned_as_it_is(loaded, caplog):
    describe(loaded, RAIN)
    theirs = dg.Definitions(assets=[dg.SourceAsset("old"), *named().assets])
    assert with_narrations(theirs, loaded) is theirs
    assert "SourceAsset" in caplog.text


def test_a_file_that_is_not_there_is_said_to_be_given_here(tmp_path, caplog):
    given = dg.Definitions()
    assert with_narrations(given, tmp_path / "none.yaml") is given
    assert f"{tmp_path / 'none.yaml'} does not exist; check the path that with_n" in caplog.text
    assert "--config" not in caplog.text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((dg.Definitions(), None), "path of a deployment file.*NoneType"),
        (([], "pneuma.yaml"), "takes dagster.Definitions, not list"),
    ],
)
def test_an_argument_of_another_kind_is_a_mistake_at_the_call(given, told):
    with pytest.raises(TypeError, match=told):
        with_narrations(*given)
