"""The folders that Spark, Hadoop and their like write: one table each, in many files.

A job writes below `_temporary` and moves its files out of there when it commits; then it writes an
empty `_SUCCESS`. A job of Databricks marks its files by a number instead, and writes `_started_N`
before and `_committed_N` after them.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.names import (
    COMPRESSIONS,
    FileName,
    is_partition,
    parse_file_name,
    parse_json_name,
)
from pneuma_assets.core.sources.files.storage import FileEntry, Walk

TEMPORARY = "_temporary"
SUCCESS = "_SUCCESS"
UNFINISHED = (
    "a job is writing it, or was ended while it did (there is _temporary and no _SUCCESS); what "
    "was known of it stays until the job has ended; if none is running, remove _temporary"
)
"""What is said of a table that is not to be read now."""

_PART = re.compile(
    r"part-(?:[mr]-)?\d{5,10}-(?:tid-(?P<tid>\d{1,20})-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"(?:[-.].*)?\.(?P<format>parquet|csv|tsv|json|orc|avro)"
    f"(?:{'|'.join(map(re.escape, COMPRESSIONS))})?",
)
_STARTED = re.compile(r"_(?P<what>started|committed)_(?P<tid>\d{1,20})")
_CHANGING = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,}|\d+")


def parse_part_name(name: str) -> FileName | None:
    """Return what the name of one of Spark's files says; None if it is not one's."""
    return (parse_json_name(name) or parse_file_name(name)) if _PART.fullmatch(name) else None


@dataclass(slots=True)
class Marks:
    """What the files of one folder say of the jobs that write to it."""

    succeeded: bool = False
    being_written: bool = False
    started: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)

    @property
    def unfinished(self) -> bool:
        """Whether a job has begun to write to this folder and has not ended."""
        return self.being_written and not self.succeeded

    def has_committed(self, name: str) -> bool:
        """Tell whether the job is done that wrote a file."""
        part = _PART.fullmatch(name)
        number = part["tid"] if part else None
        return number not in self.started - self.committed


def read_marks(entries: Iterable[FileEntry]) -> dict[str, Marks]:
    """Return the marks of each folder that has some."""
    marks: dict[str, Marks] = defaultdict(Marks)
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        if name == SUCCESS:
            marks[folder].succeeded = True
        elif TEMPORARY in (parts := entry.path.split("/")):
            marks["/".join(parts[: parts.index(TEMPORARY)])].being_written = True
        elif mark := _STARTED.fullmatch(name):
            of_jobs = marks[folder]
            numbers = of_jobs.started if mark["what"] == "started" else of_jobs.committed
            numbers.add(mark["tid"])
    return dict(marks)


def parts_of_folders(
    entries: Iterable[FileEntry], marks: Mapping[str, Marks]
) -> dict[str, dict[str, FileName]]:
    """Return the files of each folder that is one table: what the name of each says.

    These are files with Spark's names; and all files of a folder where a job has succeeded, if
    their names have numbers and differ in nothing else. (Other people mark with `_SUCCESS` that an
    export of several tables is complete.)
    """
    found: dict[str, dict[str, FileName]] = defaultdict(dict)
    others: dict[tuple[str, str], dict[str, FileName]] = defaultdict(dict)
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        if TEMPORARY in folder.split("/"):
            continue
        if (part := parse_part_name(name)) is not None:
            if folder not in marks or marks[folder].has_committed(name):
                found[folder][name] = part
        elif folder in marks and marks[folder].succeeded and (other := parse_file_name(name)):
            others[folder, other.format][name] = other
    for (folder, _), files in others.items():
        patterns = {_CHANGING.sub("#", name) for name in files}
        if len(patterns) == 1 and "#" in patterns.pop():
            found[folder].update(files)
    return dict(found)


def folder_files(walk: Walk, folder: str, file_format: str) -> Sequence[FileEntry]:
    """Return the files of one format in a folder that is one table, with those of its partitions.

    The folder's path ends with `/` unless it is the source's root.

    Raises:
        TableReadError: A job is writing to it.
    """
    marks = read_marks(walk.entries)
    if any(mark.unfinished for mark in marks.values()):
        raise TableReadError(UNFINISHED)
    parts = parts_of_folders(walk.entries, marks)
    found = []
    for entry in walk.entries:
        above, _, name = entry.path.rpartition("/")
        inside = entry.path.removeprefix(folder).split("/")[:-1]
        parsed = parts.get(above, {}).get(name)
        in_partition = any(map(is_partition, inside))
        if inside and not in_partition:
            parsed = None
        elif in_partition and TEMPORARY not in inside and not _PART.fullmatch(name):
            parsed = parsed or parse_file_name(name) or parse_json_name(name)
        if parsed is not None and parsed.format == file_format:
            found.append(entry)
    return found


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
    states: list[tuple[int, float, str, FileEntry]] = field(default_factory=list)

    def add(self, number: str, entry: FileEntry) -> None:
        """Add the file of a version."""
        self.states.append((int(number), entry.written_at or 0.0, entry.path, entry))

    @property
    def newest(self) -> FileEntry:
        """The file of the newest version, by which a change is seen: it is never written again."""
        return max(self.states, key=itemgetter(0, 1, 2))[-1]

    @property
    def oldest(self) -> FileEntry:
        """The file of the oldest version, which moves with the table and is of no other."""
        return min(self.states, key=itemgetter(0, 1, 2))[-1]


def table_folders(entries: Iterable[FileEntry]) -> dict[str, TableFolder]:
    """Return the folders of lake formats among these files, by path."""
    delta: dict[str, TableFolder] = defaultdict(lambda: TableFolder("delta"))
    checkpoints: dict[str, TableFolder] = defaultdict(lambda: TableFolder("delta"))
    iceberg: dict[str, TableFolder] = defaultdict(lambda: TableFolder("iceberg"))
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        above, _, last = folder.rpartition("/")
        if last == DELTA_LOG and (commit := COMMIT.fullmatch(name)):
            delta[above].add(commit[1], entry)
        elif last == DELTA_LOG and (checkpoint := CHECKPOINT.fullmatch(name)):
            checkpoints[above].add(checkpoint[1], entry)
        elif last == ICEBERG_METADATA and (metadata := METADATA.fullmatch(name)):
            iceberg[above].add(metadata[1], entry)
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
