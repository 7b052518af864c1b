"""Tells apart, among the files of a source, tables, parts of tables, and documents."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.sources.files.lake.folders import DELTA_LOG, root_of, table_folders
from pneuma_assets.core.sources.files.lake.spark import (
    TEMPORARY,
    parse_part_name,
    parts_of_folders,
    read_marks,
)
from pneuma_assets.core.sources.files.storage import FileEntry
from pneuma_assets.core.sources.files.unread import unread
from pneuma_assets.core.sources.names import (
    FORMATS,
    HOLDERS,
    PARTITION_MARK,
    FileName,
    document_key,
    is_folder_document,
    is_partition,
    parse_file_name,
    parse_json_name,
)

_FORMAT_ORDER = {
    name: order for order, name in enumerate(dict.fromkeys([*FORMATS.values(), "delta", "iceberg"]))
}


@dataclass(slots=True)
class Documents:
    """The documents of one folder: by name, and those that speak of the whole folder."""

    by_key: dict[str, FileEntry] = field(default_factory=dict)
    shared: list[FileEntry] = field(default_factory=list)


@dataclass(slots=True)
class Candidate:
    """A table before it has an id.

    Attributes:
        folder: Where it lies.
        stem: Its name without an extension.
        file_name: With it.
        format: How it is read.
        location: Its path, with a final `/` if it is a folder.
        files: Those by which a change of it is seen.
        first: The oldest file of a table that keeps its versions.
        inside: Its name in its file, where that may hold several.
        unsure: Whether only its content tells a table from a document.
    """

    folder: str
    stem: str
    file_name: str
    format: str
    location: str
    files: list[FileEntry] = field(default_factory=list)
    first: FileEntry | None = None
    inside: str = ""
    unsure: bool = False

    @property
    def is_opened(self) -> bool:
        """Whether a listing has to open it to know which tables it holds."""
        return self.unsure or self.format in HOLDERS

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder with all that is in it."""
        return self.location.endswith(PARTITION_MARK)

    @property
    def order(self) -> tuple[str, str, bool, int, str, str]:
        """Who chooses an id first."""
        form = _FORMAT_ORDER[self.format]
        return self.folder, self.stem, self.is_folder, form, self.file_name, self.inside


@dataclass(slots=True)
class Found:
    """What is among the files of a source.

    Jobs are writing to the folders in `unfinished`. `logs` are the write-ahead logs of databases.
    `unread` are files that hold tables, perhaps, and are not read; each with the cause.
    """

    candidates: dict[tuple[str, str], Candidate] = field(default_factory=dict)
    documents: dict[str, Documents] = field(default_factory=lambda: defaultdict(Documents))
    unfinished: set[str] = field(default_factory=set)
    logs: dict[str, list[FileEntry]] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def sort_files(source: str, entries: Sequence[FileEntry]) -> Found:
    """Return the tables and documents among files; no file is opened."""
    found = Found()
    roots = table_folders(entries)
    for root, table in roots.items():
        candidate = _folder(source, root, table.format)
        candidate.files, candidate.first = [table.newest], table.oldest
        found.candidates[candidate.location, table.format] = candidate
    loose = [e for e in entries if root_of(e.path.rpartition("/")[0], roots) is None]
    marks = read_marks(loose)
    parts = parts_of_folders(loose, marks)
    for entry in loose:
        _add_file(found, source, entry, parts)
    _add_documents(found, entries, parts)
    _add_json(found, source, loose, parts)
    _drop_aliases(found)
    found.unread = unread(entry.path for entry in loose)
    found.logs = {e.path: [e] for e in loose if e.path.endswith("-wal")}
    for folder, mark in marks.items():
        if mark.unfinished:
            above = partition_root(folder)
            found.unfinished.add(folder if above is None else above)
    return found


def _drop_aliases(found: Found) -> None:
    """Keep one of the names of a file: its own where that is listed, else a link's."""
    kept: set[tuple[str, str]] = set()
    for key, table in sorted(found.candidates.items()):
        real = None if table.is_folder else table.files[0].leads_to
        if real is None:
            continue
        if (real, table.format) in found.candidates or (real, table.format) in kept:
            del found.candidates[key]
        kept.add((real, table.format))


def partition_root(folder: str) -> str | None:
    """Return the folder above the first `key=value` folder of a path, None if there is none."""
    parts = folder.split("/")
    for depth, part in enumerate(parts):
        if is_partition(part):
            return "/".join(parts[:depth])
    return None


def _add_file(
    found: Found, source: str, entry: FileEntry, parts: dict[str, dict[str, FileName]]
) -> None:
    folder, _, name = entry.path.rpartition("/")
    inside = folder.split("/")
    part = parts.get(folder, {}).get(name)
    # One of Spark's that is no part of its folder was written by a job that has not ended.
    said = part or (None if parse_part_name(name) else parse_file_name(name))
    if said is None or TEMPORARY in inside or DELTA_LOG in inside:
        return
    _add(found, _candidate(source, entry, said, is_part=part is not None), entry)


def _candidate(source: str, entry: FileEntry, said: FileName, *, is_part: bool) -> Candidate:
    folder, _, name = entry.path.rpartition("/")
    root = partition_root(folder)
    if root is None and is_part:
        root = folder
    if root is not None:
        return _folder(source, root, said.format)
    return Candidate(folder, said.stem, name, said.format, entry.path)


def _add(found: Found, table: Candidate, entry: FileEntry) -> None:
    found.candidates.setdefault((table.location, table.format), table).files.append(entry)


def _add_json(
    found: Found, source: str, loose: Iterable[FileEntry], parts: dict[str, dict[str, FileName]]
) -> None:
    """Add the `.json` files that are no table's documents; their content tells what they are."""
    named = {(t.folder, name) for t in found.candidates.values() for name in (t.stem, t.file_name)}
    for entry in loose:
        folder, _, name = entry.path.rpartition("/")
        said = parse_json_name(name)
        inside = {*folder.split("/")}
        is_part = name in parts.get(folder, {}) or parse_part_name(name) is not None
        is_document = said is not None and (folder, said.stem) in named
        if said is None or is_part or is_document or is_folder_document(name):
            continue
        if TEMPORARY not in inside and DELTA_LOG not in inside:
            found.documents[folder].by_key.pop(document_key(name) or "", None)
            table = _candidate(source, entry, said, is_part=False)
            table.unsure = True
            _add(found, table, entry)


def _folder(source: str, root: str, table_format: str) -> Candidate:
    above, _, stem = root.rpartition("/")
    stem = stem or source  # The source's root is itself one table.
    return Candidate(above, stem, f"{stem}.{table_format}", table_format, f"{root}{PARTITION_MARK}")


def _add_documents(
    found: Found, entries: Iterable[FileEntry], parts: dict[str, dict[str, FileName]]
) -> None:
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        if name in parts.get(folder, {}):
            continue
        if is_folder_document(name):
            found.documents[folder].shared.append(entry)
        elif parse_file_name(name) is not None:
            continue
        elif (document := document_key(name)) is not None:
            found.documents[folder].by_key[document] = entry
