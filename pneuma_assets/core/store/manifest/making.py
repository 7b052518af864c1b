"""What the store knows becomes the manifest: at a run's end, and wherever it is out of date."""

import logging

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.manifest.kept import COLUMNS, PAGES, write_described, write_pages
from pneuma_assets.core.store.manifest.packed import NotReadableError, head_of
from pneuma_assets.core.store.manifest.pages import address_of, described, pages_of, said_of
from pneuma_assets.core.store.store import Store
from pneuma_assets.core.tables import content_hash

logger = logging.getLogger(__name__)

RECIPE = "8"
"""Of how a manifest is made; another one makes every manifest anew."""


def keep_manifest(store: Store, deployment: Deployment, *, forced: bool = False) -> bool:
    """Write the manifest anew if the store or the deployment file says something else than it did.

    Asked whenever a run or a tick has opened the store, so that it comes into being also where
    nothing waits to be indexed. What that costs is a few short queries.

    Args:
        store: What the tables are read from.
        deployment: Names the sources, and whose tables these are.
        forced: Do not ask whether anything changed.

    Returns:
        Whether it was written.

    Raises:
        StateError: It cannot be written, or the store not be read.
    """
    made_of = _made_of(store, deployment)
    if not forced and _kept(store) == made_of:
        return False
    sources = {source.name: source for source in deployment.sources}
    records = [record for record in store.tables.records() if record.source in sources]
    addresses = {r.table_id: address_of(sources[r.source], r) for r in records}
    said = said_of(store, records)
    write_described(store.manifests, list(described(store, addresses, said)), made_of)
    shown = [record for record in records if sources[record.source].visible]
    pages = pages_of(store, deployment.key_prefix, shown, addresses, said)
    write_pages(store.manifests, pages, made_of)
    return True


def refresh_manifest(store: Store, deployment: Deployment) -> None:
    """Bring the manifest up to date where that can be done; tables are indexed all the same."""
    try:
        keep_manifest(store, deployment)
    except StateError as error:
        logger.warning("Pages in Dagster are as they were: %s", error)


def _made_of(store: Store, deployment: Deployment) -> str:
    sources = [
        f"{source.name} {source.type} {source.location} {source.visible}"
        for source in deployment.sources
    ]
    known = [one.fingerprint() for one in (store.pages, store.edges, store.joins)]
    return content_hash(RECIPE, deployment.key_prefix, *known, *sources)


def _kept(store: Store) -> str | None:
    """Return what both parts of the manifest were made of; None if either cannot be used."""
    try:
        made = {head_of(store.manifests.begin(name)).made_of for name in (PAGES, COLUMNS)}
    except NotReadableError:
        return None
    return made.pop() if len(made) == 1 else None
