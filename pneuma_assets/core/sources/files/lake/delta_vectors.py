"""Which rows of a Delta table were deleted, though they still stand in its files."""

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.lake.delta_actions import values_in
from pneuma_assets.core.sources.files.staging import OpenTable, place_file
from pneuma_assets.core.sources.files.storage import Storage

if TYPE_CHECKING:
    from deltalake import DeltaTable

Live = npt.NDArray[np.bool_]
"""Which rows of a file are left."""

OUTSIDE = (
    "its log names files outside its own folder, as a shallow clone does; write a table that holds "
    "its own files"
)

_FILE = re.compile(r"(?:.*/)?deletion_vector_[0-9a-f-]{36}\.bin")
_INSIDE = {"i", "u"}
"""In the log itself, or in a file of the table's folder; `p` is a path to anywhere."""


def read_vectors(
    found: "DeltaTable", table: OpenTable, storage: Storage, path: str, copy: Path
) -> dict[str, Live]:
    """Return the rows that are left, by the path of each file that lost some.

    Args:
        found: The table, read from `copy`.
        table: Takes the files.
        storage: Where the table lies.
        path: The folder's, as in `read_log`.
        copy: The folder with the copy of its log.

    Raises:
        TableReadError: The log names such a file outside of the table.
    """
    # deltalake opens whatever file a log names.
    if any(kind not in _INSIDE for kind in values_in(copy, "add.deletionVector.storageType")):
        raise TableReadError(OUTSIDE)
    for entry in storage.walk(path.rstrip("/")).entries:
        name = entry.path.removeprefix(path)
        if _FILE.fullmatch(name) and ".." not in name.split("/"):
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            place_file(table, storage, entry.path, target)
    vectors = {}
    start = f"{copy.as_uri()}/"
    for batch in pa.RecordBatchReader.from_stream(found.deletion_vectors()):
        for place, live in zip(batch["filepath"], batch["selection_vector"], strict=True):
            inside = unquote(place.as_py()).removeprefix(unquote(start))
            vectors[inside] = live.values.to_numpy(zero_copy_only=False)
    return vectors
