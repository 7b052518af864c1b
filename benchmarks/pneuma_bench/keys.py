"""Names for what a measurement was made of, so that nothing kept is taken for another's."""

import hashlib
import json

from pneuma_assets.core.measure.keys import code_key as code_key  # noqa: PLC0414 (beside the others)
from pneuma_bench.sets import RetrievalSet

_CORE = (
    *("documents", "evidence", "index", "models", "narration", "pipeline", "sources", "tables"),
    "text",
)
INDEXING = (
    *(f"pneuma_assets.core.{one}" for one in _CORE),
    *("pneuma_bench.described", "pneuma_bench.retrieval"),
)
"""What decides which index is made of a set, besides the setting; modules and packages."""
ALL = ("pneuma_assets.core", "pneuma_bench")


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
