"""A table changed: what jobs, pipelines and people tell from outside, by name, address or pattern.

What is told is kept at once and worked on by the next run: a known table is read again, whatever a
listing can see of it, and a new one is found because its source is listed.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cached_property
from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.secrets import sounds_secret
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.service.sources import check_sources_known
from pneuma_assets.core.tables import source_of
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.suggest import check_known, check_names, check_text, nearest

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.tables import TableRecord

MOST_NAMES = 10_000
"""Names told at once; more are told in several calls, or by patterns."""
MOST_PATTERNS = 100
"""Each is compared with every table."""

_LONGEST_NAME = 4000
_LONGEST_REASON = 200
_SUGGESTED_FOR = 5
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class NewName:
    """A name that no known table has, and to which source it belongs.

    Attributes:
        name: As it was given.
        source: The source that is listed, so that the table is found if it is there.
        near: Known tables of similar names, in case one of them was meant.
    """

    name: str
    source: str
    near: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """What a call has let wait.

    Attributes:
        tables: Known tables, which the next run reads again.
        sources: The sources that are listed because of it.
        new: Names that no known table has.
    """

    tables: Sequence[str]
    sources: Sequence[str]
    new: Sequence[NewName]


def note_changed(
    loaded: LoadedDeployment,
    store: "Store",
    names: str | Collection[str],
    *,
    sources: Collection[str] = (),
    reason: str = "",
) -> Changed:
    """Keep that tables have changed, as `Workspace.changed` says: all of it, or nothing.

    Nothing is kept where a name cannot be understood.

    Raises:
        ConfigError: A name is of no source that there is, a pattern matches no known table, or
            there are too many.
        StateError: The state cannot be written.
    """
    given = [names] if isinstance(names, str) else names
    _check(given, sources, reason)
    check_sources_known(loaded, list(sources))
    records = store.tables.records()
    ids = {record.table_id for record in records}
    addresses = Addresses(loaded, records)
    known: dict[str, set[str]] = defaultdict(set)
    new: dict[str, list[NewName]] = {source: [] for source in sources}
    for name in dict.fromkeys(given):
        found = _tables_of(name, ids, addresses)
        for table_id in found:
            known[source_of(table_id)].add(table_id)
        if not found:
            source = _source_of_new(name, ids, addresses)
            told = new.setdefault(source, [])
            if name != source:  # comparing takes a while
                few = sum(map(len, new.values())) < _SUGGESTED_FOR
                near = nearest(name, ids, alike=0.8) if few else ()
                told.append(NewName(name, source, near))
    others = {source: [one.name for one in told] for source, told in new.items()}
    store.mark_changed(known, others, one_line(reason, _LONGEST_REASON))
    return Changed(
        sorted(table_id for some in known.values() for table_id in some),
        sorted({*known, *new}),
        [one for told in new.values() for one in told],
    )


def _check(names: Collection[str], sources: Collection[str], reason: str) -> None:
    check_names("tables", names, ConfigError)
    check_text("the reason", reason, ConfigError)
    if not names and not sources:
        raise ConfigError("nothing is said to have changed; name a table, a pattern or a source")
    if len(names) > MOST_NAMES:
        raise ConfigError(
            f"{len(names):,} names are more than {MOST_NAMES:,}; use patterns, or several calls"
        )
    if any(not one.strip() or len(one) > _LONGEST_NAME for one in names):
        raise ConfigError(f"each name needs 1 to {_LONGEST_NAME:,} characters")
    if any(map(_holds_secret, names)):
        raise ConfigError(
            "a name holds a password or a token, and would be kept and shown; leave that out: "
            "tables are known by addresses without"
        )
    if sum(1 for one in names if _GLOB.search(one)) > MOST_PATTERNS:
        raise ConfigError(f"more than {MOST_PATTERNS} patterns; combine some of them")


def _holds_secret(name: str) -> bool:
    """Tell whether an address says who signs in with which password, or has such a parameter."""
    _, is_address, rest = name.partition("://")
    signs_in = rest.partition("/")[0].rpartition("@")[0]
    keys = (one.partition("=")[0] for one in re.split("[&;]", rest.partition("?")[2]))
    return bool(is_address) and (":" in signs_in or any(map(sounds_secret, keys)))


def _tables_of(name: str, ids: Collection[str], addresses: "Addresses") -> Collection[str]:
    """Return the known tables that a name stands for."""
    if name in ids:
        return [name]
    if found := addresses.tables(name):
        return found
    if _GLOB.search(name):
        matches = re.compile(translate(name)).match
        return [table_id for table_id in ids if matches(table_id)]
    return ()


def _source_of_new(name: str, ids: Collection[str], addresses: "Addresses") -> str:
    """Return the source that a table of this name would be in.

    Raises:
        ConfigError: There is none, or the name is a pattern.
    """
    source = addresses.source(name)
    if source is None:
        check_known("table", [name], ids, ConfigError)
        raise ConfigError(f"unknown table '{name}'")  # check_known has raised
    if "*" in name or ("?" in name and "://" not in name):
        raise ConfigError(
            f"'{name}' matches no table that is known; "
            f"where all of them may be new, name the source instead: {source}"
        )
    return source


class Addresses:
    """What tables are called outside this project (`SourceConfig.address_of`).

    Args:
        loaded: The deployment, whose sources say how their tables are called.
        records: The tables that are known.
    """

    def __init__(self, loaded: LoadedDeployment, records: "Sequence[TableRecord]") -> None:
        self._configs = {s.name: s.resolved(loaded.base) for s in loaded.deployment.sources}
        self._records = records

    def tables(self, address: str) -> Collection[str]:
        """Return the tables of this name or URI, in any case of letters where none has its own.

        A file or object below the folder of a table stands for that table.
        """
        for place in _self_and_above(address):
            found = self._exact.get(place) or self._exact.get(f"{place}/")
            if found:
                return found
        return self._folded.get(address.casefold(), ())

    def source(self, address: str) -> str | None:
        """Return the source that a table of this id or address would be in; None: none of them."""
        for one in (address, source_of(address)):
            if one in self._configs:
                return one
        for name, config in self._configs.items():
            if config.holds(address):
                return name
        return None

    @cached_property
    def _exact(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for record in self._records:
            config = self._configs.get(record.source)
            if config is None:
                continue
            address = config.address_of(record.table_id, record.location, record.format)
            for one in {address.name, address.uri, record.location} - {None, ""}:
                found[str(one)].append(record.table_id)
        return dict(found)

    @cached_property
    def _folded(self) -> dict[str, list[str]]:
        folded: dict[str, list[str]] = {}
        for address, ids in self._exact.items():
            folded.setdefault(address.casefold(), []).extend(ids)
        return {address: ids for address, ids in folded.items() if len(set(ids)) == 1}


def _self_and_above(address: str) -> list[str]:
    """Return an address, and the folders that it lies in, the nearest first."""
    places, place = [address], address.rstrip("/")
    while "/" in place and not place.endswith(("/", ":")):
        places.append(place)
        place = place.rpartition("/")[0]
    return places
