"""The index behind the alias: its creation, its successor, its end, and the handle on it.

Readers ask the alias NAME for the index to read, NAME-000001 at first. To build anew without
downtime, a successor is made beside it and named in its state; writers follow, readers stay,
until `publish` moves the alias and drops the old index in one step.
"""

import re
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import IndexBusyError, IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.builds import Successor
from pneuma_assets.core.index.elastic.errors import IndexGoneError, is_foreign, is_gone
from pneuma_assets.core.index.elastic.mapping import (
    FORMAT,
    PROGRAM,
    mappings_of,
    quantization_of,
    settings_of,
)
from pneuma_assets.core.index.elastic.state import (
    State,
    create_state,
    read_state,
    replace_state,
)
from pneuma_assets.core.index.identity import REBUILD, Identity, other_format

_NUMBERED = re.compile(r"-(\d{6,})(-[0-9a-f]{8})?$")


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of an index without reading its documents.

    Writers use `writing_alias`, always with `require_alias`: a write to an index that was dropped
    would otherwise create it again, with a guessed mapping; and the alias carries the index's
    incarnation, so that nothing meant for a dropped index gets into one of the same name.
    """

    identity: Identity
    quantization: str
    incarnation: str
    shards: int
    writing_alias: str


def resolve(client: Elasticsearch, name: str) -> str | None:
    """Return the index behind the alias; None if there is none yet.

    Raises:
        SearchIndexError: The name is an index itself, or an alias of several.
    """
    try:
        found = client.indices.get_alias(name=name)
    except NotFoundError as error:
        if is_foreign(error):
            raise
        return None
    indices: list[str] = sorted(found.body)
    if len(indices) != 1 or not _NUMBERED.fullmatch(indices[0].removeprefix(name)):
        raise SearchIndexError(
            f"The alias {name!r} stands for {', '.join(indices)}, which is not an index of "
            "pneuma-assets; choose another index.elasticsearch.name, or mend the alias."
        )
    return indices[0]


def describe(client: Elasticsearch, index: str) -> Described:
    """Return what an index was built with.

    Raises:
        IndexGoneError: There is no such index any more.
        IndexDamagedError: Its alias for writers is missing, or it is of another format.
        SearchIndexError: It is another program's.
    """
    try:
        found = client.indices.get(index=index)[index]
    except NotFoundError as error:
        raise IndexGoneError(f"there is no index {index!r}") from error
    meta = found["mappings"].get("_meta")
    if not isinstance(meta, Mapping) or meta.get("program") != PROGRAM:
        raise SearchIndexError(
            f"The index {index!r} belongs to another program; choose another "
            "index.elasticsearch.name."
        )
    if meta.get("format") != FORMAT:
        raise IndexDamagedError(other_format(f"The index {index!r}", meta.get("format"), FORMAT))
    incarnation = str(meta["incarnation"])
    alias = _writing_alias(index, incarnation)
    if alias not in found["aliases"]:
        raise IndexDamagedError(f"The index {index!r} has lost its alias {alias!r}; {REBUILD}.")
    identity = Identity(str(meta["encoder"]), int(meta["dimension"]), str(meta["analyzer"]))
    shards = int(found["settings"]["index"]["number_of_shards"])
    return Described(identity, str(meta["quantization"]), incarnation, shards, alias)


def create_first(client: Elasticsearch, config: ElasticsearchConfig, identity: Identity) -> str:
    """Create the first index, then its state, then the alias; safe to repeat, and in parallel.

    Whoever finds an index by its alias finds it complete.
    """
    index = f"{config.name}-000001"
    try:
        _create(client, config, identity, index)
    except BadRequestError as error:
        if error.error != "resource_already_exists_exception":
            raise
        found = describe(client, index)
        create_state(client, found.writing_alias, found.incarnation)
    client.indices.put_alias(index=index, name=config.name)
    return index


def successor_of(client: Elasticsearch, index: str) -> Successor | None:
    """Return the index that is being built to take this one's place."""
    return read_state(client, index).state.successor


@dataclass(frozen=True, slots=True)
class ElasticsearchBuilds:
    """The index behind an alias, and the one that its state names; see `builds.Builds`."""

    client: Elasticsearch
    config: ElasticsearchConfig

    def current(self) -> str | None:
        """Return the index behind the alias."""
        return resolve(self.client, self.config.name)

    def successor(self, current: str) -> Successor | None:
        """Return the successor that an index's state names."""
        return successor_of(self.client, current)

    def identity(self, build: str) -> Identity:
        """Return what an index was made with."""
        return describe(self.client, build).identity

    def begin(self, current: str, wanted: Identity, *, copying: bool) -> str:
        """Return the successor that is built with these settings, too, made if missing.

        Its name is used by nobody else, so that no two processes meet in it unawares. One that was
        begun otherwise is dropped after its place was taken.
        """
        client = self.client
        while True:
            stored = read_state(client, current)
            begun = stored.state.successor
            going_on = begun is not None and begun.copying == copying
            if begun is not None and going_on and _fits(client, self.config, wanted, begun.index):
                return begun.index
            alias = describe(client, current).writing_alias
            name = _next_name(current)
            _create(client, self.config, wanted, name)
            state = stored.state.succeeded_by(Successor(name, copying))
            taken = (
                replace_state(client, alias, stored, state) is not None
                or self.successor(current) == state.successor  # done, but the answer was lost
            )
            if not taken:
                client.indices.delete(index=name, ignore_unavailable=True)
                continue
            if begun is not None:
                client.indices.delete(index=begun.index, ignore_unavailable=True)
            return name

    def publish(self, current: str, successor: str) -> None:
        """Move the alias and drop the old index, in one step; safe to repeat."""
        alias = {"index": successor, "alias": self.config.name}
        try:
            self.client.indices.update_aliases(
                actions=[{"add": alias}, {"remove_index": {"index": current}}]
            )
        except NotFoundError as error:
            if not is_gone(error) or self.current() != successor:
                raise

    def discard(self) -> None:
        """Drop the index behind the alias, whatever its state."""
        current = self.current()
        if current is not None:
            self.client.indices.delete(index=current, ignore_unavailable=True)


