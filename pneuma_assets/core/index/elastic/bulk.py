"""Sending many documents: what may pass is sent again, what cannot is told once."""

from collections.abc import Iterable, Mapping
from typing import Any

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from pneuma_assets.core.index.elastic.documents import Action
from pneuma_assets.core.index.elastic.failures import (
    ItemError,
    explained,
    item_error,
    passes,
    patiently,
)
from pneuma_assets.core.index.elastic.target import Opened

THREADS = 4
_DOCUMENTS, _BYTES = 500, 8 * 1024 * 1024
"""Most of one request."""
_SHOWN = 5


def send(client: Elasticsearch, opened: Opened, actions: Iterable[Action], patience: float) -> None:
    """Carry out every action; on return the cluster has all of them on disk.

    Actions name their documents, so sending one again after a lost answer changes nothing.

    Args:
        client: Connected to the cluster.
        opened: The index.
        actions: Each with `_op_type`, `_id` and, unless it deletes, `_source`.
        patience: Seconds to go on while failures may pass (429, lost connections, lost shards).

    Raises:
        SearchIndexError: Some were refused; names them with their causes.
        IndexGoneError: There is no such index any more.
    """
    pending = {action["_id"]: action for action in actions}

    def attempt() -> None:
        refused: dict[str, Exception] = {}
        for done, item in parallel_bulk(
            client,
            list(pending.values()),
            index=opened.described.writing_alias,
            require_alias=True,
            thread_count=THREADS,
            chunk_size=_DOCUMENTS,
            max_chunk_bytes=_BYTES,
            raise_on_error=False,
            raise_on_exception=False,
        ):
            ((operation, result),) = item.items()
            if done or (operation == "delete" and result.get("result") == "not_found"):
                del pending[result["_id"]]
            else:
                refused[result["_id"]] = _failure(result)
        _raise_first(refused, opened.index)

    patiently(patience, attempt)


def _failure(result: Mapping[str, Any]) -> Exception:
    """Return what happened to one document: the request's own failure, or the item's."""
    exception = result.get("exception")
    if isinstance(exception, Exception):
        return exception
    return item_error(int(result.get("status", 500)), result.get("error", "no cause given"))


def _raise_first(refused: Mapping[str, Exception], index: str) -> None:
    """Raise what cannot pass, told as one error, or else one of those that may."""
    hopeless = {key: error for key, error in refused.items() if not passes(error)}
    if not hopeless:
        for error in refused.values():
            raise error
        return
    first = next(iter(hopeless.values()))
    if isinstance(first, ItemError):
        causes = list(dict.fromkeys(str(error) for error in hopeless.values()))
        shown = ", ".join(list(hopeless)[:_SHOWN])
        first = ItemError(first.status, {"type": first.type, "reason": "; ".join(causes[:_SHOWN])})
        doing = f"{len(hopeless):,} documents of the index {index!r} were refused ({shown}"
        doing += ", ...)" if len(hopeless) > _SHOWN else ")"
    else:
        doing = f"{len(hopeless):,} documents cannot be written to the index {index!r}"
    with explained(doing):
        raise first
