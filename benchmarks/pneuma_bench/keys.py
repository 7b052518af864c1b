"""Names for what a measurement was made of, and the chance that a seed decides."""

import hashlib
import json
import random
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from pneuma_bench.sets import RetrievalSet


def chance_of(seed: int, *of: object) -> random.Random:
    """Return chance that depends on the seed and on what it is for, and on nothing before."""
    digest = blake2b(repr((seed, *of)).encode("utf-8", "replace"), digest_size=8)
    return random.Random(int.from_bytes(digest.digest()))  # noqa: S311


_CORE = (
    *("documents", "evidence", "index", "models", "narration", "pipeline", "sources", "tables"),
    "text",
)
INDEXING = (
    *(f"pneuma_assets.core.{one}" for one in _CORE),
    *("pneuma_bench.lab", "pneuma_bench.retrieval"),
)
"""What decides which index is made of a set, besides the setting; modules and packages."""
ALL = ("pneuma_assets.core", "pneuma_bench")


@cache
def code_key(modules: tuple[str, ...]) -> str:
    """Return a hash of the source files of these modules, and of all below those that are packages.

    A version number would not do: code is measured while it is written.

    Raises:
        ModuleNotFoundError: There is no such module: it was moved or misspelt, and what it holds
            would change unseen.
    """
    digest = hashlib.blake2b(digest_size=16)
    for module in sorted(modules):
        for name, file in _files(module):
            digest.update(f"{module} {name}\0".encode())
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


def _files(module: str) -> Iterator[tuple[str, Path]]:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module} to name a measurement by", name=module)
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        yield origin.name, origin
        return
    for file in sorted(origin.parent.rglob("*.py")):
        yield str(file.relative_to(origin.parent)), file
