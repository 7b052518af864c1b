"""API keys by which programs and people ask over HTTP; of their secrets only hashes are kept."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Row, or_, select, update

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store.database import Database, StorePart
from pneuma_assets.core.store.schema import access_keys, insert_rows

MADE = "keys.made"
"""A file beside the state file, which says that there are keys, or were. It outlives both the state
and what people said, so that without a key in them nobody takes these for a deployment without."""
_COLUMNS = [column.name for column in access_keys.c]


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A key, and what it lets its holder do; times are in seconds since 1970, None: never.

    Attributes:
        key_id: Names it in public; the first part of the key.
        digest: SHA-256 of its secret, which has 256 random bits.
        name: Who holds it; the author of what they say.
        readers: The names under which tables let them in.
        may_edit: Whether they may correct, confirm and add documents.
        is_operator: Whether they see all tables, and what operators see.
        used_at: To about a minute.
    """

    key_id: str
    digest: str = field(repr=False)
    name: str
    readers: tuple[str, ...]
    may_edit: bool
    is_operator: bool
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    used_at: float | None = None

    def is_valid(self, now: float) -> bool:
        """Tell whether it was neither revoked nor has run out."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class AccessKeys(StorePart):
    """The part of the store that keeps API keys.

    Args:
        database: Where.
        mark: The file `MADE`; None: the state is on a server, which has backups of its own.
    """

    def __init__(self, database: Database, mark: Path | None = None) -> None:
        super().__init__(database)
        self._mark = mark

    def add(self, key: AccessKey) -> None:
        """Keep a new key."""
        self.mark_made()  # before there is one
        row = {one: getattr(key, one) for one in _COLUMNS} | {
            "readers": json.dumps(key.readers),
            "may_edit": int(key.may_edit),
            "is_operator": int(key.is_operator),
        }
        with self._db.write() as connection:
            insert_rows(connection, access_keys, [row])
        self._db.checkpoint()

    def mark_made(self) -> None:
        """Note that there are keys, or may have been; raises `StateError` where it cannot be."""
        if self._mark is None or self._mark.exists():
            return
        try:
            self._mark.touch()
        except OSError as error:
            raise StateError(
                f"That there are keys cannot be kept: let this user write {self._mark} "
                f"and its folder ({error.strerror}), or choose another home by --home"
            ) from error

    def are_unknown(self) -> bool:
        """Tell whether keys were made, or may have been, and there is none: they are lost."""
        return self._mark is not None and self._mark.exists() and not self.all()

    def all(self) -> list[AccessKey]:
        """Return all keys that were ever made, the oldest first."""
        asked = select(access_keys).order_by(access_keys.c.created_at, access_keys.c.key_id)
        return [_of(row) for row in self._db.read(asked)]

    def revoke(self, name_or_id: str) -> list[str]:
        """Revoke the keys of a name, or the one with this id; returns the ids of those revoked."""
        found = access_keys.c
        mine = or_(found.key_id == name_or_id, found.name == name_or_id)
        with self._db.write() as connection:
            asked = select(found.key_id).where(mine, found.revoked_at.is_(None))
            ids = [str(row.key_id) for row in connection.execute(asked)]
            change = update(access_keys).where(found.key_id.in_(ids))
            connection.execute(change.values(revoked_at=self._db.now()))
        self._db.checkpoint()
        return ids

    def note_used(self, key_ids: Iterable[str]) -> None:
        """Note that these were used now."""
        with self._db.write() as connection:
            change = update(access_keys).where(access_keys.c.key_id.in_(list(key_ids)))
            connection.execute(change.values(used_at=self._db.now()))


def _of(row: Row[Any]) -> AccessKey:
    given = dict(row._mapping) | {"readers": tuple(json.loads(row.readers))}
    given |= {one: bool(given[one]) for one in ("may_edit", "is_operator")}
    return AccessKey(**given)
