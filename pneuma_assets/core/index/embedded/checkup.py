"""Remembering that all of an embedded index was checked, for as long as its files do not change.

A run asks for the index's health when it begins, when it ends, and in each asset check. Reading
everything again between two of these would read the same bytes from the same memory.
"""

import time
from pathlib import Path

from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.embedded.committed import NAME as NOTE
from pneuma_assets.core.index.embedded.contents import measure
from pneuma_assets.core.index.embedded.sqlite_file import SqliteFile
from pneuma_assets.core.index.identity import Identity

_QUIET_NS = 100_000_000
"""Changes within some milliseconds may bear the same time, so what is younger is not remembered."""

Stamp = tuple[tuple[int, int, int, int] | None, ...]
"""Device, number, size and time of change of each file, None for one that is not there."""


class Checkup:
    """The newest check of one open index that found nothing wrong."""

    def __init__(self) -> None:
        self._sound: tuple[Stamp, IndexInfo] | None = None

    def info(self, file: SqliteFile, identity: Identity) -> IndexInfo:
        """Return what `measure` does; checked again unless no file has changed since."""
        before, sound = _stamp(file.path), self._sound
        if sound is not None and sound[0] == before:
            return sound[1]
        info = measure(file, identity)
        after = _stamp(file.path)
        lasting = info.usable and before == after and _is_quiet(after)
        self._sound = (after, info) if lasting else None
        return info


def _stamp(path: Path) -> Stamp:
    return tuple(_stamp_of(path.with_name(name)) for name in (path.name, f"{path.name}-wal", NOTE))


def _stamp_of(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _is_quiet(stamp: Stamp) -> bool:
    newest = max((one[3] for one in stamp if one is not None), default=0)
    return time.time_ns() - newest >= _QUIET_NS