def _create(
    client: Elasticsearch, config: ElasticsearchConfig, identity: Identity, index: str
) -> None:
    incarnation = uuid.uuid4().hex
    alias = _writing_alias(index, incarnation)
    client.indices.create(
        index=index,
        aliases={alias: {}},
        settings=settings_of(config),
        mappings=mappings_of(config, identity, incarnation),
    )
    create_state(client, alias, incarnation)


def _writing_alias(index: str, incarnation: str) -> str:
    return f"{index}-w-{incarnation[:12]}"


def _fits(
    client: Elasticsearch, config: ElasticsearchConfig, identity: Identity, index: str
) -> bool:
    try:
        found = describe(client, index)
        read_state(client, index)
    except (IndexGoneError, SearchIndexError):
        return False
    wanted = (identity, quantization_of(config, identity.dimension), config.shards)
    return (found.identity, found.quantization, found.shards) == wanted


def _next_name(index: str) -> str:
    found = _NUMBERED.search(index)
    if found is None:
        raise SearchIndexError(f"The index {index!r} has no number at its end.")
    return f"{index[: found.start()]}-{int(found[1]) + 1:06d}-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True, slots=True)
class Opened:
    """An index, and the newest of its states that this process has seen."""

    index: str
    described: Described
    state: State


@dataclass(eq=False, repr=False)
class IndexHandle:
    """Finds the index behind the alias, and again after it was swapped or dropped.

    Attributes:
        client: Connected to the cluster; its time limit is for looking, not for creating.
        config: Names the alias.
        identity: What the index must have been built with.
        building: Work on the successor where indexing builds one.
        create: Make the first index where there is none.
        pinned: Work on this index, whatever the alias says.
    """

    client: Elasticsearch
    config: ElasticsearchConfig
    identity: Identity
    building: bool
    create: bool
    pinned: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _opened: Opened | None = field(default=None, init=False)

    def current(self) -> Opened:
        """Return the index and the newest state known; opens it where that is not known yet.

        Raises:
            IndexMismatchError: It was built with another encoder, dimension or analyzer.
        """
        known = self._opened
        if known is None:
            opened = self._open()  # not under the lock: a cluster that hangs holds up nobody else
            with self._lock:
                self._opened = known = self._opened or opened
        return known

    def saw(self, opened: Opened, state: State) -> Opened:
        """Return what is opened, at `state` if that is newer than what was known.

        Raises:
            IndexGoneError: Another index has its name now.
        """
        with self._lock:
            known = self._opened
            if known is None or known.index != opened.index:
                return Opened(opened.index, opened.described, state)
            if known.state.incarnation != state.incarnation:
                raise IndexGoneError(f"{opened.index!r} was dropped and made again")
            if state.version > known.state.version:
                self._opened = known = Opened(known.index, known.described, state)
            return known

    def forget(self, opened: Opened) -> None:
        """Look for the index again at the next call, because this one is gone."""
        with self._lock:
            if self._opened is not None and self._opened.index == opened.index:
                self._opened = None

    def _open(self) -> Opened:
        index = self.pinned or self._named()
        described = describe(self.client, index)
        described.identity.check(self.identity, repr(index))
        return Opened(index, described, read_state(self.client, index).state)

    def _named(self) -> str:
        """Return the index behind the alias, or the one that is to take its place."""
        index = resolve(self.client, self.config.name)
        if index is None and self.create:
            patient = self.client.options(request_timeout=self.config.timeout_seconds)
            index = create_first(patient, self.config, self.identity)
        if index is None:
            raise SearchIndexError(
                f"There is no search index {self.config.name!r} in this cluster yet: run "
                "'pneuma-assets index' where the tables are, or correct index.elasticsearch.name."
            )
        return (self._being_built(index) if self.building else None) or index

    def _being_built(self, index: str) -> str | None:
        """Return the successor that indexing builds, if there is one."""
        successor = successor_of(self.client, index)
        if successor is None:
            return None
        if successor.copying:
            raise being_copied(index, successor.index)
        if self.client.indices.exists(index=successor.index):
            return successor.index
        if resolve(self.client, self.config.name) != index:
            raise IndexGoneError(f"{index!r} was swapped meanwhile")
        raise IndexDamagedError(
            f"The index {successor.index!r}, which was being built to replace {index!r}, is gone; "
            f"{REBUILD}."
        )


def being_copied(index: str, successor: str) -> IndexBusyError:
    """Return the refusal of an index that takes no writes."""
    return IndexBusyError(
        f"The index {index!r} is being copied to {successor!r} and takes no changes: wait for "
        "'pneuma-assets reindex' to end, or run it again if it was interrupted. (With --rebuild "
        "an index is built from the tables instead.)"
    )
