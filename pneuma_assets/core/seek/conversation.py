"""A conversation as its events tell it: versions of the state, messages, turns, what was spent.

Nothing here is kept beside the events, so that a process which is killed loses nothing that was
said and does nothing twice: whoever opens the conversation next sees where it stands.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, islice
from math import isfinite
from typing import Any

from pneuma_assets.core.errors import PneumaError, QueryError
from pneuma_assets.core.seek.results import Finding, Made, QueryResult, Severity
from pneuma_assets.core.seek.state import State
from pneuma_assets.core.store.conversations import NewEvent, SavedConversation, SavedEvent

SAMPLE_ROWS = 10
"""Of each table that is made, for people and models to see."""
_LONGEST_SAMPLE = 300
"""Characters of a cell of those."""
_MOST_SHOWN = 500_000
"""Characters of the rows of one event."""


class Kind(StrEnum):
    """What an event is of."""

    PERSON = "person"
    """Somebody says something: `text`, `key` (of the request), `saw` (which proposal), `agrees`."""
    ASSISTANT = "assistant"
    """The turn ends: `text`, `questions`, `next_steps`, `knowledge`, `by`; the cells have
    `caveats`."""
    ACTION = "action"
    """The model does something: `action`, `reply` (which of the turn), `outcome`, `failed`,
    `found`, `agrees` (the person, by words that were quoted); cells may have `why`."""
    STATE = "state"
    """The state is another: `state`, `by`, `reason`, `back_to` (the version that is taken back);
    the cells of an edit have findings."""
    MADE = "made"
    """Tables of T are made: `digest`, `tables`; the cells have sample rows, findings and names of
    columns, which repeat cells where rows became columns."""
    RESULT = "result"
    """Queries are run: `digest`, `queries`; the cells have rows and findings."""
    ACCEPTED = "accepted"
    """The person accepts the state of `version`."""
    BUDGET = "budget"
    """The person grants as much again, from here on."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the model of a conversation took."""

    requests: int = 0
    read: int = 0
    written: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        """Return both together."""
        return Spent(*(getattr(self, n) + getattr(other, n) for n in self.__slots__))

    def __sub__(self, other: "Spent") -> "Spent":
        """Return what was taken beyond the other."""
        return Spent(*(getattr(self, n) - getattr(other, n) for n in self.__slots__))


@dataclass(frozen=True, slots=True)
class Version:
    """A state that was in force.

    Attributes:
        number: Of versions, from 1; 0 is the empty state.
        event: Which event set it.
        by: A person's name, or `model NAME`, or `static pipeline`.
        reason: Why, one line.
        before: The version that was in force before it, to which an undo goes back.
        state: It.
    """

    number: int
    event: int
    by: str
    reason: str
    before: int
    state: State


_EMPTY = Version(0, 0, "", "", 0, State())


