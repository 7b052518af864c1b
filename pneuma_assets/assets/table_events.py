"""What Dagster is told of a table when it has become searchable."""

from collections.abc import Mapping, Sequence

import dagster as dg

from pneuma_assets.assets.signatures import DESCRIBED_BY, Signatures
from pneuma_assets.core.changes.measure import Change
from pneuma_assets.core.config.sources import TableAddress
from pneuma_assets.core.tables import Column, Description, Provenance, Table
from pneuma_assets.core.text.safe import plain_in_markdown

MAX_COLUMNS_SHOWN = 500
"""Columns of a table's page; an event with thousands of them is slow to store and to read."""

MAX_ROWS_SHOWN, MAX_ROW_SHOWN = 5, 500
"""Rows of a table's page, and characters of each."""

UPDATED = "dagster/last_updated_timestamp"
"""Dagster's freshness checks go by it, and not by when the event was logged."""

DEPLOYMENT = "pneuma_assets/deployment"
"""Metadata of an event that says which deployment logged it."""


def asset_key(prefix: str, table_id: str) -> dg.AssetKey:
    """Return the asset key of a table: the deployment's prefix and the table's id, a part each."""
    return dg.AssetKey([*prefix.split("/"), *table_id.split("/")])


def table_event(
    key: dg.AssetKey,
    table: Table,
    narrations: Mapping[str, Description],
    deployment: str,
    address: TableAddress,
    updated_at: float | None,
    rows: Sequence[str] = (),
    change: Change | None = None,
    lineage: Mapping[str, Sequence[tuple[dg.AssetKey, str]]] | None = None,
) -> dg.AssetMaterialization:
    """Return what the UI shows of a table: described columns, row count, where and how old it is.

    Each column's description bears a mark, and the legend of marks says who describes it: a person,
    a document, a model, its own values.

    Args:
        key: The table's own, from `asset_key`.
        table: What was read of it.
        narrations: What is said of its columns, by name.
        deployment: Who logs the event, as the store names it.
        address: How others know the table.
        updated_at: When its data last changed, in seconds since 1970, or was seen to have.
        rows: Some of the table's rows, as text.
        change: How many of its rows changed since the sampled ones were drawn; None is not shown.
        lineage: The columns that each column comes from, and the asset keys of their tables.
    """
    signatures = Signatures()
    schema = dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=column.name,
                type=column.type,
                description=_told(column, narrations.get(column.name), signatures),
            )
            for column in table.columns[:MAX_COLUMNS_SHOWN]
        ]
    )
    legend = signatures.legend()
    shown = [plain_in_markdown(row[:MAX_ROW_SHOWN]) for row in rows[:MAX_ROWS_SHOWN]]
    sample = {"sampled rows": dg.MetadataValue.md("\n\n".join(shown))} if shown else {}
    age = {} if updated_at is None else {UPDATED: dg.MetadataValue.timestamp(updated_at)}
    return dg.AssetMaterialization(
        asset_key=key,
        metadata={
            "dagster/column_schema": schema,
            "dagster/row_count": table.row_count,
            "dagster/table_name": address.name,
            **({DESCRIBED_BY: dg.MetadataValue.md(legend)} if legend else {}),
            **age,
            **sample,
            **_measured(change),
            **_lineage(lineage or {}),
            "location": table.location,
            "columns": len(table.columns),
            DEPLOYMENT: deployment,
            **({"notes": "; ".join(table.notes)} if table.notes else {}),
        },
    )


def _measured(change: Change | None) -> dict[str, float | str]:
    """Return how much a table changed, and by what that is known."""
    if change is None:
        return {}
    return {"changed_share": round(change.share, 4), "measured_by": str(change.measured_by)}


def _lineage(
    lineage: Mapping[str, Sequence[tuple[dg.AssetKey, str]]],
) -> dict[str, dg.MetadataValue]:
    """Return what Dagster+ draws between columns; elsewhere it is kept and not shown."""
    deps = {
        column: [dg.TableColumnDep(asset_key=key, column_name=name) for key, name in sources]
        for column, sources in list(lineage.items())[:MAX_COLUMNS_SHOWN]
    }
    if not deps:
        return {}
    shown = dg.TableColumnLineage(deps_by_column=deps)
    return {"dagster/column_lineage": dg.MetadataValue.column_lineage(shown)}


def _told(column: Column, said: Description | None, signatures: Signatures) -> str | None:
    """Return what is said of a column, what people say before what a model says."""
    comment = plain_in_markdown(column.comment)
    if said is None or not said.text:
        return comment or None
    shown = signatures.signed(said)
    of_machines = said.provenance in (Provenance.MODEL, Provenance.PROFILE)
    if not of_machines or not column.comment or column.comment == said.text:
        return shown
    return f"{comment} — {shown}"
