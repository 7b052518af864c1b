"""OpenLineage events of runs, read: which data sets a job read and wrote.

Each event is one JSON object (https://openlineage.io/docs/spec/object-model); those of other
versions are read as far as their parts are known, and what is not as it should be is left out.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.external import (
    MOST_TABLES,
    ExternalMetadata,
    ExternalTable,
    Reference,
    mapping_of,
    text_of,
)
from pneuma_assets.core.lineage.names import TableName, spelled

MOST_EVENTS = 200_000
_MOST_DATASETS = 1_000
_ENDED = {"COMPLETE", ""}
"""An event of a data set or a job has no type; one of a run that failed says nothing."""


def read_events(events: Iterable[object]) -> ExternalMetadata:
    """Return what events say, the later of two about one table adding to the earlier."""
    above: dict[Reference, dict[Reference, None]] = {}
    columns: dict[Reference, dict[str, list[tuple[Reference, str]]]] = {}
    said: dict[Reference, tuple[str, dict[str, str]]] = {}
    for number, event in enumerate(events):
        if number >= MOST_EVENTS or len(above) >= MOST_TABLES:
            break
        given = mapping_of(event)
        if text_of(given.get("eventType")).upper() not in _ENDED:
            continue
        inputs, outputs = _datasets(given.get("inputs")), _datasets(given.get("outputs"))
        for dataset in (*inputs, *outputs):
            _note_words(said, dataset)
        for dataset in outputs:
            reference = _reference(dataset)
            above.setdefault(reference, {}).update(dict.fromkeys(map(_reference, inputs)))
            _note_columns(columns.setdefault(reference, {}), dataset)
    tables = [
        ExternalTable(
            reference.name,
            reference.uri,
            description=said.get(reference, ("", {}))[0],
            columns=said.get(reference, ("", {}))[1],
            upstream=[one for one in above.get(reference, {}) if one != reference],
            column_sources=columns.get(reference, {}),
        )
        for reference in {**above, **dict.fromkeys(said)}
    ]
    return ExternalMetadata(EdgeKind.OPENLINEAGE, tables)


def _datasets(given: object) -> list[Mapping[str, Any]]:
    listed = given[:_MOST_DATASETS] if isinstance(given, list) else []
    return [one for one in map(mapping_of, listed) if text_of(one.get("name"))]


def _reference(dataset: Mapping[str, Any]) -> Reference:
    """Return how a data set is known: `postgres://host:5432` and `db.schema.table`, or a path."""
    namespace, name = text_of(dataset.get("namespace")), text_of(dataset.get("name"))
    joined = f"{namespace.rstrip('/')}/{name.lstrip('/')}"
    if namespace in ("file", "file://"):
        return Reference(TableName("", "", ""), f"file:///{name.lstrip('/')}")
    is_path = "/" in name or namespace.split(":")[0] in ("s3", "s3a", "gs", "abfss", "wasbs")
    named = TableName("", "", "") if is_path else spelled(name)
    return Reference(named, joined if "://" in joined else None)


def _note_words(
    said: dict[Reference, tuple[str, dict[str, str]]], dataset: Mapping[str, Any]
) -> None:
    facets = mapping_of(dataset.get("facets"))
    about = text_of(mapping_of(facets.get("documentation")).get("description"))
    fields = mapping_of(facets.get("schema")).get("fields")
    columns = {
        text_of(one.get("name")): text_of(one.get("description"))
        for one in map(mapping_of, fields[:1_000] if isinstance(fields, list) else [])
        if text_of(one.get("name")) and text_of(one.get("description"))
    }
    if about or columns:
        before = said.get(_reference(dataset), ("", {}))
        said[_reference(dataset)] = (about or before[0], {**before[1], **columns})


def _note_columns(
    found: dict[str, list[tuple[Reference, str]]], dataset: Mapping[str, Any]
) -> None:
    facet = mapping_of(mapping_of(dataset.get("facets")).get("columnLineage"))
    for column, sources in list(mapping_of(facet.get("fields")).items())[:1_000]:
        for one in _datasets(mapping_of(sources).get("inputFields")):
            source = (_reference(one), text_of(one.get("field")))
            known = found.setdefault(column, [])
            if source[1] and source not in known and len(known) < _MOST_DATASETS:
                known.append(source)