@dataclass(frozen=True)
class Conversation:
    """What happened in a conversation so far."""

    saved: SavedConversation
    events: tuple[SavedEvent, ...]

    @property
    def conversation_id(self) -> str:
        """Names it."""
        return self.saved.conversation_id

    @property
    def last(self) -> int:
        """The number of its last event; 0 where there is none."""
        return self.events[-1].number if self.events else 0

    def of(self, *kinds: Kind) -> Iterator[SavedEvent]:
        """Yield its events of these kinds."""
        return (one for one in self.events if one.kind in kinds)

    @cached_property
    def _told(self) -> tuple[tuple[Version, ...], Version]:
        """All versions, and the one in force."""
        versions, current = [_EMPTY], _EMPTY
        for event in self.of(Kind.STATE):
            data = event.data
            if (back := data.get("back_to")) is not None:
                current = versions[min(int(back), len(versions) - 1)]
                continue
            state = State.model_validate(data["state"])
            said = data.get("by", ""), data.get("reason", "")
            current = Version(len(versions), event.number, *said, current.number, state)
            versions.append(current)
        return tuple(versions), current

    @property
    def versions(self) -> tuple[Version, ...]:
        """All states that were in force, the empty one first."""
        return self._told[0]

    @property
    def used(self) -> set[str]:
        """The ids of all tables that a version of its state reads."""
        return {one for version in self.versions for one in version.state.table_ids}

    @property
    def version(self) -> Version:
        """The state that is in force now, and what it came from."""
        return self._told[1]

    @property
    def state(self) -> State:
        """(T, Q) now."""
        return self.version.state

    @property
    def turn(self) -> tuple[SavedEvent, ...]:
        """The events behind what the person said last, that first; empty where that is answered."""
        for place in range(len(self.events) - 1, -1, -1):
            kind = self.events[place].kind
            if kind == Kind.ASSISTANT:
                return ()
            if kind == Kind.PERSON:
                return self.events[place:]
        return ()

    @property
    def is_open(self) -> bool:
        """Whether the person waits for an answer."""
        return bool(self.turn)

    @property
    def is_agreed(self) -> bool:
        """Whether the person agreed to the proposal as it is now."""
        mine = proposal(self.state)
        return any(one.data.get("agrees") == mine for one in self.events)

    def shown(self, kind: Kind) -> SavedEvent | None:
        """Return the last of what was made, or of results, if it is of the state as it is now."""
        wanted = making(self.state) if kind == Kind.MADE else running(self.state)
        found = [one for one in self.of(kind) if one.data.get("digest") == wanted]
        return found[-1] if found else None

    @property
    def findings(self) -> tuple[Mapping[str, Any], ...]:
        """What rules found in what was made and run of the state; of what was not yet, in its edit.

        What matters most stands first.
        """
        made, ran = map(self.shown, (Kind.MADE, Kind.RESULT))
        is_done = made is not None and (ran is not None or not self.state.queries)
        edits = (one for one in self.of(Kind.STATE) if one.number == self.version.event)
        events = [*([] if is_done else edits), *filter(None, (made, ran))]
        every = [one for event in events for one in (event.cells or {}).get("findings", ())]
        found = [one for at, one in enumerate(every) if one not in every[:at]]
        return tuple(sorted(found, key=lambda one: [*Severity].index(one["severity"])))

    def message(self, *, stale: bool = False) -> SavedEvent | None:
        """Return the last message, unless something was done since and it may not be `stale`."""
        last = next((one for one in reversed(self.events) if one.kind == Kind.ASSISTANT), None)
        return last if stale or last is None or last.number == self.last else None

    @property
    def spent(self) -> Spent:
        """What the model took since the person last granted a budget."""
        granted = max((one.number for one in self.of(Kind.BUDGET)), default=0)
        return sum((_spent(one) for one in self.events if one.number > granted), Spent())

    @property
    def found(self) -> tuple[Mapping[str, Any], ...]:
        """What was retrieved, each once, in the order in which it was found first.

        Its `passage` is what matched; `at`, its last search and place there, are greater for later
        and better ones.
        """
        met: dict[str, Mapping[str, Any]] = {}
        for event in self.of(Kind.ACTION):
            passages = (event.cells or {}).get("passages", {})
            for place, one in enumerate(event.data.get("found", ())):
                name = f"{one['kind']} {one['id']}"
                before = met.get(name, {})
                more = {"at": (event.number, -place), "passage": passages.get(one["id"], "")}
                text = max(before.get("text", ""), one.get("text", ""), key=len)
                met[name] = {**before, **one, **more, "text": text}
        return tuple(met.values())

    @property
    def accepted(self) -> Version | None:
        """The version that the person accepted, if it is the one in force."""
        return (
            self.version
            if any(one.data.get("version") == self.version.number for one in self.of(Kind.ACCEPTED))
            else None
        )

    def told(self, key: str) -> bool:
        """Tell whether a request of the person, by the key that it came with, was heard before."""
        return any(one.data.get("key") == key for one in self.of(Kind.PERSON))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        events = [
            {"number": e.number, "at": e.at, "kind": e.kind, **e.data, "cells": e.cells}
            for e in self.events
        ]
        told = {"findings": self.findings, "spent": asdict(self.spent), "is_open": self.is_open}
        return {**asdict(self.saved), "state": _dumped(self.state), **told, "events": events}


def proposal(state: State) -> str:
    """Name what a person agrees to: the sources, and T without how it is made; Q is free."""
    tables = [
        {**_dumped(one), "steps": None,
         "columns": [{**_dumped(column), "origins": None} for column in one.columns]}
        for one in state.tables
    ]  # fmt: skip
    return digest([*map(_dumped, state.sources), *tables])


def making(state: State) -> str:
    """Name how T is made: of another one, what was made before is not what is meant."""
    return digest([*map(_dumped, state.sources), *map(_dumped, state.tables)])


def running(state: State) -> str:
    """Name what results are of: T as it is made, and Q; assumptions and questions are free."""
    return digest([making(state), *map(_dumped, state.queries)])


