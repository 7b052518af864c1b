"""What a model may do in a conversation: a few actions a reply, as JSON of a strict form.

The four kinds of section 3.2: reasoning, calls of tools, changes of the state, messages. Whatever
a person alone decides (to agree, to accept, to keep, to export, to delete) is no action.
"""

import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from pneuma_assets.core.answers.guard import names_read
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.models.language.forms import bound, object_in, told_of
from pneuma_assets.core.seek.changes import put, put_in, without
from pneuma_assets.core.seek.state import (
    Code,
    ColumnName,
    Line,
    Name,
    Origin,
    Part,
    Premise,
    Query,
    Source,
    State,
    Step,
    TableId,
    TargetColumn,
    TargetTable,
    WantedColumn,
    check_state,
    read_state,
)
from pneuma_assets.core.seek.tables import DIALECT

T = TypeVar("T")


class ShapeError(PneumaError):
    """What a model said is none of the forms that it was to answer in; the message says why."""


class Think(Part):
    """Reasons about what is known; nothing else happens."""

    action: Literal["think"]
    text: Annotated[str, Field(max_length=4_000)]


class Search(Part):
    """Retrieves tables, what people said before, or pages of the web."""

    action: Literal["search"]
    query: Annotated[str, Field(min_length=1, max_length=500)]
    where: Literal["tables", "knowledge", "web"] = "tables"


class Look(Part):
    """Shows the columns of a table that was found, with their types and some of their values."""

    action: Literal["look"]
    table: TableId


class Fetch(Part):
    """Reads a page of the web that a search found, by its name there."""

    action: Literal["fetch"]
    page: Line


class Probe(Part):
    """Runs a small query over sources and tables that were found, to see what is in them."""

    action: Literal["probe"]
    sql: Code


class TableChange(Part):
    """A target table, in the place of that of its name."""

    name: Name
    description: Line = ""
    columns: Annotated[tuple[WantedColumn, ...], Field(min_length=1, max_length=200)]
    sql: Annotated[str, Field(max_length=20_000)] = ""
    """One SELECT that makes it; empty: as before, or as the materializer's role finds out."""


class SourceChange(Part):
    """A table that exists, by a name of the conversation; `of` are tables that were found."""

    name: Name
    of: Annotated[tuple[TableId, ...], Field(min_length=1, max_length=1_000)]


class Change(Part):
    """Changes the state: what is named is put in, or in the place of what has its name."""

    action: Literal["change"]
    reason: Line = ""
    sources: Annotated[tuple[SourceChange, ...], Field(max_length=100)] = ()
    tables: Annotated[tuple[TableChange, ...], Field(max_length=20)] = ()
    queries: Annotated[tuple[Query, ...], Field(max_length=20)] = ()
    assumptions: Annotated[tuple[Premise, ...], Field(max_length=50)] | None = None
    questions: Annotated[tuple[Line, ...], Field(max_length=20)] | None = None
    remove: Annotated[tuple[Name, ...], Field(max_length=50)] = ()


class Materialize(Part):
    """Makes the tables of T, and runs Q; `note` tells whoever writes steps what to mind."""

    action: Literal["materialize"]
    agreed: Line = ""
    """The words of the person's last message by which they agree to the proposal."""
    note: Line = ""


class Run(Part):
    """Runs the queries of Q over the tables that were made."""

    action: Literal["run"]


class Say(Part):
    """Writes to the person, which ends the turn."""

    action: Literal["message"]
    text: Annotated[str, Field(min_length=1, max_length=4_000)]
    questions: Annotated[tuple[Line, ...], Field(max_length=5)] = ()
    next_steps: Annotated[tuple[Line, ...], Field(max_length=5)] = ()
    knowledge: Annotated[tuple[Line, ...], Field(max_length=3)] = ()
    """What the person made clear and others may need, which they can share."""


Action = Think | Search | Look | Fetch | Probe | Change | Materialize | Run | Say
_BY_NAME: Mapping[str, type[Part]] = {
    "think": Think,
    "search": Search,
    "look": Look,
    "fetch": Fetch,
    "probe": Probe,
    "change": Change,
    "materialize": Materialize,
    "run": Run,
    "message": Say,
}
NAMES = tuple(_BY_NAME)
MOST_ACTIONS = 5
"""Of one reply."""
_ADAPTER: TypeAdapter[Action] = TypeAdapter(Annotated[Action, Field(discriminator="action")])


class WrittenOrigins(Part):
    """Where the values of a column come from."""

    column: ColumnName
    origins: Annotated[tuple[Origin, ...], Field(max_length=20)]


class Written(Part):
    """The steps by which one table is made, as the materializer's role writes them.

    Or a `probe` of what they would read, to see it before.
    """

    steps: Annotated[tuple[Step, ...], Field(max_length=50)] = ()
    origins: Annotated[tuple[WrittenOrigins, ...], Field(max_length=200)] = ()
    probe: Annotated[str, Field(max_length=20_000)] = ""


