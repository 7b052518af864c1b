"""What a dbt project says of its tables, by its `manifest.json` and `catalog.json`.

Only what is used is read, whatever version wrote it: dbt has added keys with every version, and
hardly ever taken one away (https://docs.getdbt.com/reference/artifacts/manifest-json). What is not
as it should be is left out.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.external import (
    DEPRECATED,
    MOST_TABLES,
    ExternalMetadata,
    ExternalTable,
    Reference,
    mapping_of,
    text_of,
    texts_of,
)
from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.lineage.parse import MOST_CHARACTERS
from pneuma_assets.core.tables import Definition

_TABLES = {"model", "seed", "snapshot", "source"}
_DIALECTS = {"sqlserver": "tsql", "synapse": "tsql", "fabric": "tsql", "athena": "athena"}
_MANIFEST = "/dbt/manifest/"
"""In the version of every manifest, such as https://schemas.getdbt.com/dbt/manifest/v12.json."""
_NO_MANIFEST = "it is no manifest of dbt, which has metadata.dbt_schema_version and nodes"
_NO, _OWNERS = {"", "0", "false", "no"}, {"owner", "owners"}
_MOST_STEPS = 50
"""Models without a table of their own (`ephemeral`) that are looked through."""


def read_dbt(manifest: object, catalog: object = None) -> ExternalMetadata:
    """Return what a project says.

    Args:
        manifest: The parsed `manifest.json`.
        catalog: The parsed `catalog.json`, which `dbt docs generate` writes, if there is one.
    """
    said = mapping_of(manifest)
    version = text_of(mapping_of(said.get("metadata")).get("dbt_schema_version"))
    if _MANIFEST not in version or not isinstance(said.get("nodes"), dict):
        return ExternalMetadata(EdgeKind.DBT, (), (_NO_MANIFEST,))
    return ExternalMetadata(EdgeKind.DBT, tuple(_Project(said, mapping_of(catalog)).tables()))


