"""Which tables an asker may see, as the state knows it; all others do not exist for them."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from pneuma_assets.core.access_names import names_of_asker
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.suggest import check_known, check_text

if TYPE_CHECKING:
    from pneuma_assets.core.answer_feedback import SavedAnswer
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.knowledge import Statement


W = TypeVar("W", "SavedAnswer", "Statement")


def readable(
    store: "Store", written: Iterable[W], readers: Sequence[str] | None, name: str | None = None
) -> list[W]:
    """Return what somebody, called `name`, may read of what people wrote.

    Its tables must be among those that they may see; one that has left is not, but for who may see
    all. What is not `resolved` may speak of others, too: it is for its author and who may see all.
    """
    found = list(written)
    if readers is None:
        return found
    seen = seen_among(store, {table for one in found for table in one.tables}, readers)
    mine = (one for one in found if one.resolved or one.author == name)
    return [one for one in mine if seen.issuperset(one.tables)]


def seen_tables(store: "Store", readers: Sequence[str] | None) -> set[str]:
    """Return the listed tables that somebody may see; None: who may see all."""
    return set(store.tables.listed()) if readers is None else seen_among(store, None, readers)


def seen_among(
    store: "Store", table_ids: Iterable[str] | None, readers: Sequence[str] | None
) -> set[str]:
    """Return those of some tables (None: of all) that are listed and that somebody may see."""
    names = None if readers is None else set(names_of_asker(readers))
    whose = store.tables.readers(table_ids)
    return {i for i, may in whose.items() if names is None or may is None or may & names}


def check_table(store: "Store", table_id: str, readers: Sequence[str] | None = None) -> None:
    """Raise `ConfigError`, with the nearest ids that `readers` may see, where there is no table.

    One that they may not see is refused in the words for one that there is not.
    """
    check_text("the table's id", table_id, ConfigError)
    if table_id not in seen_among(store, [table_id], readers):
        check_among(table_id, seen_tables(store, readers))


def check_among(table_id: str, known: Collection[str]) -> None:
    """Raise `ConfigError`, with the nearest ids, unless a table is one of these."""
    check_text("the table's id", table_id, ConfigError)
    check_known("table", [table_id], known, ConfigError)
