"""Reads Delta tables: their log by deltalake, the data files of one snapshot by DuckDB.

The log is brought into a temporary folder and read there, so a table is read alike wherever it
lies, and without a key ever leaving this project's own storage. A path in a log may only lead into
its own table.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.arrow import ArrowReader, ArrowTable, Batches, Part
from pneuma_assets.core.sources.files.part_files import CHECKPOINT, COMMIT, DELTA_LOG
from pneuma_assets.core.sources.files.staging import OpenTable, library
from pneuma_assets.core.sources.files.text_layout import literal
from pneuma_assets.core.tables import Column, TableRef
from pneuma_assets.core.text.safe import one_line

if TYPE_CHECKING:
    from deltalake import DeltaTable

Live = npt.NDArray[np.bool_]
"""Which rows of a file are left, at least up to the last that is not."""

OUTSIDE = (
    "its log names files outside its own folder, as a shallow clone does; write a table that holds "
    "its own files"
)
_READ = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "v2Checkpoint"}
    | {"vacuumProtocolCheck"}
)
"""The features of the protocol that a reader must know, of which these are read."""

_SIDECAR = re.compile(r"[\w-][\w.-]*")
"""The name of a file in `_sidecars`; deltalake would open any address that stands in its place."""

_VECTOR_FILE = re.compile(r"(?:.*/)?deletion_vector_[0-9a-f-]{36}\.bin")
_VECTORS_INSIDE = {"i", "u"}
"""In the log itself, or in a file of the table's folder; `p` is a path to anywhere."""

_PHYSICAL = "delta.columnMapping.physicalName"
_COMMENT_CHARACTERS = 1000
_BATCH_CELLS = 200_000


class DeltaReader(ArrowReader):
    """Reads the newest version of Delta tables."""

    def read(self, table: OpenTable, ref: TableRef) -> ArrowTable:  # noqa: ARG002
        """Read the log, and make every file of the snapshot readable."""
        found, vectors = _snapshot(table, table.scratch / "log")
        with _explained():
            actions = pa.table(found.get_add_actions(flatten=False)).to_pylist()
            schema = pa.schema(found.schema().to_arrow())
            metadata = found.metadata()
        mapped = metadata.configuration.get("delta.columnMapping.mode", "none") != "none"
        # Of its own: while a query reads these batches, its connection is taken.
        connection = table.undo.enter_context(table.connection.cursor())
        stored = [_physical(field) if mapped else field for field in schema]
        types, shown = _types(connection, stored), _types(connection, schema)
        described = [
            Column(
                field.name,
                kind,
                one_line(_metadata(field, "comment"), _COMMENT_CHARACTERS),
                _metadata(field, "delta.columnMapping.id") if mapped else "",
            )
            for field, kind in zip(schema, shown, strict=True)
        ]
        of_folders = {*metadata.partition_columns}
        columns = [
            _Column(field.name, kind, column.name if column.name in of_folders else None)
            for field, kind, column in zip(stored, types, described, strict=True)
        ]
        parts: list[Part] = []
        for action in sorted(actions, key=_path_of):
            path, rows = _path_of(action), action.get("num_records")
            target = table.scratch / f"f{len(parts)}.parquet"
            name = table.place(table.path + path, target, columnar=True)
            live = vectors.get(path)
            if live is not None and rows is not None:
                rows -= int(np.count_nonzero(~live))
            file = _DataFile(connection, name, columns, action.get("partition") or {}, live)
            parts.append(Part(file.batches, rows, file.take))
        nulls = ", ".join(f"CAST(NULL AS {kind}) AS c{i}" for i, kind in enumerate(types))
        read = connection.sql(f"SELECT {nulls} LIMIT 0").to_arrow_reader(1).schema
        comment = one_line(metadata.description or "", _COMMENT_CHARACTERS)
        return ArrowTable(table.connection, read, parts, described, comment)


_explained = partial(library, "deltalake", "delta", "look whether its _delta_log is whole")


def _snapshot(table: OpenTable, copy: Path) -> tuple["DeltaTable", Mapping[str, Live]]:
    """Return the newest version, read from a copy of the log, and what its deletion vectors leave.

    Raises:
        TableReadError: The log is damaged, leads out of the table, or uses what is not read here.
    """
    _place_log(table, copy)
    if not all(_SIDECAR.fullmatch(str(name)) for name in _values_in(copy, "sidecar.path")):
        raise TableReadError(OUTSIDE)
    with _explained():
        from deltalake import DeltaTable

        found = DeltaTable(str(copy))
        features = set(found.protocol().reader_features or ())
        if unknown := sorted(features - _READ):
            raise TableReadError(
                f"it uses what is not read here ({', '.join(map(one_line, unknown))}); write it "
                "without these features of Delta"
            )
        return found, _vectors(found, table, copy) if "deletionVectors" in features else {}


def _place_log(table: OpenTable, copy: Path) -> None:
    """Bring here the newest checkpoint and what was committed since.

    Raises:
        FileNotFoundError: There is no log.
    """
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


