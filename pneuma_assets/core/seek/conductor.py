"""Conducts a turn: asks a model for one action after the other, and decides what comes of each.

What a model may not do is held here, by code: nothing is made before the person agrees, no query
is run before its tables are made, no filter names a value that nobody saw without that being told,
nothing is used that was not found, and after a few actions it has to write (section 3.2). Every
action is kept with what came of it before the next is asked for, so whoever goes on with a turn
whose process died asks for the one that is missing.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from pneuma_assets.core.config.seek import SeekConfig
from pneuma_assets.core.errors import ModelError, PneumaError
from pneuma_assets.core.models.base import Generation, LanguageModel, Message
from pneuma_assets.core.models.language.forms import turn
from pneuma_assets.core.models.usage import Usage, counting
from pneuma_assets.core.seek import actions
from pneuma_assets.core.seek.conversation import (
    Conversation,
    Kind,
    Spent,
    closing,
    fitting,
    made_event,
    outcome_of,
    result_event,
    state_event,
)
from pneuma_assets.core.seek.materialize import probe
from pneuma_assets.core.seek.operators.registry import describe
from pneuma_assets.core.seek.prompts import (
    SHORT_BELOW,
    Shown,
    conducting,
    findings_text,
    making,
)
from pneuma_assets.core.seek.results import Finding, Made, QueryResult, Relations, Severity
from pneuma_assets.core.seek.retrieve import Document, alias
from pneuma_assets.core.seek.state import State, TargetTable, order_of_tables
from pneuma_assets.core.store.conversations import NewEvent, SavedEvent

_WRITINGS = 3
"""Times that steps of one table are written before it is given up."""
_SHORT_ACTIONS = ("search", "look", "change", "materialize", "run", "message")
_SHAPE, _ERROR, _UNSEEN = "shape", "error", "unseen"
"""Why an action failed."""
_NO_SUCH_VALUE = "literal not found"
"""The rule of the skeptic that a filter names a value that no cell has."""


class Tools(Protocol):
    """What actions do, for one person: every method holds their rights as they are now.

    Any of them raises `PneumaError` in words for the person and the model.
    """

    def shown(self, conversation: Conversation) -> Shown:
        """Return what may be shown of what was found and of the state's sources."""

    def search(self, where: str, query: str, conversation: Conversation) -> Sequence[Document]:
        """Retrieve documents."""

    def look(self, table_id: str) -> Mapping[str, Sequence[str]]:
        """Return some values of each column of a table."""

    @property
    def relations(self) -> Relations:
        """The tables that exist, as far as the person may read them."""

    def check(self, state: State) -> Sequence[Finding]:
        """Return what rules find in a state before anything is made."""

    def make(self, state: State) -> Sequence[Made]:
        """Make the target tables."""

    def run(self, state: State) -> Sequence[QueryResult]:
        """Run the queries over target tables, which are made where they are not there."""

    def joins(self, state: State) -> Sequence[str]:
        """Return by which columns the sources can be joined, a line each."""

    def guarded(self) -> AbstractContextManager[None]:
        """Keep to who may know it why the model fails in a block, which may name its endpoint."""


@dataclass(frozen=True)
class Conductor:
    """Conducts the turns of one conversation.

    Attributes:
        model: Whom it asks.
        config: The section `seek`.
        tools: What actions do.
        load: Returns the conversation as it is now.
        append: Adds events behind the one of a number; raises `ConversationChangedError`.
    """

    model: LanguageModel
    config: SeekConfig
    tools: Tools
    load: Callable[[], Conversation]
    append: Callable[[int, Sequence[NewEvent]], object]

    def turn(self) -> Iterator[SavedEvent]:
        """Go on until the person has an answer; yields each event when it is kept.

        Raises:
            ConversationChangedError: Somebody else did something in the conversation meanwhile;
                what this turn did until then is kept.
        """
        conversation = self.load()
        while conversation.is_open:
            began = conversation.last
            self.append(began, self._next(conversation))
            conversation = self.load()
            yield from (one for one in conversation.events if one.number > began)

    def _next(self, conversation: Conversation) -> list[NewEvent]:
        """Return what happens next: an action with what came of it, or the end of the turn."""
        if over := self.over(conversation.spent):
            return [closing(_summary(conversation, f"{over} is used up; grant another to go on"))]
        with counting() as used:
            step = _Step(self, conversation, used)
            try:
                return step.events()
            except ModelError as error:
                told = f"The model does not answer ({error}). The state is kept"
                return [closing(_summary(conversation, told), spent=asdict(step.spent))]

    def over(self, spent: Spent) -> str:
        """Return which budget is used up; empty where none is."""
        config = self.config
        used = {
            "The budget of requests": spent.requests >= config.requests,
            "The budget of tokens": spent.read + spent.written >= config.tokens,
            "The budget of time": spent.seconds >= config.seconds,
            "The budget of money": config.cost is not None and spent.cost >= config.cost,
        }
        return next((name for name, is_over in used.items() if is_over), "")

    @property
    def name(self) -> str:
        """By whom a state is that the model changed."""
        return f"model {self.model.name}"


