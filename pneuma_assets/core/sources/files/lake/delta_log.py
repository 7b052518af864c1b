"""What a Delta table's log says of its newest version, as deltalake reads it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.lake.delta_actions import values_in
from pneuma_assets.core.sources.files.lake.delta_types import duckdb_type
from pneuma_assets.core.sources.files.lake.delta_vectors import OUTSIDE, Live, read_vectors
from pneuma_assets.core.sources.files.lake.folders import CHECKPOINT, COMMIT, DELTA_LOG
from pneuma_assets.core.sources.files.staging import OpenTable, place_file
from pneuma_assets.core.sources.files.storage import Storage
from pneuma_assets.core.sources.names import one_line

if TYPE_CHECKING:
    from deltalake import DeltaTable

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


def read_log(table: OpenTable, storage: Storage, path: str) -> DeltaLog:
    """Return what the log says of the table in a folder.

    Args:
        table: Takes the files of the log.
        storage: Where the table lies.
        path: The folder's, with a final `/` unless it is the source's root.

    Raises:
        TableReadError: It is damaged, leads out of the table, or uses what is not read here.
        FileNotFoundError: There is no log.
    """
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise TableReadError(
            "deltalake is not installed; run: pip install 'pneuma-assets[delta]'"
        ) from error
    copy = table.scratch / "log"
    _place_log(table, storage, path, copy)
    if not all(_SIDECAR.fullmatch(str(name)) for name in values_in(copy, "sidecar.path")):
        raise TableReadError(OUTSIDE)
    try:
        found = DeltaTable(str(copy))
        features = set(found.protocol().reader_features or ())
        if unknown := sorted(features - _READ):
            raise TableReadError(
                f"it uses what is not read here ({', '.join(map(one_line, unknown))}); write it "
                "without these features of Delta"
            )
        vectors: Mapping[str, Live] = {}
        if "deletionVectors" in features:
            vectors = read_vectors(found, table, storage, path, copy)
        fields = _fields(found)
        comment = one_line(found.metadata().description or "", _COMMENT_CHARACTERS)
        return DeltaLog(fields, _files(found, vectors), comment)
    except DeltaError as error:
        raise TableReadError(
            f"{one_line(str(error), 300)}; look whether its _delta_log is whole"
        ) from error


def _place_log(table: OpenTable, storage: Storage, path: str, copy: Path) -> None:
    """Bring here the newest checkpoint and what was committed since."""
    log = f"{path}{DELTA_LOG}"
    commits, checkpoints, others = {}, {}, []
    for entry in storage.walk(log).entries:
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
            place_file(table, storage, f"{log}/{name}", target)


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
