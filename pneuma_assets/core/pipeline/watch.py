"""Whether there is work for a run: what a sensor asks every minute, without loading a model.

The sources are listed and the work list is brought up to date, in the store, so that a tick that is
ended from outside has not listed in vain.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.small_sections import IndexingConfig
from pneuma_assets.core.errors import SearchIndexError, SourceError
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.index.registry import index_credentials, inspect_index, words_wait
from pneuma_assets.core.pipeline.list import RawTablesFigures, list_sources
from pneuma_assets.core.pipeline.plan import expected_fingerprint, release_dead_claims
from pneuma_assets.core.pipeline.profile import rules_that_changed
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.listings import ListingTime
from pneuma_assets.core.store.queue import MAX_ATTEMPTS, QueueCounts
from pneuma_assets.core.store.removals import CAREFUL, RemovalRule

BUDGET_S = 40.0
"""Dagster waits 60 s for a tick, unless DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS says otherwise."""

LIMIT_S = 55.0
"""By then a tick should have ended; nothing is begun that is known to take longer."""


class TickBudget:
    """Counts the seconds of one tick, after which nothing else is begun."""

    def __init__(
        self, seconds: float = BUDGET_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seconds = seconds
        self.clock = clock
        self._began = clock()

    @property
    def spent(self) -> float:
        """Seconds that have passed."""
        return self.clock() - self._began

    def has_room_for(self, seconds: float | None) -> bool:
        """Tell whether something may be begun that took so long the last time; None: unknown."""
        spent = self.spent
        return spent < self.seconds and spent + (seconds or 0.0) <= LIMIT_S


_NAMED = 5
"""Sources of a kind that are told by name."""

_SHOWN = 300
"""Characters of a cause; the problem of the source has all of it."""


@dataclass(slots=True)
class WorkFound:
    """What was seen of the sources, the work list and the index.

    Attributes:
        to_do: What there is to work on.
        figures: What the listed sources showed.
        listed: The sources that could be listed, in that order.
        unlisted: The sources that could not, and why.
        left: The sources for which no time was left; they come first the next time.
        seconds: What listing took.
        other_work: Reasons for a run besides tables that wait.
        no_source: Whether none can be indexed, so that a run could only fail.
        unnamed: Sources that have tables, and that this process's deployment file lacks.
        rested: Sources that were not listed, because events would have told of a change.
        slow: Sources that were not listed, because they take longer than a tick has time for.
        elsewhere: Of the slow ones, those that another tick or run seems to list now.
    """

    to_do: QueueCounts = field(init=False)
    figures: RawTablesFigures = field(default_factory=RawTablesFigures)
    listed: list[str] = field(default_factory=list)
    unlisted: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0
    other_work: Collection[str] = ()
    no_source: bool = False
    unnamed: Sequence[str] = ()
    rested: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    elsewhere: Sequence[str] = ()

    @property
    def reasons(self) -> list[str]:
        """Why a run is needed at once; empty where none is, or where it could only fail."""
        if self.no_source:
            return []
        waiting, renamed = self.to_do.waiting, self.to_do.renamed
        counted = [_tables(waiting, "waits", "wait")] if waiting else []
        if renamed:
            counted.append(_tables(renamed, "has another name", "have other names"))
        if gone := self.to_do.gone - renamed:
            counted.append(_tables(gone, "has left its source", "have left their source"))
        if untold := self.to_do.unpublished:
            counted.append(_tables(untold, "has other readers", "have other readers"))
        return [*counted, *self.other_work]

    def told(self) -> str:
        """Return what was seen, in one line for people."""
        if not (self.listed or self.unlisted or self.rested or self.slow):
            return "there is no source to index: add one to the deployment file"
        waiting = self.to_do.waiting
        parts = [_tables(waiting, "waits", "wait") if waiting else "no table waits"]
        if self.to_do.claimed:
            parts.append(f"runs hold {self.to_do.claimed:,}")
        if self.to_do.settling:
            just_now = _tables(self.to_do.settling, "changed", "changed")
            parts.append(f"{just_now} just now and may rest")
        if self.to_do.failed or self.to_do.resting:
            failed = self.to_do.failed + self.to_do.resting
            parts.append(f"{failed:,} that failed or are incomplete will be tried again")
        parts.append(f"{_tables(self.figures.tables, 'listed', 'listed')} in {self.seconds:.1f} s")
        if self.figures.held:
            parts.append(f"{self.figures.held:,} absent ones are held")
        parts += self._told_of_listing()
        if self.unnamed:
            parts.append(
                f"the deployment file does not name {_some(self.unnamed)}, of which there are "
                "tables: the next run lets them go; or reload this location, if the file changed"
            )
        away = list(self.unlisted.items())[:_NAMED]
        parts += [f"{name} cannot be listed: {why[:_SHOWN]}" for name, why in away]
        return "; ".join(parts)

    def _told_of_listing(self) -> list[str]:
        parts = []
        if self.rested:
            parts.append(f"no event was taken that tells of a change in {_some(self.rested)}")
        if self.elsewhere:
            parts.append(f"another tick or run lists {_some(self.elsewhere)} now")
        if slow := [name for name in self.slow if name not in self.elsewhere]:
            parts.append(f"{_some(slow)} is left to runs that list, and takes too long here")
        if self.left:
            parts.append(f"no time was left for {_some(self.left)}: first in the next tick")
        return parts


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + ("…" if len(names) > _NAMED else "")


def _tables(number: int, one: str, several: str) -> str:
    return f"{number:,} table {one}" if number == 1 else f"{number:,} tables {several}"


EVERY_S = 600.0
"""How often an index is inspected of which nothing has changed: all of it is read then."""

_RED = "red"
_BUILT_BESIDE = "being built"
"""Under which `IndexInfo.details` tell of an index that is to take this one's place."""