class _Step:
    """One action of a turn, and what it costs."""

    def __init__(self, conductor: Conductor, conversation: Conversation, used: Usage) -> None:
        self._by, self._of, self._used = conductor, conversation, used
        self._began = time.monotonic()

    @property
    def spent(self) -> Spent:
        """What this step took so far."""
        used, took = self._used, time.monotonic() - self._began
        return Spent(used.calls, used.read, used.written, took, used.cost)

    def events(self) -> list[NewEvent]:
        """Ask for an action, and return what comes of it; raises `ModelError`."""
        acted = [one for one in self._of.turn if one.kind == Kind.ACTION]
        told = [one for one in acted if one.data.get("failed") == _SHAPE]
        forced = len(acted) - len(told) >= self._by.config.actions
        allowed = ("message",) if forced else self._allowed()
        complaint = outcome_of(acted[-1]) if acted and acted[-1] in told else ""
        shown = self._by.tools.shown(self._of)
        tokens = self._by.config.prompt_tokens
        prompt = conducting(self._of, shown, allowed, tokens, forced=forced, complaint=complaint)
        reply = self._ask(prompt, actions.action_schema(allowed))
        try:
            action = actions.read_action(reply.text, allowed)
        except actions.ShapeError as error:
            if told or forced:
                why = "The model does not answer in the form that it has to"
                return [closing(_summary(self._of, why), spent=asdict(self.spent))]
            return [self._acted({"action": "unreadable"}, str(error), failed=_SHAPE)]
        try:
            return self._done(action)
        except ModelError:
            raise
        except PneumaError as error:
            return [self._acted(action.model_dump(mode="json"), str(error), failed=_ERROR)]

    def _allowed(self) -> tuple[str, ...]:
        """Return the actions that are possible now: what depends on another comes after that."""
        state, config = self._of.state, self._by.config
        possible = {
            "probe": bool(state.sources),
            "look": any(one["kind"] == "table" for one in self._of.found),
            "materialize": bool(state.tables) and (self._of.is_agreed or not config.confirm),
            "run": bool(state.queries) and self._of.shown(Kind.MADE) is not None,
        }
        short = config.prompt_tokens < SHORT_BELOW
        names = _SHORT_ACTIONS if short else actions.NAMES
        return tuple(one for one in names if possible.get(one, True))

    def _ask(self, prompt: Sequence[Message], schema: Mapping[str, Any]) -> Generation:
        """Return what the model says; raises `ModelError` where it says nothing."""
        with self._by.tools.guarded(), turn(self._by.model):
            asked = self._by.model.generate([prompt], self._by.config.reply_tokens, schema)
            (said,) = asked
        if said.problem is not None:
            raise ModelError(said.problem)
        return said

    def _acted(
        self,
        action: Mapping[str, Any],
        outcome: str,
        *,
        failed: str = "",
        found: Sequence[Document] = (),
        cells: Any = None,
    ) -> NewEvent:
        data: dict[str, Any] = {"action": action, "outcome": outcome, "spent": asdict(self.spent)}
        if failed:
            data |= {"failed": failed, "outcome": "it did not do"}
            cells = {**(cells or {}), "why": outcome}
        data |= {"found": [one.to_dict() for one in found]} if found else {}
        return NewEvent(Kind.ACTION, data, cells)

    def _done(self, action: actions.Action) -> list[NewEvent]:
        """Do what the model wants, where it may; raises `PneumaError` where that does not do."""
        given = action.model_dump(mode="json", exclude_defaults=True)
        tools, state = self._by.tools, self._of.state
        match action:
            case actions.Think():
                done = [self._acted(given, "")]
            case actions.Search():
                found = tools.search(action.where, action.query, self._of)
                told = f"{len(found)} found" if found else "nothing found; use other words"
                done = [self._acted(given, told, found=found)]
            case actions.Look():
                (table_id, *_) = self._tables([action.table])[action.table]
                done = [self._acted(given, "shown", cells=dict(tools.look(table_id)))]
            case actions.Probe():
                rows = probe(action.sql, state, tools.relations)
                told = f"{len(rows.rows)} rows{', and more' if rows.more else ''}"
                cells = {**asdict(rows), "rows": fitting(rows.rows)}
                done = [self._acted(given, told, cells=cells)]
            case actions.Change():
                done = self._change(action, given)
            case actions.Materialize():
                done = self._materialize(action, given)
            case actions.Run():
                event = result_event(state, tools.run(state), self._by.name)
                done = [self._acted(given, "run"), event]
            case actions.Say():
                done = [self._said(action)]
        return done

    def _said(self, action: actions.Say) -> NewEvent:
        """Return the message, with the values that filters name and nobody saw."""
        more: dict[str, Any] = {"questions": action.questions, "next_steps": action.next_steps}
        unseen = self._told_unseen()
        cells = {"caveats": unseen} if unseen else None
        spent = asdict(self.spent)
        return closing(action.text, by=self._by.name, cells=cells, spent=spent, **more)

    def _told_unseen(self) -> list[str]:
        """Return what was found of values that filters name and no cell has."""
        shown = [self._of.shown(kind) for kind in (Kind.MADE, Kind.RESULT)]
        if shown[0] is None:
            try:
                return [one.text for one in self._unseen(self._by.tools.check(self._of.state))]
            except PneumaError as error:
                return [str(error)]
        found = [one for event in shown if event for one in (event.cells or {}).get("findings", ())]
        return [str(one["text"]) for one in found if one["rule"] == _NO_SUCH_VALUE]

    def _tables(self, wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the ids that names of tables stand for; only what was found has a name."""
        known = alias(self._of.found)
        by_id = {str(one["id"]): one for one in known.values() if one["kind"] == "table"}
        by_id |= {name: one for name, one in known.items() if one["kind"] == "table"}
        for one in wanted:
            if one not in by_id:
                raise PneumaError(f"unknown table {one[:200]!r}: no search of this talk found it")
        return {one: tuple(by_id[one].get("tables") or [str(by_id[one]["id"])]) for one in wanted}

    def _change(self, action: actions.Change, given: Mapping[str, Any]) -> list[NewEvent]:
        tables_of = self._tables([one for source in action.sources for one in source.of])
        state = actions.changed(self._of.state, action, tables_of)
        if state == self._of.state:
            return [self._acted(given, "nothing is another now")]
        findings = self._by.tools.check(state)
        told = f"changed; {len(findings)} findings" if findings else "changed"
        cells = {"findings": findings_text(findings)} if findings else None
        event = state_event(state, self._by.name, action.reason)
        return [event, self._acted(given, told, cells=cells)]

    def _unseen(self, findings: Sequence[Finding]) -> list[Finding]:
        return [one for one in findings if one.rule == _NO_SUCH_VALUE]

    def _materialize(self, action: actions.Materialize, given: Mapping[str, Any]) -> list[NewEvent]:
        """Write the steps that are missing, and make T; a value that nobody saw is told before."""
        state = self._of.state
        for table in order_of_tables(state):
            if not table.steps:
                state = self._written(state, table, action.note)
        news = [] if state == self._of.state else [state_event(state, self._by.name, "steps")]
        unseen = self._unseen(self._by.tools.check(state))
        before = any(one.data.get("failed") == _UNSEEN for one in self._of.turn)
        if unseen and not before:
            told = "filters name values that no cell has; probe the column, or materialize again"
            cells = {"findings": findings_text(unseen)}
            return [*news, self._acted(given, told, failed=_UNSEEN, cells=cells)]
        made = self._by.tools.make(state)
        return [*news, self._acted(given, "made"), made_event(state, made, self._by.name)]

    def _written(self, state: State, table: TargetTable, note: str) -> State:
        """Return the state with steps for a table, written anew as long as they do not do."""
        complaint = ""
        for _ in range(_WRITINGS):
            if over := self._by.over(self._of.spent + self.spent):
                raise PneumaError(f"{over} is used up")
            shown, tools = self._by.tools.shown(self._of), self._by.tools
            prompt = making(
                table, state, shown, describe(), self._by.config.prompt_tokens,
                note=note, joins=tools.joins(state), complaint=complaint,
            )  # fmt: skip
            reply = self._ask(prompt, actions.written_schema())
            try:
                tried = actions.with_steps(state, table, actions.read_written(reply.text))
                errors = _errors_of(table, tried, tools.check(tried))
                if not errors:
                    tools.make(tried.model_copy(update={"queries": ()}))
                    return tried
                complaint = findings_text(errors)
            except ModelError:
                raise
            except PneumaError as error:
                complaint = str(error)
        raise PneumaError(f"{table.name} cannot be made, after {_WRITINGS} tries: {complaint}")


def _errors_of(table: TargetTable, state: State, findings: Sequence[Finding]) -> list[Finding]:
    """Return the errors that are about how a table is made."""
    made = state.table(table.name)
    names = {table.name, *(step.makes for step in (made.steps if made else ()))}
    return [one for one in findings if one.severity == Severity.ERROR and one.subject in names]


def _summary(conversation: Conversation, why: str) -> str:
    """Return what is told where no model does: what was done, and what stands."""
    turn = [one for one in conversation.turn if one.kind == Kind.ACTION]
    done = [str(one.data["action"].get("action")) for one in turn if not one.data.get("failed")]
    state = conversation.state
    told = [f"{why.rstrip('.')}."]
    told += [f"Done in this turn: {', '.join(done)}."] if done else []
    tables = ", ".join(one.name for one in state.tables)
    told += [f"The state has the tables {tables}."] if tables else ["The state has no table yet."]
    made = conversation.shown(Kind.MADE) is not None
    told += ["They are made as shown."] if tables and made else []
    return " ".join([*told, "Say it again, say more, or edit the state by hand."])
