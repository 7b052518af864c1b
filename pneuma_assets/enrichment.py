"""What this project knows of tables, shown on the pages of other teams' assets for these tables.

    @dg.definitions
    def defs():
        return with_narrations(ours(), "/lake/pneuma.yaml")

Nothing is written: no event, no run, nothing kept on their side. Whatever has become of our
deployment, their definitions load.
"""

import logging
import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import dagster as dg

from pneuma_assets.assets.foreign_assets import (
    OURS,
    TABLE_NAMES,
    attributed,
    merge_column_metadata,
    unique,
    unwrapped,
)
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.errors import ConfigError, PneumaError
from pneuma_assets.core.store.dagster_manifest import DescribedTable, read_described

logger = logging.getLogger(__name__)

_SCHEMA = "dagster/column_schema"
_URI = "dagster/uri"
_LEFT = "Assets are shown without what pneuma-assets knows of their tables"


def with_narrations(
    defs: dg.Definitions, deployment: str | Path | LoadedDeployment
) -> dg.Definitions:
    """Return definitions whose assets say what is known of their tables' columns.

    An asset is a table's if its `dagster/table_name` is that table's, whatever its capitals, and no
    other table's; without a name, or with one that several tables have, if its `dagster/uri` is.
    Columns without a description get one that says who made it; where the definition has no
    columns, those that are described are added; an asset without a description gets what people
    said of its table, and who. What the definition says already stays as it is.

    It never raises because of what a deployment is like: where nothing can be read, the
    definitions are returned as they were given, and a warning says why.

    Args:
        defs: Another team's; its own tables' pages are left as they are.
        deployment: Its file, best by an absolute path, or what `load_deployment` returned.

    Raises:
        TypeError: An argument is something else: a mistake where it is called, not of a deployment.
    """
    if not isinstance(defs, dg.Definitions):
        raise TypeError(f"with_narrations takes dagster.Definitions, not {type(defs).__name__}")
    if not isinstance(deployment, str | Path | LoadedDeployment):
        raise TypeError(
            "with_narrations takes the path of a deployment file, or what load_deployment "
            f"returned, not {type(deployment).__name__}"
        )
    try:
        loaded = _loaded(deployment)
        described = read_described(loaded, os.environ)
        if described.trouble or not any(
            one.columns or one.said for one in described.tables.values()
        ):
            _left("%s", described.trouble or "nothing is described yet; index first")
            return defs
        lay = _Laying(described.tables.values(), loaded.deployment.key_prefix)
        with warnings.catch_warnings():  # that the one public way may change is ours to follow
            warnings.simplefilter("ignore", dg.PreviewWarning)
            return defs.map_asset_specs(func=lay.over)
    except PneumaError as error:
        _left("%s", error)
        return defs
    except Exception:  # another team's location loads whatever is wrong with ours
        logger.exception(_LEFT)
        return defs


class _Laying:
    """What is laid over each asset."""

    def __init__(self, tables: Iterable[DescribedTable], prefix: str) -> None:
        tables = list(tables)
        self._own = prefix.split("/")
        self._by_name = unique((_name(table.table_name), table) for table in tables)
        self._by_uri = unique((_uri(table.uri), table) for table in tables)

    def over(self, spec: dg.AssetSpec) -> dg.AssetSpec:
        """Return the spec with what it lacks; the same one if it lacks nothing that is known."""
        table = self._table_of(spec)
        if table is None:
            return spec
        known = unwrapped(spec.metadata.get(_SCHEMA))
        if known is not None and not isinstance(known, dg.TableSchema):
            return spec
        schema = merge_column_metadata(known, table)
        if schema is not None:
            spec = spec.merge_attributes(metadata={_SCHEMA: schema})
        if table.said is not None and not spec.description:
            spec = spec.replace_attributes(description=attributed(table.said, OURS))
        return spec

    def _table_of(self, spec: dg.AssetSpec) -> DescribedTable | None:
        if list(spec.key.path[: len(self._own)]) == self._own:
            return None
        given = [_name(unwrapped(spec.metadata.get(key))) for key in TABLE_NAMES]
        names = [name for name in given if name]
        found = [self._by_name.get(name) for name in names]
        found.append(self._by_uri.get(_uri(unwrapped(spec.metadata.get(_URI))) or ""))
        tables = {table.table_id: table for table in found if table is not None}
        if len(tables) != 1:
            return None
        table = tables.popitem()[1]
        return table if not names or _name(table.table_name) in names else None


def _loaded(deployment: str | Path | LoadedDeployment) -> LoadedDeployment:
    if isinstance(deployment, LoadedDeployment):
        return deployment
    if not os.path.lexists(deployment):
        raise ConfigError(
            f"deployment file {Path(deployment).absolute()} does not exist; check the path that "
            "with_narrations is given"
        )
    return load_deployment(config=Path(deployment))


def _name(given: object) -> str | None:
    """Return a name as Dagster compares them: in lower case."""
    return given.strip().lower() or None if isinstance(given, str) else None


def _uri(given: object) -> str | None:
    """Return an address as it is compared: a path keeps its capitals."""
    if not isinstance(given, str) or not given.strip():
        return None
    try:
        parts = urlsplit(given.strip())
    except ValueError:
        return None
    path = parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path, parts.query, parts.fragment))


def _left(why: str, *details: object) -> None:
    logger.warning(f"{_LEFT}: {why}", *details)
