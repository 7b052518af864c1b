"""Where Dagster keeps the runs that a command line or a script starts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

DAGSTER_YAML = """\
# Runs recorded here show in the UI: DAGSTER_HOME=<this folder> dagster dev
# No pool has a limit here: a run that waits for its slot in this process would spin. Claims and
# the index's own lock keep two runs out of each other's way; docs/operators.md sets limits.
telemetry:
  enabled: false
nux:
  enabled: false
run_monitoring:
  enabled: true
  free_slots_after_run_end_seconds: 10
"""


@contextmanager
def open_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """Open the instance of DAGSTER_HOME, or else the one in the state folder, made if need be."""
    if os.environ.get("DAGSTER_HOME"):
        instance = dg.DagsterInstance.get()
    else:
        folder = home / "dagster"
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "dagster.yaml"
        if not settings.exists():
            settings.write_text(DAGSTER_YAML, encoding="utf-8")
        instance = dg.DagsterInstance.from_config(str(folder))
    with instance:
        yield instance
