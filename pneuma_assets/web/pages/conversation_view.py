"""What the page of a conversation shows: what happened, and the state as it is now."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.seek.conversation import Conversation, Kind, Version, outcome_of
from pneuma_assets.core.seek.state import State, difference
from pneuma_assets.core.store.conversations import SavedEvent
from pneuma_assets.web.pages.charts import Chart, chart_of
from pneuma_assets.web.pages.rendering import escaped_signs

MOST_ENTRIES = 400
"""Of what happened; of a longer conversation the latest."""
_TOLD_ANYHOW = ("change", "materialize", "run")
"""Actions whose outcome is an event of its own."""
_ARGUMENTS = ("query", "table", "sql", "reason", "text", "note")


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened: one event, or the actions that a model took one after the other.

    Attributes:
        kind: Of the event (`Kind`).
        event: It; of several actions the last.
        acts: Of actions: what was done, what came of it, whether it failed.
        version: Of a change of the state: the version that is in force since.
        changes: Likewise: lines of `difference`.
        findings: What rules found, a line each.
    """

    kind: str
    event: SavedEvent
    acts: tuple[tuple[str, str, bool], ...] = ()
    version: Version | None = None
    changes: Sequence[str] = ()
    findings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a query, as the page shows them."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    more: bool
    chart: Chart | None


def entries_of(conversation: Conversation) -> list[Entry]:
    """Return what happened in a conversation, the first first."""
    found: list[Entry] = []
    for one in _entries(conversation):
        last = found[-1] if found else None
        if last is not None and last.kind == one.kind == Kind.ACTION:
            both = (*last.findings, *one.findings)
            found[-1] = Entry(one.kind, one.event, (*last.acts, *one.acts), findings=both)
        else:
            found.append(one)
    return found[-MOST_ENTRIES:]


def _entries(conversation: Conversation) -> Iterator[Entry]:
    versions = conversation.versions
    set_by, current = {one.event: one for one in versions[1:]}, versions[0]
    for event in conversation.events:
        if event.kind == Kind.STATE:
            back = event.data.get("back_to")
            after = set_by[event.number] if back is None else versions[back]
            changes = difference(current.state, after.state)
            current = after
            yield Entry(Kind.STATE, event, version=after, changes=changes)
        elif event.kind == Kind.ACTION:
            act = _said_of(event.data["action"]), outcome_of(event), bool(event.data.get("failed"))
            text = (event.cells or {}).get("findings", "")
            lines = text.splitlines() if isinstance(text, str) else ()
            if act[2] or lines or event.data["action"].get("action") not in _TOLD_ANYHOW:
                yield Entry(Kind.ACTION, event, (act,), findings=lines)
        else:
            yield Entry(event.kind, event)


def _said_of(action: Mapping[str, Any]) -> str:
    """Return an action in a line: its name, and what it is about."""
    about = next((str(action[key]) for key in _ARGUMENTS if action.get(key)), "")
    return f"{action.get('action', '')}: {about[:300]}".rstrip(": ")


def results_of(event: SavedEvent | None) -> dict[str, Result]:
    """Return the rows of each query that was run, with a chart where one fits."""
    rows = ((event and event.cells) or {}).get("rows", {})
    queries = event.data["queries"] if event else ()
    return {
        one["name"]: Result(
            one["columns"], rows[one["name"]], one["more"],
            chart_of(one["columns"], rows[one["name"]]),
        )
        for one in queries
        if one["name"] in rows
    }  # fmt: skip


def text_of(state: State) -> str:
    """Return a state as JSON that a person edits; signs that cannot be seen stand as escapes."""
    dumped = state.model_dump(mode="json", exclude_defaults=True)
    return escaped_signs(json.dumps(dumped, indent=2, ensure_ascii=False))
