"""Runs only for work, and until there is none: ticks over a real lake, in a real instance."""

import os
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import dagster as dg
import pytest

from pneuma_assets.core.pipeline.watch import check_for_work
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.store import queue
from tests.support.ticks import Ticking, tiny_lake

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("read_here")]


@pytest.fixture
def instance(kept_instance):
    return kept_instance


@pytest.fixture
def lake(tmp_path, instance):
    tiny_lake(tmp_path, 3)
    return Ticking(tmp_path, instance)


def counts(lake) -> dict[str, int]:
    with open_store(lake.loaded, {}) as store:
        return dict(Counter(str(record.state) for record in store.tables.records()))


def evaluated(lake) -> dg.RunRequest:
    """Let the sensor of the definitions tick as the daemon does."""
    repository = lake.definitions.get_repository_def()
    with dg.build_sensor_context(lake.instance, repository_def=repository) as context:
        found = repository.get_sensor_def(lake.names("watch")).evaluate_tick(context)
    (request,) = found.run_requests
    return request


def skipped(decision) -> str:
    assert isinstance(decision, dg.SkipReason), decision
    return decision.skip_message


def asked(decision) -> dg.RunRequest:
    assert isinstance(decision, dg.RunRequest), decision
    return decision


def indexed(lake) -> int:
    return counts(lake).get("indexed", 0)


def test_an_hour_over_an_unchanged_lake_asks_for_no_run_and_logs_nothing(lake):
    lake.execute(asked(lake.watch()))
    before = lake.instance.event_log_storage.get_maximum_record_id()
    for minute in range(0, 60, 12):
        lake.ahead = timedelta(minutes=minute)
        told = skipped(lake.watch())
        assert told.startswith("No table waits; 3 tables listed in 0."), told
    skipped(lake.schedule())
    assert lake.instance.event_log_storage.get_maximum_record_id() == before
    assert len(lake.instance.get_runs()) == 1


def test_runs_follow_until_all_that_was_dropped_is_indexed(tmp_path, instance):
    tiny_lake(tmp_path, 5)
    lake = Ticking(tmp_path, instance, indexing={"tables_per_run": 2})
    request, runs = asked(lake.watch()), 0
    while isinstance(request, dg.RunRequest):
        result = lake.execute(request)
        runs += 1
        assert indexed(lake) == min(5, 2 * runs)
        if runs < 3:
            assert "the sensor go_on asks for the next run" in skipped(lake.watch())
        request = lake.go_on(result)
    assert runs == 3
    assert "has left no table" in skipped(request)
    assert "No table waits" in skipped(lake.watch())


def test_no_second_run_is_asked_for_while_one_works(lake):
    job = lake.definitions.resolve_job_def(lake.names("index_tables"))
    run = lake.instance.create_run_for_job(job, tags=job.run_tags)
    for decision in (lake.watch(), lake.schedule()):
        assert skipped(decision) == f"Run {run.run_id} is still running."
    lake.instance.report_run_canceled(run)
    assert "it goes on at" in skipped(lake.watch())


def test_runs_of_a_trial_deployment_of_the_same_names_hold_nothing_up(lake, tmp_path, instance):
    (tmp_path / "trial").mkdir()
    tiny_lake(tmp_path / "trial", 1)
    trial = Ticking(tmp_path / "trial", instance)
    job = trial.definitions.resolve_job_def(lake.names("index_tables"))
    run = instance.create_run_for_job(job, tags=job.run_tags)
    assert skipped(trial.watch()) == f"Run {run.run_id} is still running."
    asked(lake.watch())
    instance.report_run_failed(run)
    assert "it goes on at" in skipped(trial.watch())
    asked(lake.watch())


def fail_runs(lake, count: int) -> None:
    """Let runs of the job fail without any of them having done anything, one by one."""
    job = lake.definitions.resolve_job_def(lake.names("index_tables"))
    for _ in range(count):
        lake.instance.report_run_failed(lake.instance.create_run_for_job(job, tags=job.run_tags))


