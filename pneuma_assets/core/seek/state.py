"""What a conversation is about: the tables that somebody needs, and the queries over them.

Pneuma-Seeker (CIDR 2026, section 3.1) represents an information need as a relational model (T, Q):
target tables, and a sequence of SQL over them. Beside them stand what was assumed, what is still
open, and by which steps each table is made of tables that exist, so that the whole can be shown,
edited, compared, and run again without a model. A person and a model change it in the same form,
and it is checked in the same way.
"""

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.text.validation_messages import readable

MOST_BYTES = 200_000
"""Of a state as JSON."""

_MOST_COMPARED = 2_000
"""Lines of a state whose order is compared."""

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")]
"""Of a target table, a step's result, a source or a query: an identifier of SQL and of Python."""

ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Line = Annotated[str, StringConstraints(max_length=1_000)]
Code = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
TableId = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class StateInvalidError(PneumaError):
    """A state cannot be: every finding a line, with what to do."""


class Part(BaseModel):
    """What a state consists of, and what a model says: no keys but those that there are."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Origin(Part):
    """Where a column's values come from: columns of a source, and what was done to them."""

    source: Name
    columns: tuple[ColumnName, ...] = Field((), max_length=20)
    note: Line = ""


class WantedColumn(Part):
    """A column that the need has; its type is one of those that people know."""

    name: ColumnName
    type: Literal["text", "integer", "number", "date", "timestamp", "boolean"] = "text"
    description: Line = ""


class TargetColumn(WantedColumn):
    """A column of a target table, with where its values come from."""

    origins: tuple[Origin, ...] = Field((), max_length=20)


class Step(Part):
    """One act by which a table is made: an operator, what it reads, and what it calls its result.

    Attributes:
        operator: `sql`, `python`, or another of the registry (`core.seek.operators`).
        reads: Names of sources, of earlier steps, or of other target tables.
        makes: The name of its result; the last step of a table makes the table itself.
        code: The statement or program of `sql` and `python`; empty for others.
        options: What another operator is told, as its own model has it.
    """

    operator: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,30}$")]
    reads: tuple[Name, ...] = Field((), max_length=50)
    makes: Name
    code: Annotated[str, StringConstraints(max_length=20_000)] = ""
    options: dict[str, Any] = {}


class TargetTable(Part):
    """A table of T: what it is to hold, and how it is made, if that is known."""

    name: Name
    description: Line = ""
    columns: tuple[TargetColumn, ...] = Field((), max_length=200)
    steps: tuple[Step, ...] = Field((), max_length=50)


class Query(Part):
    """A query of Q, over target tables alone."""

    name: Name
    sql: Code
    description: Line = ""


class Source(Part):
    """A table that exists and is made use of, by the name that steps have for it.

    Attributes:
        name: Of the steps.
        table_ids: The table; several where a family stands for one table, or its members are read.
        file: A person's own file, by the name it was given with; then there are no ids.
    """

    name: Name
    table_ids: tuple[TableId, ...] = Field((), max_length=1_000)
    file: Annotated[str, StringConstraints(max_length=255)] = ""


class Premise(Part):
    """What is taken for granted.

    A `proxy` stands for what is not there (imports by value for those by weight); data `about
    another subject` do not answer, however near they are.
    """

    text: Line
    kind: Literal["assumption", "proxy", "another subject"] = "assumption"


class Assumption(Premise):
    """A premise, until the person says otherwise; they alone confirm it."""

    confirmed: bool = False


_EXAMPLE: dict[str, Any] = {
    "sources": [{"name": "orders", "table_ids": ["lake/shop/orders"]}],
    "tables": [
        {
            "name": "sales",
            "columns": [{"name": "region"}, {"name": "net", "type": "number"}],
            "steps": [
                {
                    "operator": "sql",
                    "reads": ["orders"],
                    "makes": "sales",
                    "code": "SELECT region, price * (1 - discount) AS net FROM orders",
                }
            ],
        }
    ],
    "queries": [{"name": "by_region", "sql": "SELECT region, sum(net) FROM sales GROUP BY 1"}],
}


