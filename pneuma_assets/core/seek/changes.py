"""How models and agents change a state: parts are put in the place of those of their names.

What a person confirmed stays so, and nothing else is confirmed.
"""

from collections.abc import Collection, Iterable
from typing import Any

from pneuma_assets.core.seek.state import Assumption, State, StateInvalidError, TargetTable


def without(state: State, names: Collection[str]) -> State:
    """Return a state without some sources, tables and queries, nor steps and origins of those.

    Raises:
        StateInvalidError: Nothing is called so.
    """
    gone = {name.casefold() for name in names}
    parts: list[Any] = [*state.sources, *state.tables, *state.queries]
    there = {one.name.casefold() for one in parts}
    if unknown := sorted(gone - there):
        raise StateInvalidError(f"nothing here is called {unknown[0][:80]!r}")

    def left(parts: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(one for one in parts if one.name.casefold() not in gone)

    tables = tuple(_apart_from(gone, one) for one in left(state.tables))
    kept = {"sources": left(state.sources), "tables": tables, "queries": left(state.queries)}
    return state.model_copy(update=kept)


def _apart_from(gone: Collection[str], table: TargetTable) -> TargetTable:
    columns = []
    for column in table.columns:
        origins = tuple(one for one in column.origins if one.source.casefold() not in gone)
        columns.append(column.model_copy(update={"origins": origins}))
    reads = any(name.casefold() in gone for step in table.steps for name in step.reads)
    steps = () if reads else table.steps
    return table.model_copy(update={"columns": tuple(columns), "steps": steps})


def put_in(state: State, parts: State) -> State:
    """Return a state with parts in it, all assumptions and questions replaced where there are any.

    Whether it can be is looked at by `read_state`.
    """
    news: dict[str, Any] = {
        key: put(getattr(state, key), getattr(parts, key))
        for key in ("sources", "tables", "queries")
    }
    if "questions" in parts.model_fields_set:
        news["questions"] = parts.questions
    if "assumptions" in parts.model_fields_set:
        confirmed = [one for one in state.assumptions if one.confirmed]
        known = {one.text for one in confirmed}
        said = (Assumption(text=one.text, kind=one.kind) for one in parts.assumptions)
        news["assumptions"] = (*confirmed, *(one for one in said if one.text not in known))
    return state.model_copy(update=news)


def put(before: tuple[Any, ...], news: Collection[Any]) -> tuple[Any, ...]:
    """Return what was there, each in the place of that of its name, and behind it what is new."""
    by_name = {one.name.casefold(): one for one in before}
    return tuple((by_name | {one.name.casefold(): one for one in news}).values())
