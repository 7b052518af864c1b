"""What a cluster's refusals mean: which pass by themselves, and what to do about the others."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from elastic_transport import ConnectionError as UnreachableError
from elastic_transport import ConnectionTimeout, TlsError, TransportError
from elasticsearch import ApiError, NotFoundError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from pneuma_assets.core.errors import SearchIndexError

Result = TypeVar("Result")

_TRANSIENT = frozenset({408, 429, 502, 503, 504})
_FOREIGN = frozenset({200, 400, 404, 405, 410, 501})
"""Statuses with which web servers refuse what they do not know; proxies have others."""
_LONGEST_WAIT = 5.0  # seconds between two tries
_SWAPS = 5  # during one call; building an index takes minutes
_MAX_CAUSE = 500
_MAX_DEPTH = 20
_WRAPPING = frozenset({"search_phase_execution_exception"})
"""Types whose reason is "all shards failed", whatever the shards say."""


class ItemError(Exception):
    """One item of a bulk or of several searches was refused, while the request went through."""

    def __init__(self, status: int, error: Mapping[str, Any] | str) -> None:
        details = {"reason": error} if isinstance(error, str) else error
        self.status = status
        self.type = str(details.get("type", ""))
        super().__init__(_cause(details))


class UnansweredError(SearchIndexError):
    """The cluster cannot be reached, or has refused; the message says what to do."""


class IndexGoneError(Exception):
    """The index behind the alias was swapped or dropped; find it again and repeat."""


def item_error(status: int, error: Mapping[str, Any] | str) -> Exception:
    """Return what to raise for a refused item."""
    found = ItemError(status, error)
    return IndexGoneError(str(found)) if found.type == "index_not_found_exception" else found


def is_gone(error: BaseException) -> bool:
    """Tell whether the index was swapped or dropped under a request."""
    missing = isinstance(error, NotFoundError) and error.error == "index_not_found_exception"
    return missing or isinstance(error, IndexGoneError)


def is_foreign(error: ApiError) -> bool:
    """Tell whether a request was refused by something that is not Elasticsearch."""
    product = error.meta.headers.get("x-elastic-product")
    return error.status_code in _FOREIGN and product != "Elasticsearch"


def is_transient(error: BaseException) -> bool:
    """Tell whether the same call may succeed a little later."""
    if isinstance(error, ApiError):
        return error.status_code in _TRANSIENT
    if isinstance(error, ItemError):
        # 404: the search's context on a shard went, as with an index that is dropped under it.
        lost = error.status == 404 and error.type == "search_phase_execution_exception"
        return lost or error.status in _TRANSIENT
    if isinstance(error, TlsError):
        return False
    return isinstance(error, UnreachableError | ConnectionTimeout)


def with_retries(
    patience: float, call: Callable[[], Result], silence: float | None = None
) -> Result:
    """Repeat a call, with growing pauses, while its failure may pass.

    Args:
        patience: Seconds to go on.
        call: What is repeated.
        silence: Seconds to go on while nothing answers at all, if fewer: the address may be wrong.
    """

    def enough(state: RetryCallState) -> bool:
        failure = state.outcome.exception() if state.outcome is not None else None
        answered = isinstance(failure, ApiError | ItemError)
        limit = patience if silence is None or answered else min(patience, silence)
        return stop_after_delay(limit)(state)

    retrying = Retrying(
        retry=retry_if_exception(is_transient),
        wait=wait_random_exponential(multiplier=0.1, max=_LONGEST_WAIT),
        stop=enough,
        reraise=True,
    )
    return retrying(call)


def until_found(call: Callable[[], Result]) -> Result:
    """Repeat a call that finds the index by its alias, while that is swapped under it."""
    retrying = Retrying(
        retry=retry_if_exception(is_gone),
        wait=wait_random_exponential(multiplier=0.05, max=1.0),
        stop=stop_after_attempt(_SWAPS),
        reraise=True,
    )
    return retrying(call)


@contextmanager
def explained(doing: str) -> Iterator[None]:
    """Turn a failure of the cluster into an `UnansweredError` that says what to do.

    Args:
        doing: What cannot be done, as the sentence's start, such as "The index 'x' cannot be read".
    """
    try:
        yield
    except (ApiError, TransportError, ItemError, IndexGoneError) as error:
        status, kind, cause = _parts(error)
        raise UnansweredError(f"{doing}: {cause[:_MAX_CAUSE]}. {_remedy(status, kind)}") from error


def _parts(error: Exception) -> tuple[int | None, str, str]:
    """Return a failure's HTTP status, its type and its cause in words."""
    if isinstance(error, ApiError):
        body = error.body.get("error") if isinstance(error.body, dict) else None
        details = body if isinstance(body, dict) else {"reason": body or error.message}
        kind = "foreign" if is_foreign(error) else str(details.get("type", ""))
        return error.status_code, kind, _cause(details)
    if isinstance(error, ItemError):
        return error.status, error.type, str(error)
    if isinstance(error, TlsError):
        return None, "tls", " ".join(str(error.message).split())
    if isinstance(error, ConnectionTimeout):
        return 408, "", "it did not answer in time"
    if isinstance(error, TransportError):
        return None, "", " ".join(str(error.message).split())
    return 404, "", " ".join(str(error).split())


def _cause(details: Mapping[str, Any]) -> str:
    """Return the innermost reason on one line, whatever shape a server gave its answer."""
    for _ in range(_MAX_DEPTH):
        if details.get("type") == "document_parsing_exception":  # names the field; then the text
            details = {**details, "reason": str(details.get("reason")).partition(" Preview of")[0]}
            break
        causes = [details.get("caused_by")]
        if not details.get("reason") or str(details.get("type")) in _WRAPPING:
            for key in ("root_cause", "failed_shards"):
                found = details.get(key)
                causes += found[:1] if isinstance(found, list) else []
        deeper = [one for one in causes if isinstance(one, Mapping)]
        if not deeper:
            break
        details = deeper[0]
    return " ".join(f"{details.get('type') or ''} {details.get('reason') or ''}".split())


def _remedy(status: int | None, kind: str) -> str:
    if kind == "cluster_block_exception" and status != 503:
        return (
            "The index takes no writes, as when a node's disk is full: free disk space, lift the "
            "block (index.blocks.*), and run again; nothing is lost."
        )
    if kind in {"strict_dynamic_mapping_exception", "document_parsing_exception"}:
        return (
            "Its mapping was changed by hand or by another version; "
            "run 'pneuma-assets reindex' with this version."
        )
    if kind == "invalid_alias_name_exception":
        return "Choose another index.elasticsearch.name, or delete the index of that name."
    if kind == "foreign":
        return "Check index.elasticsearch.urls: what answers there is not Elasticsearch."
    if kind == "tls":
        return "Check urls and ca_certs in index.elasticsearch."
    remedies = {
        None: "Check index.elasticsearch.urls (http or https?), and that the cluster runs.",
        401: "Check the variables that api_key_env or password_env name.",
        403: "Give the key the privileges that docs/elasticsearch.md lists.",
        404: "If it was not swapped just now, run 'pneuma-assets index --rebuild'.",
        408: "Look at the cluster's load; running again is safe.",
        413: "Raise the cluster's http.max_content_length to its default of 100mb.",
        429: "The cluster is overloaded or out of disk; running again later is safe.",
    }
    return remedies.get(status, "Look at the cluster's health and logs; running again is safe.")