class State(Part):
    """(T, Q), and what stands beside it; every change is a new one."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE]}
    )

    tables: tuple[TargetTable, ...] = Field((), max_length=50)
    queries: tuple[Query, ...] = Field((), max_length=50)
    sources: tuple[Source, ...] = Field((), max_length=200)
    assumptions: tuple[Assumption, ...] = Field((), max_length=100)
    questions: tuple[Line, ...] = Field((), max_length=50)

    @property
    def table_ids(self) -> set[str]:
        """The tables of its sources."""
        return {one for source in self.sources for one in source.table_ids}

    def table(self, name: str) -> TargetTable | None:
        """Return the target table of this name, if there is one."""
        return next((one for one in self.tables if one.name == name), None)

    def source(self, name: str) -> Source | None:
        """Return the source of this name, if there is one."""
        return next((one for one in self.sources if one.name == name), None)

    def to_json(self) -> str:
        """Return it as JSON, what is left at its default left out; equal states have equal text."""
        return json.dumps(self.model_dump(mode="json", exclude_defaults=True), sort_keys=True)


def read_state(given: str | Mapping[str, Any]) -> State:
    """Read a state that somebody wrote, a person or a model, and check that it can be.

    Raises:
        StateInvalidError: It is none, too large, or a name in it stands for nothing or for two.
    """
    state = read_parts(given)
    check_state(state)
    return state


def read_parts(given: str | Mapping[str, Any]) -> State:
    """Read parts of a state, whose names are not looked at; raises `StateInvalidError`."""
    text = given if isinstance(given, str) else json.dumps(dict(given))
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise StateInvalidError(f"The state is larger than {MOST_BYTES:,} bytes; leave parts out.")
    try:
        return State.model_validate_json(text)
    except ValidationError as error:
        findings = readable(error.errors()[:20], "state", State)
        raise StateInvalidError("\n".join(map(str, findings))) from None


def check_state(state: State) -> None:
    """Raise `StateInvalidError` unless every name of a state stands for one thing that is there."""
    findings = list(_findings(state))
    if findings:
        raise StateInvalidError("\n".join(findings[:20]))


def _findings(state: State) -> Iterator[str]:
    shared = [*(one.name for one in state.sources), *(one.name for one in state.tables)]
    yield from _twice("a source or table", shared)
    yield from _twice("a query", [one.name for one in state.queries])
    for source in state.sources:
        if bool(source.table_ids) == bool(source.file):
            yield f"source {source.name}: give table_ids, or the name of a file"
    known = {one.name.casefold() for one in state.sources}
    targets = {one.name.casefold() for one in state.tables}
    for table in state.tables:
        yield from _twice(f"a column of {table.name}", [one.name for one in table.columns])
        yield from _findings_of_steps(table, known, targets)
        for column in table.columns:
            yield from (
                f"column {column.name} of {table.name}: {one.source} is no source"
                for one in column.origins
                if one.source.casefold() not in known
            )
    yield from _circles(state)


def _findings_of_steps(table: TargetTable, known: set[str], targets: set[str]) -> Iterator[str]:
    made: set[str] = set()
    for number, step in enumerate(table.steps, 1):
        here = f"step {number} of {table.name}"
        others = targets - {table.name.casefold()}
        for name in step.reads:
            if name.casefold() not in known | made | others:
                yield f"{here}: {name} is no source, no earlier step and no other table"
        is_last = number == len(table.steps)
        if is_last != (step.makes.casefold() == table.name.casefold()):
            which = "the last step makes the table" if is_last else "only the last step does that"
            yield f"{here} makes {step.makes}: {which}"
        elif not is_last and step.makes.casefold() in known | targets | made:
            yield f"{here}: {step.makes} is taken; call its result otherwise"
        if bool(step.code) != (step.operator in {"sql", "python"}):
            yield f"{here}: sql and python have code, and no other operator has"
        made.add(step.makes.casefold())


def order_of_tables(state: State) -> list[TargetTable]:
    """Return the target tables, each behind those that it is made of; those of a circle are absent.

    The order of the state is kept where it can be.
    """
    left = {one.name.casefold(): one for one in state.tables}
    done: list[TargetTable] = []
    while left:
        ready = [one for one in left.values() if not _needs(one) & left.keys()]
        if not ready:
            return done
        done += ready
        for one in ready:
            del left[one.name.casefold()]
    return done


def _needs(table: TargetTable) -> set[str]:
    """Return the folded names that a table's steps read, but its own results."""
    made = {one.makes.casefold() for one in table.steps}
    return {name.casefold() for one in table.steps for name in one.reads} - made


def _circles(state: State) -> Iterator[str]:
    ordered = {one.name for one in order_of_tables(state)}
    stuck = [one.name for one in state.tables if one.name not in ordered]
    if stuck:
        yield f"{', '.join(stuck)}: each is made of the other; make one of sources alone"


def _twice(what: str, names: list[str]) -> Iterator[str]:
    met: set[str] = set()
    for name in names:
        if name.casefold() in met:
            yield f"{name} is the name of {what} twice; SQL does not tell capitals apart"
        met.add(name.casefold())


def difference(before: State, after: State) -> list[str]:
    """Return what has changed between two states, as lines of a unified diff without headers.

    One line a fact of the state, so that a person sees what was added and what went. Of states of
    very many lines the order is not compared, which would take minutes.
    """
    old, new = _facts(before), _facts(after)
    if max(len(old), len(new)) > _MOST_COMPARED:
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        return [*(f"-{one}" for one in gone.elements()), *(f"+{one}" for one in come.elements())]
    lines = islice(difflib.unified_diff(old, new, lineterm="", n=0), 2, None)
    return [one for one in lines if not one.startswith("@@")]


def _facts(state: State) -> list[str]:
    return [line.rstrip() for line in _lines(state)]


def _lines(state: State) -> Iterator[str]:
    for source in state.sources:
        yield f"source {source.name}: {source.file or ', '.join(source.table_ids)}"
    for table in state.tables:
        yield f"table {table.name}: {table.description}".rstrip(": ")
        for column in table.columns:
            yield f"column {table.name}.{column.name}: {column.type} {column.description}"
        for step in table.steps:
            said = step.code or json.dumps(step.options, sort_keys=True)
            yield f"step {table.name}: {step.makes} by {step.operator} of {', '.join(step.reads)}"
            yield from (f"    {line}" for line in said.splitlines())
    for query in state.queries:
        yield f"query {query.name}"
        yield from (f"    {line}" for line in query.sql.splitlines())
    for one in state.assumptions:
        yield f"{one.kind}: {one.text}{' (confirmed)' if one.confirmed else ''}"
    yield from (f"open: {one}" for one in state.questions)
