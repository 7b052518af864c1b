"""What people know of a table: adding it, taking it back, listing it."""

from typing import TYPE_CHECKING

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.suggest import check_known, check_text, nearest

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.documents import UserContext


def add_context(store: "Store", table_id: str, name: str, text: str) -> None:
    """Add a text about a table; searchable after the next run, and replaced by one of its name.

    Raises:
        ConfigError: There is no such table, or name or text is no text.
        StateError: Name or text is empty, or the text too long.
    """
    check_text("the name", name, ConfigError)
    check_text("the text", text, ConfigError)
    check_table(store, table_id)
    store.add_context(table_id, name, text)


def remove_context(store: "Store", table_id: str, name: str) -> None:
    """Take back a text that was added to a table.

    Raises:
        ConfigError: There is no such table, or it has no text of that name.
    """
    check_text("the table's id", table_id, ConfigError)
    check_text("the name", name, ConfigError)
    if store.remove_context(table_id, name):
        return
    names = [context.name for context in contexts_of(store, table_id)]
    near = f"; it has: {', '.join(nearest(name, names) or names[:5])}" if names else ""
    raise ConfigError(f"{table_id} has no added text '{name}'{near}")


def contexts_of(store: "Store", table_id: str) -> "list[UserContext]":
    """Return what was added to a table, ordered by name; also of a table that is gone.

    Raises:
        ConfigError: Nothing was added, and there is no such table.
    """
    check_text("the table's id", table_id, ConfigError)
    found = store.documents.user_contexts(table_id)
    if not found:
        check_table(store, table_id)
    return found


def check_table(store: "Store", table_id: str) -> None:
    """Raise `ConfigError`, with the nearest ids, where there is no such table."""
    check_text("the table's id", table_id, ConfigError)
    check_known("table", [table_id], store.tables.listed(), ConfigError)
