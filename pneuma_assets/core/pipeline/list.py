"""Listing every source, and what the first stage counts."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.removals import CAREFUL, RemovalRule
from pneuma_assets.core.tables import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTablesFigures(Figures):
    """What listing every source showed, what the run took of it, and what was read."""

    stage: ClassVar[str] = "raw_tables"

    tables: int = 0
    """Tables that are listed."""
    new: int = 0
    """Of these, tables that were not listed before."""
    changed: int = 0
    """Of these, tables that are not as they were when last listed."""
    unchanged: int = 0
    """Of these, tables that are."""
    gone: int = 0
    """Tables that were listed before and are no more, or whose source is not configured."""
    renamed: int = 0
    """Tables that are listed under another name than before; neither new nor gone."""
    held: int = 0
    """Tables that are not listed any more, but too many at once to be believed gone."""
    unreachable: int = 0
    """Sources that cannot be listed."""
    lost: int = 0
    """Indexed tables of which the index lacks blocks."""
    claimed: int = 0
    """Tables that the run works on."""
    waiting: int = 0
    """Tables that it leaves to the next one."""
    profiled: int = 0
    """Claimed tables that could be read."""
    columns: int = 0
    """Columns of these."""
    rows: int = 0
    """Rows of these."""
    contexts: int = 0
    """Texts that people wrote about these."""
    not_whole: int = 0
    """Of these, tables with lines that cannot be read."""
    linked: int = 0
    """Tables of which another lineage is told than before."""
    other_readers: int = 0
    """Searchable tables that others may see than the index knew; it was told at once."""
    begun_anew: int = 0
    """1 where an index that could not be used was begun anew."""


def list_sources(
    store: Store,
    sources: Sequence[Source],
    rule: RemovalRule = CAREFUL,
    let_go: Collection[str] = (),
) -> RawTablesFigures:
    """List every source and bring the work list up to date.

    A source that cannot be listed keeps its tables and becomes a problem; when it can again, those
    that failed are tried as if for the first time: it may have been away then, too. One that lacks
    more tables than `rule` lets go at once, or all it had and everything else beside, keeps them,
    too, unless it is one of `let_go`. A listing that another process has overtaken meanwhile
    changes nothing.

    Raises:
        SourceError: No source could be listed.
    """
    figures, failures = RawTablesFigures(), list[str]()
    believed: RemovalRule | None
    away = store.problems.unlisted_sources()
    for number, source in enumerate(sources, 1):
        began = store.now()
        try:
            listing = source.list_tables(store.tables.ids(source.name))
        except SourceError as error:
            failures.append(str(error))
            store.problems.record(
                source.name, "listing", [Problem(source.name, "listing", str(error))]
            )
            continue
        store.problems.record(source.name, "listing", listing.problems)
        if source.name in away:
            store.queue.retry([source.name])
        believed = rule.of_a_bare_source() if listing.bare else rule
        if source.name in let_go:
            believed = None
        found = store.listings.sync(source.name, listing.tables, listing.unlisted, believed, began)
        figures += RawTablesFigures(tables=found.listed, **asdict(found))
        report("listing sources", number, len(sources))
    if failures and len(failures) == len(sources):
        raise SourceError(" ".join(failures))
    return figures + RawTablesFigures(unreachable=len(failures))