def read_actions(text: str, allowed: Collection[str] = NAMES) -> list[Action]:
    """Return the actions that a model's reply is, in their order.

    Raises:
        ShapeError: It is none, or an action of it is not among those that are allowed now.
    """
    given = _json(text)
    actions = given.get("actions", [given])
    if not isinstance(actions, list) or not 1 <= len(actions) <= MOST_ACTIONS:
        raise ShapeError(f"actions are a list of 1 to {MOST_ACTIONS}")
    for one in actions:
        name = one.get("action") if isinstance(one, dict) else None
        if name not in allowed:
            raise ShapeError(f"the action {str(name)[:40]!r} is none of: {', '.join(allowed)}")
    return [_checked(_ADAPTER, one) for one in actions]


def read_written(text: str) -> Written:
    """Return the steps that a model's answer is, or its probe; raises `ShapeError`."""
    written = _checked(TypeAdapter(Written), _json(text))
    if not written.steps and not written.probe:
        raise ShapeError("it has neither steps nor a probe")
    return written


def action_schema(allowed: Collection[str]) -> dict[str, Any]:
    """Return the JSON schema of a reply of these actions, as OpenAI's strict mode takes it."""
    forms = tuple(_BY_NAME[name] for name in NAMES if name in allowed)
    joined: Any = forms[0]
    for one in forms[1:]:
        joined |= one
    schema = TypeAdapter(list[joined]).json_schema()
    defined = schema.pop("$defs", {})
    given: dict[str, Any] = bound(
        {"type": "object", "properties": {"actions": schema}, "$defs": defined}, strict=True
    )
    return given


def written_schema() -> dict[str, Any]:
    """Return the JSON schema of the materializer's answer."""
    given: dict[str, Any] = bound(Written.model_json_schema())
    return given


def _json(text: str) -> dict[str, Any]:
    found = object_in(text)
    if found is None:
        raise ShapeError("it holds no whole JSON object")
    return found


def _checked(adapter: TypeAdapter[T], given: Any) -> T:
    try:
        return adapter.validate_json(json.dumps(given))
    except (ValidationError, RecursionError) as error:
        raise ShapeError(told_of(error)) from None


def changed(state: State, change: Change, tables_of: Mapping[str, tuple[str, ...]]) -> State:
    """Return the state with a model's change in it.

    What a person confirmed stays confirmed, and what a model adds is not.

    Args:
        state: It, as it is.
        change: What the model wants.
        tables_of: The ids that each of the change's tables stands for.

    Raises:
        StateInvalidError: It cannot be so.
    """
    before = without(state, change.remove)
    sources = tuple(
        Source.model_construct(
            name=one.name, table_ids=tuple(i for of in one.of for i in tables_of[of])
        )
        for one in change.sources
    )
    parts: list[Any] = [*before.sources, *sources, *before.tables, *change.tables]
    named = {one.name for one in parts}
    tables = tuple(_table(before, one, named) for one in change.tables)
    given = change.model_dump(include={"assumptions", "questions"}, exclude_none=True)
    news = State(sources=sources, tables=tables, queries=change.queries, **given)
    return read_state(put_in(before, news).to_json())


def with_steps(state: State, table: TargetTable, written: Written) -> State:
    """Return the state with a table made by these steps; raises `StateInvalidError`."""
    origins = {one.column: one.origins for one in written.origins}
    columns = tuple(
        one.model_copy(update={"origins": origins.get(one.name, one.origins)})
        for one in table.columns
    )
    made = table.model_copy(update={"steps": written.steps, "columns": columns})
    after = state.model_copy(update={"tables": put(state.tables, [made])})
    check_state(after)
    return after


def _table(state: State, change: TableChange, named: Collection[str]) -> TargetTable:
    """Return a table by its own SQL, or with the steps that it has, unless its columns are others.

    Args:
        state: As it is.
        change: What the model wants.
        named: What a statement may read.
    """
    columns = tuple(TargetColumn(**dict(one)) for one in change.columns)
    table = TargetTable(name=change.name, description=change.description, columns=columns)
    if change.sql:
        said = {one.casefold() for one in names_read(change.sql, DIALECT)}
        reads = tuple(sorted(one for one in named if one.casefold() in said))
        step = Step(operator="sql", reads=reads[:50], makes=change.name, code=change.sql)
        return table.model_copy(update={"steps": (step,)})
    before = state.table(change.name)
    known = {} if before is None else {one.name: one for one in before.columns}
    if before is None or [*map(_kind, before.columns)] != [*map(_kind, columns)]:
        return table
    kept = tuple(c.model_copy(update={"origins": known[c.name].origins}) for c in columns)
    return before.model_copy(update={"description": change.description, "columns": kept})


def _kind(column: WantedColumn) -> tuple[str, str]:
    return column.name, column.type
