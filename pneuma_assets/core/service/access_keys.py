"""API keys: made, shown once, found by what a request brings, and revoked."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pneuma_assets.core.access_names import Asker, names_of_asker
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.store.keys import AccessKey
from pneuma_assets.core.text.safe import printable

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

_PREFIX = "pneuma"
_MOST_CHARACTERS = 100
_DAY = 86_400.0


def create_key(
    store: "Store",
    name: str,
    readers: Sequence[str] = (),
    *,
    may_edit: bool = False,
    is_operator: bool = False,
    days: float | None = None,
) -> tuple[AccessKey, str]:
    """Make a key and return it with its text, which nobody can be shown again.

    Args:
        store: The state.
        name: Who holds it.
        readers: The names under which tables let them in; of an operator, who sees all, none.
        may_edit: Whether they may correct, confirm and add documents.
        is_operator: Whether they see all tables, and what operators see.
        days: How long it is valid; None: until it is revoked.

    Raises:
        ConfigError: The name cannot be used, or a valid key has it.
        QueryError: A reader's name is empty or too long.
    """
    if not name.strip() or len(name) > _MOST_CHARACTERS or printable(name) != name:
        raise ConfigError(f"the name of a key must be 1 to {_MOST_CHARACTERS} printable characters")
    names_of_asker(readers)
    now = store.now()
    if any(one.name == name and one.is_valid(now) for one in store.keys.all()):
        raise ConfigError(f"there is a key for {name}; revoke it first, or choose another name")
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    ends = None if days is None else now + days * _DAY
    given = (tuple(readers), may_edit or is_operator, is_operator, now, ends)
    key = AccessKey(key_id, _digest(secret), name, *given)
    store.keys.add(key)
    return key, f"{_PREFIX}_{key_id}_{secret}"


def find_key(keys: Iterable[AccessKey], text: str, now: float) -> AccessKey | None:
    """Return the valid key of this text, in a time that tells nothing of its secret."""
    prefix, key_id, secret = (*text.split("_", 2), "", "")[:3]
    mine = next((one for one in keys if one.key_id == key_id), None)
    is_right = hmac.compare_digest(_digest(secret), "" if mine is None else mine.digest)
    return mine if mine and is_right and prefix == _PREFIX and mine.is_valid(now) else None


def asker_of(key: AccessKey) -> Asker:
    """Return who holds a key."""
    readers = None if key.is_operator else key.readers
    return Asker(key.name, readers, key.may_edit, key.is_operator)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