@pytest.mark.parametrize(("failed", "minutes"), [(1, 2), (9, 60)])
def test_failed_runs_in_a_row_put_the_next_one_off(lake, failed, minutes):
    fail_runs(lake, failed)
    lake.ahead = timedelta(minutes=minutes, seconds=-5)
    told = skipped(lake.watch())
    assert told.startswith("3 tables wait, but the last")
    assert "it goes on at" in told
    lake.ahead = timedelta(minutes=minutes)
    asked(lake.watch())


def test_a_run_that_somebody_starts_ends_the_wait(lake, tmp_path):
    fail_runs(lake, 3)
    skipped(lake.watch())
    lake.execute()
    tiny_lake(tmp_path, 1, first=10)
    lake.ahead = timedelta(minutes=1)
    asked(lake.watch())


def attempts(lake, table_id: str) -> int:
    with open_store(lake.loaded, {}) as store:
        return store.tables.record(table_id).attempts


def test_a_failed_table_rests_and_other_tables_do_not_wait_for_it(lake, tmp_path, monkeypatch):
    (tmp_path / "lake/torn.parquet").write_bytes(b"PAR1 and no more")
    lake.execute(asked(lake.watch()))
    assert "1 that failed or are incomplete will be tried again" in skipped(lake.watch())
    tiny_lake(tmp_path, 1, first=10)
    monkeypatch.setattr(queue, "RETRY_AFTER_S", (0.0,))
    lake.execute(asked(lake.watch()))
    assert counts(lake) == {"indexed": 4, "failed": 1}
    assert attempts(lake, "lake/torn") == 1, "it was resting"
    lake.execute()
    assert attempts(lake, "lake/torn") == 2, "a person does not wait"


@pytest.mark.slow
def test_a_file_that_is_being_written_rests_first_and_one_that_was_half_written_is_repaired(
    lake, tmp_path
):
    lake.execute()
    lake.load(indexing={"quiet_period_seconds": 3600})
    whole = b"day,rain_mm\n" + b"".join(b"%d,%d\n" % (n, n) for n in range(100))
    growing = tmp_path / "lake/growing.csv"
    growing.write_bytes(whole[:30])
    assert "1 table changed just now and may rest" in skipped(lake.watch())
    os.utime(growing, (1, 1))
    request = asked(lake.watch())
    growing.write_bytes(whole[:60])  # between the tick and the run
    lake.execute(request)
    assert counts(lake) == {"indexed": 3, "pending": 1}, "nothing was read"
    lake.execute()  # a person does not wait
    assert counts(lake) == {"indexed": 4}
    growing.write_bytes(whole)
    os.utime(growing, (2, 2))
    lake.execute(asked(lake.watch()))
    with open_store(lake.loaded, {}) as store:
        assert store.tables.record("lake/growing").rows == 100
    assert counts(lake) == {"indexed": 4}


def test_of_two_ticks_at_once_one_is_skipped(lake, monkeypatch):
    inner = []

    def slow(*given, **more):
        inner.append(lake.watch())
        return check_for_work(*given, **more)

    monkeypatch.setattr("pneuma_assets.sensors.tick.check_for_work", slow)
    asked(lake.watch())
    assert [skipped(one) for one in inner] == ["An earlier tick still lists the sources."]


def test_a_killed_run_is_buried_and_followed(lake):
    job = lake.definitions.resolve_job_def(lake.names("index_tables"))
    run = lake.instance.create_run_for_job(job, tags=job.run_tags)
    with open_store(lake.loaded, {}) as store:
        store.runs.begin(run.run_id)
    assert "the last run failed" in skipped(lake.watch())
    assert lake.instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_a_source_that_cannot_be_listed_is_told_and_fails_no_tick(lake, tmp_path):
    lake.execute()
    (tmp_path / "lake").rename(tmp_path / "away")
    request = asked(lake.watch())
    assert request.job_name == "pneuma_check_tables"
    lake.execute(request)
    assert "lake cannot be listed" in skipped(lake.watch())
    with open_store(lake.loaded, {}) as store:
        assert store.problems.unlisted_sources() == ["lake"]
    (tmp_path / "away").rename(tmp_path / "lake")
    lake.execute(asked(lake.watch()))
    assert skipped(lake.watch()).startswith("No table waits")


