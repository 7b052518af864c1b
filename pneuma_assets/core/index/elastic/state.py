"""Which writes count: the one document whose replacement is the commit.

Every table that is written gets a generation, a number that its documents carry. The state says
up to which number there are generations, and which of them are hidden: those being written
(leases) and those that were replaced (retired). A reader restricts its search to what one state
shows, so it sees each table as that state has it, whatever is written meanwhile, on every shard
and in every search of a batch.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from elasticsearch import ConflictError, Elasticsearch, NotFoundError
from pydantic import TypeAdapter, ValidationError

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.builds import Successor
from pneuma_assets.core.index.elastic.documents import STATE
from pneuma_assets.core.index.elastic.errors import IndexGoneError
from pneuma_assets.core.index.identity import REBUILD

_STATE_ID = "state"


@dataclass(frozen=True, slots=True)
class Lease:
    """Generations that a writer may use until a point in time; hidden until it commits."""

    first: int
    last: int
    until: float


@dataclass(frozen=True, slots=True)
class Retired:
    """Generations that nobody sees from a point in time on; their documents can go later."""

    generations: tuple[int, ...]
    at: float


@dataclass(frozen=True, slots=True)
class Garbage:
    """Generations whose documents can be deleted: replaced ones, and those of dead writers."""

    generations: frozenset[int]
    leases: tuple[Lease, ...]

    def __bool__(self) -> bool:
        return bool(self.generations or self.leases)


@dataclass(frozen=True, slots=True)
class State:
    """What is visible. Times are seconds since 1970 by the writers' clocks.

    `incarnation` names the index, since a dropped one's name is used again; `version` grows with
    every change; `dead` are the leases of writers that died: nothing of theirs is ever shown, not
    even what arrives after their documents were deleted.
    """

    incarnation: str
    version: int = 0
    last: int = 0
    leases: tuple[Lease, ...] = ()
    retired: tuple[Retired, ...] = ()
    dead: tuple[Lease, ...] = ()
    successor: Successor | None = None

    def reserved(self, count: int, until: float) -> tuple["State", Lease]:
        """Return the state with a lease of `count` new generations, and the lease."""
        lease = Lease(self.last + 1, self.last + count, until)
        return self._next(last=lease.last, leases=(*self.leases, lease)), lease

    def committed(self, lease: Lease, replaced: Iterable[int], now: float) -> "State":
        """Show the lease's generations and hide those that they replace."""
        kept = tuple(other for other in self.leases if other != lease)
        return self._next(leases=kept, retired=self._with(replaced, now))

    def hiding(self, generations: Iterable[int], now: float) -> "State":
        """Hide generations that nothing replaces."""
        return self._next(retired=self._with(generations, now))

    def garbage(self, now: float, retention: float) -> "Garbage":
        """Return what nobody reads or writes any more: `retention` after it was hidden."""
        retired = (one for one in self.retired if one.at + retention <= now)
        leases = tuple(lease for lease in self.leases if lease.until + retention <= now)
        return Garbage(frozenset(g for one in retired for g in one.generations), leases)

    def without(self, garbage: "Garbage") -> "State":
        """Take note that garbage was deleted; the numbers of dead writers stay hidden."""
        kept = (
            Retired(tuple(g for g in one.generations if g not in garbage.generations), one.at)
            for one in self.retired
        )
        return self._next(
            leases=tuple(lease for lease in self.leases if lease not in garbage.leases),
            dead=_merged([*self.dead, *garbage.leases]),
            retired=tuple(one for one in kept if one.generations),
        )

    def succeeded_by(self, successor: Successor) -> "State":
        """Let no writer change this index from now on."""
        return self._next(successor=successor)

    def hidden(self) -> list[int]:
        """Return all retired generations."""
        return [g for one in self.retired for g in one.generations]

    def visible(self) -> list[dict[str, Any]]:
        """Return the filters that let through exactly the documents that this state shows."""
        shown: list[dict[str, Any]] = [{"range": {"generation": {"lte": self.last}}}]
        hidden = generation_clauses((*self.leases, *self.dead), self.hidden())
        return [*shown, {"bool": {"must_not": hidden}}] if hidden else shown

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON types."""
        return asdict(self)

    def _next(self, **changes: Any) -> "State":
        return replace(self, version=self.version + 1, **changes)

    def _with(self, generations: Iterable[int], now: float) -> tuple[Retired, ...]:
        added = tuple(sorted(generations))
        return (*self.retired, Retired(added, now)) if added else self.retired


def _merged(leases: Iterable[Lease]) -> tuple[Lease, ...]:
    """Join leases whose numbers follow each other."""
    merged: list[Lease] = []
    for lease in sorted(leases, key=lambda one: one.first):
        if merged and merged[-1].last + 1 == lease.first:
            lease = Lease(merged.pop().first, lease.last, lease.until)  # noqa: PLW2901
        merged.append(lease)
    return tuple(merged)


def generation_clauses(leases: Iterable[Lease], generations: Iterable[int]) -> list[dict[str, Any]]:
    """Return queries that together match the documents of leases and of single generations."""
    clauses: list[dict[str, Any]] = [
        {"range": {"generation": {"gte": lease.first, "lte": lease.last}}} for lease in leases
    ]
    single = sorted(generations)
    return [*clauses, {"terms": {"generation": single}}] if single else clauses


_STATE = TypeAdapter(State)


def state_from(found: object, index: str) -> State:
    """Read a state as stored.

    Raises:
        IndexDamagedError: It is none; someone has written into the index by hand.
    """
    try:
        return _STATE.validate_python(found)
    except ValidationError as error:
        raise IndexDamagedError(
            f"The state document of the index {index!r} is damaged ({error.error_count()} "
            f"findings); {REBUILD}."
        ) from error


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
            id=_STATE_ID,
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
        found = client.get(index=index, id=_STATE_ID)
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
            id=_STATE_ID,
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
    return {"query": {"ids": {"values": [_STATE_ID]}}, "size": 1, "track_total_hits": False}


def _document(state: State) -> dict[str, Any]:
    return {"doc": STATE, "generation": 0, "state": state.to_dict()}
