"""Many events in a row cost less while Dagster's SQLite files stay open."""

from pathlib import Path

import dagster as dg

from pneuma_assets.assets.report import event_log_open


def test_the_log_is_not_folded_at_every_event(tmp_path):
    seen: list[tuple[str, bool]] = []

    @dg.asset
    def many(context: dg.AssetExecutionContext) -> None:
        with event_log_open(context.instance, context.run.run_id) as held:
            context.log_event(dg.AssetMaterialization("one"))
            seen.extend((file.stem, Path(f"{file}-wal").exists()) for file in held)

    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        result = dg.materialize([many], instance=instance)
        assert instance.get_latest_materialization_event(dg.AssetKey("one"))
    assert seen == [("index", True), (result.run_id, True)], "Dagster keeps its log elsewhere?"
    assert not list(tmp_path.rglob("*-wal")), "the last to close has cleared up"


def test_an_instance_without_files_is_left_alone():
    with dg.DagsterInstance.ephemeral() as instance, event_log_open(instance, "run") as held:
        assert held == []
