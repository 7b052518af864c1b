"""Reading the state document, and replacing it only if nobody else has."""

from dataclasses import dataclass
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.elastic.documents import STATE, STATE_ID
from pneuma_assets.core.index.elastic.failures import IndexGoneError
from pneuma_assets.core.index.elastic.state import State, state_from
from pneuma_assets.core.index.identity import REBUILD


@dataclass(frozen=True, slots=True)
class Stored:
    """A state, and where in the history of its document it stands."""

    state: State
    seq_no: int
    primary_term: int


def create_state(client: Elasticsearch, writing_alias: str, incarnation: str) -> None:
    """Give a new index its state; does nothing if another process was faster."""
    try:
        client.create(
            index=writing_alias,
            id=STATE_ID,
            document=_document(State(incarnation)),
            refresh=True,
            require_alias=True,
        )
    except ConflictError:
        return


def read_state(client: Elasticsearch, index: str) -> Stored:
    """Return the newest state, refreshed or not.

    Raises:
        IndexGoneError: There is no such index any more.
        IndexDamagedError: The state is missing or unreadable.
    """
    try:
        found = client.get(index=index, id=STATE_ID)
    except NotFoundError as error:
        if "error" in error.body:
            raise IndexGoneError(f"there is no index {index!r}") from error
        raise IndexDamagedError(
            f"The index {index!r} has lost its state document; {REBUILD}."
        ) from error
    state = state_from(found["_source"].get("state"), index)
    return Stored(state, found["_seq_no"], found["_primary_term"])


def replace_state(
    client: Elasticsearch, writing_alias: str, old: Stored, state: State
) -> Stored | None:
    """Make `state` the state, visible to searches on return; None if `old` is no longer it.

    A request that was repeated after a lost answer may find its own change and return None.
    """
    try:
        written = client.index(
            index=writing_alias,
            id=STATE_ID,
            document=_document(state),
            if_seq_no=old.seq_no,
            if_primary_term=old.primary_term,
            refresh=True,
            require_alias=True,
        )
    except ConflictError:
        return None
    except NotFoundError as error:
        raise IndexGoneError(f"there is no index {writing_alias!r}") from error
    return Stored(state, written["_seq_no"], written["_primary_term"])


def state_query() -> dict[str, Any]:
    """Return the search for the state as readers see it."""
    return {"query": {"ids": {"values": [STATE_ID]}}, "size": 1, "track_total_hits": False}


def _document(state: State) -> dict[str, Any]:
    return {"doc": STATE, "generation": 0, "state": state.to_dict()}
