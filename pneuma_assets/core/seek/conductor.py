"""Conducts a turn: asks a model for a few actions at a time, and decides what comes of each.

What a model may not do is held here, by code: nothing is made before the person agrees, no query
is run before its tables are made, no filter names a value that nobody saw without that being told,
nothing is used that was not found, no result is reported that was not shown, and after a few
replies it has to write (section 3.2). Every action is kept with what came of it before the next is
done, so whoever goes on with a turn whose process died asks for what is missing.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any, Protocol

from pneuma_assets.core.answers.guard import names_read
from pneuma_assets.core.config.seek import SeekConfig
from pneuma_assets.core.errors import ModelError, PneumaError, QueryError
from pneuma_assets.core.models.base import Generation, LanguageModel, Message
from pneuma_assets.core.models.language.forms import answer_tokens, room, turn
from pneuma_assets.core.models.usage import CHARACTERS_PER_TOKEN, counting
from pneuma_assets.core.seek import actions
from pneuma_assets.core.seek.conversation import (
    Conversation,
    Kind,
    Spent,
    closing,
    fitting,
    is_agreement,
    made_event,
    outcome_of,
    proposal,
    result_event,
    state_event,
)
from pneuma_assets.core.seek.materialize import probe
from pneuma_assets.core.seek.operators.registry import describe
from pneuma_assets.core.seek.origins import with_origins
from pneuma_assets.core.seek.prompts import (
    SHORT_BELOW,
    Shown,
    conducting,
    findings_text,
    making,
)
from pneuma_assets.core.seek.results import Finding, Made, QueryResult, Relations, Severity
from pneuma_assets.core.seek.retrieve import Document, alias
from pneuma_assets.core.seek.state import Source, State, TargetTable, order_of_tables
from pneuma_assets.core.seek.tables import DIALECT
from pneuma_assets.core.sources.base import StatementRows
from pneuma_assets.core.store.conversations import NewEvent, SavedEvent

_WRITINGS, _PROBES = 3, 2
"""Times that steps of one table are written before it is given up, and probes before that."""
_SHORT_ACTIONS = ("search", "look", "change", "materialize", "run", "message")
_GIVING = (actions.Search, actions.Look, actions.Fetch, actions.Probe, actions.Materialize,
           actions.Run)  # fmt: skip
"""Actions that give something to be read before it can be reported."""
_SHAPE, _NOT_NOW, _ERROR, _UNSEEN = "shape", "not now", "error", "unseen"
"""Why an action failed."""
_FIRST_WORDS = 500
"""Characters of what a person opens with that are searched for before a model is asked."""
_NO_SUCH_VALUE = "literal not found"
"""The rule of the skeptic that a filter names a value that no cell has."""


class NotNowError(QueryError):
    """An action may not be done as things stand; the message is ours, and repeats no cell."""


class Tools(Protocol):
    """What actions do, for one person: every method holds their rights as they are now.

    Any of them raises `PneumaError` in words for the person and the model.
    """

    def shown(self, conversation: Conversation) -> Shown:
        """Return what may be shown of what was found and of the state's sources."""

    def search(
        self, where: str, query: str, conversation: Conversation
    ) -> tuple[str, Sequence[Document]]:
        """Retrieve documents; returns what is to be known of how, and them."""

    def look(self, table_id: str) -> Mapping[str, Any]:
        """Return the columns of a table, with more values of each."""

    def fetch(self, page: Mapping[str, Any]) -> Document:
        """Return the text of a page of the web that was found."""

    @property
    def relations(self) -> Relations:
        """The tables that exist, as far as the person may read them."""

    def check(self, state: State) -> Sequence[Finding]:
        """Return what rules find in a state before anything is made."""

    def make(self, state: State) -> Sequence[Made]:
        """Make the target tables."""

    def run(self, state: State) -> Sequence[QueryResult]:
        """Run the queries over target tables, which are made where they are not there."""

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
            for events in self._next(conversation):
                began = conversation.last
                self.append(began, events)
                conversation = self.load()
                yield from (one for one in conversation.events if one.number > began)

    def _next(self, conversation: Conversation) -> Iterator[list[NewEvent]]:
        """Yield what happens next: actions with what came of each, or the end of the turn."""
        if over := self.over(conversation.spent):
            yield [closing(_summary(conversation, f"{over} is used up; grant another to go on"))]
            return
        reply = _Reply(self, conversation)
        try:
            if next(conversation.of(Kind.ACTION), None) is None:
                yield reply.first_search()
                reply = _Reply(self, self.load())
            yield from reply.events()
        except ModelError as error:
            told = f"The model does not answer ({error}). The state is kept"
            yield [closing(_summary(self.load(), told), spent=reply.spent(), failed=True)]

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

    @cached_property
    def tokens(self) -> int:
        """Most of a prompt: what is configured, and fits the model's window beside its answer."""
        most = self.config.prompt_tokens * CHARACTERS_PER_TOKEN
        return room(self.model, self.config.reply_tokens, most) // CHARACTERS_PER_TOKEN

    @property
    def name(self) -> str:
        """By whom a state is that the model changed."""
        return f"model {self.model.name}"