class _Project:
    def __init__(self, manifest: Mapping[str, Any], catalog: Mapping[str, Any]) -> None:
        found = {**mapping_of(manifest.get("nodes")), **mapping_of(manifest.get("sources"))}
        self.nodes = {key: mapping_of(node) for key, node in list(found.items())[:MOST_TABLES]}
        self._catalog = {
            key: mapping_of(entry)
            for part in ("nodes", "sources")
            for key, entry in mapping_of(catalog.get(part)).items()
        }
        groups = map(mapping_of, mapping_of(manifest.get("groups")).values())
        self._groups = {text_of(one.get("name")): one for one in groups}
        adapter = text_of(mapping_of(manifest.get("metadata")).get("adapter_type"))
        self._dialect = _DIALECTS.get(adapter, adapter)
        self._facts: dict[str, list[str]] = {}
        said = (*_exposures(manifest), *_tests(self.nodes), *_marked(self.nodes))
        for fact, read in (*_deprecated(self.nodes), *said):
            for key in read:
                self._facts.setdefault(key, []).append(fact)

    def tables(self) -> Iterator[ExternalTable]:
        for key, node in self.nodes.items():
            if self._is_table(node):
                yield self._table(key, node)

    def _table(self, key: str, node: Mapping[str, Any]) -> ExternalTable:
        config, entry = mapping_of(node.get("config")), self._catalog.get(key, {})
        comment = mapping_of(entry.get("metadata")).get("comment")
        return ExternalTable(
            name=_name(node),
            dialect=self._dialect,
            description=text_of(node.get("description")) or text_of(comment),
            columns=_columns(node, entry),
            owners=self._owners(node, config),
            tags=_tags(node),
            kinds=() if node.get("resource_type") == "source" else ("dbt",),
            facts=tuple(self._facts.get(key, ())[:50]),
            upstream=tuple(
                Reference(_name(self.nodes[above])) for above in self._above(node, _MOST_STEPS)
            ),
            definition=self._definition(node),
        )

    def _owners(self, node: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
        """Return a model's owners, those that dagster-dbt shows among them, and its group's."""
        meta = _meta(node)
        group = text_of(node.get("group")) or text_of(config.get("group"))
        of_group = _named(self._groups.get(group, {}).get("owner")) or ([group] if group else [])
        shown = texts_of(mapping_of(meta.get("dagster")).get("owners"))
        owners = [*shown, *_named(meta.get("owner")), *texts_of(meta.get("owners")), *of_group]
        return list(dict.fromkeys(owners))

    def _above(self, node: Mapping[str, Any], steps: int) -> list[str]:
        """Return what a node depends on, looking through models that are no table."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        waiting = [(key, steps) for key in _depends_on(node)]
        while waiting:
            key, left = waiting.pop()
            if key in seen or key not in self.nodes:
                continue
            seen.add(key)
            if self._is_table(self.nodes[key]):
                found[key] = None
            elif left and self.nodes[key].get("resource_type") == "model":
                waiting += [(above, left - 1) for above in _depends_on(self.nodes[key])]
        return sorted(found)

    def _is_table(self, node: Mapping[str, Any]) -> bool:
        config = mapping_of(node.get("config"))
        made = (
            config.get("materialized") != "ephemeral" and config.get("enabled", True) is not False
        )
        return text_of(node.get("resource_type")) in _TABLES and made and bool(_name(node).name)

    def _definition(self, node: Mapping[str, Any]) -> Definition | None:
        sql = node.get("compiled_code") or node.get("compiled_sql")
        if not isinstance(sql, str) or node.get("language", "sql") != "sql":
            return None
        at = _name(node)
        return Definition(sql[: MOST_CHARACTERS + 1], self._dialect, at.catalog, at.schema)


def _name(node: Mapping[str, Any]) -> TableName:
    own = text_of(node.get("identifier")) or text_of(node.get("alias")) or text_of(node.get("name"))
    return TableName(text_of(node.get("database")), text_of(node.get("schema")), own)


def _depends_on(node: Mapping[str, Any]) -> list[str]:
    return texts_of(mapping_of(node.get("depends_on")).get("nodes"), most=1_000)


def _columns(node: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, str]:
    """Return what is said of columns: in the project, or else in the database."""
    found = {
        text_of(mapping_of(one).get("name")): text_of(mapping_of(one).get("comment"))
        for one in mapping_of(entry.get("columns")).values()
    }
    lower = {name.lower(): name for name in found}
    for name, column in mapping_of(node.get("columns")).items():
        said = text_of(mapping_of(column).get("description"))
        if said:
            found[lower.get(name.lower(), name)] = said
    return {name: said for name, said in found.items() if name and said}


def _named(owner: object) -> list[str]:
    """Return who an owner is: by e-mail address, else by name."""
    one = mapping_of(owner)
    return texts_of(one.get("email") or one.get("name") or owner)


def _meta(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**mapping_of(one.get("meta")), **mapping_of(mapping_of(one.get("config")).get("meta"))}


def _tags(one: Mapping[str, Any]) -> tuple[str, ...]:
    found = (*texts_of(one.get("tags")), *texts_of(mapping_of(one.get("config")).get("tags")))
    return tuple(dict.fromkeys(found))


def _marks(one: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the `meta` of a node or a column says beside owners: `pii`, `domain=sales`."""
    for key, value in _meta(one).items():
        if isinstance(value, str | int) and str(value).lower() not in _NO and key not in _OWNERS:
            yield key if value is True else f"{key}={value}"


def _marked(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the `meta` of each node, and tags and `meta` of each of its columns, and the node."""
    for key, node in nodes.items():
        if marks := ", ".join(_marks(node)):
            yield f"Marked as {marks}", [key]
        for name, column in mapping_of(node.get("columns")).items():
            if tags := ", ".join((*_tags(mapping_of(column)), *_marks(mapping_of(column)))):
                yield f"Column {name} is tagged {tags}", [key]


def _deprecated(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield which models are deprecated by now, or older than the latest version of theirs."""
    now = datetime.now(UTC).isoformat()
    for key, node in nodes.items():
        latest, until = node.get("latest_version"), text_of(node.get("deprecation_date"))
        older = False
        with suppress(TypeError, ValueError, OverflowError):  # versions may be any text
            older = float(node.get("version", "")) < float(latest or "")
        if older or "" < until <= now:
            yield DEPRECATED + (f"version {latest} is the latest" if older else until), [key]


def _exposures(manifest: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield what people read tables by, such as a dashboard, and the nodes that it reads."""
    for exposure in mapping_of(manifest.get("exposures")).values():
        one = mapping_of(exposure)
        name = text_of(one.get("label")) or text_of(one.get("name"))
        kind, said = text_of(one.get("type")) or "exposure", text_of(one.get("description"))
        if name:
            yield f"Read by the {kind} {name}{f': {said}' if said else ''}", _depends_on(one)


def _tests(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield what is checked of a column or a table, and of which."""
    for node in nodes.values():
        if node.get("resource_type") != "test":
            continue
        test = mapping_of(node.get("test_metadata"))
        name, column = text_of(test.get("name")), text_of(node.get("column_name"))
        attached = node.get("attached_node")
        of = [attached] if isinstance(attached, str) else _depends_on(node)[-1:]
        allowed = texts_of(mapping_of(test.get("kwargs")).get("values"), most=20)
        values = f" {', '.join(allowed)}" if allowed else ""
        if name:
            yield (
                f"Checked{f' of {column}' if column else ''}: {name.replace('_', ' ')}{values}",
                of,
            )
