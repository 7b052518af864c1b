"""Many events in a row cost less while Dagster's SQLite files stay open."""

import dagster as dg
from dagster._core.storage.event_log.sqlite import sqlite_event_log

from pneuma_assets.assets.report import event_log_open


def test_the_log_is_opened_once_for_all_events(tmp_path, monkeypatch):
    opened, create = [], sqlite_event_log.create_engine

    def counted(at, **more):
        opened.append(at)
        return create(at, **more)

    @dg.asset
    def many(context: dg.AssetExecutionContext) -> None:
        opened.clear()
        with event_log_open(context.instance):
            for at in range(3):
                context.log_event(dg.AssetMaterialization("one", metadata={"at": at}))
            with event_log_open(context.instance):
                context.log.info("within")
            assert len(opened) == len({*opened}) == 2, "Dagster opens its log elsewhere?"
        context.log.info("after")
        assert len(opened) > 2

    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        monkeypatch.setattr(sqlite_event_log, "create_engine", counted)
        result = dg.materialize([many], instance=instance)
        events = instance.fetch_materializations(dg.AssetKey("one"), limit=9).records
        assert [one.asset_materialization.metadata["at"].value for one in events] == [2, 1, 0]
        said = {one.user_message for one in instance.all_logs(result.run_id)}
        assert {"within", "after"} <= said
    assert not list(tmp_path.rglob("*-wal")), "the last to close has cleared up"


def test_an_instance_without_files_is_left_alone():
    with dg.DagsterInstance.ephemeral() as instance, event_log_open(instance):
        assert "_connect" not in vars(instance.event_log_storage)
