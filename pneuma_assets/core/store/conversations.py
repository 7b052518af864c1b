"""Conversations as they happened: events that are only ever added, and what goes with them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from secrets import token_hex
from typing import Any

from sqlalchemy import Connection, delete, func, select, update

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.schema import (
    conversation_cells,
    conversation_events,
    conversation_files,
    conversation_tables,
    conversations,
    delete_by,
    insert_new,
    insert_rows,
    upsert,
)

MOST_EVENTS = 5_000
"""Of one conversation."""
EVENTS_WITH_CELLS = 200
"""Of one conversation, the latest: whoever opens it reads all that is kept of it."""
MOST_CONVERSATIONS = 1_000
"""Of one author."""
MOST_FILES = 20
"""Of one conversation."""
MOST_BYTES = 1_000_000
"""Of an event as JSON, and of the rows that it shows."""

_events, _files = conversation_events.c, conversation_files.c


class ConversationChangedError(StateError):
    """Something else happened in a conversation meanwhile; what was to be added is not."""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What is added to a conversation: its kind (`core.seek.conversation.Kind`), data, and rows.

    Rows that it shows (`cells`) may be forgotten while it stays.
    """

    kind: str
    data: Mapping[str, Any]
    cells: Any = None


@dataclass(frozen=True, slots=True)
class SavedEvent:
    """What happened; events of one conversation are numbered from 1."""

    number: int
    at: float
    kind: str
    data: Mapping[str, Any]
    cells: Any = None


@dataclass(frozen=True, slots=True)
class SavedConversation:
    """A conversation in a list; times are in seconds since 1970."""

    conversation_id: str
    title: str
    author: str
    created_at: float
    updated_at: float


