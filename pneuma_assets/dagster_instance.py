"""Where Dagster keeps the runs that a command line or a script starts."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import dagster as dg
import yaml

from pneuma_assets.core.errors import ConfigError, StateError
from pneuma_assets.core.sqlite_codes import code_of, remedy_of

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


_SQLITE_SAID = re.compile(r"sqlite3\.\w+: (.*)")
_NO_PATH = frozenset("%?")
"""Signs that mean something in the addresses that Dagster makes of its folder, unquoted."""


@contextmanager
def open_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """Open the instance of DAGSTER_HOME, or else the one in the state folder, made if need be.

    Raises:
        ConfigError: Dagster cannot keep its history in a folder of that name.
        StateError: A file of the history is damaged, or cannot be written.
    """
    given = os.environ.get("DAGSTER_HOME")
    folder = Path(given) if given else home / "dagster"
    if signs := "".join(sorted(_NO_PATH.intersection(str(folder)))):
        raise ConfigError(
            f"Dagster cannot keep its history in {folder}, whose path has {signs}; choose another "
            "home by --home, or another folder for the history by DAGSTER_HOME"
        )
    opened = False
    try:
        with _instance(folder, given) as instance:
            opened = True
            yield instance
    except Exception as error:
        cause = _of_sqlite(error)
        if cause is None and (opened or isinstance(error, StateError)):
            raise
        if why := _why_not(folder, cause or error):
            raise StateError(why) from error
        raise


def _instance(folder: Path, given: str | None) -> dg.DagsterInstance:
    if given:
        return dg.DagsterInstance.get()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        settings = folder / "dagster.yaml"
        if not settings.exists():
            settings.write_text(DAGSTER_YAML, encoding="utf-8")
    except OSError as error:
        raise StateError(
            f"Dagster's history in {folder} cannot be written ({error.strerror or error}); check "
            "its permissions and the room on its disk, or choose another home by --home"
        ) from error
    return dg.DagsterInstance.from_config(str(folder))


def remedy_for(instance: dg.DagsterInstance, cause: str) -> str | None:
    """Return what to do where a run ended since its history could not be written; or None."""
    if not (said := _SQLITE_SAID.search(cause)):
        return None
    error = sqlite3.OperationalError(said[1])
    full = "disk is full" in said[1]
    error.sqlite_errorcode = sqlite3.SQLITE_FULL if full else sqlite3.SQLITE_IOERR
    return _not_written(Path(instance.root_directory), error)


def _not_written(folder: Path, error: sqlite3.Error) -> str | None:
    remedy = remedy_of(error, folder / "history")
    return remedy and f"Dagster's history in {folder} cannot be written ({error}); {remedy}"


def _of_sqlite(error: BaseException | None) -> sqlite3.Error | None:
    """Return what SQLite said, where an error came of that."""
    while error is not None and not isinstance(error, sqlite3.Error):
        error = error.__cause__ or error.__context__
    return error


def _why_not(folder: Path, error: Exception) -> str | None:
    """Return which file of a history keeps it closed and what to do; None where none is known."""
    if isinstance(error, sqlite3.Error) and (why := _not_written(folder, error)):
        return why
    damaged = [str(file) for file in sorted(folder.rglob("*.db")) if _is_damaged(file)]
    if damaged:
        return (
            f"Dagster's own history is damaged ({', '.join(damaged)}); move "
            f"{'it' if len(damaged) == 1 else 'them'} away and run again: past runs, their logs or "
            "ticks are lost with that, and nothing that is indexed"
        )
    settings = folder / "dagster.yaml"
    if not _is_mapping(settings):
        return (
            f"{settings}, Dagster's settings, cannot be read; mend it, or move it away and run "
            "again, which writes a new one"
        )
    return None


def _is_damaged(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return bool(database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.Error as error:
        return code_of(error) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _is_mapping(settings: Path) -> bool:
    try:
        read = yaml.safe_load(settings.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return False
    return read is None or isinstance(read, dict)
