"""Which runs count as having done something: after those that did not, a sensor waits longer."""

import pytest

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.sensors.tick import has_worked


@pytest.mark.parametrize(
    ("figures", "worked"),
    [
        ({"tables": 0, "removed": 0, "told": 3}, False),
        ({"tables": 1}, True),
        ({"removed": 1}, True),
        ({"forgotten": 1}, True),
    ],
)
def test_a_run_that_let_go_of_a_table_has_worked(tmp_path, figures, worked):
    with Store(tmp_path / "state.db") as store:
        store.runs.begin("run")
        store.runs.record("run", StageRecord("search_index", 1.0, figures))
        assert has_worked(store, "run") is worked
        assert has_worked(store, "another"), "which the store does not know any more"
