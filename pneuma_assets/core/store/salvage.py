"""Saving what a damaged state file still holds: what models said and what people wrote.

Only rows whose checksum is there are saved. The work list and what was read of tables are left
behind: the next run lists and reads them again and asks the model only for narrations that are
lost. Tables of a source that it does not list stay in the index, and their embeddings kept.
"""

import shutil
import sqlite3
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.sqlite_codes import errors_in_text
from pneuma_assets.core.store.carving import Row, rows_of
from pneuma_assets.core.store.corrections import Correction, correction_of
from pneuma_assets.core.store.machine import lives_here, this_machine
from pneuma_assets.core.store.readings import Reading, readings_of, shapes_of_today
from pneuma_assets.core.store.row_sums import SUMS
from pneuma_assets.core.store.schema import METADATA, corrections, leases, user_contexts
from pneuma_assets.core.store.sqlite_database import SqliteDatabase, raw_of
from pneuma_assets.core.store.store import Store

_KEPT = {
    *("meta", "narrations", "table_narrations", "user_contexts", "corrections", "pages"),
    *("mined_questions", "measurements", "join_verdicts"),
}
"""Tables that are saved; the others mean something only together, and the next run makes them."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """How many rows of each table were saved and lost, and where the damaged file is kept.

    `all_known`: whether the list of what the file held is whole; else more may be lost.
    `contexts_unsure`, `corrections_unsure`: what people added or corrected that can be read but
    has no checksum; not saved. A context is its table's id, its name and its text.
    """

    saved: Mapping[str, int]
    lost: Mapping[str, int]
    contexts_unsure: tuple[tuple[str, str, str], ...]
    corrections_unsure: tuple[Correction, ...]
    kept: Path
    all_known: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows of a damaged file that are whole, and what is known of the others."""

    rows: dict[str, set[Row]]
    lost: dict[str, int]
    unsure: tuple[Reading, ...]
    """Of tables that are precious, as far as their texts can be read."""
    all_known: bool


def salvage(path: Path) -> Salvaged | None:
    """Put a new state file in the place of a damaged one; None if the file is whole.

    The damaged file is kept beside it as `state.db.damaged-DATE`.

    Raises:
        StateError: There is no file, it is not damaged but cannot be used, or a run goes on.
    """
    if not path.exists():
        raise StateError(f"There is no state file {str(path)!r}; there is nothing to salvage.")
    try:
        with Store(path) as store:
            store.check()
    except StateDamagedError:
        pass
    else:
        return None
    found = _whole_rows(path)
    _check_no_run(found.rows.get(leases.name, ()))
    saved = {name: rows for name, rows in found.rows.items() if name in _KEPT}
    fresh = path.with_name(f"{path.name}.salvaged-{uuid.uuid4().hex}")
    try:
        with closing(SqliteDatabase(fresh)) as database:
            with database.write() as connection:
                for name, rows in saved.items():
                    width = len(METADATA.tables[name].columns)
                    marks = ", ".join("?" * width)
                    raw_of(connection).executemany(
                        f"INSERT OR IGNORE INTO {name} VALUES ({marks})", sorted(rows, key=repr)
                    )
            database.check()
            database.settle()
        kept = _set_aside(path, fresh)
    finally:
        for leftover in path.parent.glob(f"{fresh.name}*"):
            leftover.unlink(missing_ok=True)
    counts = {name: len(rows) for name, rows in saved.items()}
    return Salvaged(
        counts,
        found.lost,
        _contexts(found.unsure),
        _corrections(found.unsure),
        kept,
        found.all_known,
    )


def _contexts(unsure: Iterable[Reading]) -> tuple[tuple[str, str, str], ...]:
    rows = [one.row for one in unsure if one.name == user_contexts.name]
    return tuple(sorted((str(table_id), str(name), str(text)) for table_id, name, text in rows))


def _corrections(unsure: Iterable[Reading]) -> tuple[Correction, ...]:
    rows = [one.row for one in unsure if one.name == corrections.name]
    found = [correction_of(row) for row in rows]
    return tuple(sorted(found, key=lambda one: (one.table_id, one.column or "")))


def _check_no_run(found: Iterable[Row]) -> None:
    """Refuse while a process holds a lease, of this machine or of a container beside it."""
    columns = leases.c.keys()
    for row in found:
        lease = dict(zip(columns, row, strict=True))
        pid, born = lease["pid"], lease["born_at"]
        here = lease["machine"] == this_machine()
        if not (isinstance(pid, int) and isinstance(born, float)):
            continue
        ends = lease["expires_at"]
        in_force = isinstance(ends, float) and ends > time.time()
        if lives_here(pid, born) if here else in_force:
            raise StateError("A run is at work; wait until it ends, or end it, and salvage then.")


def _whole_rows(path: Path) -> _Found:
    shapes = shapes_of_today()
    read = {name: shapes[name] for name in (*sorted(_KEPT), leases.name)}
    found = set(rows_of(path))
    sums = {row for row in found if len(row) == 2 and row[0] in shapes and isinstance(row[1], int)}
    rows: dict[str, set[Row]] = {}
    unsure: list[Reading] = []
    for stored in found - sums:
        readings = list(readings_of(stored, read))
        whole = [one for one in readings if one.is_written(sums)]
        for one in whole:
            rows.setdefault(one.name, set()).add(one.brought_up_to_date())
        unsure += () if whole else (one for one in readings if one.is_legible())
    expected = Counter(str(name) for name, _ in sums)
    wanted = sorted(expected.keys() & _KEPT)
    lost = {name: expected[name] - len(rows.get(name, ())) for name in wanted}
    return _Found(
        {name: rows[name] for name in sorted(rows)},
        {name: count for name, count in lost.items() if count},
        tuple(unsure),
        _count_of_sums(path) == len(sums),
    )


def _count_of_sums(path: Path) -> int | None:
    """Return how many rows the file held, if SQLite can still tell."""
    readable = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with errors_in_text(), closing(sqlite3.connect(readable, uri=True)) as connection:
            (count,) = connection.execute(f"SELECT count(*) FROM {SUMS}").fetchone()
    except sqlite3.Error:
        return None
    return int(count)


def _set_aside(path: Path, fresh: Path) -> Path:
    """Keep the damaged file under another name and put the new one in its place.

    The log goes first: beside the new file, SQLite would take it for that file's.
    """
    date = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    kept = path.with_name(f"{path.name}.damaged-{date}")
    try:
        shutil.copy2(path, kept)
        log = path.with_name(f"{path.name}-wal")
        if log.exists():
            log.replace(kept.with_name(f"{kept.name}-wal"))
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        fresh.replace(path)
    except OSError as error:
        raise StateError(
            f"The state file {str(path)!r} cannot be replaced: {error.strerror}; free disk space, "
            "check the folder's permissions, and salvage again."
        ) from error
    return kept