class Conversations(StorePart):
    """The part of the store that keeps conversations."""

    def create(self, author: str, title: str) -> str:
        """Begin an empty one; returns its id; raises `StateError` if the author has too many."""
        conversation_id = token_hex(8)
        with self._db.write() as connection:
            mine = select(func.count()).where(conversations.c.author == author)
            if (connection.execute(mine).scalar() or 0) >= MOST_CONVERSATIONS:
                raise StateError(
                    f"{MOST_CONVERSATIONS:,} conversations are kept of one person; delete some."
                )
            now = self._db.now()
            row = SavedConversation(conversation_id, title, author, now, now)
            insert_rows(connection, conversations, [asdict(row)])
        return conversation_id

    def append(self, conversation_id: str, after: int, events: Sequence[NewEvent]) -> int:
        """Add events as one act, behind that of number `after`; returns the last one's number.

        Raises:
            ConversationChangedError: Another event is the last one, or the conversation is gone.
            StateError: An event is too large, or there are too many.
        """
        rows, cells = [], []
        for number, event in enumerate(events, after + 1):
            key = {"conversation_id": conversation_id, "number": number}
            rows.append({**key, "kind": event.kind, "data": _text(event.data)})
            if event.cells is not None:
                cells.append({**key, "data": _text(event.cells)})
        if after + len(rows) > MOST_EVENTS:
            raise StateError(
                f"The conversation has {MOST_EVENTS:,} events, the most there may be; export it, "
                "and start another."
            )
        with self._db.write() as connection:
            self._check_last(connection, conversation_id, after)
            now = self._db.now()
            insert_rows(connection, conversation_events, [{**row, "at": now} for row in rows])
            insert_rows(connection, conversation_cells, cells)
            tables = {table_id for event in events for table_id in _tables_of(event)}
            named = [{"conversation_id": conversation_id, "table_id": one} for one in tables]
            insert_new(connection, conversation_tables, named)
            c = conversation_cells.c
            old = c.number <= after + len(rows) - EVENTS_WITH_CELLS
            mine = c.conversation_id == conversation_id
            connection.execute(delete(conversation_cells).where(mine & old))
            self._update(connection, conversation_id, updated_at=now)
        return after + len(rows)

    def _check_last(self, connection: Connection, conversation_id: str, after: int) -> None:
        self._check_there(connection, conversation_id)
        last = select(func.max(_events.number)).where(_events.conversation_id == conversation_id)
        if (connection.execute(last).scalar() or 0) != after:
            raise ConversationChangedError(
                "Something else happened in the conversation meanwhile; look at it, and say it "
                "again if it is still meant."
            )

    def _check_there(self, connection: Connection, conversation_id: str) -> None:
        there = select(func.count()).where(conversations.c.conversation_id == conversation_id)
        if not connection.execute(there).scalar():
            raise ConversationChangedError("The conversation was deleted meanwhile.")

    def find(self, conversation_id: str) -> SavedConversation | None:
        """Return one without its events; None where there is none."""
        asked = select(conversations).where(conversations.c.conversation_id == conversation_id)
        return next((SavedConversation(**row._mapping) for row in self._db.read(asked)), None)

    def of_author(self, author: str) -> list[SavedConversation]:
        """Return a person's, that of the latest event first."""
        c = conversations.c
        asked = select(conversations).where(c.author == author)
        order = c.updated_at.desc(), c.conversation_id
        return [SavedConversation(**row._mapping) for row in self._db.read(asked.order_by(*order))]

    def events(self, conversation_id: str, after: int = 0) -> list[SavedEvent]:
        """Return the events of one behind a number, in order."""
        cells = conversation_cells.c
        same = (cells.conversation_id == _events.conversation_id, cells.number == _events.number)
        asked = (
            select(conversation_events, cells.data.label("cells"))
            .outerjoin_from(conversation_events, conversation_cells, same[0] & same[1])
            .where(_events.conversation_id == conversation_id, _events.number > after)
            .order_by(_events.number)
        )
        return [
            SavedEvent(
                row.number, row.at, row.kind, json.loads(row.data),
                None if row.cells is None else json.loads(row.cells),
            )
            for row in self._db.read(asked)
        ]  # fmt: skip

    def rename(self, conversation_id: str, title: str) -> None:
        """Call it otherwise."""
        with self._db.write() as connection:
            self._update(connection, conversation_id, title=title)

    def delete(self, conversation_id: str) -> None:
        """Forget it and all that goes with it, here and in the backup."""
        with self._db.write() as connection:
            for table in (
                *(conversation_cells, conversation_events, conversation_files),
                *(conversation_tables, conversations),
            ):
                connection.execute(delete(table).where(table.c.conversation_id == conversation_id))
        self._db.drop_backup()
        self._db.checkpoint()

    def forget_rows(self, table_ids: Collection[str]) -> None:
        """Forget the rows of all conversations that may show some of one of these tables."""
        c = conversation_tables.c
        about = {
            one[0] for one in self._db.read_by(select(c.conversation_id), c.table_id, table_ids)
        }
        if about:
            with self._db.write() as connection:
                delete_by(connection, conversation_cells.c.conversation_id, about)

    def keep_file(self, conversation_id: str, name: str, data: bytes) -> None:
        """Keep a person's table, as Parquet, in the place of one of its name.

        Raises:
            StateError: There are too many.
            ConversationChangedError: The conversation is gone, and its files have to be, too.
        """
        with self._db.write() as connection:
            self._check_there(connection, conversation_id)
            others = {one for one in self.files(conversation_id) if one != name}
            if len(others) >= MOST_FILES:
                raise StateError(f"A conversation has at most {MOST_FILES} files; remove one.")
            row = {"conversation_id": conversation_id, "name": name, "data": data}
            upsert(connection, conversation_files, [row])

    def files(self, conversation_id: str) -> list[str]:
        """Return the names of the tables that a person brought."""
        asked = select(_files.name).where(_files.conversation_id == conversation_id)
        return [row.name for row in self._db.read(asked.order_by(_files.name))]

    def file(self, conversation_id: str, name: str) -> bytes | None:
        """Return one of them; None where there is none of this name."""
        mine = (_files.conversation_id == conversation_id) & (_files.name == name)
        return next((row.data for row in self._db.read(select(_files.data).where(mine))), None)

    def _update(self, connection: Connection, conversation_id: str, **values: Any) -> None:
        mine = conversations.c.conversation_id == conversation_id
        connection.execute(update(conversations).where(mine).values(**values))


def _tables_of(event: NewEvent) -> set[str]:
    """Return the ids of the tables that an event brings in: of its state, or found."""
    sources = event.data.get("state", {}).get("sources", ())
    found = [one for one in event.data.get("found", ()) if one["kind"] == "table"]
    ids = (one.get("table_ids", ()) for one in sources)
    return {i for some in ids for i in some} | {
        i for one in found for i in (one["id"], *one.get("tables", ()))
    }


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > MOST_BYTES:
        raise StateError(f"What happened takes more than {MOST_BYTES:,} bytes; ask for less.")
    return text
