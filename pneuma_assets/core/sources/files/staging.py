"""Brings one table's files into a shape that DuckDB reads without surprises.

Each file gets a harmless name in a temporary folder (a link, a download, or an address read by
ranges), so that no file name is ever taken for a pattern. Text that is not UTF-8 is transcoded
there. All of it disappears when the table is closed.
"""

import errno
import json
import lzma
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import duckdb

from pneuma_assets.core.errors import PneumaError, SourceError, TableReadError
from pneuma_assets.core.extras import needs_extra
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.bounds import check_width
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.json_lines import is_array, is_one_document
from pneuma_assets.core.sources.files.names import PARTITION_MARK, is_partition
from pneuma_assets.core.sources.files.part_files import folder_files
from pneuma_assets.core.sources.files.storage import GONE, REPLACED, SERVER_SAYS, Storage
from pneuma_assets.core.sources.files.text_layout import DELIMITERS, LINE_BYTES, literal
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text import encoding
from pneuma_assets.core.text.safe import one_line

_PARTITION_CHARACTERS = "%:+ "
"""Left alone in partition folders beside letters and digits: DuckDB decodes `%XX` itself."""

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(slots=True)
class OpenTable:
    """One table, whose files can be read while the `with` block of `opened` lasts.

    Attributes:
        connection: To a database in memory.
        scratch: A temporary folder.
        storage: Where the table lies.
        path: Its path there; with a final `/` if it is a folder, unless that is the root.
        format: How it is read.
        files: The names to read its files by, once they are placed.
        partitions: The values that the folders of each file are named by.
        called: What tells people which of several files each is: ` of a.csv (file 2)`.
        undo: Lets go of what is open when the table is closed.
        options: The `compression` of each text file, in SQL, and the `encoding` of those that were
            replaced by a copy in UTF-8.
        room: Bytes that are left on the disk for all its files together.
    """

    connection: duckdb.DuckDBPyConnection
    scratch: Path
    storage: Storage
    path: str
    format: str
    files: list[str] = field(default_factory=list)
    partitions: list[Mapping[str, str | None]] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    undo: ExitStack = field(default_factory=ExitStack)
    options: list[dict[str, str]] = field(default_factory=list)
    room: int = field(default_factory=lambda: int(bounds.limits().temporary_gigabytes * 10**9))

    @property
    def partitioned(self) -> bool:
        """Whether it is a folder of files."""
        return self.path.endswith(PARTITION_MARK) or not self.path

    def place(self, path: str, target: Path, *, columnar: bool = False) -> str:
        """Make one file of the table readable and return the name to read it by."""
        name = self.storage.place(path, target, self, columnar=columnar)
        bounds.reading_file(target)
        if target.is_file() and not target.is_symlink():
            self.use_room(target.stat().st_size)
        return name

    def place_all(self, *, columnar: bool = False) -> None:
        """Make all files readable, Parquet in folders that say what partition each is of."""
        for path, above in self._paths():
            folders = _partition_folders(above) if columnar else ()
            folder = self.scratch.joinpath(*folders)
            folder.mkdir(parents=True, exist_ok=True)
            target = folder / f"f{len(self.files)}.{'parquet' if columnar else 'raw'}"
            self.files.append(self.place(path, target, columnar=columnar))
            self.partitions.append(_partition_values(above))
            name = f" of {one_line(path.rpartition('/')[2], 100)} (file {len(self.files)})"
            self.called.append(name if self.partitioned else "")

    def _paths(self) -> Iterator[tuple[str, str]]:
        """Yield the path of each file, and that of its folder below the table's."""
        if not self.partitioned:
            yield self.path, ""
            return
        found = folder_files(self.storage.walk(self.path), self.path, self.format)
        if not found:
            raise FileNotFoundError("no file is left in it")
        for entry in found:
            yield entry.path, entry.path.removeprefix(self.path).rpartition("/")[0]

    def use_room(self, size: int) -> None:
        """Count bytes on the disk; raises `OSError` where the table's are more than it may have."""
        self.room -= size
        if self.room < 0:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    def transcode(self, number: int) -> None:
        """Replace a text file by a copy in UTF-8, whatever its bytes."""
        self.files[number] = self._transcoded(self.files[number], self.options[number])

    def prepare_text(self) -> None:
        """Look at the beginning of each text file: drop empty ones, transcode what needs it.

        Raises:
            TableReadError: Every file is empty, or one is no text at all.
            OSError: A file cannot be read; `EOFError` if it is compressed and cut off.
        """
        prepared, partitions, called = [], [], []
        self.options = []
        nothing = "the file is empty, without even a header"
        for name, partition, told in zip(self.files, self.partitions, self.called, strict=True):
            path = Path(name)
            head, compression = encoding.read_head(path)
            guess = encoding.guess_encoding(head)
            if not encoding.decode(head, guess).strip():
                nothing = encoding.nothing_in(head) or nothing
                continue
            if guess == "utf-8" and encoding.looks_binary(head):
                raise TableReadError(
                    f"it holds binary data, not {self.format.upper()} text; give the file the "
                    "extension of its true format, or remove it"
                )
            text = encoding.decode(head, guess) if self.format == "jsonl" else ""
            if is_one_document(text):
                raise TableReadError(
                    "it is one JSON document written over several lines, neither an object a line "
                    "nor an array of objects; write it so, or call it .json if it only describes a "
                    "table"
                )
            if guess == "utf-8" and not is_array(text):
                check_first_line(path, head, self.format)
            suffix = f".{self.format}.gz" if compression == encoding.GZIP else f".{self.format}"
            path = path.rename(path.with_suffix(suffix))
            as_it_is = guess == "utf-8" and compression in {"", encoding.GZIP}
            options = {"compression": literal(compression)} if compression else {}
            self.options.append(options)
            prepared.append(str(path) if as_it_is else self._transcoded(path, options, guess))
            partitions.append(partition)
            called.append(told)
        if not prepared:
            raise TableReadError(f"{nothing}; write it again")
        self.files, self.partitions, self.called = prepared, partitions, called

    def _transcoded(self, name: str | Path, options: dict[str, str], guess: str = "utf-8") -> str:
        path = Path(name)
        target = path.with_name(f"u{path.name.removesuffix('.gz')}")
        json_lines = self.format == "jsonl"
        size = encoding.transcode(path, target, guess, json_lines=json_lines, most=self.room)
        options["encoding"] = literal(guess)
        self.use_room(size)
        self.room += 0 if path.is_symlink() else path.stat().st_size
        path.unlink()
        return str(target)


