"""Whether there is work for a run: what a sensor asks every minute, without loading a model.

It does what a run does first, and no more: the sources are listed and the work list is brought up
to date. All it learns is in the store, so that a tick that is ended from outside has not listed in
vain, and the run that follows finds its work there.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.config.indexing import IndexingConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.beginning import release_what_the_dead_hold
from pneuma_assets.core.pipeline.listing import RawTablesFigures, list_sources, removal_rule
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.listing_times import ListingTime
from pneuma_assets.core.store.records import ToDo
from pneuma_assets.core.store.removals import RemovalRule

BUDGET_S = 40.0
"""Dagster waits 60 s for a tick, unless DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS says otherwise."""

NOBODY = ""
"""Who asks for the claims of dead runs without being a run."""

_NAMED = 5
"""Sources of a kind that are told by name."""

_SHOWN = 300
"""Characters of a cause; the problem of the source has all of it."""

Look = Callable[[ToDo], Collection[str]]
"""Tells why an index, or what it is made with, is reason for a run, from what it should hold."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen of the sources, the work list and the index.

    Attributes:
        figures: What the listed sources showed.
        listed: The sources that could be listed, in that order.
        unlisted: The sources that could not, and why.
        left: The sources for which no time was left; they come first the next time.
        seconds: What listing took.
        slowest: The source whose last listing took longest, and how long that was.
        to_do: What there is to work on.
        other_work: Reasons for a run besides tables that wait.
        no_source: Whether there is none to index at all, so that a run could only fail.
        unnamed: Sources that have tables, and that the deployment file did not name when this
            process read it.
    """

    figures: RawTablesFigures
    listed: Sequence[str]
    unlisted: Mapping[str, str]
    left: Sequence[str]
    seconds: float
    slowest: tuple[str, float] | None
    to_do: ToDo
    other_work: Sequence[str] = ()
    no_source: bool = False
    unnamed: Sequence[str] = ()

    @property
    def reasons(self) -> list[str]:
        """Why a run is needed at once; empty where none is, or where it could only fail."""
        if self.no_source:
            return []
        waiting, gone = self.to_do.waiting, self.to_do.gone
        counted = [_tables(waiting, "waits", "wait")] if waiting else []
        if gone:
            counted.append(_tables(gone, "has left its source", "have left their source"))
        return [*counted, *self.other_work]

    def told(self) -> str:
        """Return what was seen, in one line for people."""
        if not (self.listed or self.unlisted):
            return "there is no source to index: add one to the deployment file"
        waiting = self.to_do.waiting
        parts = [_tables(waiting, "waits", "wait") if waiting else "no table waits"]
        if self.to_do.claimed:
            parts.append(f"runs hold {self.to_do.claimed:,}")
        if self.to_do.failed:
            parts.append(f"{self.to_do.failed:,} that failed will be tried again")
        parts.append(f"{_tables(self.figures.tables, 'listed', 'listed')} in {self.seconds:.1f} s")
        if self.figures.held:
            parts.append(f"{self.figures.held:,} absent ones are held")
        if self.left:
            parts.append(f"no time was left for {_some(self.left)}: first in the next tick")
        if self.slowest is not None and self.slowest[1] >= BUDGET_S / 4:
            parts.append(f"{self.slowest[0]} takes {self.slowest[1]:.0f} s to list")
        if self.unnamed:
            parts.append(
                f"the deployment file does not name {_some(self.unnamed)}, of which there are "
                "tables: the next run lets them go; or reload this location, if the file changed"
            )
        away = list(self.unlisted.items())[:_NAMED]
        parts += [f"{name} cannot be listed: {why[:_SHOWN]}" for name, why in away]
        return "; ".join(parts)


def watch(
    store: Store,
    sources: Sequence[Source],
    config: IndexingConfig,
    look: Look,
    *,
    budget_s: float = BUDGET_S,
    clock: Callable[[], float] = time.monotonic,
) -> Watched:
    """List sources until the time is spent, and say whether there is work for a run.

    The source that was not begun for longest comes first; at least one is listed. One that cannot
    be listed becomes a problem, as in a run. A listing is not interrupted: one that takes longer
    than `budget_s` is the tick's last.

    Tables of sources that are not among these are left to runs, which read the deployment file
    anew: a process that has lived for long may hold one of yesterday.

    Args:
        store: Where the work list is kept.
        sources: All sources of the deployment.
        config: How often tables are tried, and how many may be gone at once.
        look: Asked last, and only where the answer can matter.
        budget_s: Seconds after which no other listing is begun.
        clock: Counts seconds.

    Raises:
        StateError: The store cannot be read or written.
        PneumaError: What `look` raises.
    """
    names = [source.name for source in sources]
    release_what_the_dead_hold(store, NOBODY, config.max_attempts)
    seen = _list(store, sources, removal_rule(config), budget_s, clock)
    to_do = store.work.to_do(config.max_attempts, names)
    # While a run works, index and store are ahead of each other by turns.
    decided = not sources or to_do.waiting or to_do.gone or to_do.claimed
    return Watched(
        seen.figures,
        seen.listed,
        seen.unlisted,
        seen.left,
        seen.seconds,
        _slowest(store.listing_times.read()),
        to_do,
        other_work=() if decided else tuple(look(to_do)),
        no_source=not sources or set(store.unlisted_sources()) >= set(names),
        unnamed=store.work.sources_but(names),
    )


@dataclass(slots=True)
class _Seen:
    """What listing has shown so far."""

    figures: RawTablesFigures = field(default_factory=RawTablesFigures)
    listed: list[str] = field(default_factory=list)
    unlisted: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0


def _list(
    store: Store,
    sources: Sequence[Source],
    rule: RemovalRule,
    budget_s: float,
    clock: Callable[[], float],
) -> _Seen:
    names = [source.name for source in sources]
    begun = {name: time.begun_at for name, time in store.listing_times.read().items()}
    seen, started = _Seen(), clock()
    for source in sorted(sources, key=lambda one: begun.get(one.name, 0.0)):
        before = clock()
        if before - started >= budget_s and (seen.listed or seen.unlisted):
            seen.left.append(source.name)
            continue
        store.listing_times.begin(source.name, names)
        try:
            seen.figures += list_sources(store, [source], rule)
            seen.listed.append(source.name)
        except SourceError as error:
            seen.unlisted[source.name] = str(error)
        store.listing_times.end(source.name, clock() - before)
    seen.seconds = clock() - started
    return seen


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + ("…" if len(names) > _NAMED else "")


def _tables(number: int, one: str, several: str) -> str:
    return f"{number:,} table {one}" if number == 1 else f"{number:,} tables {several}"


def _slowest(times: Mapping[str, ListingTime]) -> tuple[str, float] | None:
    known = {name: time.seconds for name, time in times.items() if time.seconds is not None}
    if not known:
        return None
    name = max(known, key=known.__getitem__)
    return name, known[name]
