"""Makes the target tables of a state of tables that exist, and runs its queries over them.

(Pneuma-Seeker, section 3.4.) No model is asked: each step is an operator's act, and what a step
does not take is said so that a person or a model can mend it.
"""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

import pyarrow as pa
import pyarrow.compute as pc

from pneuma_assets.core.answers.prompts import without_values
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.operators.registry import operator_of
from pneuma_assets.core.seek.operators.sql_text import TYPES, as_wanted, kind_of
from pneuma_assets.core.seek.results import (
    BOUNDS,
    Finding,
    Made,
    MakeBounds,
    QueryResult,
    Relations,
    Severity,
    StepFailedError,
)
from pneuma_assets.core.seek.skeptic.statements import findings_of
from pneuma_assets.core.seek.sources import Existing, Family, Room, readable
from pneuma_assets.core.seek.state import State, Step, TargetTable, check_state, order_of_tables
from pneuma_assets.core.seek.tables import InHand, Tables
from pneuma_assets.core.sources.base import StatementRows

_SHOWN_COLUMNS = 40


def materialize(
    state: State, relations: Relations, *, bounds: MakeBounds = BOUNDS
) -> Iterator[Made]:
    """Make target tables, each behind those that it is made of, and yield each once it is made.

    Args:
        state: What is to be made, and by which steps.
        relations: The tables that exist.
        bounds: What it may take.

    Raises:
        StateInvalidError: The state cannot be.
        StepFailedError: A table cannot be made; those before it were yielded.
    """
    check_state(state)
    tables = tables_of(state, relations, bounds)
    for target in order_of_tables(state):
        found = _made(target, tables)
        tables.put(target.name, InHand(found.rows))
        yield found


def tables_of(state: State, relations: Relations, bounds: MakeBounds) -> Tables:
    """Return the sources of a state as its steps read them."""
    tables, room = Tables(bounds), Room(bounds.kept_bytes)
    for source in state.sources:
        tables.put(source.name, readable(source, relations, bounds, room))
    return tables


def _made(target: TargetTable, tables: Tables) -> Made:
    began, findings = monotonic(), list[Finding]()
    if not target.steps:
        what = "no step says how it is made; add one, the last of which makes the table"
        raise StepFailedError(target.name, target.name, f"table {target.name}: {what}")
    for number, step in enumerate(target.steps, 1):
        try:
            outcome = operator_of(step).run(step, tables)
        except PneumaError as error:
            raise _failed(target, number, step, tables, error) from error
        findings += [one for one in _of_sources(step, tables) if one not in findings]
        findings += outcome.findings
        tables.put(step.makes, InHand(outcome.rows))
    rows = _as_wanted(target, outcome.rows, tables) if target.columns else outcome.rows
    findings += findings_of_table(target, outcome.rows, rows)
    return Made(target.name, rows, tuple(findings), monotonic() - began)


def _failed(
    target: TargetTable, number: int, step: Step, tables: Tables, error: PneumaError
) -> StepFailedError:
    """Return why a step failed, with what there was to use."""
    where = f"table {target.name}, step {number} ({step.operator}, makes {step.makes})"
    message = f"{where}: {str(error).rstrip('.')}. It reads {_shapes(step.reads, tables)}"
    return StepFailedError(target.name, step.makes, message)


def _shapes(names: Sequence[str], tables: Tables) -> str:
    shown = []
    for name in names:
        try:
            columns = [*map(without_values, tables.columns(name))]
        except PneumaError as error:
            shown.append(f"{name}, which cannot be read: {error}")
            continue
        cells = ", ".join(f"{one.name} {one.type}" for one in columns[:_SHOWN_COLUMNS])
        more = ", …" if len(columns) > _SHOWN_COLUMNS else ""
        shown.append(f"{name} ({cells}{more})")
    return "; ".join(shown)


def _of_sources(step: Step, tables: Tables) -> Iterator[Finding]:
    for name in step.reads:
        if isinstance(table := tables.table(name), Existing | Family):
            yield from table.findings


