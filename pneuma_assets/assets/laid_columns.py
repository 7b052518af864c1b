"""Descriptions laid over somebody else's definition, where people left room."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

import dagster as dg

from pneuma_assets.core.store.manifest import DescribedTable
from pneuma_assets.core.tables import Description, Provenance
from pneuma_assets.core.text.safe import plain_in_markdown

MAX_COLUMNS = 500
"""Columns of a schema that is made where there is none: they are sent to every page load."""

MAX_TEXT = 500
"""Characters of a description that is laid over."""

_WHO = {
    Provenance.CORRECTION: "said by {source}",
    Provenance.PERSON: "from {source}",
    Provenance.DOCUMENT: "from {source}",
    Provenance.MODEL: "machine-made by {source}",
    Provenance.PROFILE: "machine-made from {source}",
}


def laid_over(schema: dg.TableSchema | None, table: DescribedTable) -> dg.TableSchema | None:
    """Return a schema with descriptions where it had none; None where nothing is added.

    A name counts whatever its capitals, as Dagster's UI merges columns by their names in lower
    case: one that several columns share so, of either side, is described by nobody of ours.

    Args:
        schema: Another team's; None: it gets one of those columns that are described here.
        table: What is said of the table.
    """
    said = _by_lower_case(table.columns)
    if schema is None:
        names = [name for name in table.columns if name.lower() in said][:MAX_COLUMNS]
        columns = [
            dg.TableColumn(name, table.types.get(name) or "string", told(table.columns[name]))
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


def told(said: Description) -> str:
    """Return a description that says who made it, and when where that is known.

    It shows as the text it is: the UI reads Markdown, and texts come from anywhere.
    """
    who = _WHO[said.provenance].format(source=said.source or f"a {said.provenance}")
    day = "" if said.said_at is None else f", {datetime.fromtimestamp(said.said_at, UTC):%Y-%m-%d}"
    text = said.text if len(said.text) <= MAX_TEXT else said.text[: MAX_TEXT - 1] + "…"
    return plain_in_markdown(f"{text} (pneuma-assets: {who[:MAX_TEXT]}{day})")


def _by_lower_case(columns: Mapping[str, Description]) -> dict[str, Description]:
    """Return descriptions by names in lower case, of names that are then still different."""
    taken = Counter(name.lower() for name in columns)
    return {name.lower(): said for name, said in columns.items() if taken[name.lower()] == 1}


def _described(column: dg.TableColumn, said: Description | None) -> dg.TableColumn:
    if said is None:
        return column
    return dg.TableColumn(column.name, column.type, told(said), column.constraints, column.tags)
