"""Puts the backup of a damaged state file in its place, and what people said into it."""

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.store.sqlite_database import StateDatabase, backup_of
from pneuma_assets.core.store.user_edits_journal import FILE_NAME, aside, replay


@dataclass(frozen=True, slots=True)
class Restored:
    """Whether a backup replaced a damaged file, how much people said, where the damaged one is."""

    from_backup: bool
    said: int
    kept: Path | None


def restore(path: Path) -> Restored | None:
    """Put a sound state file in the place of a damaged or missing one; None if it is whole.

    What people said since the backup is taken from `said.jsonl`. It may be killed at any moment.

    Raises:
        StateError: There is neither a file nor a backup, or nothing can be written.
    """
    backup = backup_of(path)
    if not path.exists() and not backup.exists():
        raise StateError(f"There is no state file {str(path)!r}; there is nothing to restore.")
    if path.exists() and _is_whole(path):
        return None
    fresh = path.with_name(f"{path.name}.restored")
    try:
        said = _make(fresh, backup)
        from_backup = backup.exists()
        kept = _set_aside(path) if path.exists() else None
        fresh.replace(path)
    except OSError as error:
        raise StateError(
            f"The state file {str(path)!r} cannot be replaced ({error.strerror}); free disk space, "
            "check the folder's permissions, and restore again."
        ) from error
    finally:
        for leftover in path.parent.glob(f"{fresh.name}*"):
            leftover.unlink(missing_ok=True)
    return Restored(from_backup, said, kept)


def _is_whole(path: Path) -> bool:
    try:
        with closing(StateDatabase(path)) as database:
            database.check()
    except StateDamagedError:
        return False
    return True


def _make(fresh: Path, backup: Path) -> int:
    if backup.exists():
        shutil.copy2(backup, fresh)
    try:
        with closing(StateDatabase(fresh)) as database:
            database.check()
            with database.write() as connection:
                said = replay(connection, fresh.with_name(FILE_NAME))
            database.checkpoint()
    except StateDamagedError as error:
        raise StateError(
            f"The backup {str(backup)!r} is damaged, too; move it away and restore again: then all "
            f"is read anew, and what people said is in {FILE_NAME}."
        ) from error
    return said


def _set_aside(path: Path) -> Path:
    """Keep the damaged file and its log, which SQLite would take for that of the file to come."""
    kept = aside(path)
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        log.replace(kept.with_name(f"{kept.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    return kept