def _as_wanted(target: TargetTable, rows: pa.Table, tables: Tables) -> pa.Table:
    """Return a table's columns as the state has them, of their types."""
    has = [(one.name, one.type) for one in tables.columns(target.name)]
    kinds = {name.lower(): (name, kind) for name, kind in has}
    missing = [one.name for one in target.columns if one.name.lower() not in kinds]
    if missing:
        shown = ", ".join(name for name, _ in has[:_SHOWN_COLUMNS])
        message = (
            f"table {target.name} is to have {', '.join(missing)}, which its last step does not "
            f"make; it makes {shown}"
        )
        raise StepFailedError(target.name, target.name, message)
    if all(_fits(one.type, kinds[one.name.lower()][1]) for one in target.columns):
        own = [kinds[one.name.lower()][0] for one in target.columns]
        return rows.select(own).rename_columns([one.name for one in target.columns])
    wanted = [(one.name, one.type) for one in target.columns]
    sql = as_wanted(wanted, target.name, {target.name: has})
    try:
        return tables.own(sql, [target.name])
    except PneumaError as error:
        raise StepFailedError(target.name, target.name, f"table {target.name}: {error}") from error


def _fits(wanted: str, kind: str) -> bool:
    """Tell whether a type of DuckDB is the one that a column is to have."""
    return TYPES[wanted] == kind or wanted == kind_of(kind) == "number"


def run_queries(
    state: State,
    made: Mapping[str, pa.Table],
    *,
    most_rows: int = 1_000,
) -> Iterator[QueryResult]:
    """Run the queries of a state over tables that were made, and yield what each gives.

    One that does not run has no columns, and a finding that says why.
    """
    tables = _in_hand(made)
    for query in state.queries:
        try:
            statement = tables.check(query.sql, [*made], most_rows)
            found = tables.rows(statement)
        except PneumaError as error:
            lacking = [one.name for one in state.tables if not tables.has(one.name)]
            text = f"{error}; made are {_shapes([*made], tables) or 'no tables'}"
            text += f"; not made yet are {', '.join(lacking)}" if lacking else ""
            failed = Finding("query", Severity.ERROR, query.name, text)
            yield QueryResult(query.name, (), (), False, (failed,))
            continue
        findings = [*findings_of(statement, query.name, tables), *_of_result(query.name, found)]
        yield QueryResult(query.name, found.columns, found.rows, found.more, tuple(findings))


def all_rows(sql: str, made: Mapping[str, pa.Table]) -> pa.Table:
    """Return all rows that a query gives over tables that were made.

    Raises:
        SqlRefusedError: The guard refuses it.
        SqlFailedError: It does not run, or not within the bounds; or two results are called alike.
    """
    tables = _in_hand(made)
    return tables.arrow(tables.check(sql, [*made]))


def _in_hand(made: Mapping[str, pa.Table]) -> Tables:
    tables = Tables(BOUNDS)
    for name, rows in made.items():
        tables.put(name, InHand(rows))
    return tables


def _of_result(name: str, found: StatementRows) -> Iterator[Finding]:
    if not found.rows:
        text = "it gives no row; look at its filters, and at what its tables hold"
        yield Finding("no rows", Severity.WARNING, name, text)
    elif all(cell is None for row in found.rows for cell in row):
        text = "all that it gives is NULL; look at what it aggregates"
        yield Finding("no values", Severity.WARNING, name, text)


def probe(sql: str, state: State, relations: Relations) -> StatementRows:
    """Return up to 20 rows of a statement over sources, by their names in the state.

    Raises:
        SqlRefusedError: The guard refuses it.
        SqlFailedError: It does not run, or not within the bounds.
        PneumaError: A table cannot be read.
    """
    names = [one.name for one in state.sources]
    return tables_of(state, relations, BOUNDS).ask(sql, names, 20)


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
    text += f"{shown}; convert them before (operator convert), or make the column text"
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
