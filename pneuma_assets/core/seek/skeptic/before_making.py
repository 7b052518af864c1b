"""What is wrong or doubtful with a state, before anything is made of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek.materialize import tables_of
from pneuma_assets.core.seek.operators.registry import operator_of
from pneuma_assets.core.seek.results import BOUNDS, Finding, Relations, Severity
from pneuma_assets.core.seek.skeptic.statements import findings_of
from pneuma_assets.core.seek.state import State, TargetTable, check_state, order_of_tables
from pneuma_assets.core.seek.tables import Tables


@dataclass(frozen=True, slots=True)
class _Planned:
    """A table that is not made yet."""

    columns: Sequence[AnswerColumn]

    def batches(self, names: Sequence[str]) -> Iterable[pa.RecordBatch]:
        return [pa.RecordBatch.from_pylist([], pa.schema([(name, pa.string()) for name in names]))]


def check(state: State, relations: Relations, *, counts: bool = True) -> list[Finding]:
    """Return what the rules find in a state; an error among it keeps a table from being made.

    Names and options of all steps and queries are looked at, and statements over tables that exist
    are compared with what these hold, so that it is known early that nothing is from 2019; without
    `counts` no row is read for it. A table without steps is one that nobody has made yet.

    Raises:
        StateInvalidError: The state cannot be.
    """
    check_state(state)
    tables = tables_of(state, relations, BOUNDS)
    existing = {one.name.casefold() for one in state.sources} if counts else set()
    findings = [one for target in order_of_tables(state) for one in _of(target, tables, existing)]
    for query in state.queries:
        try:
            names = [one.name for one in state.tables if tables.has(one.name)]
            if len(names) == len(state.tables):
                tables.check(query.sql, names)
        except PneumaError as error:
            findings.append(Finding("query", Severity.ERROR, query.name, str(error)))
    return findings


def _of(target: TargetTable, tables: Tables, existing: set[str]) -> Iterator[Finding]:
    made: Sequence[str] | None = ()
    for step in target.steps:
        if not all(map(tables.has, step.reads)):
            made = None
            continue
        try:
            made = operator_of(step).shape(step, tables)
            if step.operator == "sql" and existing.issuperset(map(str.casefold, step.reads)):
                yield from findings_of(tables.check(step.code, step.reads), step.makes, tables)
        except PneumaError as error:
            yield Finding("step", Severity.ERROR, step.makes, str(error))
            made = None
        if made is not None and all(made):  # what DuckDB calls a result without a name is not known
            tables.put(step.makes, _Planned([AnswerColumn(name, "VARCHAR") for name in made]))
    if made:
        names = {name.casefold() for name in made}
        lacking = [one.name for one in target.columns if one.name.casefold() not in names]
        if lacking:
            text = f"its last step does not make {', '.join(lacking)}; it makes {', '.join(made)}"
            yield Finding("columns missing", Severity.ERROR, target.name, text[:1_000])
    if target.columns:
        tables.put(target.name, _Planned([AnswerColumn(c.name, "VARCHAR") for c in target.columns]))
