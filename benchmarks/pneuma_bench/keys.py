"""Names for what a measurement was made of, and the chance that a seed decides."""

import hashlib
import json
import random
from functools import cache
from hashlib import blake2b
from pathlib import Path

import pneuma_assets.core
from pneuma_bench.sets import RetrievalSet


def chance_of(seed: int, *of: object) -> random.Random:
    """Return chance that depends on the seed and on what it is for, and on nothing before."""
    digest = blake2b(repr((seed, *of)).encode("utf-8", "replace"), digest_size=8)
    return random.Random(int.from_bytes(digest.digest()))  # noqa: S311


_CODE = (Path(pneuma_assets.core.__path__[0]), Path(__file__).parent)
"""What decides an index and its answers, besides the setting: the core, and this package."""


@cache
def code_key(folders: tuple[Path, ...] = _CODE) -> str:
    """Return a hash of the source files below these folders.

    A version number would not do: code is measured while it is written.
    """
    digest = hashlib.blake2b(digest_size=16)
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            digest.update(f"{file.relative_to(folder)}\0".encode())
            digest.update(hashlib.blake2b(file.read_bytes()).digest())
    return digest.hexdigest()


def tables_key(dataset: RetrievalSet) -> str:
    """Return a hash of all that a set says of its tables."""
    digest = hashlib.blake2b(digest_size=16)
    for table, rows in dataset.tables:
        said = dataset.names.get(table.table_id), dataset.contexts.get(table.table_id)
        columns = [(column.name, column.type, column.comment) for column in table.columns]
        digest.update(json.dumps([table.table_id, columns, said, rows]).encode() + b"\0")
    return digest.hexdigest()


def questions_key(dataset: RetrievalSet) -> str:
    """Return a hash of a set's questions, their kinds and their answers."""
    digest = hashlib.blake2b(digest_size=16)
    for question, relevant in zip(dataset.questions, dataset.relevant, strict=True):
        digest.update(json.dumps([question, sorted(relevant)]).encode() + b"\0")
    digest.update(json.dumps([*dataset.kinds]).encode())
    return digest.hexdigest()
