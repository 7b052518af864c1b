"""Names for what a measurement was made of, so that nothing kept is taken for another's."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from pneuma_assets import core
from pneuma_assets.core.bench.sets import RetrievalSet

_CORE = Path(core.__file__).parent

INDEXING = (
    *("documents", "evidence", "index", "models", "narration", "pipeline", "sources", "text"),
    *("tables.py", "bench/described.py", "bench/retrieval.py"),
)
"""What decides which index is made of a set, besides the setting."""


@cache
def code_key(parts: tuple[str, ...] = (".",)) -> str:
    """Return a hash of the source files in these rooms of the core.

    A version number would not do: code is measured while it is written.
    """
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(_files(parts)):
        digest.update(f"{file.relative_to(_CORE)}\0".encode())
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


def _files(parts: Iterable[str]) -> Iterable[Path]:
    for part in parts:
        place = _CORE / part
        yield from [place] if place.is_file() else place.rglob("*.py")
