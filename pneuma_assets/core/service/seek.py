"""Conversations that end in the table somebody needed (Pneuma-Seeker), for every door.

A conversation belongs to its author, and to nobody else it is there. Which tables they may see is
asked at each call, and never kept as a right.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError, QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.pipeline.lineage_texts import may_name
from pneuma_assets.core.seek.changes import put_in, without
from pneuma_assets.core.seek.conductor import Conductor
from pneuma_assets.core.seek.conversation import (
    Conversation,
    Kind,
    UnknownConversationError,
    closing,
    made_event,
    proposal,
    result_event,
    state_event,
    undo_event,
)
from pneuma_assets.core.seek.results import Finding, unread_findings
from pneuma_assets.core.seek.state import Source, State, read_parts, read_state
from pneuma_assets.core.service.describe import add_context
from pneuma_assets.core.service.seek_files import read_file
from pneuma_assets.core.service.seek_tools import MadeTables, PersonsTables, SeekTools, revoked
from pneuma_assets.core.service.visible_tables import check_table, readable, seen_tables
from pneuma_assets.core.store.conversations import NewEvent, SavedConversation, SavedEvent
from pneuma_assets.core.store.knowledge import Statement
from pneuma_assets.core.text.safe import one_line
from pneuma_assets.core.text.suggest import check_text

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from pneuma_assets.core.seek.saved import SavedTables
    from pneuma_assets.core.service.saved_tables import SavedRun
    from pneuma_assets.core.service.session import QuerySession
    from pneuma_assets.core.store import Store

MOST_CHARACTERS = 10_000
"""Of what a person says at once."""
_TITLE = 120
_SUGGESTED = 5
_STATIC, _AGENT = "static pipeline", "agent of {}"
_MAY_NOT_ADD = "You may not add what others find; ask who keeps this catalog."


def check_message(text: str) -> None:
    """Raise `QueryError` unless a message has words, and not too many characters."""
    check_text("the message", text, QueryError)
    if not text.strip():
        raise QueryError("The message is empty; say what you need, such as 'sales by region'.")
    if len(text) > MOST_CHARACTERS:
        told = f"The message has {len(text):,} characters; say it in at most {MOST_CHARACTERS:,}."
        raise QueryError(told)


class Seeker:
    """The conversations of a deployment; `Workspace.seek`.

    Methods that take an `asker` know that person's conversations alone, and raise
    `UnknownConversationError` where there is no such one; those that change one raise
    `ConversationChangedError` where something else happened in it meanwhile.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        store: Keeps the state open within a block.
        asking: Keeps what questions need open within a block.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        store: "Callable[[], AbstractContextManager[Store]]",
        asking: "Callable[[], AbstractContextManager[QuerySession]]",
    ) -> None:
        self._loaded, self._environ = loaded, environ
        self._store, self._asking = store, asking
        self._made = MadeTables()

    @property
    def has_model(self) -> bool:
        """Whether a language model conducts; else people edit what the static pipeline proposes."""
        return self._loaded.deployment.seek.model is not None

    def list(self, asker: Asker) -> Sequence[SavedConversation]:
        """Return a person's conversations, that of the latest event first."""
        with self._store() as store:
            return store.conversations.of_author(asker.name)

    def first_questions(self, asker: Asker) -> Sequence[str]:
        """Return questions to begin with: those last confirmed of tables that they may see."""
        with self._store() as store:
            said = readable(store, store.usage.answers(), asker.readers, asker.name)
            asked = [one.question for one in said if one.confirmed]
            return [*dict.fromkeys(asked)][:_SUGGESTED]

    def start(self, asker: Asker, title: str = "") -> Conversation:
        """Begin a conversation."""
        check_text("the title", title, QueryError)
        with self._store() as store:
            begun = store.conversations.create(asker.name, one_line(title, _TITLE) or "New")
            return _loaded_of(store, begun, asker)

    def get(self, conversation_id: str, asker: Asker) -> Conversation:
        """Return a conversation.

        Where it speaks of tables that its author may not see any more, nothing of their rows is
        there, nor of what was said when something failed.
        """
        with self._store() as store:
            return _loaded_of(store, conversation_id, asker)

    def say(
        self,
        conversation_id: str,
        text: str,
        asker: Asker,
        *,
        key: str | None = None,
        agreed: bool | None = None,
    ) -> Iterator[SavedEvent]:
        """Say something, and yield each event of the answer when it is kept.

        The words are kept before the first is yielded. Without a model the static pipeline
        proposes a state for the first words, which the person edits.

        Args:
            conversation_id: Where.
            text: In plain language.
            asker: Who.
            key: Names the request: said again with the same key, the turn goes on where it is.
            agreed: Whether they agree to the proposal; None: if the model quotes words by which
                they do (`conversation.is_agreement`).
        """
        check_message(text)
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            if key is None or not now.told(key):
                if agreed:
                    _check_tables(now)
                data: dict[str, Any] = {"text": text, **({"key": key} if key else {})}
                if now.state.tables and agreed is not False:
                    data["agrees" if agreed else "saw"] = proposal(now.state)
                store.conversations.append(conversation_id, now.last, [NewEvent("person", data)])
                if not now.events and now.saved.title == "New":
                    store.conversations.rename(conversation_id, one_line(text, _TITLE))
        return self.resume(conversation_id, asker)

    def resume(self, conversation_id: str, asker: Asker) -> Iterator[SavedEvent]:
        """Go on with a turn that has no answer yet, as after a crash; yields what `say` does."""
        with self._open(conversation_id, asker) as (store, tools, now):
            model = tools.tables.session.model("seek")
            if model is None and now.is_open:
                self._propose(store, tools, now)
            elif model is not None:
                conductor = Conductor(
                    model,
                    self._loaded.deployment.seek,
                    tools,
                    _following(store, now),
                    lambda after, new: store.conversations.append(conversation_id, after, new),
                )
                yield from conductor.turn()
            if model is None:
                later = _loaded_of(store, conversation_id, asker).events
                yield from (one for one in later if one.number > now.last)

    def _propose(self, store: "Store", tools: SeekTools, now: Conversation) -> Conversation:
        """Let the static pipeline answer (section 3.5): it proposes, and the person edits."""
        from pneuma_assets.core.search.confidence import is_unlikely
        from pneuma_assets.core.seek.static_plan import propose

        asker, text = tools.tables.asker, str(now.turn[0].data["text"])
        if now.state.tables and all(one.steps for one in now.state.tables):
            told = "No model is configured (seek.model): edit T and Q by hand, or make them."
            return self._add(store, now, [closing(told)], asker)
        where = IndexFilter(readers=asker.readers)
        try:
            groups = tools.tables.asked(lambda e: e.find_groups(text, k=5, where=where))
            families = tools.tables.families
            tools.tables.know(i for group in groups for i in group.tables)
            found = propose(text, groups, tools.tables, state=now.state, families=families)
            state = read_state(found.to_json())
        except PneumaError as error:
            return self._add(store, now, [closing(f"Nothing is proposed: {error}")], asker)
        names = ", ".join(i for one in state.sources for i in one.table_ids[:1])
        told = f"A first T is proposed from {names}. Edit it, and make it when it is what you need."
        sure = groups[0].answerable if groups and not now.state.tables else None
        told += "" if sure is None else f" A table here has this: {sure:.0%} sure."
        if is_unlikely(sure, self._loaded.deployment.query.min_confidence):
            told = f"Probably no table has this. {told}"
        if not groups:
            told = "No table was found for this; say it in other words."
        news = [state_event(state, _STATIC, "proposed")] if groups else []
        return self._add(store, now, [*news, closing(told)], asker)

    def edit(
        self, conversation_id: str, given: str | Mapping[str, Any], asker: Asker
    ) -> Conversation:
        """Let the state be what a person wrote, with findings where its names stand for nothing.

        Raises:
            StateInvalidError: It cannot be; every finding is a line.
            ConfigError: It names a table that is not there, or that they may not see.
        """
        with self._open(conversation_id, asker) as (store, tools, now):
            return self._edited(store, tools, now, read_state(given))

    def change(
        self, conversation_id: str, parts: Mapping[str, Any], asker: Asker, remove: Sequence[str]
    ) -> Conversation:
        """Let an agent put parts into the state, and leave out what has the names of `remove`.

        What the person confirmed stays so, and nothing else is confirmed. Raises what `edit` does.
        """
        with self._open(conversation_id, asker) as (store, tools, now):
            state = put_in(without(now.state, remove), read_parts(parts))
            return self._edited(store, tools, now, read_state(state.to_json()), by=_AGENT)

    def _edited(
        self,
        store: "Store",
        tools: SeekTools,
        now: Conversation,
        state: State,
        by: str = "{}",
        findings: Sequence[Finding] = (),
    ) -> Conversation:
        """Let a state be in force; a finding keeps nobody from going on with half of one."""
        asker, news = tools.tables.asker, list[NewEvent]()
        if state != now.state:
            for one in sorted(state.table_ids - now.state.table_ids):
                check_table(store, one, asker.readers)
            found = [*findings, *tools.check(state, counts=False)]
            news = [state_event(state, by.format(asker.name), "edited", found), *_interrupting(now)]
        return self._add(store, now, news, asker)

    def undo(self, conversation_id: str, asker: Asker) -> Conversation:
        """Take the version before back; raises `NothingToUndoError` where there is none."""
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            news = [undo_event(now, asker.name), *_interrupting(now)]
            return self._add(store, now, news, asker)

    def cancel(self, conversation_id: str, asker: Asker) -> Conversation:
        """End a turn after the action that it is at; what that does is not kept."""
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            return self._add(store, now, _interrupting(now, "Stopped."), asker)

    def grant(self, conversation_id: str, asker: Asker) -> Conversation:
        """Let the model take as much again as the deployment file grants a conversation."""
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            return self._add(store, now, [NewEvent(Kind.BUDGET, {"by": asker.name})], asker)

    def materialize(self, conversation_id: str, asker: Asker) -> Conversation:
        """Make the tables of T, from what their sources hold now; whoever does so agrees to T."""
        with self._open(conversation_id, asker) as (store, tools, now):
            _check_tables(now)
            made = tools.make(now.state, fresh=True)
            news = [made_event(now.state, made, asker.name, agrees=True)]
            return self._add(store, now, news, asker)

    def run(self, conversation_id: str, asker: Asker, *, by_agent: bool = False) -> Conversation:
        """Run the queries of Q; T is made before where it is not there.

        A person who does so agrees to T; an agent who does it for them agrees to nothing.
        """
        by = (_AGENT if by_agent else "{}").format(asker.name)
        with self._open(conversation_id, asker) as (store, tools, now):
            _check_tables(now)
            news = []
            if now.shown(Kind.MADE) is None or not (by_agent or now.is_agreed):
                made = tools.make(now.state)
                news.append(made_event(now.state, made, by, agrees=not by_agent))
            news.append(result_event(now.state, tools.run(now.state), by))
            return self._add(store, now, news, asker)

    def accept(self, conversation_id: str, asker: Asker) -> Conversation:
        """Say that this state is what was needed; raises `QueryError` before T is made."""
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            _check_tables(now)
            if now.shown(Kind.MADE) is None:
                raise QueryError("T is not made as it is now; make it, look at it, then accept.")
            accepted = NewEvent(Kind.ACCEPTED, {"version": now.version.number, "by": asker.name})
            return self._add(store, now, [accepted], asker)

    def rows(
        self, conversation_id: str, name: str, asker: Asker, what: str | None = None
    ) -> "pa.Table":
        """Return all rows of one of the `tables`, or of the `results` of queries, up to a million.

        T is made before where it is not there. Raises `QueryError` where nothing is called so,
        `StepFailedError` or `SqlFailedError` where it cannot be made.
        """
        with self._open(conversation_id, asker) as (_, tools, now):
            state = now.state
            parts: Mapping[str, Sequence[Any]] = {"tables": state.tables, "results": state.queries}
            there = {kind: [one.name for one in every] for kind, every in parts.items()}
            for kind in [what] if what else there:
                if name in there[kind]:
                    return tools.rows(state, kind, name)
            named = ", ".join(chain.from_iterable(there.values())) or "none yet"
            raise QueryError(f"No table or query is called {name[:80]!r}; there are: {named}.")

    def script(self, conversation_id: str, asker: Asker) -> str:
        """Return one Python script that makes T and Q's results, without a model."""
        from pneuma_assets.core.seek.script import as_script

        with self._open(conversation_id, asker) as (_, tools, now):
            return as_script(now.state, tools.places(now.state))

    def save(
        self,
        conversation_id: str,
        asker: Asker,
        name: str,
        *,
        schedule: str | None = None,
        follow: bool | None = None,
        replace: bool = False,
    ) -> "Path":
        """Save the tables as a file, from which Dagster makes them again; returns where it is.

        Args:
            conversation_id: The conversation.
            asker: Whose it is, and who may see all.
            name: Of the file, and of its assets in Dagster.
            schedule: When they are made anew, as cron has it; empty: never; None: as what is
                replaced has it, else never.
            follow: Whether they are made anew when a table that they are made of has changed;
                None: as what is replaced has it, else not.
            replace: Whether there may be a file of this name.
        """
        from pneuma_assets.core.service.saved_tables import save

        with self._open(conversation_id, asker) as (_, tools, now):
            return save(
                self._loaded, tools, now, name, schedule=schedule, follow=follow, replace=replace
            )

    def make_saved(self, saved: "SavedTables") -> "SavedRun":
        """Make the tables of a saved file again, as who operates the deployment."""
        from pneuma_assets.core.service.saved_tables import make_saved, own_file

        files = partial(own_file, self._loaded, saved)
        with self._store() as store, self._asking() as session:
            tables = PersonsTables(session, store, Asker(saved.author), "", files)
            return make_saved(self._loaded, saved, tables)

    def rename(self, conversation_id: str, title: str, asker: Asker) -> None:
        """Call a conversation otherwise; raises `QueryError` where the title is empty."""
        check_text("the title", title, QueryError)
        with self._store() as store:
            _loaded_of(store, conversation_id, asker)
            if not (line := one_line(title, _TITLE)):
                raise QueryError("The title is empty; say what to call this conversation.")
            store.conversations.rename(conversation_id, line)

    def delete(self, conversation_id: str, asker: Asker) -> None:
        """Forget a conversation, its files and rows; knowledge that was shared from it stays."""
        with self._store() as store:
            _loaded_of(store, conversation_id, asker)
            store.conversations.delete(conversation_id)

    def add_file(self, conversation_id: str, name: str, data: bytes, asker: Asker) -> Conversation:
        """Add a person's own file as a source of the state, called as the file without its ending.

        Raises:
            QueryError: It is no table's file, too large, or cannot be read.
        """
        table = read_file(name, data, self._loaded, self._environ)
        with self._open(conversation_id, asker) as (store, tools, now):
            called = "file_" + re.sub(r"[^A-Za-z0-9]", "_", name.rpartition(".")[0])[:55]
            others = {one.name for one in now.state.sources if one.file != name}
            while called in others:
                called += "_"
            sources = [one for one in now.state.sources if one.name != called]
            given = now.state.model_copy(
                update={"sources": (*sources, Source(name=called, file=name))}
            )
            state = read_state(given.to_json())
            store.conversations.keep_file(conversation_id, name, table.packed())
            found = unread_findings(called, table.unread(name))
            return self._edited(store, tools, now, state, findings=found)

    def share(self, conversation_id: str, text: str, asker: Asker) -> str:
        """Let who may see all tables that the state ever had use a statement; returns its id.

        Without such tables only its author does, and who may see all tables.
        """
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            if not asker.may_edit:
                raise QueryError(_MAY_NOT_ADD)
            ids = tuple(sorted(now.used))
            return store.knowledge.say(_statement(text), ids, asker.name, conversation_id)

    def knowledge(self, asker: Asker) -> Sequence[Statement]:
        """Return what people shared, as far as who asks may see the tables that it speaks of."""
        with self._store() as store:
            return readable(store, store.knowledge.all(), asker.readers, asker.name)

    def correct_knowledge(self, knowledge_id: str, text: str, asker: Asker) -> None:
        """Let a statement say something else; its author or an operator may."""
        with self._store() as store:
            one = self._own_statement(store, knowledge_id, asker, adds=True)
            told = one.tables, one.author, one.conversation_id
            store.knowledge.say(_statement(text), *told, knowledge_id=knowledge_id)

    def forget_knowledge(self, knowledge_id: str, asker: Asker) -> None:
        """Forget a statement; its author or an operator may."""
        with self._store() as store:
            self._own_statement(store, knowledge_id, asker)
            store.knowledge.forget(knowledge_id)

    def document_knowledge(self, knowledge_id: str, asker: Asker) -> None:
        """Let a statement be a document of its tables whose readers may see all of them.

        Raises `QueryError` where there is none: some reader of each may not see another.
        """
        with self._store() as store:
            one = self._own_statement(store, knowledge_id, asker, adds=True)
            told, readers = one.tables, store.tables.readers(one.tables)
            ids = [i for i in told if all(may_name(readers, i, other) for other in told)]
            if not ids:
                raise QueryError("None of its tables is seen only by those who may see all of it.")
            for table_id in ids:
                add_context(store, table_id, f"said by {one.author} ({knowledge_id})", one.text)

    def _own_statement(
        self, store: "Store", knowledge_id: str, asker: Asker, *, adds: bool = False
    ) -> Statement:
        """Return one's own statement; who `adds` to what others find may do so of its tables."""
        if adds and not asker.may_edit:
            raise QueryError(_MAY_NOT_ADD)
        one = store.knowledge.find(knowledge_id)
        if one is None or not (asker.is_operator or one.author == asker.name):
            raise QueryError(f"There is no statement {knowledge_id[:40]!r} of yours.")
        if adds and not seen_tables(store, asker.readers).issuperset(one.tables):
            raise QueryError("It speaks of a table that is unknown now; forget it.")
        return one

    @contextmanager
    def _open(
        self, conversation_id: str, asker: Asker
    ) -> "Iterator[tuple[Store, SeekTools, Conversation]]":
        """Open what a conversation may read and do, for the length of a block."""
        with self._store() as store:
            now = _loaded_of(store, conversation_id, asker)
            files = partial(store.conversations.file, conversation_id)
            with self._asking() as session:
                tables = PersonsTables(session, store, asker, conversation_id, files)
                yield store, SeekTools(self._loaded, self._environ, tables, self._made), now

    def _add(
        self, store: "Store", now: Conversation, events: Sequence[NewEvent], asker: Asker
    ) -> Conversation:
        if events:
            store.conversations.append(now.conversation_id, now.last, events)
        return _loaded_of(store, now.conversation_id, asker)


