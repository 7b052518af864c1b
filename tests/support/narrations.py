"""What the store has of a model's answers."""

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.tables import Table


def said_before(store: Store, key: AnswerKey, table: Table) -> dict[int, str]:
    """Return what a model said of a table's columns, by position."""
    found = store.narrations.answers([key], [table])[table.table_id]
    return {position: answer.text for position, answer in found.items()}
