"""Reads Delta tables: their log by deltalake, the data files of one snapshot by DuckDB.

The log is brought into a temporary folder and read there, so a table is read alike wherever it
lies, and without a key ever leaving this project's own storage. A path in a log may only lead into
its own table.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Part, Said
from pneuma_assets.core.sources.files.layout import literal
from pneuma_assets.core.sources.files.part_files import CHECKPOINT, COMMIT, DELTA_LOG
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.tables import TableRef
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from deltalake import DeltaTable


def values_in(log: Path, leaf: str) -> Iterator[object]:
    """Yield one value of each action that has it.

    Args:
        log: The folder with the files of a log, at any depth.
        leaf: The value's name, as `add.deletionVector.storageType`.

    Raises:
        ValueError: A line is no JSON object.
        TableReadError: It has a key twice, which readers understand differently.
    """
    keys = leaf.split(".")
    for file in log.rglob("*"):
        if file.suffix == ".json":
            yield from _in_lines(file, keys)
        elif file.suffix == ".parquet":
            yield from _in_checkpoint(file, keys)


def _in_lines(file: Path, keys: Sequence[str]) -> Iterator[object]:
    sign = keys[-2].encode()
    with file.open("rb") as lines:
        for line in lines:
            if sign in line or b"\\u" in line:
                yield from _at(json.loads(line, object_pairs_hook=_once), keys)


def _in_checkpoint(file: Path, keys: Sequence[str]) -> Iterator[object]:
    column = ".".join(keys)
    with pq.ParquetFile(file) as checkpoint:
        if column not in {leaf.path for leaf in checkpoint.schema}:
            return
        for batch in checkpoint.iter_batches(columns=[column]):
            for action in batch.to_pylist():
                yield from _at(action, keys)


def _at(action: Any, keys: Sequence[str]) -> Iterator[object]:
    for key in keys:
        action = action.get(key) if isinstance(action, dict) else None
    if action is not None:
        yield action


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise TableReadError("its log has a key twice; look whether its _delta_log is whole")
    return found


_SIMPLE = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "integer": "INTEGER",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
_DECIMAL = re.compile(r"decimal\((\d{1,2}),\s?(\d{1,2})\)")
_DEEPEST = 50


def duckdb_type(kind: Any, *, mapped: bool, depth: int = 0) -> str:
    """Return DuckDB's name of a type.

    Args:
        kind: As the log's JSON has it.
        mapped: Whether to name what is nested in it as data files do that have names of their own.
        depth: How many types it is nested in.

    Raises:
        TableReadError: It is not known.
    """
    if isinstance(kind, str) and kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(kind, str) and (decimal := _DECIMAL.fullmatch(kind)):
        return f"DECIMAL({int(decimal[1])}, {int(decimal[2])})"
    if isinstance(kind, dict) and depth < _DEEPEST:

        def inner(part: Any) -> str:
            return duckdb_type(part, mapped=mapped, depth=depth + 1)

        if kind.get("type") == "array":
            return f"{inner(kind['elementType'])}[]"
        if kind.get("type") == "map":
            return f"MAP({inner(kind['keyType'])}, {inner(kind['valueType'])})"
        if kind.get("type") == "struct" and kind["fields"]:
            parts = (
                f"{_name(part, mapped=mapped)} {inner(part['type'])}" for part in kind["fields"]
            )
            return f"STRUCT({', '.join(parts)})"
    raise TableReadError(f"it has columns of the type {one_line(str(kind), 50)}, which is not read")


def _name(part: dict[str, Any], *, mapped: bool) -> str:
    said = part.get("metadata") or {}
    name = said.get("delta.columnMapping.physicalName") if mapped else None
    return quote_identifier(str(name or part["name"]))


Live = npt.NDArray[np.bool_]
"""Which rows of a file are left."""

OUTSIDE = (
    "its log names files outside its own folder, as a shallow clone does; write a table that holds "
    "its own files"
)

_FILE = re.compile(r"(?:.*/)?deletion_vector_[0-9a-f-]{36}\.bin")
_INSIDE = {"i", "u"}
"""In the log itself, or in a file of the table's folder; `p` is a path to anywhere."""