@contextmanager
def opened(
    database: duckdb.DuckDBPyConnection, storage: Storage, ref: TableRef
) -> Iterator[OpenTable]:
    """Open a table's files with a connection to the database in memory and a temporary folder.

    Raises:
        TableReadError: Also for what DuckDB or the disk raise inside the `with` block.
    """
    with reading(database, ref) as (connection, scratch):
        table = OpenTable(connection, scratch, storage, storage.path(ref.location), ref.format)
        with table.undo:
            yield table


@contextmanager
def reading(
    database: duckdb.DuckDBPyConnection, ref: TableRef
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Give a connection and a temporary folder to read one table with.

    Raises:
        TableReadError: It names the table, the cause and the remedy in one line, also for what
            DuckDB or the disk raise inside the `with` block.
    """
    scratch = Path(tempfile.mkdtemp(prefix="pneuma-"))
    try:
        with database.cursor() as connection:
            yield connection, scratch
    except (TableReadError, SourceError, *_FORESEEN) as error:
        raise TableReadError(
            f"{ref.location} cannot be read{_cause(error, ref.format, scratch)}"
        ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _cause(error: Exception, file_format: str, scratch: Path) -> str:
    if isinstance(error, TableReadError | SourceError):  # its folder, too, may be gone
        return f": {error}"
    if isinstance(error, FileNotFoundError):
        return f": {GONE}"
    if isinstance(error, PermissionError):
        return ": permission denied; allow this user to read it"
    cause = session.reason(error, scratch) or type(error).__name__
    if cause in {GONE, REPLACED} or cause.startswith(SERVER_SAYS):
        return f": {cause}"
    remedy = _SIMPLER if isinstance(error, duckdb.InternalException) else _remedy(cause)
    return f" as {file_format}: {cause}; {remedy}"


def _partition_folders(path: str) -> list[str]:
    return [
        f"{quote(key, safe='', errors='replace')}="
        f"{quote(value, safe=_PARTITION_CHARACTERS, errors='replace')}"
        for key, value in _partitions_in(path)
    ]


def _partition_values(path: str) -> dict[str, str | None]:
    """Return what the folders of a file say of its rows, as they spell it."""
    return {
        _printable(unquote(key)): None if value == _NO_VALUE else _printable(unquote(value))
        for key, value in _partitions_in(path)
    }


def _partitions_in(path: str) -> list[list[str]]:
    return [part.split("=", 1) for part in path.split("/") if is_partition(part)]


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def library(name: str, extra: str, remedy: str, *errors: type[Exception]) -> Iterator[None]:
    """Say in one line what a library complains of and the remedy, or which extra installs it.

    Its `errors` are those it raises of files that it does not read; none: whatever comes, but what
    says enough by itself.

    Raises:
        TableReadError: With the name of the library.
    """
    try:
        yield
    except (PneumaError, OSError, MemoryError):
        raise
    except ImportError as error:
        raise TableReadError(needs_extra(f"{name} is not installed; this", extra)) from error
    except Exception as error:
        if errors and not isinstance(error, errors):
            raise
        words = one_line(str(error) if errors else f"{type(error).__name__}: {error}", 300)
        raise TableReadError(f"{name} says {words}; {remedy}") from error


_FORESEEN = (
    *(EOFError, OSError, ValueError, MemoryError, RuntimeError),
    *(duckdb.Error, lzma.LZMAError, zlib.error),
)
_DAMAGED = (
    *("gzip", "end-of-stream", "compress"),
    *("corrupt input data", "invalid data stream", "format not supported"),
)
"""What libraries say of compressed data that is cut off or damaged."""


_SIMPLER = f"DuckDB {duckdb.__version__} cannot; flatten its nested values, or remove it"
"""Of errors that DuckDB takes for its own: the file may be as its writer meant it."""


_REMEDIES = {
    **dict.fromkeys(_DAMAGED, "its compressed data is cut off or damaged, copy the file again"),
    "no space left": "free space on the disk of temporary files, or set TMPDIR to another",
    "too many open files": "all files of a table are open at once; raise their limit (ulimit -n)",
    "file too large": "its text takes too much room once it is unpacked; split it, or raise "
    "limits.temporary_gigabytes in the deployment file",
    "recursion": "its values nest too deeply, flatten them",
    "memory": "raise limits.memory_gigabytes in the deployment file, or split its longest "
    "values or widest rows",
}


def _remedy(cause: str) -> str:
    """Return what to do about the first cause that the words tell of."""
    lower = cause.lower()
    found = (remedy for words, remedy in _REMEDIES.items() if words in lower)
    return next(found, "write the file again or remove it")


def check_first_line(path: Path, head: bytes, file_format: str) -> None:
    """Refuse a text file whose first line, too long for its `head`, is no row of a table.

    Raises:
        TableReadError: It has more columns than the limits allow, or is longer than a row may be.
        OSError: The file cannot be read.
    """
    if b"\n" in head or len(head) < encoding.HEAD_BYTES:
        return
    with path.open("rb") as file:
        line = encoding.unpacked(file).readline(LINE_BYTES)
    if file_format != "jsonl":
        check_width(1 + max(line.count(sign.encode()) for sign in DELIMITERS))
        _check_end(line)
        return
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        _check_end(line)
        return  # DuckDB finds the words for what is no JSON.
    check_width(len(record) if isinstance(record, dict) else 1)


def _check_end(line: bytes) -> None:
    if len(line) == LINE_BYTES and not line.endswith(b"\n"):
        raise TableReadError(
            f"its first line is longer than {LINE_BYTES >> 20} MiB, which no row of a table is; "
            "look whether a quotation mark is missing, and write the file again"
        )
