"""The first stage: what a run is asked for, the tables it claims, and what it reads of them."""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.config.small_sections import IndexingConfig, SamplingConfig
from pneuma_assets.core.describe.kinds import makers
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.models.encoder.endpoint_encoder import name_at_endpoint
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.pipeline.describe import describing_key
from pneuma_assets.core.pipeline.index_build import (
    IndexBuild,
    rebuild_if_outdated,
    rebuild_if_unusable,
    trusted_tables,
)
from pneuma_assets.core.pipeline.list import RawTablesFigures, list_sources
from pneuma_assets.core.pipeline.profile import apply_rules, profile_tables
from pneuma_assets.core.pipeline.write import publish_metadata
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import MAX_ATTEMPTS
from pneuma_assets.core.store.removals import how_to_accept
from pneuma_assets.core.store.tables import TableRecord
from pneuma_assets.core.tables import Problem, content_hash
from pneuma_assets.core.terms.fields import TERM_RULES

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What one run is asked for.

    Attributes:
        sources: All sources of the deployment; tables of any other are gone.
        only: Names of those to list, the others stay as they are; empty: all.
        anew: List the others all the same: the index is a new one, which lacks their tables.
        rebuild: Index every table of the listed sources again, changed or not.
        retry: Try failed tables of the listed sources again, however often they failed.
        accept_removals: Let tables of one source go, however many are absent at once.
        patient: Leave tables alone that are being written, or have just failed.
        as_listed: Sources that somebody else lists: their tables are taken as last listed.
    """

    sources: Sequence[Source]
    only: Collection[str] = ()
    anew: bool = False
    rebuild: bool = False
    retry: bool = False
    accept_removals: bool = False
    patient: bool = False
    as_listed: Collection[str] = ()

    @property
    def asked_for(self) -> list[Source]:
        """The sources that the run is about."""
        return [one for one in self.sources if not self.only or one.name in self.only]

    @property
    def listed(self) -> list[Source]:
        """The sources to list."""
        return list(self.sources) if self.anew else self.asked_for

    @property
    def configured(self) -> list[str]:
        """The names of all sources of the deployment."""
        return [source.name for source in self.sources]


@dataclass(frozen=True, slots=True)
class Indexed:
    """How many blocks an index had of each table, and when that was, by the store's clock."""

    blocks: Mapping[str, int]
    at: float


def plan_run(
    store: Store,
    run_id: str,
    request: RunRequest,
    site: IndexBuild,
    config: IndexingConfig,
    *,
    recipe: str,
) -> RawTablesFigures:
    """Claim the tables that this run works on and read their profiles: the whole first stage.

    Asked to rebuild, it begins any index anew that cannot be used, and takes over one that holds
    tables of another deployment.

    Raises:
        StateDamagedError: The store is damaged.
        SearchIndexError: The index is damaged, or another deployment's.
        SourceError: There is no source, none can be listed, or the tables of several are held.
    """
    store.check()
    store.back_up()
    sources_with_accepted_removals(store, request)  # refused before anything is begun
    begin = rebuild_if_unusable if request.rebuild else rebuild_if_outdated
    begun_anew = begin(site)
    if begun_anew:  # the new index lacks the tables of every source
        request = replace(request, anew=True)
    asked_at = store.now()
    if request.rebuild:
        held = site.building.list_tables()
    else:
        held = trusted_tables(store, site.building, request.configured)
    hidden = apply_rules(store, site.building, held, request.sources)
    indexed = Indexed({i: blocks for i, blocks in held.items() if i not in hidden}, asked_at)
    _tell_of_kinds_that_go(store, site.building, recipe)
    begun = claim_tables(store, run_id, request, config, recipe=recipe, indexed=indexed)
    other_readers = store.access.unpublished()
    publish_metadata(store, run_id, site.building)  # a grant that was taken away waits for no model
    read = profile_tables(store, run_id, request.listed)
    more = RawTablesFigures(begun_anew=int(begun_anew), other_readers=other_readers)
    return begun + read + more


def _tell_of_kinds_that_go(store: Store, index: SearchIndex, recipe: str) -> None:
    """Name the kinds of document that tables lose when all are made anew."""
    if store.queue.recipe() in (None, recipe):
        return
    lost = ", ".join(sorted(index.kinds() - makers().keys()))
    if lost:
        report(f"making every table anew, without documents of the kind {lost}", 0, 0)
        logger.warning(
            "Every table is made anew, without documents of the kind %s, which nothing makes "
            "here; where another machine does, install here what it has installed",
            lost,
        )


