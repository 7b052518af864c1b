"""A table changed: told in Python, on the command line and by a job, understood alike."""

import json
from types import SimpleNamespace

import dagster as dg
import pytest

from pneuma_assets import ConfigError, open_workspace
from pneuma_assets.core.service import changed
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import TableRef
from pneuma_assets.definitions import build_definitions
from tests.support.doors import fails, succeeds

S3 = {"type": "s3", "name": "bucket", "bucket": "data", "prefix": "tables/"}


@pytest.fixture
def workspace(here):
    """A folder and a bucket, whose tables are indexed as far as the store knows."""
    folder = {"type": "folder", "name": "lake", "path": "lake"}
    warehouse = {"type": "duckdb", "name": "wh", "path": "shop.duckdb"}
    (here / "pneuma.yaml").write_text(json.dumps({"sources": [folder, S3, warehouse]}))
    with open_workspace() as opened:
        at = here / "lake"
        fill(opened.store, "lake", {f"2026/{n}": (f"{at}/2026/{n}.csv", "csv") for n in "abc"})
        objects = {"sales": ("s3://data/tables/sales/", "parquet")}
        fill(opened.store, "bucket", objects)
        fill(opened.store, "wh", {"main/Orders": ("shop.duckdb", "table")})
        yield opened


def fill(store, source, tables) -> None:
    refs = [TableRef(f"{source}/{n}", source, at, kind, "1") for n, (at, kind) in tables.items()]
    store.listings.sync(source, refs)
    store.queue.claim(source, 100, 3, [source])
    store.queue.finish(source, [Finished(ref.table_id, "h", 1) for ref in refs])


def waiting(workspace) -> list[str]:
    return [r.table_id for r in workspace.store.tables.records() if r.state == "pending"]


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("lake/2026/a", ["lake/2026/a"]),
        ("lake/*", ["lake/2026/a", "lake/2026/b", "lake/2026/c"]),
        ("*/[ab]", ["lake/2026/a", "lake/2026/b"]),
        ("{folder}/lake/2026/b.csv", ["lake/2026/b"]),
        ("file://{folder}/lake/2026/b.csv", ["lake/2026/b"]),
        ("s3://data/tables/sales/", ["bucket/sales"]),
        ("s3://data/tables/sales/year=2026/part-0.parquet", ["bucket/sales"]),
        ("shop.main.Orders", ["wh/main/Orders"]),
        ("SHOP.MAIN.ORDERS", ["wh/main/Orders"]),
    ],
)
def test_a_known_table_is_told_by_id_pattern_path_address_or_full_name(
    workspace, tmp_path, name, tables
):
    told = workspace.changed(name.format(folder=tmp_path), reason="nightly")
    assert (list(told.tables), list(told.new)) == (tables, [])
    assert waiting(workspace) == tables
    assert workspace.store.listings.notices().keys() == {tables[0].split("/")[0]}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("lake/2026/new", "lake"),
        ("lake/2026/a[1]", "lake"),
        ("{folder}/lake/new.csv", "lake"),
        ("s3://data/tables/new.parquet", "bucket"),
    ],
)
def test_a_table_that_is_not_known_lets_only_its_source_be_listed(
    workspace, tmp_path, name, source
):
    told = workspace.changed([name.format(folder=tmp_path)])
    assert (list(told.tables), list(told.sources)) == ([], [source])
    assert [new.source for new in told.new] == [source]
    assert waiting(workspace) == []
    assert workspace.store.listings.notices().keys() == {source}


def test_near_names_odd_names_and_sources_are_understood(workspace):
    (new,) = workspace.changed("lake/2026/aa").new
    assert "lake/2026/a" in new.near
    names = ["s3://data/tables/a:b@c.csv", "s3://data/tables/token=1/x.csv", "lake/me:x@y"]
    assert [new.name for new in workspace.changed(names).new] == names
    told = workspace.changed(sources=["lake"])
    assert (list(told.tables), list(told.sources)) == ([], ["lake"])
    with pytest.raises(ConfigError, match="did you mean lake"):
        workspace.changed(sources=["lakes"])


