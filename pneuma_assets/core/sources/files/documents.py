"""What people wrote about tables, in documents beside them, as plain text.

A table's documents are `name.{md,txt,rst,html,json}` beside it, and the README, metadata.json and
data dictionary of its folder, of which it is given what names it, and what is said of all tables;
a listing finds them, this module reads them. Nothing here may keep a table from
being indexed: a document that cannot be read becomes a line in `Contexts.problems`.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from pneuma_assets.core.dictionaries.glossaries import glossaries_in
from pneuma_assets.core.dictionaries.split_by_table import (
    NONE,
    Section,
    TableNames,
    Tables,
    sections_of,
)
from pneuma_assets.core.dictionaries.text import (
    MAX_BYTES,
    document_text,
    json_lines,
    json_parts,
    marked_text,
    plain_text,
    suffix_of,
)
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.base import Contexts
from pneuma_assets.core.sources.files.names import (
    HOLDERS,
    PARTITION_MARK,
    inside,
    is_folder_document,
    parse_file_name,
    split_inside,
)
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text.safe import one_line

NamesInside = Callable[[TableRef], Sequence[str]]
"""Returns the names of all tables in a file."""


def read_contexts(ref: TableRef, storage: Storage, names_inside: NamesInside) -> Contexts:
    """Read every document of a table; one that cannot be read is a problem, not an error."""
    found: list[Contexts] = []
    for location in ref.context_locations:
        try:
            found.append(_read(storage.path(location), ref, storage, names_inside))
        except (OSError, ValueError, RecursionError, TableReadError) as error:
            cause = one_line(getattr(error, "strerror", None) or str(error))
            found.append(Contexts([], [f"the document {location} cannot be read: {cause}"]))
    return Contexts(
        [text for one in found for text in one.texts],
        [problem for one in found for problem in one.problems],
        [glossary for one in found for glossary in one.glossaries],
        [text for one in found for text in one.of_folder],
    )


def _read(path: str, ref: TableRef, storage: Storage, names_inside: NamesInside) -> Contexts:
    """Read one document: what of it is about a table, and about all beside it."""
    folder, _, name = path.rpartition("/")
    data = storage.read(path, MAX_BYTES + 1)
    place = storage.path(split_inside(ref.location, ref.format)[0])
    file = place.rstrip(PARTITION_MARK).rpartition("/")[2]
    table = {*names_of(file), file, ref.table_id.rpartition("/")[2]}

    def others() -> Collection[str]:
        return {name for file in storage.names(folder) for name in names_of(file)}

    among = Neighbours(NONE, ())
    of_folder = is_folder_document(name)
    # One inside a table's folder is about no other.
    in_table = place.endswith(PARTITION_MARK) and f"{folder}/".startswith(place)
    if not in_table and (of_folder or ref.format in HOLDERS):
        beside = storage.names(folder) if of_folder else ()
        among = _neighbours_of(ref, file, beside, names_inside)
    if not among.several:
        text = document_text(name, data, table, others)
        lists = glossaries_in(name, data[:MAX_BYTES], table, others) if text else ()
        return Contexts([text] if text else [], glossaries=lists)
    cut = len(data) > MAX_BYTES
    if suffix_of(name) == "json":
        own, of_all = json_parts(name, data, table, others)
        parts = Parts(json_lines(own), "", json_lines(of_all))
        lists = glossaries_in(name, data, table, others)
    else:
        parts = among.parts(marked_text(name, data))
        lists = glossaries_in(f"{name}.md", parts.own.encode(), table)
        lists = [replace(one, document=one_line(name)) for one in lists]
    texts = [text for part in (parts.own, parts.several) if (text := plain_text(part))]
    of_all = plain_text(parts.of_all, cut=cut and bool(parts.of_all))
    return Contexts(texts, (), lists, [of_all] if of_all else [])


def names_of(file_name: str) -> tuple[str, ...]:
    """Return the names by which documents may call a table file: with and without extension."""
    parsed = parse_file_name(file_name)
    return (file_name, parsed.stem) if parsed else ()


class Parts(NamedTuple):
    """What a document says of one table: of it alone, of it and some others, of all."""

    own: str
    several: str
    of_all: str


class Neighbours(NamedTuple):
    """A table among those that a document may be about.

    Attributes:
        own: What stands for the table in `names`.
        names: What documents may call each of the tables, with what stands for it.
    """

    own: Tables
    names: tuple[tuple[str, str], ...]

    @property
    def several(self) -> bool:
        """Whether there are others."""
        return not {table for _, table in self.names} <= self.own

    def parts(self, text: str) -> Parts:
        """Return the parts of a text about several tables; without others, all is the table's."""
        if not self.several:
            return Parts(text, "", "")
        found = _sections(text, self.names)
        return Parts(
            _joined(one for one in found if one.tables and one.tables <= self.own),
            _joined(one for one in found if one.tables - self.own and one.tables & self.own),
            _joined(one for one in found if one.tables == NONE),
        )


def _neighbours_of(
    ref: TableRef, file: str, siblings: Collection[str], names_inside: NamesInside
) -> Neighbours:
    """Return a table among the files beside its own, or those of its file, which may be opened."""
    names = [(name, one) for one in siblings if one != file for name in _called(one)]
    if ref.format not in HOLDERS:
        called = {*_called(file), ref.table_id.rpartition("/")[2]}
        return Neighbours(frozenset({file}), (*names, *((name, file) for name in called)))
    location, own = split_inside(ref.location, ref.format)
    for table in dict.fromkeys((*names_inside(replace(ref, location=location)), own)):
        names += [(name, inside(file, table)) for name in (table, *_called(file))]
    return Neighbours(frozenset({inside(file, own)}), tuple(names))


def _called(file_name: str) -> tuple[str, ...]:
    parsed = None if is_folder_document(file_name) else parse_file_name(file_name)
    return (*names_of(file_name), f"{parsed.stem}.{parsed.format}") if parsed else ()


@lru_cache(maxsize=4)
def _sections(text: str, names: tuple[tuple[str, str], ...]) -> Sequence[Section]:
    """Return the parts of a text, which the tables of a folder ask for one after another."""
    return sections_of(text, TableNames(names))


def _joined(sections: Iterator[Section]) -> str:
    return "\n\n".join(one.text for one in sections)
