"""Each table as an external asset, so that its page in the UI shows what is known of it.

A table is a unit of metadata, not of computation: ten thousand of them cost a definition each,
and none is ever materialized by Dagster itself. No stage is upstream or downstream of a table:
data does not come from an index, and an asset with ten thousand dependencies takes tens of
seconds to start.
"""

import re
from collections.abc import Collection, Iterable, Mapping

import dagster as dg

from pneuma_assets.core.store.records import TableRecord
from pneuma_assets.core.tables import Description, Table

NO_COMMENT = "A table that pneuma-assets has indexed: find it by asking."
MAX_COMMENT_SHOWN = 1000
MAX_COLUMNS_SHOWN = 500
"""Columns of a table's page; an event with thousands of them is slow to store and to read."""


DEPLOYMENT = "pneuma_assets/deployment"
"""Metadata of an event that says which deployment logged it."""


def asset_key(prefix: str, table_id: str) -> dg.AssetKey:
    """Return the asset key of a table: the deployment's prefix and the table's id, a part each."""
    return dg.AssetKey([*prefix.split("/"), *table_id.split("/")])


def table_specs(
    records: Iterable[TableRecord], prefix: str, own: Collection[str]
) -> list[dg.AssetSpec]:
    """Return one external asset for every indexed table whose key this deployment has made.

    Args:
        records: The tables.
        prefix: How keys begin.
        own: The keys made, their parts joined by '/'; another's asset is not ours to define.
    """
    return [
        _spec(record, asset_key(prefix, record.table_id))
        for record in records
        if record.indexed_at is not None and f"{prefix}/{record.table_id}" in own
    ]


def _spec(record: TableRecord, key: dg.AssetKey) -> dg.AssetSpec:
    kind = re.sub(r"[^a-z0-9]", "", record.format.lower()) or "table"
    return dg.AssetSpec(
        key=key,
        group_name="tables_" + re.sub(r"[^A-Za-z0-9_]", "_", record.source),
        kinds={kind},
        description=record.comment[:MAX_COMMENT_SHOWN] or NO_COMMENT,
        metadata={"location": record.location},
    )


def table_event(
    key: dg.AssetKey, table: Table, narrations: Mapping[str, Description], deployment: str
) -> dg.AssetMaterialization:
    """Return what the UI shows of a table: described columns, row count, location.

    Of each column it is told who describes it: a person, a document, a model, its own values.

    Args:
        key: The table's own, from `asset_key`.
        table: What was read of it.
        narrations: What is said of its columns, by name.
        deployment: Who logs the event, as the store names it.
    """
    shown = table.columns[:MAX_COLUMNS_SHOWN]
    schema = dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=column.type,
                description=_told(narrations.get(column.name)) or column.comment,
            )
            for column in shown
        ]
    )
    return dg.AssetMaterialization(
        asset_key=key,
        metadata={
            "dagster/column_schema": schema,
            "dagster/row_count": table.row_count,
            "dagster/table_name": table.table_id.replace("/", "."),
            "location": table.location,
            "columns": len(table.columns),
            DEPLOYMENT: deployment,
            **({"notes": "; ".join(table.notes)} if table.notes else {}),
        },
    )


def _told(said: Description | None) -> str | None:
    """Return a description with who says it, and how sure that is where it was measured."""
    if said is None or not said.text:
        return None
    sure = "" if said.confidence is None else f", confidence {said.confidence:.2f}"
    who = "" if said.source in ("", str(said.provenance)) else f" {said.source}"
    return f"{said.text} ({said.provenance}:{who}{sure})" if who else said.text
