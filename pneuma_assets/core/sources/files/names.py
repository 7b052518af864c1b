"""What names of files say: which are tables, documents, parts of a table, or made by tools."""

import re
from typing import NamedTuple

from pneuma_assets.core.sources.names import escape_segment, unescape

FORMATS = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".csv": "csv",
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    ".orc": "orc",
    ".avro": "avro",
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), "sqlite"),
}
"""Format of a table file by its last extension, compressions aside; the order decides who keeps a
stem."""

COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz", ".lz4")
"""Extensions that may follow a text format's; the content tells which it is."""

_COMPRESSED = frozenset({"csv", "tsv", "jsonl"})
"""Formats that are also read compressed; the others compress what is in them."""

HOLDERS = frozenset({"excel", "sqlite"})
"""Formats of files that hold several tables each."""

INSIDE_MARK = "#"
"""Parts a file's location from the name of the table in it, where it may hold several."""

DOCUMENT_SUFFIXES = (".md", ".txt", ".rst", ".html", ".htm", ".json")
"""Extensions of documents that may describe a table."""

_DICTIONARIES = frozenset({"codebook", "datadict", "datadictionary", "dictionary"})
CELLS_SUFFIXES = (".csv", ".tsv")
"""Extensions of data dictionaries that are tables themselves."""

PARTITION_MARK = "/"
"""Ends the location of a table that is a folder of Hive partitions."""

_SERVICE_FOLDERS = frozenset({"__MACOSX"})


class FileName(NamedTuple):
    """A table file's name taken apart."""

    stem: str
    format: str


def parse_file_name(name: str) -> FileName | None:
    """Return what a file name says, or None if it is not a table's: `a.csv.gz` is (a, csv)."""
    base = uncompressed(name)
    stem, dot, suffix = base.rpartition(".")
    file_format = FORMATS.get(f".{suffix.lower()}") if dot and stem else None
    if file_format is None or is_hidden(name):
        return None
    return FileName(stem, file_format) if file_format in _COMPRESSED or base == name else None


def parse_json_name(name: str) -> FileName | None:
    """Return what the name of a `.json` file says, which may be a table, a document or neither."""
    stem, dot, suffix = uncompressed(name).rpartition(".")
    is_json = dot and stem and suffix.lower() == "json" and not is_hidden(name)
    return FileName(stem, "jsonl") if is_json else None


def uncompressed(name: str) -> str:
    """Return a name without the extension of its compression."""
    return name.rpartition(".")[0] if name.lower().endswith(COMPRESSIONS) else name


def is_hidden(name: str) -> bool:
    """Tell whether tools, not people, made this file or folder; nothing in it is a table."""
    return name.startswith(".") or name in _SERVICE_FOLDERS


def is_left_out(path: str) -> bool:
    """Tell whether a listing does not even show a file.

    It shows hidden files that are called like tables, so that they can be named. (`._a.csv` and
    `.~lock.a.csv#` are made beside a table by macOS and by office programs.)
    """
    *folders, name = path.split("/")
    if any(map(is_hidden, folders)) or not is_hidden(name):
        return any(map(is_hidden, folders))
    suffix = f".{uncompressed(name).rpartition('.')[2].lower()}"
    return name.startswith(("._", ".~")) or suffix not in FORMATS


def document_key(name: str) -> str | None:
    """Return a document's name with its extension in lower case, None if it is not a document."""
    stem, dot, suffix = name.rpartition(".")
    suffix = f".{suffix.lower()}"
    return stem + suffix if dot and suffix in DOCUMENT_SUFFIXES else None


def is_folder_document(name: str) -> bool:
    """Tell whether a document is about the tables of its folder: a README, a data dictionary."""
    stem, dot, suffix = name.lower().rpartition(".")
    if not dot:
        return suffix == "readme"
    called, suffix = re.sub("[ _-]", "", stem), f".{suffix}"
    if called in _DICTIONARIES:
        return suffix in (*DOCUMENT_SUFFIXES, *CELLS_SUFFIXES)
    if called == "metadata":
        return suffix == ".json"
    return called == "readme" and suffix in DOCUMENT_SUFFIXES


def is_partition(folder: str) -> bool:
    """Tell whether a folder is one Hive partition, `key=value`."""
    key, equals, value = folder.partition("=")
    return bool(key and equals and value)


def inside(location: str, name: str) -> str:
    """Return the location of a table in a file at an escaped location."""
    return f"{location}{INSIDE_MARK}{escape_segment(name).replace(INSIDE_MARK, '%23')}"


def split_inside(location: str, table_format: str) -> tuple[str, str]:
    """Return the location of a table's file, and its name in there; empty where it is the file."""
    if table_format not in HOLDERS:
        return location, ""
    file, _, name = location.rpartition(INSIDE_MARK)
    return file, unescape(name)


def lies_below(address: str, bucket: str, prefix: str) -> bool:
    """Tell whether an address is one that a bucket's source lists, or is all that it lists.

    The bucket's own has no slash at its end; the prefix, a folder's, may have some around it.
    """
    folder = prefix.strip("/")
    whole = f"{bucket}/{folder}" if folder else bucket
    return address == whole or address.startswith(f"{whole}/")
