"""Turns a list of files into tables: ids, versions, documents beside them.

Several files may want one id. They are served in this order: files before folders, then by format
(Parquet, CSV, TSV, JSON Lines, and so on as `names.FORMATS` has them), then by name. The first
keeps the stem (`lake/sales`), the others keep their extension too (`lake/sales.csv`); should even
that be taken, `~2`, `~3` and so on are added. A table that has an id keeps it when another file
appears: what people wrote about it is kept under that id.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import NONE_KNOWN, KnownIds, Listing
from pneuma_assets.core.sources.files.candidates import Candidate, Documents, Found, sort_files
from pneuma_assets.core.sources.files.lake.folders import root_of, table_of_state
from pneuma_assets.core.sources.files.lake.spark import UNFINISHED
from pneuma_assets.core.sources.files.storage import FileEntry, Walk
from pneuma_assets.core.sources.names import (
    DOCUMENT_SUFFIXES,
    PARTITION_MARK,
    escape,
    escape_segment,
    inside,
    split_inside,
)
from pneuma_assets.core.tables import Problem, TableRef, content_hash

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
