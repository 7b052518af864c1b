"""Single values that the store keeps, each by a key of its own: a text, or plain values as JSON."""

import json
from typing import Any

from sqlalchemy import Connection, select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import meta
from pneuma_assets.core.store.statements import upsert


def noted(database: Database, key: str) -> str | None:
    """Return the text that was noted last; None: none was. A transaction sees its own."""
    found = database.read(select(meta.c.value).where(meta.c.key == key))
    return str(found[0].value) if found else None


def note(connection: Connection, key: str, text: str) -> None:
    """Keep a text in the place of the one before."""
    upsert(connection, meta, [{"key": key, "value": text}])


def noted_values(database: Database, key: str) -> Any:
    """Return the plain values that were noted last, as JSON spells them; None: none were."""
    text = noted(database, key)
    return None if text is None else json.loads(text)


def note_values(connection: Connection, key: str, values: Any) -> None:
    """Keep plain values, which JSON can spell, in the place of those before."""
    note(connection, key, json.dumps(values))
