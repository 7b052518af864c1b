"""Turns a list of files into tables: ids, versions, documents beside them.

Several files may want one id. They are served in this order: files before folders, then by format
(Parquet, CSV, TSV, JSON Lines, and so on as `names.FORMATS` has them), then by name. The first
keeps the stem (`lake/sales`), the others keep their extension too (`lake/sales.csv`); should even
that be taken, `~2`, `~3` and so on are added. A table that has an id keeps it when another file
appears: what people wrote about it is kept under that id.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count, takewhile

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds, Listing
from pneuma_assets.core.sources.files.names import (
    COMPRESSIONS,
    DOCUMENT_SUFFIXES,
    FORMATS,
    HOLDERS,
    PARTITION_MARK,
    FileName,
    document_key,
    inside,
    is_folder_document,
    is_hidden,
    is_partition,
    parse_file_name,
    parse_json_name,
    split_inside,
    uncompressed,
)
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
from pneuma_assets.core.sources.names import escape, escape_segment
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
_NAME_CHARACTERS = 255
"""Of a table in a file, as of a file."""

_UNNAMED = (
    f"a table in it has no name, or one of more than {_NAME_CHARACTERS} characters; rename that "
    "table"
)
_PACKED = "files of this format are not read compressed; decompress it"


def unread(paths: Iterable[str]) -> dict[str, str]:
    """Return the first path of each kind of unread file, with the cause and how many there are."""
    kinds: dict[str, list[str]] = {}
    for path in sorted(paths):
        if cause := _why_unread(path.rpartition("/")[2]):
            kinds.setdefault(cause, []).append(path)
    return {
        first: f"{cause} (and so are {len(more):,} others left out)" if more else cause
        for cause, (first, *more) in kinds.items()
    }


def _why_unread(name: str) -> str:
    """Return why a file that may be meant as a table is none; empty where it is not meant so."""
    suffix = _suffix(name)
    packed = _suffix(uncompressed(name))
    if is_hidden(name):
        return _HIDDEN
    if suffix in _CAUSES:
        return f"it ends in {suffix}: {_CAUSES[suffix]}"
    if suffix in COMPRESSIONS and parse_file_name(name) is None and packed in {*FORMATS, ".tar"}:
        return f"it ends in {packed}{suffix}: {_UNPACK if packed == '.tar' else _PACKED}"
    return ""


def _suffix(name: str) -> str:
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


_FORMAT_ORDER = {
    name: order for order, name in enumerate(dict.fromkeys([*FORMATS.values(), "delta", "iceberg"]))
}


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


LookInside = Callable[[TableRef], Sequence[str]]
"""Returns the names of the tables in a file that may hold several; raises `TableReadError`."""


def list_files(
    source: str,
    walk: Walk,
    locate: Callable[[str], str],
    known: KnownIds = NONE_KNOWN,
    look_inside: LookInside = lambda _: (),
) -> Listing:
    """Return the tables among the files of a source, sorted by id, and what stood in the way.

    `locate` turns a path into the location that a reference keeps. `look_inside` opens files that
    hold several tables; no other file is opened.
    """
    # The files of a table whose log or metadata nobody may list are not tables by themselves.
    states = {o.path: root for o in walk.obstacles if (root := table_of_state(o.path)) is not None}
    closed = {*states.values()}
    entries = [e for e in walk.entries if not closed or root_of(e.path, closed) is None]
    lister = _Lister(source, locate, known)
    for obstacle in walk.obstacles:
        lister.report(obstacle.path, obstacle.cause)
        if obstacle.is_folder and obstacle.path not in states:
            lister.unlisted.append(f"{lister.path_id(obstacle.path)}/")
    unseen = lister.sort(entries)
    for folder in sorted(unseen):
        lister.report(folder, UNFINISHED)
    unknown = {states[o.path] for o in walk.obstacles if o.path in states and not o.left_out}
    for folder in sorted(unseen | unknown):
        lister.keep_folder(folder)
    for path, cause in unread(e.path for e in lister.loose).items():
        lister.report(path, cause)
    tables = lister.tables(lister.look_into(look_inside))
    return Listing(tables, lister.problems, lister.unlisted, bare=walk.bare)


class _Lister:
    """Sorts the files of a source into tables and documents; opens none by itself."""

    def __init__(self, source: str, locate: Callable[[str], str], known: KnownIds) -> None:
        self._source = source
        self._locate = locate
        self._known = known
        self._candidates: dict[tuple[str, str], Candidate] = {}
        self._documents: dict[tuple[str, str], FileEntry] = {}  # by folder and name
        self._shared: dict[str, list[FileEntry]] = defaultdict(list)  # of a whole folder
        self._parts: Mapping[str, Mapping[str, FileName]] = {}
        self.loose: Sequence[FileEntry] = ()
        self.problems: list[Problem] = []
        self.unlisted: list[str] = []

    def path_id(self, path: str) -> str:
        """Return the id of a file or folder that is not a table, to name it in a problem."""
        return f"{self._source}/{escape(path)}"

    def report(self, path: str, cause: str) -> None:
        """Name what is no table, and why."""
        self.problems.append(Problem(self.path_id(path), "listing", cause))

    def keep_folder(self, folder: str) -> None:
        """Keep what tables in the place of a folder were known as."""
        self.unlisted += sorted({*self._ids_at(folder), self.path_id(folder or self._source)})

    def _ids_at(self, folder: str) -> list[str]:
        place = self._locate(f"{folder}{PARTITION_MARK}")
        return [table_id for (location, _), table_id in self._known.items() if location == place]

    def sort(self, entries: Sequence[FileEntry]) -> set[str]:
        """Tell tables and documents apart; return the folders of tables that are being written."""
        roots = table_folders(entries)
        for root, table in roots.items():
            candidate = self._folder(root, table.format)
            candidate.files, candidate.first = [table.newest], table.oldest
            self._candidates[candidate.location, table.format] = candidate
        self.loose = [e for e in entries if root_of(e.path.rpartition("/")[0], roots) is None]
        marks = read_marks(self.loose)
        self._parts = parts_of_folders(self.loose, marks)
        data = [e for e in self.loose if {TEMPORARY, DELTA_LOG}.isdisjoint(e.path.split("/")[:-1])]
        for entry in data:
            folder, _, name = entry.path.rpartition("/")
            # One of Spark's that is no part of its folder was written by a job that has not ended.
            parsed = None if parse_part_name(name) else parse_file_name(name)
            if (parsed := self._part(entry) or parsed) is not None:
                self._add(entry, parsed)
        for entry in entries:
            folder, _, name = entry.path.rpartition("/")
            if self._part(entry):
                continue
            if is_folder_document(name):
                self._shared[folder].append(entry)
            elif parse_file_name(name) is None and (document := document_key(name)) is not None:
                self._documents[folder, document] = entry
        self._add_json(data)
        self._drop_aliases()
        unfinished = [folder for folder, mark in marks.items() if mark.unfinished]
        writing = {f if (r := _partition_root(f)) is None else r for f in unfinished}
        return {folder for folder in writing if self._take_out(folder)}

    def look_into(self, look_inside: LookInside) -> Iterator[Candidate]:
        """Yield a candidate for each table; those in files that do not open stay as known."""
        logs = {entry.path: entry for entry in self.loose if entry.path.endswith("-wal")}
        for candidate in self._candidates.values():
            if not candidate.is_opened:
                yield candidate
                continue
            # A log beside a database holds what is not yet in it.
            log = logs.get(f"{candidate.location}-wal")
            candidate.files += [log] if log else []
            ref = TableRef(
                table_id=self.path_id(candidate.location),
                source=self._source,
                location=self._locate(candidate.files[0].path),
                format=candidate.format,
                version=_version(candidate.files, []),
            )
            try:
                names = look_inside(ref)
            except TableReadError as error:
                self.report(candidate.location, str(error))
                self._keep_inside(candidate)
                continue
            named = [name for name in names if 0 < len(name) <= _NAME_CHARACTERS]
            if len(named) < len(names) and candidate.format in HOLDERS:
                self.report(candidate.location, _UNNAMED)
                self._keep_inside(candidate)
                names = named
            yield from (replace(candidate, inside=name) for name in names)

    def tables(self, candidates: Iterable[Candidate]) -> list[TableRef]:
        """Return a reference for each, sorted by id."""
        ordered = sorted(candidates, key=lambda table: table.order)
        old_ids = [self._known.get((self._place(table), table.format)) for table in ordered]
        taken = {table_id for table_id in old_ids if table_id is not None}
        tables = []
        for table, old_id in zip(ordered, old_ids, strict=True):
            beside = self._documents_of(table)
            tables.append(
                TableRef(
                    table_id=old_id or self._free_id(table, taken),
                    source=self._source,
                    location=self._place(table),
                    format=table.format,
                    version=_version(table.files, beside),
                    context_locations=tuple(self._locate(entry.path) for entry in beside),
                    updated_at=max((at for f in table.files if (at := f.written_at)), default=None),
                    identity=_identity(table),
                )
            )
        return sorted(tables, key=lambda table: table.table_id)

    def _part(self, entry: FileEntry) -> FileName | None:
        """Return what the name of a file says that is one of several of its folder's table."""
        folder, _, name = entry.path.rpartition("/")
        return self._parts.get(folder, {}).get(name)

    def _add(self, entry: FileEntry, parsed: FileName, *, unsure: bool = False) -> None:
        """Count a file to its table: itself, or the folder of its partitions or parts."""
        folder, _, name = entry.path.rpartition("/")
        root = _partition_root(folder)
        if root is None and not unsure and self._part(entry):
            root = folder
        table = Candidate(folder, parsed.stem, name, parsed.format, entry.path)
        if root is not None:
            table = self._folder(root, parsed.format)
        table.unsure = unsure
        self._candidates.setdefault((table.location, table.format), table).files.append(entry)

    def _add_json(self, data: Iterable[FileEntry]) -> None:
        """Add `.json` files that are no table's documents; their content tells what they are."""
        tables = self._candidates.values()
        named = {(t.folder, name) for t in tables for name in (t.stem, t.file_name)}
        for entry in data:
            folder, _, name = entry.path.rpartition("/")
            parsed = parse_json_name(name)
            is_other = self._part(entry) or parse_part_name(name) or is_folder_document(name)
            if parsed is None or is_other or (folder, parsed.stem) in named:
                continue
            self._documents.pop((folder, document_key(name) or ""), None)
            self._add(entry, parsed, unsure=True)

    def _drop_aliases(self) -> None:
        """Keep one of the names of a file: its own where that is listed, else a link's."""
        kept: set[tuple[str, str]] = set()
        for key, table in sorted(self._candidates.items()):
            real = None if table.is_folder else table.files[0].leads_to
            if real is None:
                continue
            if (real, table.format) in self._candidates or (real, table.format) in kept:
                del self._candidates[key]
            kept.add((real, table.format))

    def _take_out(self, folder: str) -> bool:
        """Take tables out that are being written; tell whether there are any, now or before."""
        written = [key for key in self._candidates if key[0] == f"{folder}{PARTITION_MARK}"]
        for key in written:
            del self._candidates[key]
        return bool(written or self._ids_at(folder))

    def _keep_inside(self, file: Candidate) -> None:
        """Keep what tables in a file were known as, or would be."""
        place = self._locate(file.location)
        ids = {i for (at, form), i in self._known.items() if split_inside(at, form)[0] == place}
        above = f"{file.folder}/" if file.folder else ""
        names = (file.stem, file.file_name)
        self.unlisted += sorted(ids | {f"{self.path_id(above + name)}/" for name in names})

    def _folder(self, root: str, table_format: str) -> Candidate:
        above, _, stem = root.rpartition("/")
        stem = stem or self._source  # The source's root is itself one table.
        place = f"{root}{PARTITION_MARK}"
        return Candidate(above, stem, f"{stem}.{table_format}", table_format, place)

    def _place(self, table: Candidate) -> str:
        place = self._locate(table.location)
        return inside(place, table.inside) if table.inside else place

    def _free_id(self, table: Candidate, taken: set[str]) -> str:
        above = f"{escape(table.folder)}/" if table.folder else ""
        end = f"/{escape_segment(table.inside)}" if table.inside else ""
        more = (f"{table.file_name}~{number}" for number in count(2))
        names = (escape(name) for name in chain((table.stem, table.file_name), more))
        ids = (f"{self._source}/{above}{name}{end}" for name in names)
        table_id = next(table_id for table_id in ids if table_id not in taken)
        taken.add(table_id)
        return table_id

    def _documents_of(self, table: Candidate) -> list[FileEntry]:
        """Return the table's own documents first, then those of its folder, each once."""
        names = dict.fromkeys((table.stem, table.file_name))
        keys = [(table.folder, name + suffix) for suffix in DOCUMENT_SUFFIXES for name in names]
        found = [self._documents[key] for key in keys if key in self._documents]
        own = table.location.rstrip(PARTITION_MARK)
        if table.is_folder and own != table.folder:
            found += self._shared.get(own, ())
        beside = self._shared.get(table.folder, ())
        return found + [one for one in beside if one.path != table.location]


def _partition_root(folder: str) -> str | None:
    """Return the folder above the first `key=value` folder of a path, None if there is none."""
    parts = folder.split("/")
    above = [*takewhile(lambda part: not is_partition(part), parts)]
    return None if len(above) == len(parts) else "/".join(above)


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
