"""Turns a list of files into tables: ids, partitioned folders, documents beside them.

Several files may want one id. They are served in this order: files before partitioned folders,
then by format (Parquet, CSV, TSV, JSON Lines), then by name. The first keeps the stem
(`lake/sales`), the others keep their extension too (`lake/sales.csv`); should even that be
taken, `~2`, `~3` and so on are added. A table that has an id keeps it when another file appears:
what people wrote about it is kept under that id.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds
from pneuma_assets.core.sources.files.storage import FileEntry
from pneuma_assets.core.sources.names import (
    DOCUMENT_SUFFIXES,
    FOLDER_DOCUMENTS,
    FORMATS,
    PARTITION_MARK,
    document_key,
    escape,
    is_partition,
    parse_file_name,
)
from pneuma_assets.core.tables import TableRef, content_hash

_FORMAT_ORDER = {name: order for order, name in enumerate(dict.fromkeys(FORMATS.values()))}


@dataclass(slots=True)
class _Documents:
    """The documents of one folder: by name, and those that speak of the whole folder."""

    by_key: dict[str, FileEntry] = field(default_factory=dict)
    shared: list[FileEntry] = field(default_factory=list)


@dataclass(slots=True)
class _Candidate:
    """A table before it has an id; `location` is a path, with a final `/` if partitioned."""

    folder: str
    stem: str
    file_name: str
    format: str
    location: str
    files: list[FileEntry] = field(default_factory=list)

    @property
    def partitioned(self) -> bool:
        return self.location.endswith(PARTITION_MARK)

    @property
    def order(self) -> tuple[str, str, bool, int, str]:
        return self.folder, self.stem, self.partitioned, _FORMAT_ORDER[self.format], self.file_name


def build_tables(
    source: str,
    entries: Iterable[FileEntry],
    locate: Callable[[str], str],
    known: KnownIds = NONE_KNOWN,
) -> list[TableRef]:
    """Return the tables among these files, sorted by id.

    Args:
        source: First part of every id.
        entries: All files, tables or not.
        locate: Turns a path into the location that the references keep.
        known: Ids that tables have already.
    """
    candidates: dict[tuple[str, str], _Candidate] = {}
    documents: dict[str, _Documents] = defaultdict(_Documents)
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        if (table := _candidate(source, folder, name)) is not None:
            key = (table.location, table.format)
            candidates.setdefault(key, table).files.append(entry)
        elif name.lower() in FOLDER_DOCUMENTS:
            documents[folder].shared.append(entry)
        elif (document := document_key(name)) is not None:
            documents[folder].by_key[document] = entry
    ordered = sorted(candidates.values(), key=lambda table: table.order)
    old_ids = [known.get((locate(table.location), table.format)) for table in ordered]
    taken = {table_id for table_id in old_ids if table_id is not None}
    tables = []
    for table, old_id in zip(ordered, old_ids, strict=True):
        table_id = old_id or _free_id(source, table, taken)
        beside = _documents_of(table, documents)
        tables.append(
            TableRef(
                table_id=table_id,
                source=source,
                location=locate(table.location),
                format=table.format,
                version=_version(table.files, beside),
                context_locations=tuple(locate(entry.path) for entry in beside),
                updated_at=max((at for f in table.files if (at := f.written_at)), default=None),
            )
        )
    return sorted(tables, key=lambda table: table.table_id)


def path_id(source: str, path: str) -> str:
    """Return the id of a file or folder that is not a table, to name it in a problem."""
    return f"{source}/{escape(path)}"


def partition_root(folder: str) -> str | None:
    """Return the folder above the first `key=value` folder of a path, None if there is none."""
    parts = folder.split("/")
    for depth, part in enumerate(parts):
        if is_partition(part):
            return "/".join(parts[:depth])
    return None


def _candidate(source: str, folder: str, name: str) -> _Candidate | None:
    parsed = parse_file_name(name)
    if parsed is None:
        return None
    root = partition_root(folder)
    if root is None:
        location = f"{folder}/{name}" if folder else name
        return _Candidate(folder, parsed.stem, name, parsed.format, location)
    above, _, stem = root.rpartition("/")
    stem = stem or source  # The source's root is itself one partitioned table.
    return _Candidate(
        above, stem, f"{stem}.{parsed.format}", parsed.format, f"{root}{PARTITION_MARK}"
    )


def _free_id(source: str, table: _Candidate, taken: set[str]) -> str:
    prefix = f"{source}/{escape(table.folder)}/" if table.folder else f"{source}/"
    names = [table.stem, table.file_name]
    number = 1
    while (table_id := prefix + escape(names[0])) in taken:
        names.pop(0)
        number += 1
        if not names:
            names.append(f"{table.file_name}~{number - 1}")
    taken.add(table_id)
    return table_id


def _documents_of(table: _Candidate, documents: dict[str, _Documents]) -> list[FileEntry]:
    """Return the table's own documents first, then those of its folder, each once."""
    beside = documents.get(table.folder, _Documents())
    found = []
    for suffix in DOCUMENT_SUFFIXES:
        keys = dict.fromkeys((table.stem + suffix, table.file_name + suffix))
        found += [beside.by_key[key] for key in keys if key in beside.by_key]
    if table.partitioned:
        inside = table.location.rstrip(PARTITION_MARK)
        found += documents.get(inside, _Documents()).shared if inside != table.folder else []
    return found + beside.shared


def _version(files: Sequence[FileEntry], documents: Sequence[FileEntry]) -> str:
    parts = []
    for kind, entries in (("file", files), ("document", documents)):
        for entry in sorted(entries, key=lambda entry: entry.path):
            parts += [kind, entry.path, entry.version]
    return content_hash(*parts)