def read_vectors(found: "DeltaTable", table: OpenTable, copy: Path) -> dict[str, Live]:
    """Return the rows that are left, by the path of each file that lost some.

    Args:
        found: The table, read from `copy`.
        table: Takes the files.
        copy: The folder with the copy of its log.

    Raises:
        TableReadError: The log names such a file outside of the table.
    """
    # deltalake opens whatever file a log names.
    if any(kind not in _INSIDE for kind in values_in(copy, "add.deletionVector.storageType")):
        raise TableReadError(OUTSIDE)
    for entry in table.storage.walk(table.path.rstrip("/")).entries:
        name = entry.path.removeprefix(table.path)
        if _FILE.fullmatch(name) and ".." not in name.split("/"):
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            table.place(entry.path, target)
    vectors = {}
    start = f"{copy.as_uri()}/"
    for batch in pa.RecordBatchReader.from_stream(found.deletion_vectors()):
        for place, live in zip(batch["filepath"], batch["selection_vector"], strict=True):
            inside = unquote(place.as_py()).removeprefix(unquote(start))
            vectors[inside] = live.values.to_numpy(zero_copy_only=False)
    return vectors


_READ = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "v2Checkpoint"}
    | {"vacuumProtocolCheck"}
)
"""The features of the protocol that a reader must know, of which these are read."""

_SIDECAR = re.compile(r"[\w-][\w.-]*")
"""The name of a file in `_sidecars`; deltalake would open any address that stands in its place."""