def claim_tables(
    store: Store,
    run_id: str,
    request: RunRequest,
    config: IndexingConfig,
    *,
    recipe: str,
    indexed: Indexed,
) -> RawTablesFigures:
    """List the sources and claim the tables that this run works on; `Runs.alive` holds its lease.

    Raises:
        SourceError: There is no source, none can be listed, or the tables of several are held.
    """
    if not request.listed:
        raise SourceError(
            "There is no source to index; name a folder (pneuma-assets index FOLDER) or add one "
            "to the deployment file."
        )
    names = [source.name for source in request.listed]
    accepted = sources_with_accepted_removals(store, request)
    store.queue.use_recipe(recipe)
    dropped = store.listings.drop_sources(request.configured)
    anew = [one for one in request.listed if one.name not in request.as_listed]
    listed = list_sources(store, anew, let_go=accepted)
    records = store.tables.records()
    if request.rebuild:
        store.narrations.forget_empty()
        store.queue.mark_pending((r.table_id for r in records if r.source in names), sample=True)
    if request.retry:
        store.queue.retry(names)
    lost = _requeue_lost(store, records, indexed)
    _report_lost_and_held(store, records, set(lost), names)
    release_dead_claims(store, run_id)
    quiet_s = config.quiet_period_seconds if request.patient else None
    claimed = store.queue.claim(run_id, config.tables_per_run, MAX_ATTEMPTS, names, quiet_s)
    waiting = store.queue.waiting(names, quiet_s)
    return listed + RawTablesFigures(gone=dropped, lost=len(lost), claimed=claimed, waiting=waiting)


def sources_with_accepted_removals(store: Store, request: RunRequest) -> set[str]:
    """Return the source whose absent tables a person let go; raises `SourceError` of several."""
    names = {source.name for source in request.asked_for}
    if not request.accept_removals or len(names) == 1:
        return names if request.accept_removals else set()
    holding = names & {r.source for r in store.tables.records() if r.held_since is not None}
    if len(holding) > 1:
        ways = "; ".join(how_to_accept(name) for name in sorted(holding))
        raise SourceError(
            f"tables of {len(holding):,} sources are held; look at each, and let go of one at a "
            f"time: {ways} (in Dagster: only: [NAME] and accept_removals: true)"
        )
    return holding


def _requeue_lost(store: Store, records: Sequence[TableRecord], indexed: Indexed) -> list[str]:
    """Requeue tables of which the index lacks blocks, and no other run writes; returns these."""
    lost = [
        r.table_id
        for r in records
        if r.indexed_at is not None
        and r.indexed_at < indexed.at
        and not r.claimed
        and indexed.blocks.get(r.table_id, 0) != (r.block_count or 0)
    ]
    store.queue.mark_pending(lost)
    return lost


def _report_lost_and_held(
    store: Store, records: Sequence[TableRecord], lost: Collection[str], names: Sequence[str]
) -> None:
    """Name the sources of which tables are held that the index, begun anew, lacks."""
    held = Counter(r.source for r in records if r.held_since is not None and r.table_id in lost)
    for name in names:
        cause = (
            f"{held[name]:,} tables are held, so they cannot be read for the index that is built "
            f"anew; bring them back, or run {how_to_accept(name)}"
        )
        told = [Problem(name, "held", cause)] if held[name] else []
        store.problems.record(name, "held", told)


def release_dead_claims(store: Store, run_id: str) -> None:
    """Take back the claims of dead runs but `run_id`; name tables that killed too many."""
    store.queue.release_claims(run_id)
    for table_id in store.queue.deadly(MAX_ATTEMPTS):
        cause = f"reading it killed the run {MAX_ATTEMPTS} times; repair or remove the file"
        store.queue.fail(Problem(table_id, "profile", cause))


FORMAT = "4"
"""Raised when blocks, evidence, or documents of a kind whose maker is of version 0 are made
differently."""


def index_fingerprint(sampling: SamplingConfig, encoder: str, narrations: str) -> str:
    """Return a hash that changes when every table must be indexed again."""
    made = sorted(f"{maker.kind} {maker.version}" for maker in makers().values() if maker.version)
    represented = FORMAT, str(TERM_RULES), encoder, narrations
    return content_hash(*represented, sampling.model_dump_json(), *made)


def expected_fingerprint(deployment: Deployment, built_with: str | None) -> str | None:
    """Return the recipe of the next run, without loading a model; None where only a run can tell.

    A hub's encoder is taken to have the revision still by which the index was built.

    Raises:
        ModelError: A model that is configured is not there.
    """
    config, encoder = deployment.encoder, deployment.encoder.model.model
    is_here = config.model.endpoint_url is None
    name = locate_encoder(encoder).name if is_here else name_at_endpoint(config)
    if name is None and built_with is not None:
        name = built_with if built_with.startswith(f"{encoder}@") else f"{encoder}@"
    if name is None:
        return None
    return index_fingerprint(deployment.sampling, name, _way(deployment.narration))


def _way(config: NarrationConfig) -> str:
    """Return how columns are described, by the model's name alone."""
    if config.model is None:
        return describing_key(None, config)
    # It is made, but not used: a device that is named keeps torch from being asked for one.
    named = config.model.model_copy(update={"device": "cpu"})
    return describing_key(open_language_model(named, Path(), {}), config)