def _loaded_of(store: "Store", conversation_id: str, asker: Asker) -> Conversation:
    """Return a conversation as its author may see it now."""
    check_text("the conversation", conversation_id, QueryError)
    saved = store.conversations.find(conversation_id)
    if saved is None or saved.author != asker.name:
        told = f"There is no conversation {conversation_id[:40]!r} of yours."
        raise UnknownConversationError(told)
    found = Conversation(saved, tuple(store.conversations.events(conversation_id)))
    if asker.readers is None or not revoked(found, seen_tables(store, asker.readers)):
        return found
    return Conversation(saved, tuple(replace(one, cells=None) for one in found.events))


def _check_tables(now: Conversation) -> None:
    if not now.state.tables:
        raise QueryError("There is no table in T yet; edit the state, or say what you need.")


def _following(store: "Store", now: Conversation) -> Callable[[], Conversation]:
    """Return what tells how a conversation has gone on; it reads what is new alone."""

    def load() -> Conversation:
        nonlocal now
        news = store.conversations.events(now.conversation_id, after=now.last)
        now = Conversation(now.saved, (*now.events, *news)) if news else now
        return now

    return load


def _interrupting(now: Conversation, told: str = "Stopped, since you changed the state.") -> Any:
    """Return what ends a turn that somebody else may be conducting."""
    return [closing(told)] if now.is_open else []


def _statement(text: str) -> str:
    check_text("the statement", text, QueryError)
    flat = " ".join(text.split())
    if not 1 <= len(flat) <= 1_000:
        raise QueryError("A statement has 1 to 1,000 characters.")
    return flat


def wall_clock(at: float) -> str:
    """Return a time as people write it, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))