class IndexStaleness:
    """Looks at a deployment's index; at one that is sound again after `EVERY_S` or news."""

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loaded = loaded
        self._environ = environ
        self._clock = clock
        self._sound: tuple[object, float] | None = None

    def reasons(self, store: Store, to_do: QueueCounts) -> list[str]:
        """Return why a run is needed; empty where none is.

        Raises:
            PneumaError: Index, model or secret is not there, so that a run could only fail.
        """
        state = (to_do, store.queue.recipe(), store.problems.unlisted_sources())
        now = self._clock()
        if self._sound is not None and self._sound[0] == state and now < self._sound[1]:
            return []
        found = self._look(store, to_do)
        self._sound = None if found else (state, now + EVERY_S)
        return found

    def _look(self, store: Store, to_do: QueueCounts) -> list[str]:
        deployment = self._loaded.deployment
        config, home = deployment.index, self._loaded.home
        info = inspect_index(config, home, index_credentials(config, self._environ))
        if info is not None and (not info.usable or info.health == _RED):
            raise SearchIndexError(f"The search index is not usable: {info.health}")
        beside = info is not None and _BUILT_BESIDE in info.details
        found = []
        foreseen = expected_fingerprint(
            deployment, None if info is None or beside else info.encoder
        )
        if foreseen is not None and store.queue.recipe() not in (None, foreseen):
            found.append("models or options are others than those the tables were made with")
        rules = {one.name: Rules(one.privacy) for one in deployment.sources}
        if rules_that_changed(store, rules):
            found.append("which values are hidden has changed")
        if info is not None and words_wait(config, info):
            found.append("the words of the index are to be counted by another analyzer")
        if beside:
            if not (store.queue.pending() or store.problems.unlisted_sources()):
                found.append("an index that was built beside the old one waits to take its place")
        else:
            found += _difference(info, to_do)
        return found