_COMMENT_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class DeltaField:
    """A column: `physical_name` is what data files call it, `type` is DuckDB's.

    `shown_type` has the names that the log gives to what is nested in it, where data files have
    others: people and rules know those.
    """

    name: str
    physical_name: str
    type: str
    shown_type: str
    comment: str
    identity: str
    is_partition: bool


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the snapshot.

    Attributes:
        path: Below the table's folder.
        rows: That are left in it; None where the log does not say it.
        partition: The values that it does not hold itself, by column.
        live: Which of its rows are left, at least up to the last that is not; None: all.
    """

    path: str
    rows: int | None
    partition: Mapping[str, Any]
    live: Live | None = None


@dataclass(frozen=True, slots=True)
class DeltaLog:
    """What the newest version of a table is."""

    fields: Sequence[DeltaField]
    files: Sequence[DataFile]
    comment: str


def read_log(table: OpenTable) -> DeltaLog:
    """Return what the log says of a table.

    Raises:
        TableReadError: It is damaged, leads out of the table, or uses what is not read here.
        FileNotFoundError: There is no log.
    """
    copy = table.scratch / "log"
    _place_log(table, copy)
    if not all(_SIDECAR.fullmatch(str(name)) for name in values_in(copy, "sidecar.path")):
        raise TableReadError(OUTSIDE)
    with library("deltalake", "delta", "look whether its _delta_log is whole"):
        from deltalake import DeltaTable

        found = DeltaTable(str(copy))
        features = set(found.protocol().reader_features or ())
        if unknown := sorted(features - _READ):
            raise TableReadError(
                f"it uses what is not read here ({', '.join(map(one_line, unknown))}); write it "
                "without these features of Delta"
            )
        vectors: Mapping[str, Live] = {}
        if "deletionVectors" in features:
            vectors = read_vectors(found, table, copy)
        fields = _fields(found)
        comment = one_line(found.metadata().description or "", _COMMENT_CHARACTERS)
        return DeltaLog(fields, _files(found, vectors), comment)


def _place_log(table: OpenTable, copy: Path) -> None:
    """Bring here the newest checkpoint and what was committed since."""
    log = f"{table.path}{DELTA_LOG}"
    commits, checkpoints, others = {}, {}, []
    for entry in table.storage.walk(log).entries:
        name = entry.path.removeprefix(f"{log}/")
        if commit := COMMIT.fullmatch(name):
            commits[name] = int(commit[1])
        elif checkpoint := CHECKPOINT.fullmatch(name):
            checkpoints[name] = int(checkpoint[1])
        elif name.startswith("_sidecars/"):
            others.append(name)
    if not commits and not checkpoints:
        raise FileNotFoundError("there is no log left in it")
    # A checkpoint of several files may be unfinished; then the one before it is read.
    whole = [n for name, n in checkpoints.items() if name.count(".") == 2]
    begin = max(whole, default=0)
    wanted = [name for name, number in {**commits, **checkpoints}.items() if number >= begin]
    (copy / DELTA_LOG / "_sidecars").mkdir(parents=True)
    for name in (*sorted(wanted), *others):
        target = copy / DELTA_LOG / name
        if ".." not in name and target.parent.is_dir():
            table.place(f"{log}/{name}", target)


def _fields(found: "DeltaTable") -> list[DeltaField]:
    mapped = found.metadata().configuration.get("delta.columnMapping.mode", "none") != "none"
    partitions = set(found.metadata().partition_columns)
    fields = []
    for column in json.loads(found.schema().to_json())["fields"]:
        said = column.get("metadata") or {}
        name = column["name"]
        fields.append(
            DeltaField(
                name,
                str(said.get("delta.columnMapping.physicalName", name)) if mapped else name,
                duckdb_type(column["type"], mapped=mapped),
                duckdb_type(column["type"], mapped=False),
                one_line(str(said.get("comment", "")), _COMMENT_CHARACTERS),
                str(said.get("delta.columnMapping.id", "")) if mapped else "",
                name in partitions,
            )
        )
    return fields


def _files(found: "DeltaTable", vectors: Mapping[str, Live]) -> list[DataFile]:
    files = []
    for action in pa.table(found.get_add_actions(flatten=False)).to_pylist():
        path = _checked(action["path"])
        rows, live = action.get("num_records"), vectors.get(path)
        if live is not None and rows is not None:
            rows -= int(np.count_nonzero(~live))
        files.append(DataFile(path, rows, action.get("partition") or {}, live))
    return sorted(files, key=lambda file: file.path)


def _checked(path: str) -> str:
    """Return the path of a data file, which must lie in its table."""
    path = unquote(path)
    if "://" in path or path.startswith("/") or ".." in path.split("/"):
        raise TableReadError(OUTSIDE)
    return path


_BATCH_CELLS = 200_000


class DeltaReader(ArrowReader):
    """Reads the newest version of Delta tables."""

    def read(self, table: OpenTable, ref: TableRef) -> ArrowTable:  # noqa: ARG002
        """Read the log, and make every file of the snapshot readable."""
        log = read_log(table)
        # Of its own: while a query reads these batches, its connection is taken.
        connection = table.undo.enter_context(table.connection.cursor())
        parts = []
        for number, file in enumerate(log.files):
            target = table.scratch / f"f{number}.parquet"
            name = table.place(table.path + file.path, target, columnar=True)
            reading = _Reading(connection, name, log.fields, file)
            parts.append(Part(reading.batches, file.rows, reading.take))
        said = [Said(f.name, f.shown_type, f.comment, f.identity) for f in log.fields]
        nulls = ", ".join(f"CAST(NULL AS {f.type}) AS c{i}" for i, f in enumerate(log.fields))
        schema = connection.sql(f"SELECT {nulls} LIMIT 0").to_arrow_reader(1).schema
        return ArrowTable(table.connection, schema, parts, said, log.comment)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one data file is read: by the table's columns, without rows that were deleted."""

    connection: duckdb.DuckDBPyConnection
    name: str
    fields: Sequence[DeltaField]
    file: DataFile

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read all rows that are left."""
        before = 0
        for batch in self._query(""):
            after = before + batch.num_rows
            if self.file.live is None:
                yield batch
            else:
                live = self.file.live[before:after]
                # It ends with the last row that was deleted.
                live = np.pad(live, (0, batch.num_rows - len(live)), constant_values=True)
                yield batch.filter(pa.array(live))
            before = after

    def take(self, positions: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Read the row groups of some rows that are left."""
        numbers = np.array(positions)
        if self.file.live is not None:
            alive = np.flatnonzero(self.file.live)
            beyond = len(self.file.live) - len(alive)
            inside = numbers < len(alive)
            numbers[inside] = alive[numbers[inside]]
            numbers[~inside] += beyond
        wanted = ", ".join(map(str, numbers.tolist()))
        return self._query(f"WHERE file_row_number IN ({wanted}) ORDER BY file_row_number")

    def _query(self, rows: str) -> Iterator[pa.RecordBatch]:
        cells, columns = [], []
        values: list[object] = []
        for number, field in enumerate(self.fields):
            if field.is_partition:
                cells.append(f"CAST(? AS {field.type}) AS c{number}")
                values.append(self.file.partition.get(field.name))
                continue
            cells.append(f"c{number}")
            columns.append(
                f"{literal(field.physical_name)}: {{name: 'c{number}', "
                f"type: {literal(field.type)}, default_value: NULL}}"
            )
        schema = f", schema = MAP {{{', '.join(columns)}}}" if columns else ""
        query = self.connection.sql(
            f"SELECT {', '.join(cells)} FROM read_parquet(?, utf8_validation = 'replace'{schema}) "
            f"{rows}",
            params=[*values, [self.name]],
        )
        yield from query.to_arrow_reader(max(1, min(10_000, _BATCH_CELLS // len(cells))))
