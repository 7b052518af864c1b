"""What misleads in a table that was made: no rows, cells that were none of a type, many NULLs."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from pneuma_assets.core.seek.results import Finding, Severity
from pneuma_assets.core.seek.state import TargetTable

_MANY = 0.5
_SHOWN = 5


def findings_of_table(target: TargetTable, before: pa.Table, rows: pa.Table) -> Iterator[Finding]:
    """Yield what the rules find in a table.

    Args:
        target: What it was to be.
        before: What its last step made.
        rows: That, with the columns and types that it was to have.
    """
    if not rows.num_rows:
        text = "it has no rows; look at the filters and joins of its steps"
        yield Finding("no rows", Severity.ERROR, target.name, text)
        return
    given = {name.casefold(): before.column(at) for at, name in enumerate(before.schema.names)}
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        own = given[name.casefold()]
        if lost := column.null_count - own.null_count:
            yield _lost(target, name, own, column, lost)
        yield from _nulls(target, name, rows.num_rows, column.null_count)


def _lost(
    target: TargetTable, name: str, own: pa.ChunkedArray, column: pa.ChunkedArray, lost: int
) -> Finding:
    wanted = next((one.type for one in target.columns if one.name == name), "")
    gone = pc.and_(pc.is_valid(own), pc.is_null(column))
    shown = ", ".join(
        repr(str(cell)[:40]) for cell in own.filter(gone).slice(0, _SHOWN).to_pylist()
    )
    text = f"{lost:,} of {len(column):,} cells of {name} are no {wanted} and became NULL, such as "
    text += f"{shown}; convert them before, or make the column text"
    severity = Severity.ERROR if column.null_count == len(column) else Severity.WARNING
    figures = {"rows": float(len(column)), "cells": float(lost)}
    return Finding("not of its type", severity, target.name, text, figures)


def _nulls(target: TargetTable, name: str, rows: int, nulls: int) -> Iterator[Finding]:
    if not nulls:
        return
    share = nulls / rows
    severity = Severity.WARNING if share >= _MANY else Severity.NOTE
    text = f"column {name} is NULL in {nulls:,} of {rows:,} rows ({share:.0%})"
    if nulls == rows:
        severity, text = Severity.ERROR, f"column {name} is NULL in every row"
    figures = {"rows": float(rows), "nulls": float(nulls), "share": share}
    yield Finding("nulls", severity, target.name, text, figures)
