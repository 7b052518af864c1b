"""Names for what a measurement was made of, and the chance that a seed decides."""

import json
import random
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from itertools import chain
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
    files = ((one, folder) for folder in folders for one in sorted(folder.rglob("*.py")))
    return _hash([str(file.relative_to(folder)), file.read_text()] for file, folder in files)


def tables_key(dataset: RetrievalSet) -> str:
    """Return a hash of all that a set says of its tables."""
    tables = (
        [
            table.table_id,
            [(column.name, column.type, column.comment) for column in table.columns],
            (dataset.names.get(table.table_id), dataset.contexts.get(table.table_id)),
            rows,
        ]
        for table, rows in dataset.tables
    )
    return _hash(chain(tables, ([*one.on, one.kind] for one in dataset.joins)))


def questions_key(dataset: RetrievalSet) -> str:
    """Return a hash of a set's questions, their kinds and their answers."""
    return _hash([one.text, sorted(one.relevant), one.kind] for one in dataset.asked)


def measurement_key(dataset: RetrievalSet, *more: str) -> str:
    """Return a hash of tables, questions, the code, and what else decides a measurement."""
    return _hash([tables_key(dataset), questions_key(dataset), code_key(), *more])


def _hash(parts: Iterable[object]) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(json.dumps(part).encode() + b"\0")
    return digest.hexdigest()
