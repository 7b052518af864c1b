"""Turns a list of files into tables: ids, versions, documents beside them.

Several files may want one id. They are served in this order: files before folders, then by format
(Parquet, CSV, TSV, JSON Lines, and so on as `names.FORMATS` has them), then by name. The first
keeps the stem (`lake/sales`), the others keep their extension too (`lake/sales.csv`); should even
that be taken, `~2`, `~3` and so on are added. A table that has an id keeps it when another file
appears: what people wrote about it is kept under that id.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds, Listing
from pneuma_assets.core.sources.files.part_files import (
    DELTA_LOG,
    TEMPORARY,
    UNFINISHED,
    parse_part_name,
    parts_of_folders,
    read_marks,
    root_of,
    table_folders,
    table_of_state,
)
from pneuma_assets.core.sources.files.storage import FileEntry, Walk
from pneuma_assets.core.sources.names import (
    COMPRESSIONS,
    DOCUMENT_SUFFIXES,
    FORMATS,
    HOLDERS,
    PARTITION_MARK,
    FileName,
    document_key,
    escape,
    escape_segment,
    inside,
    is_folder_document,
    is_hidden,
    is_partition,
    parse_file_name,
    parse_json_name,
    split_inside,
    uncompressed,
)
from pneuma_assets.core.tables import Problem, TableRef, content_hash

_UNPACK = "archives are not opened; unpack it"
_EXPORT = "nothing here reads this format; write its tables as CSV or Parquet"
_CAUSES = {
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".rar"), _UNPACK),
    **dict.fromkeys((".sas7bdat", ".xpt", ".sav", ".por", ".dta"), _EXPORT),
    **dict.fromkeys((".rds", ".rda", ".rdata", ".mat", ".pkl", ".pickle"), _EXPORT),
    **dict.fromkeys((".h5", ".hdf5", ".nc", ".npy", ".npz"), _EXPORT),
    **dict.fromkeys((".mdb", ".accdb", ".dbf", ".numbers"), _EXPORT),
    **dict.fromkeys((".geojson", ".shp", ".gpkg"), _EXPORT),
    **dict.fromkeys((".duckdb", ".ddb"), "name it as a source of type duckdb"),
}
_HIDDEN = "its name begins with a dot, as those of temporary files do; rename it to have it indexed"
_PACKED = "files of this format are not read compressed; decompress it"


def unread(paths: Iterable[str]) -> dict[str, str]:
    """Return the first path of each kind of unread file, with the cause and how many there are."""
    kinds: dict[str, list[str]] = {}
    for path in sorted(paths):
        name = path.rpartition("/")[2]
        if is_hidden(name):
            kinds.setdefault(_HIDDEN, []).append(path)
        elif (suffix := _suffix(name)) in _CAUSES:
            kinds.setdefault(f"it ends in {suffix}: {_CAUSES[suffix]}", []).append(path)
        elif suffix in COMPRESSIONS and parse_file_name(name) is None:
            packed = _suffix(uncompressed(name))
            if packed in {*FORMATS, ".tar"}:
                cause = _UNPACK if packed == ".tar" else _PACKED
                kinds.setdefault(f"it ends in {packed}{suffix}: {cause}", []).append(path)
    return {found[0]: f"{cause}{_others(len(found) - 1)}" for cause, found in kinds.items()}


def _suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def _others(count: int) -> str:
    return f" (and so are {count:,} others left out)" if count else ""


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


Locate = Callable[[str], str]
"""Turns a path into the location that the references keep."""


LookInside = Callable[[TableRef], Sequence[str]]
"""Returns the names of the tables in a file that may hold several; raises `TableReadError`."""


def list_files(
    source: str,
    walk: Walk,
    locate: Locate,
    known: KnownIds = NONE_KNOWN,
    look_inside: LookInside = lambda _: (),
) -> Listing:
    """Return the tables among the files of a source, sorted by id, and what stood in the way.

    Args:
        source: First part of every id.
        walk: All files, tables or not.
        locate: Turns a path into a location.
        known: Ids that tables have already.
        look_inside: Opens files that hold several tables; no other file is opened.
    """
    # The files of a table whose log or metadata nobody may list are not tables by themselves.
    states = {
        o.path: table for o in walk.obstacles if (table := table_of_state(o.path)) is not None
    }
    closed = {*states.values()}
    entries = [e for e in walk.entries if not closed or root_of(e.path, closed) is None]
    found = sort_files(source, entries)
    unseen = {f for f in found.unfinished if _take_out(found, f, locate, known)}
    candidates, unopened = _look_into(source, found, locate, look_inside)
    tables = _tables(source, candidates, found.documents, locate, known)
    problems = [Problem(path_id(source, o.path), "listing", o.cause) for o in walk.obstacles]
    problems += [Problem(path_id(source, f), "listing", UNFINISHED) for f in sorted(unseen)]
    unlisted = [
        f"{path_id(source, o.path)}/"
        for o in walk.obstacles
        if o.is_folder and o.path not in states
    ]
    unknown = {states[o.path] for o in walk.obstacles if o.path in states and not o.left_out}
    for folder in sorted(unseen | unknown):
        unlisted += _ids_of(folder, source, locate, known)
    problems += [Problem(path_id(source, p), "listing", c) for p, c in found.unread.items()]
    for file, cause in unopened:
        problems.append(Problem(path_id(source, file.location), "listing", cause))
        unlisted += _ids_inside(file, source, locate, known)
    return Listing(tables, problems, unlisted, bare=walk.bare)


def path_id(source: str, path: str) -> str:
    """Return the id of a file or folder that is not a table, to name it in a problem."""
    return f"{source}/{escape(path)}"


def _take_out(found: Found, folder: str, locate: Locate, known: KnownIds) -> bool:
    """Take tables out that are being written; tell whether there are any, now or before."""
    path = f"{folder}{PARTITION_MARK}"
    written = [key for key in found.candidates if key[0] == path]
    for key in written:
        del found.candidates[key]
    return bool(written) or any(location == locate(path) for location, _ in known)


def _ids_of(folder: str, source: str, locate: Locate, known: KnownIds) -> list[str]:
    """Return the ids that tables in the place of a folder have or would have."""
    place = locate(f"{folder}{PARTITION_MARK}")
    ids = {table_id for (location, _), table_id in known.items() if location == place}
    return sorted(ids | {path_id(source, folder or source)})


def _look_into(
    source: str, found: Found, locate: Locate, look_inside: LookInside
) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """Return a candidate for each table in files that are opened, and those that do not open."""
    candidates, unopened = [], []
    for candidate in found.candidates.values():
        if not candidate.is_opened:
            candidates.append(candidate)
            continue
        # A log beside a database holds what is not yet in it.
        logs = found.logs.get(f"{candidate.location}-wal", [])
        candidate.files += logs
        ref = TableRef(
            table_id=path_id(source, candidate.location),
            source=source,
            location=locate(candidate.files[0].path),
            format=candidate.format,
            version=_version(candidate.files, []),
        )
        try:
            names = look_inside(ref)
        except TableReadError as error:
            unopened.append((candidate, str(error)))
            continue
        if "" in names and candidate.format in HOLDERS:
            unopened.append((candidate, "a table in it has no name; rename that table"))
            names = [name for name in names if name]
        candidates += [replace(candidate, inside=name) for name in names]
    return candidates, unopened


def _ids_inside(file: Candidate, source: str, locate: Locate, known: KnownIds) -> list[str]:
    """Return the ids that tables in a file have or would have."""
    place = locate(file.location)
    ids = {i for (at, form), i in known.items() if split_inside(at, form)[0] == place}
    above = f"{file.folder}/" if file.folder else ""
    names = (file.stem, file.file_name)
    return sorted(ids | {f"{path_id(source, above + name)}/" for name in names})


def _place(table: Candidate, locate: Locate) -> str:
    place = locate(table.location)
    return inside(place, table.inside) if table.inside else place


def _tables(
    source: str,
    candidates: Sequence[Candidate],
    documents: dict[str, Documents],
    locate: Locate,
    known: KnownIds,
) -> list[TableRef]:
    ordered = sorted(candidates, key=lambda table: table.order)
    old_ids = [known.get((_place(table, locate), table.format)) for table in ordered]
    taken = {table_id for table_id in old_ids if table_id is not None}
    tables = []
    for table, old_id in zip(ordered, old_ids, strict=True):
        table_id = old_id or _free_id(source, table, taken)
        beside = _documents_of(table, documents)
        tables.append(
            TableRef(
                table_id=table_id,
                source=source,
                location=_place(table, locate),
                format=table.format,
                version=_version(table.files, beside),
                context_locations=tuple(locate(entry.path) for entry in beside),
                updated_at=max((at for f in table.files if (at := f.written_at)), default=None),
                identity=_identity(table),
            )
        )
    return sorted(tables, key=lambda table: table.table_id)


def _free_id(source: str, table: Candidate, taken: set[str]) -> str:
    prefix = f"{source}/{escape(table.folder)}/" if table.folder else f"{source}/"
    names = [table.stem, table.file_name]
    end = f"/{escape_segment(table.inside)}" if table.inside else ""
    number = 1
    while (table_id := prefix + escape(names[0]) + end) in taken:
        names.pop(0)
        number += 1
        if not names:
            names.append(f"{table.file_name}~{number - 1}")
    taken.add(table_id)
    return table_id


def _documents_of(table: Candidate, documents: dict[str, Documents]) -> list[FileEntry]:
    """Return the table's own documents first, then those of its folder, each once."""
    beside = documents.get(table.folder, Documents())
    found = []
    for suffix in DOCUMENT_SUFFIXES:
        keys = dict.fromkeys((table.stem + suffix, table.file_name + suffix))
        found += [beside.by_key[key] for key in keys if key in beside.by_key]
    if table.is_folder:
        inside = table.location.rstrip(PARTITION_MARK)
        found += documents.get(inside, Documents()).shared if inside != table.folder else []
    return found + [one for one in beside.shared if one.path != table.location]


def _version(files: Sequence[FileEntry], documents: Sequence[FileEntry]) -> str:
    parts = []
    for kind, entries in (("file", files), ("document", documents)):
        for entry in sorted(entries, key=lambda entry: entry.path):
            parts += [kind, entry.path, entry.version]
    return content_hash(*parts)


def _identity(table: Candidate) -> str | None:
    """Return what stays the same when a table is moved, whatever its files are called."""
    parts = [f.identity for f in ([table.first] if table.first else table.files)]
    known = sorted(part for part in parts if part is not None)
    if len(known) < len(parts) or not known:
        return None
    if table.inside:
        known.append(table.inside)
    return known[0] if len(known) == 1 else content_hash(*known)