class _Reply:
    """What a model says at once, and what comes of it."""

    def __init__(self, conductor: Conductor, conversation: Conversation) -> None:
        self._by, self._of, self._number = conductor, conversation, 0
        self._before, self._told = Spent(), Spent()
        self._now: Callable[[], Spent] = Spent

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Count what a block takes."""
        began = time.monotonic()
        with counting() as used:
            self._now = lambda: Spent(
                used.calls, used.read, used.written, time.monotonic() - began, used.cost
            )
            try:
                yield
            finally:
                self._before, self._now = self._before + self._now(), Spent

    @property
    def taken(self) -> Spent:
        """What was taken since an event told it last."""
        return self._before + self._now() - self._told

    def spent(self) -> dict[str, Any]:
        """Return that, for the event that tells it now."""
        taken = self.taken
        self._told += taken
        return asdict(taken)

    def first_search(self) -> list[NewEvent]:
        """Search by the person's first words, as every model would ask for at first."""
        query = str(self._of.turn[0].data["text"])[:_FIRST_WORDS]
        return self._tried(actions.Search(action="search", query=query))

    def events(self) -> Iterator[list[NewEvent]]:
        """Ask for actions, and yield what comes of each; raises `ModelError`."""
        acted = [one for one in self._of.turn if one.kind == Kind.ACTION]
        replies = {one.data["reply"] for one in acted} - {0}
        unread = [one for one in acted if one.data.get("failed") == _SHAPE]
        self._number = max(replies, default=0) + 1
        forced = len(replies) - len(unread) >= self._by.config.replies
        allowed = ("message",) if forced else self._allowed()
        prompt = conducting(
            self._of, self._by.tools.shown(self._of), allowed, self._by.tokens,
            agreement=self._agreement(), forced=forced,
            complaint=outcome_of(acted[-1]) if acted and acted[-1] in unread else "",
        )  # fmt: skip
        with self._counting():
            said = self._ask(prompt, actions.action_schema(allowed))
        try:
            wanted = actions.read_actions(said.text, allowed)
        except actions.ShapeError as error:
            if unread or forced:
                why = "The model does not answer in the form that it has to"
                if forced:
                    why = "The model has used its replies of a turn, and did not write at last"
                yield [closing(_summary(self._of, why), spent=self.spent(), failed=True)]
                return
            yield [self._acted({"action": "unreadable"}, str(error), failed=_SHAPE)]
            return
        given = False
        for action in wanted:
            if given and isinstance(action, actions.Say):
                return  # written before it was read
            news = self._tried(action)
            yield news
            self._of = self._by.load()
            if any(one.data.get("failed") for one in news) or not self._of.is_open:
                return
            given = given or isinstance(action, _GIVING)

    def _tried(self, action: actions.Action) -> list[NewEvent]:
        """Return what comes of an action, be it that it fails; raises `ModelError`."""
        with self._counting():
            try:
                return self._done(action)
            except ModelError:
                raise
            except PneumaError as error:
                failed = _NOT_NOW if isinstance(error, NotNowError) else _ERROR
                return [self._acted(action.model_dump(mode="json"), str(error), failed=failed)]

    def _allowed(self) -> tuple[str, ...]:
        """Return the actions that there are; a small model is told those that are possible now."""
        state = self._of.state
        if self._by.tokens >= SHORT_BELOW:
            return actions.NAMES
        possible = {
            "look": any(one["kind"] == "table" for one in self._of.found),
            "materialize": bool(state.tables),
            "run": bool(state.queries) and self._of.shown(Kind.MADE) is not None,
        }
        return tuple(one for one in _SHORT_ACTIONS if possible.get(one, True))

    def _agreement(self) -> str:
        """Return whether T may be made, and is."""
        if not self._by.config.confirm:
            told = "the person need not agree"
        elif self._of.is_agreed:
            told = "the person agreed to it"
        else:
            told = "the person has not agreed to it yet"
        return f"{told}; T is {'made' if self._of.shown(Kind.MADE) else 'not made'}"

    def _ask(self, prompt: Sequence[Message], schema: Mapping[str, Any]) -> Generation:
        """Return what the model says; raises `ModelError` where it says nothing."""
        with self._by.tools.guarded(), turn(self._by.model):
            most = answer_tokens(self._by.model, self._by.config.reply_tokens)
            asked = self._by.model.generate([prompt], most, schema)
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
        agrees: str = "",
    ) -> NewEvent:
        data: dict[str, Any] = {"action": action, "reply": self._number, "outcome": outcome}
        data |= {"spent": self.spent(), **({"agrees": agrees} if agrees else {})}
        if failed:
            data["failed"] = failed
        if failed in (_ERROR, _UNSEEN):  # why may repeat a cell
            data["outcome"] = "it did not do"
            cells = {**(cells or {}), "why": outcome}
        data |= {"found": [one.to_dict() for one in found]} if found else {}
        return NewEvent(Kind.ACTION, data, cells)

    def _done(self, action: actions.Action) -> list[NewEvent]:  # noqa: C901 (a case an action)
        """Do what the model wants, where it may; raises `PneumaError` where that does not do."""
        given = action.model_dump(mode="json", exclude_defaults=True)
        tools, state = self._by.tools, self._of.state
        match action:
            case actions.Think():
                done = [self._acted(given, "")]
            case actions.Search():
                how, found = tools.search(action.where, action.query, self._of)
                told = f"{len(found)} found" if found else "nothing found; use other words"
                passages = {one.id: one.passage for one in found if one.passage}
                cells = {"passages": passages} if passages else None
                done = [self._acted(given, f"{told}{how}", found=found, cells=cells)]
            case actions.Look():
                (table_id, *_) = self._tables([action.table])[action.table]
                done = [self._acted(given, "shown", cells=dict(tools.look(table_id)))]
            case actions.Fetch():
                page = alias(self._of.found).get(action.page, {})
                if page.get("kind") != "web":
                    raise NotNowError(f"{action.page[:80]!r} is no page of the web that was found")
                done = [self._acted(given, "read", found=[tools.fetch(page)])]
            case actions.Probe():
                rows = self._probe(action.sql, state)
                told = f"{len(rows.rows)} rows{', and more' if rows.more else ''}"
                done = [
                    self._acted(given, told, cells={**asdict(rows), "rows": fitting(rows.rows)})
                ]
            case actions.Change():
                done = self._change(action, given)
            case actions.Materialize():
                done = self._materialize(action, given)
            case actions.Run():
                if not state.queries or self._of.shown(Kind.MADE) is None:
                    raise NotNowError("T is not made as it is now, or Q is empty; materialize")
                event = result_event(state, tools.run(state), self._by.name)
                done = [self._acted(given, "run"), event]
            case actions.Say():
                done = [self._said(action)]
        return done

    def _said(self, action: actions.Say) -> NewEvent:
        """Return the message, with the values that filters name and nobody saw."""
        more: dict[str, Any] = action.model_dump(mode="json", exclude={"action", "text"})
        unseen = self._told_unseen()
        cells = {"caveats": unseen} if unseen else None
        spent = self.spent()
        return closing(action.text, by=self._by.name, cells=cells, spent=spent, **more)

    def _probe(self, sql: str, state: State) -> StatementRows:
        """Return rows of a statement over sources, and over tables that were found (t1)."""
        parts: list[Any] = [*state.sources, *state.tables]
        taken = {one.name.casefold() for one in parts}
        known = alias(self._of.found)
        found = [
            Source(name=name, table_ids=self._tables([name])[name])
            for name in sorted(names_read(sql, DIALECT) & known.keys())
            if known[name]["kind"] == "table" and name.casefold() not in taken
        ]
        sources = State(sources=(*state.sources, *found))
        return probe(sql, sources, self._by.tools.relations)

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
                raise NotNowError(f"unknown table {one[:200]!r}: no search of this talk found it")
        return {one: tuple(by_id[one].get("tables") or [str(by_id[one]["id"])]) for one in wanted}

    def _change(self, action: actions.Change, given: Mapping[str, Any]) -> list[NewEvent]:
        tables_of = self._tables([one for source in action.sources for one in source.of])
        state = self._sourced(actions.changed(self._of.state, action, tables_of))
        if state == self._of.state:
            return [self._acted(given, "nothing is another now")]
        findings = self._by.tools.check(state)
        told = f"changed; rules found {len(findings)}" if findings else "changed"
        cells = {"findings": findings_text(findings)} if findings else None
        event = state_event(state, self._by.name, action.reason)
        return [event, self._acted(given, told, cells=cells)]

    def _sourced(self, state: State) -> State:
        """Return a state whose columns say where they come from."""

        @cache
        def columns_of(name: str) -> Sequence[str]:
            source = state.source(name)
            try:
                return [c.name for c in self._by.tools.relations.columns(source)] if source else []
            except PneumaError:  # whoever makes the table is told
                return []

        return with_origins(state, columns_of)

    def _unseen(self, findings: Sequence[Finding]) -> list[Finding]:
        return [one for one in findings if one.rule == _NO_SUCH_VALUE]

    def _materialize(self, action: actions.Materialize, given: Mapping[str, Any]) -> list[NewEvent]:
        """Write the steps that are missing, make T and run Q.

        A value that nobody saw is told before.
        """
        state, agrees = self._of.state, ""
        if not state.tables:
            raise NotNowError("there is no table in T; propose one by change")
        if is_agreement(action.agreed, self._of.turn[0], state):
            agrees = proposal(state)
        elif self._by.config.confirm and not self._of.is_agreed:
            raise NotNowError(
                "the person has not agreed to this proposal; ask by a message, then quote in "
                "agreed the whole clause of their answer that says yes to it as it stands"
            )
        news = list[NewEvent]()
        try:
            for table in order_of_tables(state):
                if not table.steps:
                    state = self._written(state, table, action.note)
                    news = [state_event(state, self._by.name, "steps")]
            unseen = self._unseen(self._by.tools.check(state))
            if unseen and not any(one.data.get("failed") == _UNSEEN for one in self._of.turn):
                told = (
                    "filters name values that no cell has; probe the column, or materialize again"
                )
                cells = {"findings": findings_text(unseen)}
                return [*news, self._acted(given, told, failed=_UNSEEN, cells=cells, agrees=agrees)]
            made = self._by.tools.make(state)
            ran = self._by.tools.run(state) if state.queries else ()
        except ModelError:
            raise
        except PneumaError as error:  # the yes, and the steps written so far, stay
            return [*news, self._acted(given, str(error), failed=_ERROR, agrees=agrees)]
        news += [self._acted(given, "made", agrees=agrees), made_event(state, made, self._by.name)]
        return [*news, *([result_event(state, ran, self._by.name)] if ran else [])]

    def _written(self, state: State, table: TargetTable, note: str) -> State:
        """Return the state with steps for a table, written anew as long as they do not do."""
        tools, complaint, seen = self._by.tools, "", list[Mapping[str, Any]]()
        writings = 0
        for _ in range(_WRITINGS + _PROBES):
            if writings == _WRITINGS:
                break
            if over := self._by.over(self._of.spent + self.taken):
                raise PneumaError(f"{over} is used up")
            prompt = making(
                table, state, tools.shown(self._of), describe(), self._by.tokens,
                note=note, seen=seen, complaint=complaint,
            )  # fmt: skip
            reply = self._ask(prompt, actions.written_schema())
            try:
                written = actions.read_written(reply.text)
                if not written.steps:
                    rows = self._probe(written.probe, state)
                    seen.append({"probe": written.probe, **asdict(rows)})
                    continue
                writings += 1
                tried = self._sourced(actions.with_steps(state, table, written))
                errors = _errors_of(table, tried, tools.check(tried))
                if not errors:
                    tools.make(_ready(tried))
                    return tried
                complaint = findings_text(errors)
            except ModelError:
                raise
            except PneumaError as error:
                writings += isinstance(error, actions.ShapeError)
                complaint = str(error)
        raise PneumaError(f"{table.name} cannot be made, after {_WRITINGS} tries: {complaint}")


def _ready(state: State) -> State:
    """Return a state with the tables alone that can be made now, and without queries."""
    left = {one.name.casefold() for one in state.tables}
    ready = list[TargetTable]()
    for one in order_of_tables(state):
        reads = {name.casefold() for step in one.steps for name in step.reads}
        if one.steps and not reads & left - {one.name.casefold()}:
            left.discard(one.name.casefold())
            ready.append(one)
    return state.model_copy(update={"tables": tuple(ready), "queries": ()})


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
    told += ["They are made."] if tables and made else []
    return " ".join([*told, "Say it again, say more, or edit the state by hand."])