def _values_in(log: Path, leaf: str) -> Iterator[object]:
    """Yield one value of each action in the files of a log that has it.

    `leaf` is its name, as `add.deletionVector.storageType`. Raises `TableReadError` where an action
    has a key twice, which readers understand differently, and `ValueError` where it is no JSON.
    """
    keys = leaf.split(".")
    sign = keys[-2].encode()
    for file in log.rglob("*"):
        if file.suffix == ".json":
            with file.open("rb") as lines:
                for line in lines:
                    if sign in line or b"\\u" in line:
                        yield from _at(json.loads(line, object_pairs_hook=_once), keys)
        elif file.suffix == ".parquet":
            with pq.ParquetFile(file) as checkpoint:
                there = leaf in {column.path for column in checkpoint.schema}
                for batch in checkpoint.iter_batches(columns=[leaf]) if there else ():
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


def _vectors(found: "DeltaTable", table: OpenTable, copy: Path) -> dict[str, Live]:
    """Return the rows that are left, by the path of each file that lost some.

    `found` was read from `copy`, a copy of the table's log, where the files of its vectors are put.

    Raises:
        TableReadError: The log names such a file outside of the table; deltalake would open it.
    """
    kinds = _values_in(copy, "add.deletionVector.storageType")
    if any(kind not in _VECTORS_INSIDE for kind in kinds):
        raise TableReadError(OUTSIDE)
    for entry in table.storage.walk(table.path.rstrip("/")).entries:
        name = entry.path.removeprefix(table.path)
        if _VECTOR_FILE.fullmatch(name) and ".." not in name.split("/"):
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            table.place(entry.path, target)
    vectors = {}
    start = unquote(f"{copy.as_uri()}/")
    for batch in pa.RecordBatchReader.from_stream(found.deletion_vectors()):
        for place, live in zip(batch["filepath"], batch["selection_vector"], strict=True):
            inside = unquote(place.as_py()).removeprefix(start)
            vectors[inside] = live.values.to_numpy(zero_copy_only=False)
    return vectors


def _path_of(action: Mapping[str, Any]) -> str:
    """Return the path of a data file below its table, where it must lie."""
    path = unquote(action["path"])
    if "://" in path or path.startswith("/") or ".." in path.split("/"):
        raise TableReadError(OUTSIDE)
    return path


def _types(connection: duckdb.DuckDBPyConnection, fields: Iterable[pa.Field]) -> list[str]:
    """Return DuckDB's names of types."""
    nothing = pa.schema([(f"c{i}", field.type) for i, field in enumerate(fields)]).empty_table()
    connection.register("nothing", nothing)
    found = connection.execute("DESCRIBE nothing").fetchall()
    connection.unregister("nothing")
    return [kind for _, kind, *_ in found]


def _metadata(field: pa.Field, name: str) -> str:
    value: bytes = (field.metadata or {}).get(name.encode(), b"")
    return value.decode("utf-8", "replace")


def _physical(field: pa.Field) -> pa.Field:
    """Return a column as data files have it, where they have names of their own for its fields."""
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_physical(part) for part in kind])
    elif pa.types.is_list(kind):
        kind = pa.list_(_physical(kind.value_field))
    elif pa.types.is_map(kind):
        kind = pa.map_(_physical(kind.key_field), _physical(kind.item_field))
    return pa.field(_metadata(field, _PHYSICAL) or field.name, kind)


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as data files have it; where it is a partition, they do not, but the log does."""

    name: str
    type: str
    partition: str | None


@dataclass(frozen=True, slots=True)
class _DataFile:
    """A file of the snapshot, read by the table's columns, without rows that were deleted."""

    connection: duckdb.DuckDBPyConnection
    name: str
    columns: Sequence[_Column]
    partition: Mapping[str, Any]
    live: Live | None

    def batches(self) -> Batches:
        """Read all rows that are left."""
        before = 0
        for batch in self._query(""):
            after = before + batch.num_rows
            if self.live is None:
                yield batch
            else:
                live = self.live[before:after]
                # It ends with the last row that was deleted.
                live = np.pad(live, (0, batch.num_rows - len(live)), constant_values=True)
                yield batch.filter(pa.array(live))
            before = after

    def take(self, positions: Sequence[int]) -> Batches:
        """Read the row groups of some rows that are left."""
        numbers = np.array(positions)
        if self.live is not None:
            alive = np.flatnonzero(self.live)
            inside = numbers < len(alive)
            numbers[inside] = alive[numbers[inside]]
            numbers[~inside] += len(self.live) - len(alive)
        wanted = ", ".join(map(str, numbers.tolist()))
        return self._query(f"WHERE file_row_number IN ({wanted}) ORDER BY file_row_number")

    def _query(self, rows: str) -> Batches:
        cells, stored = [], []
        values: list[object] = []
        for number, column in enumerate(self.columns):
            if column.partition is not None:
                cells.append(f"CAST(? AS {column.type}) AS c{number}")
                values.append(self.partition.get(column.partition))
                continue
            cells.append(f"c{number}")
            stored.append(
                f"{literal(column.name)}: {{name: 'c{number}', "
                f"type: {literal(column.type)}, default_value: NULL}}"
            )
        schema = f", schema = MAP {{{', '.join(stored)}}}" if stored else ""
        query = self.connection.sql(
            f"SELECT {', '.join(cells)} FROM read_parquet(?, utf8_validation = 'replace'{schema}) "
            f"{rows}",
            params=[*values, [self.name]],
        )
        yield from query.to_arrow_reader(max(1, min(10_000, _BATCH_CELLS // len(cells))))
