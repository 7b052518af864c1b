"""What a webserver of Dagster says of the assets of all code locations.

An asset that is not as the queries promise (`webserver_queries`) is left out.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pneuma_assets.core.lineage.edges import EdgeKind, below
from pneuma_assets.core.lineage.external import (
    MOST_TABLES,
    ExternalMetadata,
    ExternalTable,
    Reference,
    mapping_of,
    text_of,
    texts_of,
)
from pneuma_assets.core.lineage.names import TableName, spelled

Key = tuple[str, ...]
"""The path of an asset's key."""

_NAMES, _URI = ("dagster/table_name", "dagster/relation_identifier"), "dagster/uri"
_SCHEMA, _LINEAGE = "dagster/column_schema", "dagster/column_lineage"
_STAGES = {"raw_tables", "sampled_rows", "embedding_blocks", "search_index"}
"""Below the prefix of a deployment of this project, whose pages say what it heard itself."""

_MOST_PARTS = 50
_MOST_LISTED = 1_000
_DESCRIPTION = 8_000


def key_of(given: object) -> Key:
    """Return the parts of an asset's key; none for what is none."""
    path = mapping_of(given).get("path")
    if not isinstance(path, list) or not 0 < len(path) <= _MOST_PARTS:
        return ()
    return tuple(path) if all(isinstance(part, str) for part in path) else ()


def tables_among(nodes: Iterable[object]) -> dict[Key, Mapping[str, Any]]:
    """Return the definitions of assets that are tables of others, by key.

    Args:
        nodes: Of the pages of `webserver_queries.ASSETS`.
    """
    found = _definitions(nodes)
    ours = _prefixes(found)
    return {
        key: definition
        for key, definition in found.items()
        if _reference(definition) and not _is_below(key, ours)
    }


def below_ours(nodes: Iterable[object]) -> set[Key]:
    """Return the keys of this project's assets, and of those that depend on one.

    Args:
        nodes: As for `tables_among`.
    """
    found = _definitions(nodes)
    ours = _prefixes(found)
    return below(
        {
            key: [key_of(one) for one in _listed(node, "dependencyKeys")]
            for key, node in found.items()
        },
        (key for key in found if _is_below(key, ours)),
    )


def read_assets(
    definitions: Mapping[Key, Mapping[str, Any]],
    events: Iterable[object] = (),
    ours: Collection[Key] = (),
) -> ExternalMetadata:
    """Return what assets say of tables: their definitions, and then their last events.

    Args:
        definitions: What `tables_among` has found.
        events: The nodes of the answers to `webserver_queries.EVENTS`.
        ours: Keys of assets that are upstream of no page of ours (`below_ours`).
    """
    last = {key_of(one.get("assetKey")): _last_entries(one) for one in _mappings(events)}
    references = {key: one for key, node in definitions.items() if (one := _reference(node))}
    tables = []
    for key, reference in list(references.items())[:MOST_TABLES]:
        node, entries = definitions[key], last.get(key, {})
        said = _entries(node)
        lineage = entries.get(_LINEAGE) or said.get(_LINEAGE)
        tables.append(
            ExternalTable(
                reference.name,
                reference.uri,
                description=text_of(node.get("description"), _DESCRIPTION),
                columns={**_columns(entries.get(_SCHEMA)), **_columns(said.get(_SCHEMA))},
                owners=list(_owners(node)),
                tags=list(_tags(node)),
                kinds=texts_of(node.get("kinds")),
                asset="" if key in ours or "/" in "".join(key) else "/".join(key),
                upstream=_known(_listed(node, "dependencyKeys"), references),
                column_sources=_sources(lineage, references),
            )
        )
    return ExternalMetadata(EdgeKind.DAGSTER, tables)


def _prefixes(keys: Collection[Key]) -> set[Key]:
    below: dict[Key, set[str]] = {}
    for key in keys:
        if key[-1] in _STAGES:
            below.setdefault(key[:-1], set()).add(key[-1])
    return {prefix for prefix, stages in below.items() if stages == _STAGES}


