"""What people said in conversations and let others use."""

import json
from dataclasses import dataclass
from secrets import token_hex

from sqlalchemy import delete, func, select

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import StorePart
from pneuma_assets.core.store.schema import knowledge, upsert

MOST = 5_000
"""Statements that are kept: each search compares with all of them."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody said, and when last, of the tables of these ids."""

    knowledge_id: str
    text: str
    tables: tuple[str, ...]
    author: str
    said_at: float
    conversation_id: str

    @property
    def resolved(self) -> bool:
        """Whether the tables are known that it speaks of."""
        return bool(self.tables)


class KnowledgeStore(StorePart):
    """The part of the store that keeps it."""

    def all(self) -> list[Statement]:
        """Return all that is known, the newest first."""
        c = knowledge.c
        rows = self._db.read(select(knowledge).order_by(c.said_at.desc(), c.knowledge_id))
        return [
            Statement(**{**row._mapping, "tables": tuple(json.loads(row.tables))}) for row in rows
        ]

    def find(self, knowledge_id: str) -> Statement | None:
        """Return one statement; None where there is none of this id."""
        return next((one for one in self.all() if one.knowledge_id == knowledge_id), None)

    def say(
        self,
        text: str,
        tables: tuple[str, ...],
        author: str,
        conversation_id: str,
        knowledge_id: str | None = None,
    ) -> str:
        """Keep a statement, in the place of that of an id; returns its id; raises `StateError`."""
        with self._db.write() as connection:
            count = connection.execute(select(func.count()).select_from(knowledge)).scalar() or 0
            if knowledge_id is None and count >= MOST:
                raise StateError(f"{MOST:,} statements are kept, the most there may be.")
            row = {
                "knowledge_id": knowledge_id or token_hex(8),
                "text": text,
                "tables": json.dumps(sorted(set(tables))),
                "author": author,
                "said_at": self._db.now(),
                "conversation_id": conversation_id,
            }
            upsert(connection, knowledge, [row])
        self._db.checkpoint()
        return str(row["knowledge_id"])

    def forget(self, knowledge_id: str) -> bool:
        """Forget one, here and in the backup; tells whether it was there."""
        with self._db.write() as connection:
            mine = delete(knowledge).where(knowledge.c.knowledge_id == knowledge_id)
            forgotten = connection.execute(mine).rowcount > 0
        if forgotten:
            self._db.drop_backup()
            self._db.checkpoint()
        return forgotten
