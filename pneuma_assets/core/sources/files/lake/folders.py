"""Finds the folders that are one table by what a listing shows of them; opens no file.

A Delta table is a folder with commits in `_delta_log`, an Iceberg table one with metadata files in
`metadata`. All files below it are its own, whatever they are called.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from pneuma_assets.core.sources.files.storage import FileEntry

DELTA_LOG = "_delta_log"
ICEBERG_METADATA = "metadata"

COMMIT = re.compile(r"(\d{20})\.json")
CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.[\w.-]{1,100})?\.(?:parquet|json)")
METADATA = re.compile(r"v?(\d{1,10})(?:-[0-9a-f-]{36})?(?:\.gz)?\.metadata\.json(?:\.gz)?")


@dataclass(slots=True)
class TableFolder:
    """A folder that is one table of a lake format.

    Attributes:
        format: `delta` or `iceberg`.
        states: The files that say what the table is at a version, with the number of each.
    """

    format: str
    states: list[tuple[int, FileEntry]] = field(default_factory=list)

    @property
    def newest(self) -> FileEntry:
        """The file of the newest version, by which a change is seen: it is never written again."""
        return max(self.states, key=_age)[1]

    @property
    def oldest(self) -> FileEntry:
        """The file of the oldest version, which moves with the table and is of no other."""
        return min(self.states, key=_age)[1]


def table_folders(entries: Iterable[FileEntry]) -> dict[str, TableFolder]:
    """Return the folders of lake formats among these files, by path."""
    delta: dict[str, TableFolder] = {}
    checkpoints: dict[str, TableFolder] = {}
    iceberg: dict[str, TableFolder] = {}
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        above, _, last = folder.rpartition("/")
        if last == DELTA_LOG and (commit := COMMIT.fullmatch(name)):
            _add(delta, above, "delta", int(commit[1]), entry)
        elif last == DELTA_LOG and (checkpoint := CHECKPOINT.fullmatch(name)):
            _add(checkpoints, above, "delta", int(checkpoint[1]), entry)
        elif last == ICEBERG_METADATA and (metadata := METADATA.fullmatch(name)):
            _add(iceberg, above, "iceberg", int(metadata[1]), entry)
    # A checkpoint changes nothing; it counts where the commits are gone that it stands for.
    return {**iceberg, **checkpoints, **delta}


def root_of(folder: str, roots: Container[str]) -> str | None:
    """Return the nearest folder at or above one that is among `roots`; None if there is none."""
    while folder not in roots:
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
    return folder


def table_of_state(path: str) -> str | None:
    """Return the folder of the table of which a path is the log, or says the state; or None."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    if name == DELTA_LOG:
        return folder
    if last == DELTA_LOG and (COMMIT.fullmatch(name) or CHECKPOINT.fullmatch(name)):
        return above
    return above if last == ICEBERG_METADATA and METADATA.fullmatch(name) else None


def _add(
    tables: dict[str, TableFolder], root: str, table_format: str, number: int, entry: FileEntry
) -> None:
    tables.setdefault(root, TableFolder(table_format)).states.append((number, entry))


def _age(state: tuple[int, FileEntry]) -> tuple[int, float, str]:
    number, entry = state
    return number, entry.written_at or 0.0, entry.path
