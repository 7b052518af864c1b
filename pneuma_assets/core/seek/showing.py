"""What a model sees of a table: what it is about, its columns with values, and some rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pneuma_assets.core.answers.prompts import without_values
from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.seek.untrusted import outside
from pneuma_assets.core.tables import ColumnProfile

ROWS = 3
_COLUMNS, _NAME, _SAID, _CELL = 200, 200, 120, 40
_FEWER, _SHORT = 60, 60
"""Columns, and characters of each, where there is little room."""


def shown_table(
    columns: Sequence[AnswerColumn],
    *,
    values: bool,
    examples: int = 0,
    frequent: Callable[[str], Sequence[str]] = lambda _: (),
    profiles: Mapping[str, ColumnProfile] | None = None,
    rows: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return a table's columns and rows as JSON, every text in it as one from outside.

    Args:
        columns: Those that may be read.
        values: Whether cells may be shown, and descriptions and types, which may quote some.
        examples: Values of each column.
        frequent: Returns a column's values, the most frequent first.
        profiles: Of columns, for how many different values they have.
        rows: Some, by the columns' names.
    """
    told = []
    for one in columns[:_COLUMNS] if values else map(without_values, columns[:_COLUMNS]):
        parts = [outside(one.said, _SAID)] if one.said else []
        if values and (profile := (profiles or {}).get(one.name)) is not None:
            parts.append(f"{profile.distinct:,} different")
        if values and (some := list(frequent(one.name))[:examples]):
            parts.append(f"e.g. {', '.join(repr(outside(cell, _CELL)) for cell in some)}")
        line = f"{outside(one.name, _NAME)} {outside(one.type, 30)}"
        told.append(f"{line}: {'; '.join(parts)}" if parts else line)
    found: dict[str, Any] = {"columns": told}
    if (left := len(columns) - _COLUMNS) > 0:
        found["more columns"] = left
    cells = [[_cell(row.get(one.name)) for one in columns[:_COLUMNS]] for row in rows]
    return found | ({"first rows": cells} if values and cells else {})


def _cell(value: Any) -> str | None:
    return None if value is None else outside(value, _CELL)


def shortened(told: Mapping[str, Any], *, only_named: bool = False) -> dict[str, Any]:
    """Return what is shown of a document where there is little room: names of columns, no rows.

    Or nothing but that it is there.
    """
    left = ("first rows", "passage", *(("columns", "about") if only_named else ()))
    kept = {name: some for name, some in told.items() if name not in left}
    if "columns" in kept:
        columns = kept["columns"]
        kept["columns"] = [one.partition(": ")[0][:_SHORT] for one in columns[:_FEWER]]
        if (more := len(columns) - _FEWER) > 0:
            kept["more columns"] = kept.get("more columns", 0) + more
    return {name: some[:200] if isinstance(some, str) else some for name, some in kept.items()}