def _definitions(nodes: Iterable[object]) -> dict[Key, Mapping[str, Any]]:
    found = {key_of(one.get("key")): mapping_of(one.get("definition")) for one in _mappings(nodes)}
    found.pop((), None)
    return found


def _is_below(key: Key, prefixes: Collection[Key]) -> bool:
    return any(key[:n] in prefixes for n in range(len(key)))


def _reference(node: Mapping[str, Any]) -> Reference | None:
    entries = _entries(node)
    texts = {label: text_of(one.get("text")).strip() for label, one in entries.items()}
    named = next((texts[label] for label in _NAMES if texts.get(label)), "")
    uri = texts.get(_URI) or None
    if not named and uri is None:
        return None
    # A path is no name of parts, and is compared as a whole.
    return Reference(TableName("", "", named) if "/" in named else spelled(named), uri)


def _entries(node: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {text_of(one.get("label")): one for one in _listed(node, "metadataEntries")}


def _last_entries(node: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return next((_entries(one) for one in _listed(node, "assetMaterializations")), {})


def _columns(entry: Mapping[str, Any] | None) -> dict[str, str]:
    columns = _listed(mapping_of(mapping_of(entry).get("schema")), "columns")
    said = {text_of(one.get("name")): text_of(one.get("description")) for one in columns}
    return {name: text for name, text in said.items() if name and text}


def _owners(node: Mapping[str, Any]) -> Iterator[str]:
    for one in _listed(node, "owners"):
        if team := text_of(one.get("team")):
            yield f"team:{team}"
        elif email := text_of(one.get("email")):
            yield email


def _tags(node: Mapping[str, Any]) -> Iterator[str]:
    for one in _listed(node, "tags"):
        name, value = text_of(one.get("key")), text_of(one.get("value"))
        if name and not name.startswith("dagster/"):
            yield f"{name}={value}" if value else name


def _known(
    keys: Iterable[Mapping[str, Any]], references: Mapping[Key, Reference]
) -> list[Reference]:
    return [references[key] for one in keys if (key := key_of(one)) in references]


def _sources(
    entry: Mapping[str, Any] | None, references: Mapping[Key, Reference]
) -> dict[str, list[tuple[Reference, str]]]:
    found: dict[str, list[tuple[Reference, str]]] = {}
    for one in _listed(mapping_of(entry), "lineage"):
        column = text_of(one.get("columnName"))
        for dep in _listed(one, "columnDeps"):
            key, above = key_of(dep.get("assetKey")), text_of(dep.get("columnName"))
            if column and above and key in references:
                found.setdefault(column, []).append((references[key], above))
    return found


def _listed(given: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    listed = given.get(name)
    return _mappings(listed[:_MOST_LISTED]) if isinstance(listed, list) else []


def _mappings(given: Iterable[object]) -> list[Mapping[str, Any]]:
    return [mapping_of(one) for one in given if isinstance(one, dict)]


_METADATA = """
fragment said on MetadataEntry {
  label
  ... on TextMetadataEntry { text }
  ... on UrlMetadataEntry { text: url }
  ... on PathMetadataEntry { text: path }
  ... on TableSchemaMetadataEntry { schema { columns { name description } } }
  ... on TableColumnLineageMetadataEntry {
    lineage { columnName columnDeps { assetKey { path } columnName } }
  }
}
"""

ASSETS = (
    """
query Assets($cursor: String, $limit: Int) {
  assetsOrError(cursor: $cursor, limit: $limit) {
    ... on AssetConnection {
      cursor
      nodes {
        key { path }
        definition {
          description
          owners { ... on UserAssetOwner { email } ... on TeamAssetOwner { team } }
          tags { key value }
          kinds
          dependencyKeys { path }
          metadataEntries { ...said }
        }
      }
    }
    ... on PythonError { message }
  }
}
"""
    + _METADATA
)
"""All assets, a page at a time, as their definitions describe them."""

EVENTS = (
    """
query Events($keys: [AssetKeyInput!]) {
  assetNodes(assetKeys: $keys) {
    assetKey { path }
    assetMaterializations(limit: 1) { metadataEntries { ...said } }
  }
}
"""
    + _METADATA
)
"""What the last materialization of some assets says: columns, and where they come from."""