def test_tables_that_are_held_are_told_once_by_a_run_of_the_checks(tmp_path, instance):
    tiny_lake(tmp_path, 12)
    lake = Ticking(tmp_path, instance)
    lake.execute(asked(lake.watch()))
    (tmp_path / "lake").rename(tmp_path / "away")
    (tmp_path / "lake").mkdir()
    request = asked(evaluated(lake))
    assert request.job_name == "pneuma_check_tables"
    assert request.tags["pneuma/why"] == "news of every_table_readable, no_removals_held"
    result = lake.execute(request)
    assert result.job_def.name == "pneuma_check_tables"
    verdicts = {one.check_name: one.passed for one in result.get_asset_check_evaluations()}
    assert not verdicts["no_removals_held"]
    assert "12 absent ones are held" in skipped(lake.watch()), "people know"
    (tmp_path / "lake").rmdir()
    (tmp_path / "away").rename(tmp_path / "lake")
    result = lake.execute(asked(lake.watch()))
    assert all(one.passed for one in result.get_asset_check_evaluations())
    assert skipped(lake.watch()).startswith("No table waits")


def test_a_broken_state_fails_a_tick_an_hour_and_is_told_in_the_others(lake, tmp_path):
    lake.execute()
    state = tmp_path / "home/state.db"
    whole = state.read_bytes()
    state.write_bytes(b"no database" * 1000)
    for _ in range(2):
        with pytest.raises(dg.Failure, match=r"state\.db"):
            lake.watch()
        for _ in range(3):
            assert skipped(lake.watch()).startswith("Nothing can be indexed: ")
        lake.ahead += timedelta(hours=1)
    state.write_bytes(whole)
    assert skipped(lake.watch()).startswith("No table waits")


def test_an_index_that_is_gone_is_work_and_so_are_other_settings(lake, tmp_path):
    lake.execute()
    shutil.rmtree(tmp_path / "home/index")
    lake.ahead = timedelta(minutes=1)
    request = asked(lake.watch())
    assert request.tags["pneuma/why"] == "the index holds 0 of 3 tables"
    lake.execute(request)
    lake.load(sampling={"rows": 1})
    request = asked(lake.watch())
    assert request.tags["pneuma/why"].startswith("models or options are others")
    lake.execute(request)
    assert skipped(lake.watch()).startswith("No table waits")


@pytest.mark.slow
def test_a_rebuild_in_several_runs_is_done_once(tmp_path, instance):
    tiny_lake(tmp_path, 3)
    lake = Ticking(tmp_path, instance, indexing={"tables_per_run": 2})
    lake.execute()
    config = {"ops": {"pneuma_raw_tables": {"config": {"rebuild": True, "retry": True}}}}
    tags = {"team": "sales", "dagster/max_retries": "2", "dagster/run_key": "x"}
    request, runs = dg.RunRequest(run_config=config, tags=tags), 0
    while isinstance(request, dg.RunRequest):
        result = lake.execute(request)
        request, runs = lake.go_on(result), runs + 1
        if isinstance(request, dg.RunRequest):
            assert request.run_config["ops"] == {"pneuma_raw_tables": {"config": {"only": []}}}
            assert request.tags["team"] == "sales"
            assert request.tags["dagster/max_retries"] == "2"
            assert "dagster/run_key" not in request.tags
    assert runs == 2
    assert counts(lake) == {"indexed": 3}


@pytest.mark.slow
def test_a_process_with_an_older_file_takes_no_source_away_and_asks_for_no_run(
    lake, tmp_path, instance
):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/t.csv").write_text("a,b\n1,2\n")
    folders = [{"type": "folder", "name": n, "path": str(tmp_path / n)} for n in ("lake", "other")]
    newer = Ticking(tmp_path, instance, sources=folders)
    newer.execute()
    for minute in range(1, 4):
        lake.ahead = timedelta(minutes=minute)
        assert "does not name other" in skipped(lake.watch())
    assert counts(newer) == {"indexed": 4}
    tiny_lake(tmp_path, 1, first=3)
    newer.execute(asked(lake.watch()))
    assert counts(newer) == {"indexed": 5}
    lake.load()  # now the file names one
    lake.execute()
    assert counts(lake) == {"indexed": 4}


