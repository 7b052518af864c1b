"""What a model may do in a conversation: one action at a time, as JSON of a strict form.

The four kinds of section 3.2: reasoning, calls of tools, changes of the state, messages. Whatever
a person alone decides (to agree, to accept, to keep, to export, to delete) is no action.
"""

import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

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

T = TypeVar("T")


class ShapeError(PneumaError):
    """What a model said is none of the forms that it was to answer in; the message says why."""


class Think(Part):
    """Reasons about what is known; nothing else happens."""

    action: Literal["think"]
    text: Line


class Search(Part):
    """Retrieves tables, what people said before, or pages of the web."""

    action: Literal["search"]
    query: Annotated[str, Field(min_length=1, max_length=500)]
    where: Literal["tables", "knowledge", "web"] = "tables"


class Look(Part):
    """Shows the columns of a table that was found, with their types and some of their values."""

    action: Literal["look"]
    table: TableId


class Probe(Part):
    """Runs a small query over sources, to see what is in them."""

    action: Literal["probe"]
    sql: Code


class TableChange(Part):
    """A target table, in the place of that of its name."""

    name: Name
    description: Line = ""
    columns: Annotated[tuple[WantedColumn, ...], Field(min_length=1, max_length=200)]


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
    """Makes the tables of T; `note` tells whoever writes the steps what to mind."""

    action: Literal["materialize"]
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


Action = Think | Search | Look | Probe | Change | Materialize | Run | Say
_BY_NAME: Mapping[str, type[Part]] = {
    "think": Think,
    "search": Search,
    "look": Look,
    "probe": Probe,
    "change": Change,
    "materialize": Materialize,
    "run": Run,
    "message": Say,
}
NAMES = tuple(_BY_NAME)
_ADAPTER: TypeAdapter[Action] = TypeAdapter(Annotated[Action, Field(discriminator="action")])


class WrittenOrigins(Part):
    """Where the values of a column come from."""

    column: ColumnName
    origins: Annotated[tuple[Origin, ...], Field(max_length=20)]


class Written(Part):
    """The steps by which one table is made, as the materializer's role writes them."""

    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=50)]
    origins: Annotated[tuple[WrittenOrigins, ...], Field(max_length=200)] = ()


def read_action(text: str, allowed: Collection[str] = NAMES) -> Action:
    """Return the action that a model's answer is.

    Raises:
        ShapeError: It is none, or none of those that are allowed now.
    """
    given = _json(text)
    inner = given.get("next", given)
    name = inner.get("action") if isinstance(inner, dict) else None
    if name not in allowed:
        shown = str(name)[:40]
        raise ShapeError(f"the action {shown!r} is none of: {', '.join(allowed)}")
    return _checked(_ADAPTER, inner)


def read_written(text: str) -> Written:
    """Return the steps that a model's answer is; raises `ShapeError`."""
    return _checked(TypeAdapter(Written), _json(text))


def action_schema(allowed: Collection[str]) -> dict[str, Any]:
    """Return the JSON schema of an answer that is one of these actions."""
    forms = tuple(_BY_NAME[name] for name in NAMES if name in allowed)
    joined: Any = forms[0]
    for one in forms[1:]:
        joined |= one
    schema = TypeAdapter(joined).json_schema()
    defined = schema.pop("$defs", {})
    given: dict[str, Any] = bound({
        "type": "object",
        "properties": {"next": schema},
        "required": ["next"],
        "additionalProperties": False,
        "$defs": defined,
    })  # fmt: skip
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
    tables = tuple(_table(before, one) for one in change.tables)
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


def _table(state: State, change: TableChange) -> TargetTable:
    """Return a table with the steps that it has, unless its columns are others now."""
    columns = tuple(TargetColumn(**dict(one)) for one in change.columns)
    before = state.table(change.name)
    known = {} if before is None else {one.name: one for one in before.columns}
    same = before is not None and [(c.name, c.type) for c in before.columns] == [
        (c.name, c.type) for c in columns
    ]
    if before is None or not same:
        return TargetTable(name=change.name, description=change.description, columns=columns)
    kept = tuple(c.model_copy(update={"origins": known[c.name].origins}) for c in columns)
    return before.model_copy(update={"description": change.description, "columns": kept})
