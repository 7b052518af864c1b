"""What a corrected column is called where names of hidden columns are hidden."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pneuma_assets.core.tables import source_of

if TYPE_CHECKING:
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.core.store.descriptions import Correction

UNNAMED = "hidden"

HidesNames = Callable[[str], bool]
"""Tells of a table's id whether the names of its hidden columns are not shown."""


def names_hidden(deployment: "Deployment") -> HidesNames:
    """Return what tells of which tables the names of hidden columns are not shown."""
    rules = {source.name: source.privacy.hide_names for source in deployment.sources}
    of_others = deployment.privacy.hide_names or any(rules.values())
    return lambda table_id: rules.get(source_of(table_id), of_others)


def name_of_absent(correction: "Correction", hides_names: HidesNames) -> str | None:
    """Return what a corrected column that is not there is called: it may be hidden by now."""
    if correction.column is None:
        return None
    return absent_column(correction.table_id, correction.column, hides_names)


def absent_column(table_id: str, column: str, hides_names: HidesNames) -> str:
    """Return what a column that is not there is called: it may be hidden by now."""
    return UNNAMED if hides_names(table_id) else column