def test_the_sensor_that_goes_on_says_why_it_asks_for_nothing(lake, instance):
    sensor = lake.definitions.resolve_sensor_def(lake.names("go_on"))

    def tick(cursor: str | None) -> tuple[dg.RunRequest | dg.SkipReason, str | None]:
        with dg.build_sensor_context(instance, cursor=cursor) as context:
            return sensor(context), context.cursor

    nothing = "No run has succeeded since the last look."
    decision, before = tick(None)
    assert skipped(decision) == nothing
    lake.execute()
    for cursor in (None, "of another version"):  # what ended before its first tick is no news
        decision, seen = tick(cursor)
        assert skipped(decision) == nothing
        assert skipped(tick(seen)[0]) == nothing
    decision, after = tick(before)
    assert "has left no table" in skipped(decision)
    assert after == seen


def test_the_sensor_that_goes_on_is_on(lake):
    repository = lake.definitions.get_repository_def()
    status = {s.name: s.default_status for s in repository.sensor_defs}
    on, off = dg.DefaultSensorStatus.RUNNING, dg.DefaultSensorStatus.STOPPED
    assert status == {"pneuma_watch": off, "pneuma_go_on": on}


@pytest.mark.slow
def test_of_two_sensors_at_once_one_asks_and_nothing_is_doubled(lake, tmp_path, instance):
    """Two code servers, each with a sensor of its own, over one state and one Dagster."""
    other = Ticking(tmp_path, instance)
    with ThreadPoolExecutor(2) as pool:
        decisions = list(pool.map(lambda one: one.watch(), (lake, other)))
    (request,) = (one for one in decisions if isinstance(one, dg.RunRequest))
    (told,) = (one for one in decisions if isinstance(one, dg.SkipReason))
    may_say = "another sensor has asked for a run", "another tick or run lists lake now"
    assert any(why in told.skip_message for why in may_say)
    lake.execute(request)
    for one in (lake, other):
        assert skipped(one.watch()).startswith("No table waits")
    assert counts(lake) == {"indexed": 3}
    assert len(instance.get_runs()) == 1
    tiny_lake(tmp_path, 1, first=3)
    asked(other.watch())


@pytest.mark.slow
def test_a_source_that_no_tick_has_time_for_is_listed_by_a_run_of_its_own(lake, tmp_path, instance):
    lake.execute(asked(lake.watch()))
    with open_store(lake.loaded, {}) as store:
        store.listings.begin("lake", ["lake"])  # by a tick that was ended with its process
    tiny_lake(tmp_path, 1, first=3)
    told = skipped(lake.watch())
    assert "another tick or run lists lake now" in told, "the listing may still go on"
    with open_store(lake.loaded, {}) as store:
        store.mark_changed({}, {"lake": []}, "")
        store.listings.end("lake", 100.0)
    request = asked(lake.watch())
    assert request.job_name == "pneuma_scan_sources"
    assert request.run_config["ops"]["pneuma_list_sources"]["config"] == {"only": ["lake"]}
    lake.execute(request)
    assert counts(lake) == {"indexed": 3, "pending": 1}, "listed, and nothing read"
    assert asked(lake.watch()).job_name == "pneuma_index_tables", "it lists in a second now"


def test_a_run_that_a_sensor_asks_for_does_not_list_again_what_takes_long(lake, tmp_path):
    lake.execute(asked(lake.watch()))
    with open_store(lake.loaded, {}) as store:
        store.mark_changed({"lake": ["lake/t0"]}, {}, "")
        store.listings.begin("lake", ["lake"])
    request = asked(lake.watch())
    config = request.run_config["ops"]["pneuma_raw_tables"]["config"]
    assert config == {"patient": True, "as_listed": ["lake"]}
    (tmp_path / "lake/t1.csv").unlink()
    result = lake.execute(request)
    assert counts(lake) == {"indexed": 3}, "the run has not listed"
    assert "has left no table" in skipped(lake.go_on(result))
