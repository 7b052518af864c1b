"""Each table as an external asset, so that its page in the UI shows what is known of it.

A table is a unit of metadata, not of computation: ten thousand of them cost a definition each,
and none is ever materialized by Dagster itself. The index is upstream of the tables, because an
asset with ten thousand dependencies takes tens of seconds to start.
"""

import re
from collections.abc import Iterable, Mapping

import dagster as dg

from pneuma_assets.core.store.records import TableRecord
from pneuma_assets.core.tables import Table

MAX_COLUMNS_SHOWN = 500
"""Columns of a table's page; an event with thousands of them is slow to store and to read."""


def asset_key(table_id: str) -> dg.AssetKey:
    """Return the asset key of a table: its id, a part each."""
    return dg.AssetKey(table_id.split("/"))


def table_specs(records: Iterable[TableRecord]) -> list[dg.AssetSpec]:
    """Return one external asset for every table that has been indexed."""
    return [_spec(record) for record in records if record.indexed_at is not None]


def _spec(record: TableRecord) -> dg.AssetSpec:
    kind = re.sub(r"[^a-z0-9]", "", record.format.lower()) or "table"
    return dg.AssetSpec(
        key=asset_key(record.table_id),
        deps=[dg.AssetKey("search_index")],
        group_name="tables_" + re.sub(r"[^A-Za-z0-9_]", "_", record.source),
        kinds={kind},
        description="A table that pneuma-assets has indexed: find it by asking.",
        metadata={"location": record.location},
    )


def table_event(table: Table, narrations: Mapping[str, str]) -> dg.AssetMaterialization:
    """Return what the UI shows of a table: columns with narrations, row count, location."""
    shown = table.columns[:MAX_COLUMNS_SHOWN]
    schema = dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=column.type,
                description=narrations.get(column.name) or column.comment or None,
            )
            for column in shown
        ]
    )
    return dg.AssetMaterialization(
        asset_key=asset_key(table.table_id),
        metadata={
            "dagster/column_schema": schema,
            "dagster/row_count": table.row_count,
            "dagster/table_name": table.table_id.replace("/", "."),
            "location": table.location,
            "columns": len(table.columns),
            **({"notes": "; ".join(table.notes)} if table.notes else {}),
        },
        tags={"dagster/data_version": table.schema_hash},
    )
