"""Errors for names in a deployment file that fit no table, and who may read those that do."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from pneuma_assets.core.access_names import role_of
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.sources.base import Listing
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.suggest import nearest

_NAME_CHARACTERS = 200
_OF_A_BUILD = re.compile(r"__dbt_(?:tmp|backup)\d*$", re.IGNORECASE)


def no_match_error(
    source: str, key: str, given: Sequence[str], tables: Collection[str]
) -> SourceError:
    """Return the error for `include`, `exclude` or `schemas` (`key`) that let nothing through.

    `tables` are the names `schema.table` of those that it keeps out, one at least.
    """
    verb = {"include": "matches", "exclude": "leaves"}.get(key, "name")
    some = f"none of its tables ({len(tables):,}, such as {_shown(min(tables))})"
    schemas = {name.rpartition(".")[0] for name in tables}
    alike: list[str] = []
    if key == "schemas":
        alike = nearest(given[0], schemas, most=1)
    elif key == "include":
        alike = nearest(given[0], {*(f"{name}.*" for name in schemas), *tables}, most=1)
    return SourceError(
        f"source {source!r} cannot be listed: its {key} {verb} {some}; {_correct(alike)}"
    )


def unknown_schema_error(source: str, name: str, known: Collection[str]) -> SourceError:
    """Return the error for a name in `schemas` that is no schema's."""
    return SourceError(
        f"source {source!r} cannot be listed: its schemas name {_shown(name)}, which is not there; "
        f"{_correct(nearest(name, known, most=1))}"
    )


def _correct(alike: Sequence[str]) -> str:
    meant = f"did you mean {_shown(alike[0])}? " if alike else ""
    return f"{meant}correct it in the deployment file"


def _shown(name: str) -> str:
    return one_line(name, _NAME_CHARACTERS)


def without_build_relations(listing: Listing) -> Listing:
    """Return a database's listing without what dbt makes while it builds; the first is named."""
    left = {one.table_id for one in listing.tables if _OF_A_BUILD.search(one.table_id)}
    if not left:
        return listing
    cause = (
        f"dbt makes it while it builds, and drops it (such tables left out: {len(left):,}); if no "
        "build runs, one was ended before it could: drop it"
    )
    tables = [one for one in listing.tables if one.table_id not in left]
    problem = Problem(min(left), "listing", cause)
    return replace(listing, tables=tables, problems=[*listing.problems, problem])


def granted(listing: Listing, config: SourceConfig) -> Listing:
    """Return a listing whose readers are names of the deployment (`core.access_names`).

    A source's roles get its name before them; a table without grants of its own has the readers
    that the deployment file gives its source.
    """

    def named(ref: TableRef) -> TableRef:
        if ref.readers is not None:
            return replace(ref, readers=tuple(role_of(config.name, role) for role in ref.readers))
        return ref if config.readers is None else replace(ref, readers=config.readers)

    return replace(listing, tables=list(map(named, listing.tables)))