def _dumped(part: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = part.model_dump(mode="json", exclude_defaults=True)
    return dumped


def digest(value: Any) -> str:
    """Return a name of some JSON that another has only by accident."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _spent(event: SavedEvent) -> Spent:
    given = event.data.get("spent") or {}
    return Spent(**{name: given[name] for name in Spent.__slots__ if name in given})


def state_event(
    state: State, by: str, reason: str = "", findings: Sequence[Finding] = ()
) -> NewEvent:
    """Return the event by which a state is in force, with what rules found in it."""
    cells = {"findings": [*map(asdict, findings)]} if findings else None
    return NewEvent(Kind.STATE, {"state": _dumped(state), "by": by, "reason": reason}, cells)


def made_event(state: State, made: Sequence[Made], by: str, *, agrees: bool = False) -> NewEvent:
    """Return the event that tables were made, with sample rows; a person who makes them agrees."""
    tables = [
        {"name": one.table, "rows": one.rows.num_rows, "seconds": round(one.seconds, 3)}
        for one in made
    ]
    data: dict[str, Any] = {"digest": making(state), "tables": tables, "by": by}
    data |= {"agrees": proposal(state)} if agrees else {}
    shown = [[*row.values()] for one in made for row in one.rows.slice(0, SAMPLE_ROWS).to_pylist()]
    fit = iter(fitting([[_cell(cell) for cell in row] for row in shown]))
    samples = {one.table: [*islice(fit, min(SAMPLE_ROWS, one.rows.num_rows))] for one in made}
    findings = [asdict(finding) for one in made for finding in one.findings]
    columns = {one.table: one.rows.schema.names for one in made}
    return NewEvent(Kind.MADE, data, {"samples": samples, "findings": findings, "columns": columns})


def outcome_of(event: SavedEvent) -> str:
    """Return what came of an action; why it failed may repeat cells, and may be forgotten."""
    return str((event.cells or {}).get("why") or event.data.get("outcome", ""))


def fitting(rows: Sequence[Sequence[Any]], most: int = _MOST_SHOWN) -> list[Sequence[Any]]:
    """Return the first rows that an event has room for."""
    sizes = accumulate(len(json.dumps(row, default=str)) for row in rows)
    return [row for row, size in zip(rows, sizes, strict=True) if size <= most]


def _cell(value: Any) -> Any:
    """Return a cell as JSON has it, else as text; of a long text its beginning."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_SAMPLE else f"{value[:_LONGEST_SAMPLE]}…"
    is_plain = value is None or isinstance(value, bool | int)
    return (
        value if is_plain or (isinstance(value, float) and isfinite(value)) else _cell(str(value))
    )


def result_event(state: State, results: Sequence[QueryResult], by: str) -> NewEvent:
    """Return the event that queries were run."""
    most = _MOST_SHOWN // max(len(results), 1)
    rows = {one.name: fitting(one.rows, most) for one in results}
    queries = [
        {"name": one.name, "rows": len(rows[one.name]), "columns": one.columns,
         "more": one.more or len(rows[one.name]) < len(one.rows)}
        for one in results
    ]  # fmt: skip
    cells = {
        "rows": rows,
        "findings": [asdict(finding) for one in results for finding in one.findings],
    }
    data = {"digest": running(state), "queries": queries, "by": by}
    return NewEvent(Kind.RESULT, data, cells)


def undo_event(conversation: Conversation, by: str) -> NewEvent:
    """Return the event by which the version before the one in force is so again.

    Raises:
        NothingToUndoError: There is none.
    """
    if not conversation.version.number:
        raise NothingToUndoError("The state is as it was at first; there is nothing to undo.")
    return NewEvent(Kind.STATE, {"back_to": conversation.version.before, "by": by})


class UnknownConversationError(QueryError):
    """There is no such conversation, or it is another person's: told in the same words."""


class NothingToUndoError(PneumaError):
    """No version stands before the one in force."""


_DOUBT = re.compile(
    r"\b(?:no|not|never|none|nothing|\w+n['\u2019]t|cannot|dont|wait|stop|hold|but|only|instead|except|unless"
    r"|before|first|rather|nein|nicht|kein\w*|aber|erst|non|pas|mais|pero|ma)\b|\?",
    re.IGNORECASE,
)
"""What makes a yes less than one; whoever says so is asked again."""
_CLAUSE = r"[.,;:!?\n()\u2013\u2014-]"


def is_agreement(quote: str, said: SavedEvent, state: State) -> bool:
    """Tell whether words by which a model says that a person agreed may be an agreement.

    They are whole clauses of what the person said last, the whole of which denies, limits and asks
    nothing, and the proposal is the one that the person saw then. Whether they mean a yes the
    model alone can tell: "go for it" does, and "yes" to another question does not.
    """
    words, text = re.findall(r"\w+", quote), str(said.data.get("text", ""))
    if not words or said.data.get("saw") != proposal(state) or _DOUBT.search(text):
        return False
    quoted = r"\W+".join(map(re.escape, words))
    clauses = rf"(?:^|{_CLAUSE})\W*{quoted}(?=\s*(?:$|{_CLAUSE}))"
    return re.search(clauses, text, re.IGNORECASE) is not None


def closing(text: str, *, by: str = "system", cells: Any = None, **more: Any) -> NewEvent:
    """Return the event that ends a turn with a message to the person."""
    return NewEvent(Kind.ASSISTANT, {"text": text, "by": by, **more}, cells)