def _difference(info: IndexInfo | None, to_do: QueueCounts) -> list[str]:
    held = 0 if info is None else info.tables
    if held < to_do.with_blocks:
        return [f"the index holds {held:,} of {to_do.with_blocks:,} tables"]
    if held > to_do.indexed and to_do.taken_back:
        return [f"the index holds {held:,} tables, and only {to_do.indexed:,} may be found"]
    return []


NOTICE_S = 300.0
"""A notice brings a source forward by so long a wait, and not before all others for ever."""

Look = Callable[[QueueCounts], Collection[str]]
"""Tells why an index, or what it is made with, is reason for a run, from what it should hold."""


def check_for_work(
    store: Store,
    sources: Sequence[Source],
    config: IndexingConfig,
    look: Look,
    *,
    rests: Mapping[str, float] = MappingProxyType({}),
    leave_slow: bool = False,
    budget: TickBudget | None = None,
) -> WorkFound:
    """List sources until the time is spent, and say whether there is work for a run.

    That comes first which was not begun for longest; of which there is a notice, as if that were
    `NOTICE_S` longer. At least one is listed, and none is begun that took too long for what is left
    the last time. Tables of other sources are left to runs, which read the deployment file anew.

    Args:
        store: Where the work list is kept.
        sources: All sources of the deployment.
        config: How long a written table rests.
        look: Asked last, and only where the answer can matter.
        rests: For how many seconds after a listing a source need not be listed again without a
            notice; of other sources, nothing would tell of a change.
        leave_slow: Whether others list the sources that take longer than the whole budget.
        budget: The time of the tick, of which some may be spent; None: it begins now.

    Raises:
        StateError: The store cannot be read or written.
        PneumaError: What `look` raises.
    """
    names, budget = [source.name for source in sources], budget or TickBudget()
    release_dead_claims(store, "")
    # Read once: what another tick or run has listed by the end is not what this one has seen.
    times, now = store.listings.times(), store.now()
    slow = {name for name, time in times.items() if leave_slow and time.is_slow(budget.seconds)}
    found = _list(store, sources, CAREFUL, times, slow, _resting(store, rests), budget)
    found.to_do = store.queue.counts(MAX_ATTEMPTS, names, config.quiet_period_seconds)
    # While a run works, index and store are ahead of each other by turns.
    todo = found.to_do
    decided = not sources or todo.waiting or todo.gone or todo.claimed or todo.unpublished
    found.other_work = () if decided else look(todo)
    found.no_source = not sources or set(store.problems.unlisted_sources()) >= set(names)
    found.unnamed = store.listings.other_sources(names)
    found.elsewhere = [one for one in found.slow if times[one].may_go_on(now, budget.seconds)]
    return found


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
    """List one source, and keep when and how long; raises `SourceError`, kept as its problem."""
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


def _list(
    store: Store,
    sources: Sequence[Source],
    rule: RemovalRule,
    times: Mapping[str, ListingTime],
    slow: Collection[str],
    resting: Collection[str],
    budget: TickBudget,
) -> WorkFound:
    names = [source.name for source in sources]
    found, started = WorkFound(), budget.clock()
    for source in sorted(sources, key=_turn(store, times)):
        name = source.name
        took = times[name].seconds if name in times else None
        if name in slow:
            found.slow.append(name)
        elif name in resting:
            found.rested.append(name)
        elif (found.listed or found.unlisted) and not budget.has_room_for(took):
            found.left.append(name)
        else:
            try:
                found.figures += list_and_time(store, source, names, rule, budget.clock)
                found.listed.append(name)
            except SourceError as error:
                found.unlisted[name] = str(error)
    found.seconds = budget.clock() - started
    return found


def _turn(store: Store, times: Mapping[str, ListingTime]) -> Callable[[Source], float]:
    """Return what orders sources: when each was begun last, notices counted."""
    noticed, long_ago = store.listings.notices(), store.now() - NOTICE_S

    def begun(source: Source) -> float:
        at = times[source.name].begun_at if source.name in times else long_ago
        return at - NOTICE_S if source.name in noticed else at

    return begun
