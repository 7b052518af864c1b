"""Tables of a conversation, saved as assets: lineage, rows, checks, what moved, a schedule."""

import shutil

import dagster as dg
import pyarrow.parquet as pq
import pytest
import yaml

from pneuma_assets.assets.saved_tables import CHECK
from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.seek.saved import read
from pneuma_assets.definitions import build_definitions
from pneuma_assets.workspace import open_workspace
from tests.support.seek_lake import ALL, ANA, EXPECTED, STATE, TARIFFS, deploy

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]
KEY = dg.AssetKey(["pneuma", "saved", "tariff_impact", "costs"])
SCHEDULE = "pneuma_saved_tariff_impact_schedule"


@pytest.fixture(scope="module")
def lake(tmp_path_factory, small_encoder, read_here):
    """A deployment that was indexed by Dagster, so that its tables have pages there."""
    file = deploy(tmp_path_factory.mktemp("saved"), dagster={"show_rows": True})
    with open_workspace(file) as workspace:
        workspace.index()
    return file


@pytest.fixture
def file(lake):
    yield lake
    for folder in ("saved", "home/saved_rows"):
        shutil.rmtree(lake.parent / folder, ignore_errors=True)
    (lake.parent / "lake" / "trade" / "tariffs.csv").write_text(TARIFFS)


def save(file, state=STATE, asker=ALL, name="tariff_impact", **options):
    with open_workspace(file) as workspace:
        begun = workspace.seek.start(asker, "What will tariffs cost?").conversation_id
        if "file" in str(state):
            workspace.seek.add_file(begun, "rates.csv", TARIFFS.encode(), asker)
        workspace.seek.edit(begun, state, asker)
        return workspace.seek.save(begun, asker, name, **options)


def make(file, **dagster):
    """Let Dagster make the saved tables; returns the metadata and the check of the one."""
    if dagster:
        described = yaml.safe_load(file.read_text())
        file = file.with_name("otherwise.yaml")
        file.write_text(yaml.safe_dump(described | {"dagster": dagster}))
    defs = build_definitions(load_deployment(file, environ={}))
    job = defs.resolve_implicit_global_asset_job_def()
    done = job.execute_in_process(asset_selection=[KEY])
    [event] = done.get_asset_materialization_events()
    [check] = done.get_asset_check_evaluations()
    shown = {name: one.value for name, one in event.materialization.metadata.items()}
    return shown, check


def test_a_saved_table_is_an_asset_with_lineage_and_a_schedule(file):
    written = save(file, schedule="0 6 * * *", follow=True)
    assert written == file.parent / "saved" / "tariff_impact.yaml"
    defs = build_definitions(load_deployment(file, environ={}))
    spec = {one.key: one for one in defs.resolve_all_asset_specs()}[KEY]
    above = {"/".join(one.asset_key.path) for one in spec.deps}
    assert above == {"pneuma/lake/trade/purchases", "pneuma/lake/trade/tariffs"}
    assert spec.automation_condition is not None
    assert SCHEDULE in {one.name for one in defs.schedules}


def test_it_is_made_checked_and_made_again_with_what_moved(file):
    save(file)
    shown, check = make(file)
    assert check.passed
    assert check.check_name == CHECK
    assert shown["dagster/row_count"] == 8
    assert str(EXPECTED) in shown["query more"].replace("\\", "")
    assert pq.read_table(shown["path"]).num_rows == 8

    tariffs = file.parent / "lake" / "trade" / "tariffs.csv"
    tariffs.write_text(TARIFFS + "DE,0.10,0.20\n")
    shown, check = make(file)
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "8 rows before, 12 after" in check.description
    assert "rows: 8" in shown["moved"]
    assert "12" in shown["moved"]
    assert str(EXPECTED) in shown["results moved"].replace("\\", "")


def test_no_cell_is_given_to_dagster_unless_rows_are_shown(file):
    save(file)
    make(file)
    (file.parent / "lake" / "trade" / "tariffs.csv").write_text(TARIFFS + "DE,0.10,0.20\n")
    shown, check = make(file, show_rows=False)
    assert not {"rows", "moved", "query more", "results moved"} & shown.keys()
    assert "join multiplies: " in check.description
    assert "8 rows before" not in check.description + shown["findings"]
    assert shown["dagster/row_count"] == 12


def test_a_table_that_cannot_be_made_leaves_what_was_made(file):
    save(file)
    shown, _ = make(file)
    (file.parent / "lake" / "trade" / "tariffs.csv").write_text("other\n1\n")
    defs = build_definitions(load_deployment(file, environ={}))
    job = defs.resolve_implicit_global_asset_job_def()
    done = job.execute_in_process(asset_selection=[KEY], raise_on_error=False)
    assert not done.success
    assert pq.read_table(shown["path"]).num_rows == 8


def test_a_persons_own_file_goes_with_it(file):
    state = {**STATE, "sources": [STATE["sources"][0], {"name": "tariffs", "file": "rates.csv"}]}
    written = save(file, state)
    assert [one.name for one in written.with_suffix(".files").iterdir()] == ["rates.csv.parquet"]
    shown, check = make(file)
    assert check.passed
    assert shown["dagster/row_count"] == 8


REFUSED = {
    "who does not see all": ({"asker": ANA}, QueryError, "ask who operates"),
    "no name": ({"name": "../x"}, ConfigError, "name: must match"),
    "no schedule": ({"schedule": "soon"}, ConfigError, "schedule: .*must be five fields"),
    "no table": ({"state": {"questions": ["?"]}}, QueryError, "no table to save"),
}


@pytest.mark.parametrize(("given", "kind", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_saved_is_refused(file, given, kind, said):
    with pytest.raises(kind, match=said):
        save(file, **given)
    assert not (file.parent / "saved").exists()


def test_a_name_is_taken_once(file):
    save(file)
    with pytest.raises(ConfigError, match="is there already"):
        save(file, asker=Asker("eve"))
    save(file, replace=True)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, ("0 6 * * *", True)),
        ({"schedule": "0 7 * * *"}, ("0 7 * * *", True)),
        ({"schedule": "", "follow": False}, (None, False)),
    ],
)
def test_what_is_replaced_keeps_when_it_is_made_unless_another_time_is_given(file, given, kept):
    save(file, schedule="0 6 * * *", follow=True)
    saved = read(save(file, replace=True, **given))
    assert (saved.schedule, saved.follow) == kept


WRONG = {
    "no YAML": ("{", "not valid YAML"),
    "a state that cannot be": ("name: tariff_impact\nstate: {queries: [1]}", "state.queries"),
    "another name": ("name: other\nstate: {}", "name the file other.yaml"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_keeps_no_definitions_from_loading(file, caplog, text, said):
    written = save(file)
    written.write_text(text)
    defs = build_definitions(load_deployment(file, environ={}))
    assert KEY not in {one.key for one in defs.resolve_all_asset_specs()}
    assert said in caplog.text


def test_a_time_that_there_is_not_leaves_the_asset(file, caplog):
    written = save(file)
    said = yaml.safe_load(written.read_text())
    written.write_text(yaml.safe_dump(said | {"schedule": "99 * * * *"}))
    defs = build_definitions(load_deployment(file, environ={}))
    assert KEY in {one.key for one in defs.resolve_all_asset_specs()}
    assert SCHEDULE not in {one.name for one in defs.schedules}
    assert "is no time" in caplog.text
