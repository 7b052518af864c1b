"""Under Dagster's default executor every step is a process, so all checks are one step."""

import dagster as dg
import pytest

from tests.support.multiprocess_checks import FILE, checks_job
from tests.support.pipeline_support import deployment, run_job, small_lake

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def test_the_checks_are_one_process(tmp_path, monkeypatch):
    (tmp_path / "dagster").mkdir()
    loaded = deployment(tmp_path, small_lake(tmp_path))
    monkeypatch.setenv(FILE, str(loaded.file))
    with dg.DagsterInstance.local_temp(str(tmp_path / "dagster")) as instance:
        run_job(loaded, instance)
        with dg.execute_job(dg.reconstructable(checks_job), instance=instance) as result:
            found = {e.check_name: e.passed for e in result.get_asset_check_evaluations()}
            steps = [event.step_key for event in result.filter_events(lambda e: e.is_step_start)]
    assert steps == ["pneuma_checks"]
    assert found == dict.fromkeys(
        [
            *("every_table_indexed", "every_table_readable", "block_counts_agree"),
            *("no_removals_held", "listed_lake"),
        ],
        True,
    )
