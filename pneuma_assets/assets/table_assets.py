"""Each table as an external asset, so that its page in the UI shows what is known of it.

A table is a unit of metadata, not of computation: ten thousand of them cost a definition each, and
none is ever materialized by Dagster itself. What it is built from is upstream of it. No stage is
upstream or downstream of a table: data does not come from an index, and an asset with ten thousand
dependencies takes tens of seconds to start.
"""

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from urllib.parse import quote

import dagster as dg

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.lineage.edges import without_circles
from pneuma_assets.core.store.dagster_manifest import TablePage
from pneuma_assets.core.store.dagster_manifest_write import MOST_KINDS
from pneuma_assets.core.text.safe import plain_in_markdown
from pneuma_assets.resources.names import Names, may_be_a_stage

JOINS = "joins"
"""The metadata of a table's definition that says by which columns it can be joined."""

WEB_PAGE = "web page"
"""The metadata that links to what `pneuma-assets serve` shows of the table (`web.base_url`)."""

logger = logging.getLogger(__name__)

_OWNER = re.compile(r"team:[A-Za-z0-9_]+|[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
_TAG = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""What Dagster takes: anything else, in its place, would keep the whole location from loading."""

_KIND = re.compile(r"[a-z0-9_]{1,30}")


def definable(pages: Iterable[TablePage], others: Collection[dg.AssetKey]) -> Sequence[TablePage]:
    """Return the pages that can be defined beside `others`; tells of those that cannot.

    A manifest may be a newer version's, or have been written by anybody. A key that is there twice
    would keep the whole code location from loading.
    """
    taken = {"/".join(key.path) for key in others}
    shown: dict[str, TablePage] = {}
    for page in pages:
        if page.key in taken or page.key in shown or may_be_a_stage(page.table_id):
            logger.warning(
                "Table %r has no page, because its asset key %r is another's.",
                page.table_id[:200],
                page.key[:200],
            )
        else:
            shown[page.key] = page
    return list(shown.values())


def table_specs(pages: Iterable[TablePage], deployment: Deployment) -> list[dg.AssetSpec]:
    """Return one external asset a table."""
    names = Names.of(deployment)
    group = cache(names)
    tags = deployment.dagster.tags
    pages = list(pages)
    known = {page.key for page in pages}
    # A circle would keep the whole code location from loading.
    deps = without_circles({page.key: known.intersection(page.deps) for page in pages if page.deps})
    own = f"{deployment.key_prefix}/"
    return [
        dg.AssetSpec(
            key=dg.AssetKey(page.key.split("/")),
            deps=[
                dg.AssetKey(key.split("/"))
                for key in (
                    # A webserver may be of a Dagster where ours are somebody's.
                    *(key for key in page.assets if not key.startswith(own)),
                    *deps.get(page.key, ()),
                )
            ],
            group_name=group(re.sub("[^A-Za-z0-9]", "_", page.source)),
            kinds=_kinds(page),
            owners=[one for one in page.owners if _OWNER.fullmatch(one)],
            tags={**_tags(page), **tags},
            description=described(page),
            metadata=_metadata(page, deployment.web.base_url),
        )
        for page in pages
    ]


def described(page: TablePage) -> str | None:
    """Return what a table's page begins with: what is wrong with it, and what people wrote."""
    said = plain_in_markdown(page.description)
    if page.problem is None:
        return said or None
    return f"Problem: {plain_in_markdown(page.problem)}\n\n{said}".rstrip()


def _metadata(page: TablePage, base_url: str | None) -> dict[str, str | dg.MetadataValue[str]]:
    known: dict[str, str | dg.MetadataValue[str]] = {"dagster/table_name": page.table_name}
    if base_url is not None:
        address = f"{base_url.rstrip('/')}/tables/{quote(page.table_id, errors='replace')}"
        known[WEB_PAGE] = dg.MetadataValue.url(address)
    if page.uri is not None:
        known["dagster/uri"] = page.uri
    if facts := [*_in_words(page), *page.facts]:
        shown = "\n\n".join(plain_in_markdown(fact) for fact in facts)
        known["said by others"] = dg.MetadataValue.md(shown)
    if page.joins:
        known[JOINS] = dg.MetadataValue.md("\n".join(f"- {one}" for one in page.joins))
    return known


def _in_words(page: TablePage) -> Iterable[str]:
    for name, left in (
        ("Owners", [one for one in page.owners if not _OWNER.fullmatch(one)]),
        ("Tags", [one for one in page.tags if one.partition("=")[0] not in _tags(page)]),
    ):
        if left:
            yield f"{name}: {', '.join(left)}"


def _tags(page: TablePage) -> dict[str, str]:
    named = (one.partition("=") for one in page.tags)
    return {
        name: value
        for name, _, value in named
        if _TAG.fullmatch(name) and (not value or _TAG.fullmatch(value))
    }


def _kinds(page: TablePage) -> set[str]:
    return set([kind for kind in page.kinds if _KIND.fullmatch(kind)][:MOST_KINDS])
