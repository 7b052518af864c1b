"""Whether a run has nothing to do, told without one, and without importing Dagster.

What a run does is done here, but for work on the index and on pages in Dagster: of these it is
compared what is there with what a run would leave. In doubt it is a run that finds out and tells.
"""

import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from functools import partial

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.owner import NOTE
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import index_credentials, open_index
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.pipeline.dagster_graphql import webserver_assets
from pneuma_assets.core.pipeline.embed import embed_answered_questions, embed_column_names
from pneuma_assets.core.pipeline.lineage import engine_dependencies, update_lineage
from pneuma_assets.core.pipeline.plan import expected_fingerprint
from pneuma_assets.core.pipeline.relate import mark_copies, mark_joins
from pneuma_assets.core.pipeline.watch import BUDGET_S, IndexStaleness, check_for_work
from pneuma_assets.core.service.index_report import IndexingReport, make_report
from pneuma_assets.core.service.openlineage import emit_lineage
from pneuma_assets.core.service.sources import open_sources
from pneuma_assets.core.service.state import has_state, history_of, open_store
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.asset_keys import PublishedPage
from pneuma_assets.core.store.dagster_manifest_write import problems_by_table, refresh_manifest
from pneuma_assets.core.store.tables import TableRecord, TableState


def report_unchanged(
    loaded: LoadedDeployment, environ: Mapping[str, str], names: Sequence[str]
) -> IndexingReport | None:
    """List the sources of these names; return the report where that leaves a run nothing to do.

    None where there is work, or may be.
    """
    started = time.monotonic()
    names = names or [source.name for source in loaded.deployment.sources]
    try:
        if not has_state(loaded, environ):
            return None
        with open_store(loaded, environ) as store:
            if not _is_unchanged(loaded, environ, store, names):
                return None
            return make_report(store, (), names, time.monotonic() - started)
    except Exception:  # noqa: BLE001 (the run that follows meets it, too, and tells it)
        return None


def _is_unchanged(
    loaded: LoadedDeployment, environ: Mapping[str, str], store: Store, names: Sequence[str]
) -> bool:
    deployment, problems = loaded.deployment, store.problems.all()
    store.check()
    taken_over = (loaded.home / NOTE).exists()  # a run notes that it is no component's any more
    unfinished = store.runs.unfinished()  # one that died before the last began was told of by that
    newest = store.runs.newest()
    working = unfinished & {*store.runs.living(), newest.run_id if newest else None}
    if taken_over or working or deployment.bench.mined:  # which the checks ask
        return False
    # As in a run: of a source that is configured no more, a problem goes, too, and is news below.
    store.listings.drop_sources([source.name for source in deployment.sources])
    if _finds_work(loaded, environ, store, names):
        return False
    encoder = open_encoder(deployment.encoder, environ)
    if expected_fingerprint(deployment, encoder.name) != store.queue.recipe():
        return False
    place = deployment.index, loaded.home, encoder.name, encoder.dimension
    records = store.tables.records()
    with closing(open_index(*place, index_credentials(deployment.index, environ))) as index:
        if not _is_complete(store, index, encoder, records):
            return False
    if not _is_shown(loaded, store, records):
        return False
    store.usage.forget_older(deployment.web.usage_days)
    store.back_up()
    refresh_manifest(store, deployment)
    emit_lineage(store, deployment)
    return store.problems.all() == problems  # else the checks have news


def _finds_work(
    loaded: LoadedDeployment, environ: Mapping[str, str], store: Store, names: Sequence[str]
) -> bool:
    """List as a tick does, then read lineage as a run does: where it is news, tables wait."""
    deployment = loaded.deployment
    with ExitStack() as stack:
        sources = [stack.enter_context(closing(one)) for one in open_sources(loaded, environ)]
        chosen = [source for source in sources if source.name in names]
        times = store.listings.times()  # one that did not end was killed, and may be fast
        seen = check_for_work(
            *(store, sources, deployment.indexing),
            partial(IndexStaleness(loaded, environ).reasons, store),
            rests={one.name: math.inf for one in sources if one not in chosen},
            leave_slow=any((one.seconds or 0.0) > BUDGET_S for one in times.values()),
        )
        doubts = seen.no_source, seen.unlisted, seen.left, seen.slow
        if seen.reasons or any(doubts):
            return True
        asked = [
            *engine_dependencies(chosen, deployment.sources),
            *webserver_assets(deployment.lineage.webserver, environ),
        ]
    update_lineage(store, "", deployment, asked)  # in no run
    return bool(store.queue.pending())


def _is_complete(
    store: Store, index: SearchIndex, encoder: Encoder, records: Sequence[TableRecord]
) -> bool:
    """Compare tables as a run does; tell whether the index has these, and what is known of them."""
    held = {i: blocks for i, blocks in index.list_tables().items() if blocks}
    if held != {one.table_id: one.block_count for one in records if one.block_count} or any(
        one.state != TableState.INDEXED
        or one.claimed
        or one.held_since is not None
        or one.retry_at is not None
        for one in records
    ):
        return False
    mark_copies(store, store.access.of_tables())
    mark_joins(store, index)
    embed_column_names(store, encoder)
    embed_answered_questions(store, encoder)
    facts = store.access.of_tables()
    return all(facts.get(i) == known for i, known in index.facts([*facts]).items())


def _is_shown(loaded: LoadedDeployment, store: Store, records: Sequence[TableRecord]) -> bool:
    """Tell whether Dagster was told of each table what there is to tell, and of no other."""
    keys, rows = store.asset_keys, loaded.deployment.dagster.show_rows
    if (
        store.privacy.pages_to_wipe()
        or keys.history() != history_of(loaded.home)
        or keys.shows_rows() != rows
    ):
        return False
    visible = {source.name for source in loaded.deployment.sources if source.visible}
    problems, prefix = problems_by_table(store.problems.all()), loaded.deployment.key_prefix
    wanted = {
        f"{prefix}/{one.table_id}": PublishedPage(
            one.table_id, one.updated_at, problems.get(one.table_id)
        )
        for one in records
        if one.source in visible
    }
    return keys.published() == wanted
