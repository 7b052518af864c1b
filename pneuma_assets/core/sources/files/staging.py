"""Brings one table's files into a shape that DuckDB reads without surprises.

Each file gets a harmless name in a temporary folder (a link, a download, or an address read by
ranges), so that no file name is ever taken for a pattern. Text that is not UTF-8 is transcoded
there. All of it disappears when the table is closed.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import duckdb

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources import bounds
from pneuma_assets.core.sources.duckdb import session
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.files.width import check_first_line
from pneuma_assets.core.sources.names import PARTITION_MARK, is_partition, parse_file_name
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text import encoding

_PARTITION_CHARACTERS = "%:+ "
"""Left alone in partition folders beside letters and digits: DuckDB decodes `%XX` itself."""

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(slots=True)
class OpenTable:
    """One table, ready to be read while the `with` block of `opened` lasts.

    `partitions` are the values that the folders of each file are named by. `room` is what is left
    on the disk for all its files together.
    """

    connection: duckdb.DuckDBPyConnection
    scratch: Path
    format: str
    partitioned: bool
    files: list[str] = field(default_factory=list)
    partitions: list[Mapping[str, str | None]] = field(default_factory=list)
    room: int = field(default_factory=lambda: int(bounds.limits().temporary_gigabytes * 10**9))

    def use_room(self, size: int) -> None:
        """Count bytes on the disk; raises `OSError` where the table's are more than it may have."""
        self.room -= size
        if self.room < 0:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))

    def transcode(self, number: int) -> None:
        """Replace a text file by a copy in UTF-8, whatever its bytes."""
        self.files[number] = str(self._transcoded(Path(self.files[number])))

    def prepare_text(self) -> None:
        """Look at the beginning of each text file: drop empty ones, transcode what needs it.

        Raises:
            TableReadError: Every file is empty, or one is no text at all.
            OSError: A file cannot be read; `EOFError` if it is compressed and cut off.
        """
        prepared, partitions = [], []
        nothing = "the file is empty, without even a header"
        for name, partition in zip(self.files, self.partitions, strict=True):
            path = Path(name)
            head, compressed = encoding.read_head(path)
            guess = encoding.guess_encoding(head)
            if not encoding.decode(head, guess).strip():
                nothing = encoding.nothing_in(head) or nothing
                continue
            if guess == "utf-8" and encoding.looks_binary(head):
                raise TableReadError(
                    f"it holds binary data, not {self.format.upper()} text; give the file the "
                    "extension of its true format, or remove it"
                )
            if self.format == "jsonl" and _is_one_document(encoding.decode(head, guess)):
                raise TableReadError(
                    "it is one JSON document written over several lines, not an object a line; "
                    "write it so (for a list, jq -c '.[]' does), or call it .json if it only "
                    "describes a table"
                )
            if guess == "utf-8":
                check_first_line(path, head, self.format)
            suffix = f".{self.format}.gz" if compressed else f".{self.format}"
            path = path.rename(path.with_suffix(suffix))
            prepared.append(str(path if guess == "utf-8" else self._transcoded(path, guess)))
            partitions.append(partition)
        if not prepared:
            raise TableReadError(f"{nothing}; write it again")
        self.files, self.partitions = prepared, partitions

    def _transcoded(self, path: Path, guess: str = "utf-8") -> Path:
        target = path.with_name(f"u{path.name.removesuffix('.gz')}")
        json_lines = self.format == "jsonl"
        self.use_room(
            encoding.transcode(path, target, guess, json_lines=json_lines, most=self.room)
        )
        self.room += 0 if path.is_symlink() else path.stat().st_size
        path.unlink()
        return target


