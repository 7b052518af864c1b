"""What the files of a Delta log name, looked up before deltalake opens whatever they name."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


def values_in(log: Path, leaf: str) -> Iterator[object]:
    """Yield one value of each action that has it.

    Args:
        log: The folder with the files of a log, at any depth.
        leaf: The value's name, as `add.deletionVector.storageType`.

    Raises:
        ValueError: A line is no JSON object, or has a key twice, which readers understand
            differently.
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
        raise ValueError("its log has a key twice")
    return found
