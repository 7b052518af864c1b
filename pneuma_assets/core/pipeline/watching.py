"""Whether there is work for a run: what a sensor asks every minute, without loading a model.

It does what a run does first, and no more: the sources are listed and the work list is brought up
to date. All it learns is in the store, so that a tick that is ended from outside has not listed in
vain, and the run that follows finds its work there.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pneuma_assets.core.config.indexing import IndexingConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.beginning import release_what_the_dead_hold
from pneuma_assets.core.pipeline.budget import BUDGET_S, Budget
from pneuma_assets.core.pipeline.listing import RawTablesFigures, list_sources, removal_rule
from pneuma_assets.core.pipeline.watched import Watched
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.listings import ListingTime
from pneuma_assets.core.store.queue import QueueCounts, RetryPolicy
from pneuma_assets.core.store.removals import RemovalRule

NOBODY = ""
"""Who asks for the claims of dead runs without being a run."""

NOTICE_S = 300.0
"""A notice brings a source forward by so long a wait, so that none waits for ever behind others
of which there is always one."""

Look = Callable[[QueueCounts], Collection[str]]
"""Tells why an index, or what it is made with, is reason for a run, from what it should hold."""


def watch(
    store: Store,
    sources: Sequence[Source],
    config: IndexingConfig,
    look: Look,
    *,
    rests: Mapping[str, float] = MappingProxyType({}),
    unheard: Collection[str] = (),
    leave_slow: bool = False,
    budget: Budget | None = None,
) -> Watched:
    """List sources until the time is spent, and say whether there is work for a run.

    That comes first which was not begun for longest; of which somebody said that it has changed, as
    if that were `NOTICE_S` longer. At least one is listed. One that cannot be listed becomes a
    problem, as in a run. A listing is not interrupted, so none is begun beside others that took too
    long for that the last time.

    Tables of sources that are not among these are left to runs, which read the deployment file
    anew: a process that has lived for long may hold one of yesterday.

    Args:
        store: Where the work list is kept.
        sources: All sources of the deployment.
        config: How often tables are tried, and how many may be gone at once.
        look: Asked last, and only where the answer can matter.
        rests: For how many seconds after a listing a source need not be listed again, unless there
            is a notice of it; of other sources, nothing would tell of a change.
        unheard: Of these, those whose notices are only taken by the next tick.
        leave_slow: Whether others list the sources that take longer than the whole budget.
        budget: The time of the tick, of which some may be spent; None: it begins now.

    Raises:
        StateError: The store cannot be read or written.
        PneumaError: What `look` raises.
    """
    names, budget = [source.name for source in sources], budget or Budget()
    release_what_the_dead_hold(store, NOBODY, config.max_attempts)
    # Read once: what another tick or run has listed by the end is not what this one has seen.
    times, now = store.listings.times(), store.now()
    slow = {name for name, time in times.items() if leave_slow and time.is_slow(budget.seconds)}
    left_out = _resting(store, rests), slow
    seen = _list(store, sources, removal_rule(config), times, left_out, budget)
    to_do = store.queue.counts(config.max_attempts, names, RetryPolicy.of(config.settle_seconds))
    # While a run works, index and store are ahead of each other by turns.
    decided = not sources or to_do.waiting or to_do.gone or to_do.claimed or to_do.unpublished
    return Watched(
        seen.figures,
        seen.listed,
        seen.unlisted,
        seen.left,
        seen.seconds,
        _slowest(store.listings.times()),
        to_do,
        other_work=() if decided else tuple(look(to_do)),
        no_source=not sources or set(store.problems.unlisted_sources()) >= set(names),
        unnamed=store.listings.other_sources(names),
        rested=seen.rested,
        slow=seen.slow,
        elsewhere=[name for name in seen.slow if times[name].may_go_on(now, budget.seconds)],
        unheard=[name for name in seen.rested if name in unheard],
    )


def slow_and_due(store: Store, names: Collection[str], budget_s: float = BUDGET_S) -> list[str]:
    """Return those slow sources that are to be listed now: it is time, or there is a notice."""
    times, noticed, now = store.listings.times(), store.listings.notices(), store.now()
    slow = [name for name in names if name in times and times[name].is_slow(budget_s)]
    return [
        name
        for name in slow
        if now >= times[name].due_at(budget_s) or (name in noticed and not times[name].open)
    ]


def list_and_time(
    store: Store,
    source: Source,
    configured: Collection[str],
    rule: RemovalRule,
    clock: Callable[[], float] = time.monotonic,
) -> RawTablesFigures:
    """List one source, and keep when that was begun and how long it took.

    Raises:
        SourceError: It cannot be listed, which has become a problem of it.
    """
    before = clock()
    store.listings.begin(source.name, configured)
    try:
        return list_sources(store, [source], rule)
    finally:
        store.listings.end(source.name, clock() - before)


def _resting(store: Store, rests: Mapping[str, float]) -> set[str]:
    """Return the sources of which events would have told, had anything changed."""
    noticed, away = store.listings.notices(), store.problems.unlisted_sources()
    now, listed = store.now(), store.listings.listed_at()
    quiet = {name for name in rests if name not in noticed and name not in away}
    return {
        name for name in quiet if (at := listed.get(name)) is not None and now - at < rests[name]
    }


@dataclass(slots=True)
class _Seen:
    """What listing has shown so far."""

    figures: RawTablesFigures = field(default_factory=RawTablesFigures)
    listed: list[str] = field(default_factory=list)
    unlisted: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    rested: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    seconds: float = 0.0


def _list(
    store: Store,
    sources: Sequence[Source],
    rule: RemovalRule,
    times: Mapping[str, ListingTime],
    left_out: tuple[Collection[str], Collection[str]],
    budget: Budget,
) -> _Seen:
    resting, slow = left_out
    names = [source.name for source in sources]
    seen, started = _Seen(), budget.clock()
    for source in sorted(sources, key=_turn(store, times)):
        took = times[source.name].seconds if source.name in times else None
        if source.name in slow:
            seen.slow.append(source.name)
            continue
        if source.name in resting:
            seen.rested.append(source.name)
            continue
        if (seen.listed or seen.unlisted) and not budget.has_room_for(took):
            seen.left.append(source.name)
            continue
        try:
            seen.figures += list_and_time(store, source, names, rule, budget.clock)
            seen.listed.append(source.name)
        except SourceError as error:
            seen.unlisted[source.name] = str(error)
    seen.seconds = budget.clock() - started
    return seen


def _turn(store: Store, times: Mapping[str, ListingTime]) -> Callable[[Source], float]:
    """Return what orders sources: when each was begun last, notices counted."""
    noticed, long_ago = store.listings.notices(), store.now() - NOTICE_S

    def begun(source: Source) -> float:
        at = times[source.name].begun_at if source.name in times else long_ago
        return at - NOTICE_S if source.name in noticed else at

    return begun


def _slowest(times: Mapping[str, ListingTime]) -> tuple[str, float] | None:
    known = {name: time.seconds for name, time in times.items() if time.seconds is not None}
    if not known:
        return None
    name = max(known, key=known.__getitem__)
    return name, known[name]