@contextmanager
def opened(
    database: duckdb.DuckDBPyConnection, storage: Storage, ref: TableRef
) -> Iterator[OpenTable]:
    """Stage a table's files and open a connection to the database in memory for them.

    Raises:
        TableReadError: Also for what DuckDB or the disk raise inside the `with` block.
    """
    scratch = Path(tempfile.mkdtemp(prefix="pneuma-"))
    try:
        with _explained(ref, scratch), database.cursor() as connection:
            partitioned = ref.location.endswith(PARTITION_MARK)
            table = OpenTable(connection, scratch, ref.format, partitioned)
            _place_files(table, storage, storage.path(ref.location))
            if ref.format != "parquet":
                table.prepare_text()
            yield table
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _place_files(table: OpenTable, storage: Storage, path: str) -> None:
    paths = _partition_files(storage, path, table.format) if table.partitioned else [path]
    for number, file_path in enumerate(paths):
        folder = table.scratch
        above = file_path.removeprefix(path).rpartition("/")[0] if table.partitioned else ""
        columnar = table.format == "parquet"
        if columnar:
            folder = folder.joinpath(*_partition_folders(above))
            folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"f{number}.{'parquet' if columnar else 'raw'}"
        table.files.append(storage.place(file_path, target, table.connection, columnar=columnar))
        bounds.reading_file(target)
        if target.is_file() and not target.is_symlink():
            table.use_room(target.stat().st_size)
        table.partitions.append(_partition_values(above))


def _partition_files(storage: Storage, folder: str, file_format: str) -> list[str]:
    found = []
    for entry in storage.walk(folder).entries:
        above, _, name = entry.path.rpartition("/")
        parsed = parse_file_name(name)
        if parsed and parsed.format == file_format and _partition_folders(above):
            found.append(entry.path)
    if not found:
        raise FileNotFoundError("no file is left in it")
    return found


def _partition_folders(path: str) -> list[str]:
    return [
        f"{quote(key, safe='', errors='replace')}="
        f"{quote(value, safe=_PARTITION_CHARACTERS, errors='replace')}"
        for key, _, value in (part.partition("=") for part in path.split("/") if is_partition(part))
    ]


def _is_one_document(text: str) -> bool:
    """Tell whether lines of JSON are parts of one: the first opens what a later one closes."""
    lines = text.strip().splitlines()
    first = lines[0].strip() if lines else ""
    if len(lines) < 2 or not first.startswith(("{", "[")) or first.endswith("},"):
        return False
    return first.endswith((",", "{", "["))


def _partition_values(path: str) -> dict[str, str | None]:
    """Return what the folders of a file say of its rows, as they spell it."""
    parts = (part.partition("=") for part in path.split("/") if is_partition(part))
    values = {unquote(key): unquote(value, errors="replace") for key, _, value in parts}
    return {
        _printable(key): None if value == _NO_VALUE else _printable(value)
        for key, value in values.items()
    }


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _explained(ref: TableRef, scratch: Path) -> Iterator[None]:
    """Turn what reading raises into one line that names the table, the cause and the remedy."""
    try:
        yield
    except TableReadError as error:
        raise TableReadError(f"{ref.location} cannot be read: {error}") from error
    except FileNotFoundError as error:
        cause = "it is gone; if it was not deleted on purpose, restore it and run again"
        raise TableReadError(f"{ref.location} cannot be read: {cause}") from error
    except PermissionError as error:
        cause = "permission denied; allow this user to read it"
        raise TableReadError(f"{ref.location} cannot be read: {cause}") from error
    except (EOFError, OSError, ValueError, MemoryError, duckdb.Error, RuntimeError) as error:
        cause = session.reason(error, scratch) or type(error).__name__
        raise TableReadError(
            f"{ref.location} cannot be read as {ref.format}: {cause}; {_remedy(cause)}"
        ) from error


def _remedy(cause: str) -> str:
    lower = cause.lower()
    if "gzip" in lower or "end-of-stream" in lower:
        return "its compressed data is cut off or damaged, copy the file again"
    if "no space left" in lower:
        return "free space on the disk of temporary files, or set TMPDIR to another"
    if "file too large" in lower:
        return (
            "its text takes too much room once it is unpacked; split it, or raise "
            "limits.temporary_gigabytes in the deployment file"
        )
    if "recursion" in lower:
        return "its values nest too deeply, flatten them"
    if "memory" in lower:
        return (
            "raise limits.memory_gigabytes in the deployment file, or split its longest values or "
            "widest rows"
        )
    return "write the file again or remove it"
