"""What other assets and ours say of the same table, in both directions.

What the definition of an asset with `dagster/table_name` or `dagster/uri` says becomes a text about
that table, and tables upstream become edges. The other way, descriptions of columns are merged into
another team's definition where it has none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import dagster as dg

from pneuma_assets.core.lineage.edges import EdgeKind, below
from pneuma_assets.core.lineage.external import (
    MOST_TABLES,
    ExternalMetadata,
    ExternalTable,
    Reference,
)
from pneuma_assets.core.lineage.names import TableName, spelled
from pneuma_assets.core.pipeline.external_files import ExternalFile
from pneuma_assets.core.pipeline.lineage import DEFINITIONS
from pneuma_assets.core.store.dagster_manifest import DescribedTable
from pneuma_assets.core.tables import Description, Provenance, content_hash
from pneuma_assets.core.text.safe import plain_in_markdown

N = TypeVar("N")

_SCHEMA, _LINEAGE, _URI = "dagster/column_schema", "dagster/column_lineage", "dagster/uri"
TABLE_NAMES = ("dagster/table_name", "dagster/relation_identifier")


def foreign_assets(context: dg.AssetExecutionContext, prefix: str) -> list[ExternalFile]:
    """Return what the assets of this code location say whose keys do not begin with `prefix`."""
    try:
        loaded = context.op_execution_context.repository_def.assets_defs_by_key.values()
    except Exception:  # noqa: BLE001 (no public error says that a job has no code location)
        return []
    own = prefix.split("/")
    specs = {spec.key: spec for one in loaded for spec in one.specs}
    others = {key: spec for key, spec in specs.items() if list(key.path[: len(own)]) != own}
    tables = list(said_by(others.values(), specs.keys() - others.keys()))[:MOST_TABLES]
    stamp = content_hash(*(repr(one) for one in tables))
    return [ExternalFile(DEFINITIONS, stamp, lambda: ExternalMetadata(EdgeKind.DAGSTER, tables))]


def said_by(
    specs: Iterable[dg.AssetSpec], own: Iterable[dg.AssetKey] = ()
) -> Iterator[ExternalTable]:
    """Yield what assets say that are tables; what depends on one of `own` is upstream of no page.

    Dagster loads no circle.
    """
    by_key = {spec.key: spec for spec in specs}
    references = {key: found for key, spec in by_key.items() if (found := _reference(spec))}
    ours = below({key: [dep.asset_key for dep in spec.deps] for key, spec in by_key.items()}, own)
    for key, reference in references.items():
        spec = by_key[key]
        yield ExternalTable(
            reference.name,
            reference.uri,
            description=spec.description or "",
            columns=_columns(spec.metadata),
            owners=[str(owner) for owner in spec.owners],
            tags=[
                f"{name}={value}" if value else name
                for name, value in spec.tags.items()
                if not name.startswith("dagster/")
            ],
            kinds=sorted(spec.kinds),
            asset="" if key in ours else "/".join(key.path),
            upstream=[
                references[dep.asset_key] for dep in spec.deps if dep.asset_key in references
            ],
            column_sources=_column_sources(spec.metadata, references),
        )


def _reference(spec: dg.AssetSpec) -> Reference | None:
    named = next((name for key in TABLE_NAMES if (name := _text(spec.metadata, key))), "")
    uri = _text(spec.metadata, _URI) or None
    if not named and uri is None:
        return None
    # A path is no name of parts, and is compared as a whole.
    return Reference(TableName("", "", named) if "/" in named else spelled(named), uri)


def _columns(metadata: Mapping[str, Any]) -> dict[str, str]:
    schema = unwrapped(metadata.get(_SCHEMA))
    if not isinstance(schema, dg.TableSchema):
        return {}
    return {one.name: one.description for one in schema.columns if one.description}


def _column_sources(
    metadata: Mapping[str, Any], references: Mapping[dg.AssetKey, Reference]
) -> dict[str, list[tuple[Reference, str]]]:
    lineage = unwrapped(metadata.get(_LINEAGE))
    if not isinstance(lineage, dg.TableColumnLineage):
        return {}
    return {
        column: [
            (references[dep.asset_key], dep.column_name)
            for dep in deps
            if dep.asset_key in references
        ]
        for column, deps in lineage.deps_by_column.items()
    }


def _text(metadata: Mapping[str, Any], key: str) -> str:
    value = unwrapped(metadata.get(key))
    return value.strip() if isinstance(value, str) else ""


def unwrapped(metadata: Any) -> Any:
    """Return what a definition says, be it wrapped as metadata or not."""
    return metadata.value if isinstance(metadata, dg.MetadataValue) else metadata


MAX_COLUMNS = 500
"""Columns of a schema that is made where there is none: they are sent to every page load."""

MAX_TEXT = 500
"""Characters of a description that is laid over."""

OURS = "pneuma-assets: "
_WHO = {
    Provenance.CORRECTION: "said by {source}",
    Provenance.PERSON: "from {source}",
    Provenance.DOCUMENT: "from {source}",
    Provenance.MODEL: "machine-made by {source}",
    Provenance.PROFILE: "machine-made from {source}",
}


def merge_column_metadata(
    schema: dg.TableSchema | None, table: DescribedTable
) -> dg.TableSchema | None:
    """Return a schema (or one of described columns) with descriptions it had not; None: no news.

    Names count in lower case, by which Dagster's UI merges columns: one that several columns share
    so, of either side, is not described.
    """
    said = unique((name.lower(), one) for name, one in table.columns.items())
    if schema is None:
        names = [name for name in table.columns if name.lower() in said][:MAX_COLUMNS]
        columns = [
            _described(dg.TableColumn(name, table.types.get(name) or "string"), table.columns[name])
            for name in names
        ]
        return dg.TableSchema(columns) if columns else None
    taken = Counter(column.name.lower() for column in schema.columns)
    columns = [
        _described(column, said.get(column.name.lower()))
        if taken[column.name.lower()] == 1 and not (column.description or "").strip()
        else column
        for column in schema.columns
    ]
    if columns == list(schema.columns):
        return None
    return dg.TableSchema(columns, schema.constraints)


def attributed(said: Description, by: str = "") -> str:
    """Return a description, escaped, that says who made it, and when; `by` comes first."""
    who = _WHO[said.provenance].format(source=said.source or f"a {said.provenance}")
    day = "" if said.said_at is None else f", {datetime.fromtimestamp(said.said_at, UTC):%Y-%m-%d}"
    text = said.text if len(said.text) <= MAX_TEXT else said.text[: MAX_TEXT - 1] + "…"
    return plain_in_markdown(f"{text} ({by}{who[:MAX_TEXT]}{day})")


def unique(named: Iterable[tuple[str | None, N]]) -> dict[str, N]:
    """Return what has a name that nothing else has, by it."""
    pairs = list(named)
    taken = Counter(name for name, _ in pairs)
    return {name: one for name, one in pairs if name and taken[name] == 1}


def _described(column: dg.TableColumn, said: Description | None) -> dg.TableColumn:
    if said is None:
        return column
    return dg.TableColumn(
        column.name, column.type, attributed(said, OURS), column.constraints, column.tags
    )