@pytest.mark.parametrize("name", ["lakes/2026/a", "s3://data/elsewhere/x.csv", "none*", "/etc/x"])
def test_what_no_source_can_have_is_refused_and_nothing_is_kept(workspace, name):
    with pytest.raises(ConfigError, match="unknown table"):
        workspace.changed(["lake/2026/a", name])
    assert (waiting(workspace), workspace.store.listings.notices()) == ([], {})


@pytest.mark.parametrize(
    "names", [[], [""], ["x" * 5000], [f"lake/{n}" for n in range(10_001)], ["lake/*"] * 101, 7]
)
def test_what_is_nothing_or_too_much_is_refused(workspace, names):
    with pytest.raises(ConfigError):
        workspace.changed(names)


@pytest.mark.parametrize("name", ["lake/zzz*", "lake/2027/?", "s3://data/tables/zzz*"])
def test_a_pattern_that_matches_no_table_is_no_new_one(workspace, name):
    with pytest.raises(ConfigError, match=r"matches no table that is known; .*: (lake|bucket)$"):
        workspace.changed(["lake/2026/a", name])
    assert (waiting(workspace), workspace.store.listings.notices()) == ([], {})


@pytest.mark.parametrize(
    "name",
    [
        "postgres://me:hunter2@db.example:5432/shop.public.orders",
        "postgresql://me:hunter2@[::1",
        "https://data.example/tables/new.csv?X-Amz-Signature=hunter2",
        "s3://data/tables/new.csv?a=b&sas_token=hunter2",
    ],
)
def test_a_password_in_a_name_is_neither_kept_nor_told(workspace, name):
    with pytest.raises(ConfigError, match="password or a token") as raised:
        workspace.changed(["lake/2026/a", name])
    assert "hunter2" not in str(raised.value)
    assert (waiting(workspace), workspace.store.listings.notices()) == ([], {})


def test_ten_thousand_names_at_once(workspace):
    names = [f"lake/new{number}" for number in range(changed.MOST_NAMES)]
    for _ in range(2):
        assert len(workspace.changed(names).new) == changed.MOST_NAMES
    assert workspace.store.listings.notices()["lake"].subjects == changed.MOST_NAMES


def test_the_command_line(workspace):
    told = succeeds("changed", "lake/2026/a", "lake/2026/new", "--reason", "dbt")
    assert "1 known table queued for re-reading: lake/2026/a" in told
    assert "lake/2026/new is not known yet; lake is listed for it" in told
    told = succeeds("changed", "-", "--json", stdin="lake/2026/b\nlake/2026/c\n")
    assert json.loads(told)["tables"] == ["lake/2026/b", "lake/2026/c"]
    assert waiting(workspace) == ["lake/2026/a", "lake/2026/b", "lake/2026/c"]
    assert "2 known tables queued for" in succeeds("changed", "lake/2026/[ab]")
    assert "unknown table" in fails(1, "changed", "lakes/2026/a")
    assert "name a table" in fails(2, "changed")
    assert "line 1: is not UTF-8" in fails(2, "changed", "-", stdin=b"lake/\xff\n")


def test_the_job(workspace):
    workspace.release()
    definitions = build_definitions(workspace.loaded, with_tables=False)
    job = definitions.resolve_job_def("pneuma_table_changed")
    config = {"tables": ["lake/2026/*"], "sources": ["wh"], "reason": "airflow"}
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    asked = {"ops": {"pneuma_note_changes": {"config": config}}, **quiet}
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(run_config=asked, instance=instance).success
        assert len(waiting(workspace)) == 3
        config["tables"] = ["lakes/a"]
        done = job.execute_in_process(run_config=asked, instance=instance, raise_on_error=False)
    (failure,) = (one for one in done.all_events if one.is_step_failure)
    assert "did you mean lake/2026/a" in failure.step_failure_data.user_failure_data.description


def test_nothing_is_told_of_a_deployment_that_was_never_indexed(tmp_path):
    with (
        open_workspace(home=tmp_path / "none") as workspace,
        pytest.raises(ConfigError, match="no table is known"),
    ):
        workspace.changed("lake/a")


def test_a_source_that_left_the_file_is_no_matter(workspace):
    from pneuma_assets.core.service.changed import Addresses

    gone = SimpleNamespace(source="gone", table_id="gone/a", location="/a", format="csv")
    assert Addresses(workspace.loaded, [gone]).tables("/a") == ()
