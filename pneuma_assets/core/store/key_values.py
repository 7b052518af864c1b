"""Single values of the state, each under a key of its own: a text, or plain values as JSON."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import delete_by, meta, upsert


def get(database: Database, key: str) -> str | None:
    """Return the text under a key; None: there is none. A transaction sees its own."""
    found = database.read(select(meta.c.value).where(meta.c.key == key))
    return str(found[0].value) if found else None


def put(database: Database, key: str, text: str) -> None:
    """Save a text in the place of the one before."""
    with database.write() as connection:
        upsert(connection, meta, [{"key": key, "value": text}])


def get_json(database: Database, key: str) -> Any:
    """Return the plain values under a key; None: there are none."""
    text = get(database, key)
    return None if text is None else json.loads(text)


def put_json(database: Database, key: str, values: Any) -> None:
    """Save plain values, which JSON can spell, in the place of those before."""
    put(database, key, json.dumps(values))


def get_all(database: Database, prefix: str) -> dict[str, str]:
    """Return the texts under all keys that begin so, by the rest of the key."""
    found = database.read(select(meta).where(meta.c.key.startswith(prefix, autoescape=True)))
    return {row.key.removeprefix(prefix): row.value for row in found}


def put_all(
    database: Database, prefix: str, texts: Mapping[str, str], removed: Iterable[str] = ()
) -> None:
    """Save texts under keys that begin so; those that are empty or too long a key are removed."""
    rows = [{"key": prefix + name, "value": text} for name, text in texts.items() if text]
    with database.write() as connection:
        delete_by(connection, meta.c.key, [prefix + name for name in (*texts, *removed)])
        upsert(connection, meta, [row for row in rows if database.fits(row["key"])])
