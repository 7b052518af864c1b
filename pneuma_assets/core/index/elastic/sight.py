"""What who asks may see of one state of the index, and the filter that lets it through."""

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pneuma_assets.core.grouping import portions
from pneuma_assets.core.index.base import is_seen
from pneuma_assets.core.index.elastic.contents import facts_at, tables_at
from pneuma_assets.core.index.elastic.counted import Statistics
from pneuma_assets.core.index.elastic.requests import MAX_CANDIDATES, Filters, Search
from pneuma_assets.core.index.elastic.target import Opened
from pneuma_assets.core.index.elastic.text import escape
from pneuma_assets.core.index.elastic.transport import Transport
from pneuma_assets.core.tables import TableFacts

Key = TypeVar("Key")
Value = TypeVar("Value")

_STATES, _SIGHTS = 2, 64
"""How many are kept; a state is some hundred bytes a table."""

_RANGES = 200
"""Most ranges of ids in one filter; all other tables are named."""

_NAMED = 50_000
"""Most tables that one clause names; a server takes 65,536."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The tables that are seen, with their numbers of blocks, and what lets them through.

    `statistics` are counted over them alone.
    """

    tables: Mapping[str, int]
    filters: Filters
    statistics: Statistics = field(default_factory=Statistics)

    def parts(self, table_ids: Iterable[str]) -> list[list[str]]:
        """Return these tables in parts whose nearest blocks one search finds exactly."""
        sizes = {i: self.tables[i] for i in table_ids if self.tables.get(i)}
        return list(portions(sizes, MAX_CANDIDATES))


@dataclass(frozen=True, slots=True)
class _All:
    """All tables of a state."""

    blocks: Mapping[str, int]
    facts: Mapping[str, TableFacts]


class Sights:
    """What askers see, remembered for the newest states; for any number of threads."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self._states: OrderedDict[tuple[str, int], _All] = OrderedDict()
        self._sights: OrderedDict[tuple[str, int, frozenset[str]], Sight] = OrderedDict()

    def of(self, opened: Opened, readers: Sequence[str]) -> Sight:
        """Return what these see of an opened index."""
        state = opened.state.incarnation, opened.state.version
        key = (*state, frozenset(readers))
        with self._lock:
            known = self._sights.get(key)
        if known is None:
            known = _sight(self._all(opened, state), readers)
            with self._lock:
                known = _kept(self._sights, key, known, _SIGHTS)
        return known

    def _all(self, opened: Opened, state: tuple[str, int]) -> _All:
        with self._lock:
            found = self._states.get(state)
        if found is None:
            records = tables_at(self._transport, opened)
            facts = facts_at(self._transport, opened)
            known = {i: one.facts for i, one in facts.items() if i in records}
            found = _All({i: one.blocks for i, one in records.items()}, known)
            with self._lock:
                found = _kept(self._states, state, found, _STATES)
        return found


def _kept(kept: "OrderedDict[Key, Value]", key: Key, value: Value, most: int) -> Value:
    found = kept.setdefault(key, value)
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)
    return found


def _sight(every: _All, readers: Sequence[str]) -> Sight:
    seen = {i: n for i, n in every.blocks.items() if i in every.facts}
    seen = {i: n for i, n in seen.items() if is_seen(every.facts[i], readers)}
    return Sight(seen, [filter_of(seen, every.blocks)])


def filter_of(wanted: Iterable[str], every: Iterable[str]) -> Search:
    """Return a filter that lets through some of all tables.

    Grants are made by schema, so tables that are seen stand beside each other when all are sorted:
    the longest runs become ranges, and the others are named.
    """
    ids = sorted((escape(one) for one in every), key=_bytes)
    keys = [_bytes(one) for one in ids]
    places = sorted(bisect_left(keys, _bytes(escape(one))) for one in wanted)
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    runs.sort(key=lambda run: run[0] - run[1])
    ranges = [run for run in runs[:_RANGES] if run[1] - run[0] > 1]
    named = [ids[at] for run in runs[len(ranges) :] for at in range(run[0], run[1] + 1)]
    clauses: Filters = [
        {"range": {"table_id": {"gte": ids[first], "lte": ids[last]}}} for first, last in ranges
    ]
    clauses += [
        {"terms": {"table_id": named[at : at + _NAMED]}} for at in range(0, len(named), _NAMED)
    ]
    return {"bool": {"should": clauses, "minimum_should_match": 1}} if clauses else _NONE


_NONE: Search = {"match_none": {}}


def _bytes(text: str) -> bytes:
    """Return a text as the server orders it."""
    return text.encode("utf-8")
