"""The SQL of like tables under each other."""

from collections.abc import Mapping
from typing import Any

from pneuma_assets.core.seek.operators.sql_text import (
    Ask,
    Columns,
    common_type,
    literal,
    of,
    quoted,
)


def member_of(columns: Columns) -> str:
    """Return what the column is called that tells tables apart, where nobody says so."""
    taken = {name.lower() for some in columns.values() for name, _ in some}
    free = "member"
    while free in taken:
        free = f"table_{free}"
    return free


def names_of(
    columns: Columns, renamed: Mapping[str, Mapping[str, str]] | None = None
) -> dict[str, str]:
    """Return the columns of like tables, each spelled as in the first that has it."""
    found: dict[str, str] = {}
    for table, some in columns.items():
        for own, _ in some:
            name = ((renamed or {}).get(table) or {}).get(own, own)
            found.setdefault(name.lower(), name)
    return found


def union(options: Mapping[str, Any], columns: Columns, _ask: Ask | None = None) -> str:
    """Return the query of like tables under each other, and a column that tells them apart.

    Columns are the same whose names are, once renamed, whatever their capitals; one that a table
    lacks is NULL there.
    """
    renamed = options.get("rename") or {}
    labels = options.get("labels") or {}
    shapes = {
        table: {renamed.get(table, {}).get(name, name).lower(): (name, kind) for name, kind in some}
        for table, some in columns.items()
    }
    names = names_of(columns, renamed)
    queries = []
    for table in options.get("only") or shapes:
        shape = shapes[table]
        cells = [
            f"{_cell(key, table, shape, shapes)} AS {quoted(name)}" for key, name in names.items()
        ]
        label = f"{literal(labels.get(table, table))} AS {quoted(options['member'])}"
        queries.append(f"SELECT {', '.join([*cells, label])} FROM {quoted(table)}")
    return " UNION ALL ".join(queries)


def _cell(
    name: str,
    table: str,
    shape: Mapping[str, tuple[str, str]],
    shapes: Mapping[str, Mapping[str, tuple[str, str]]],
) -> str:
    kinds = [one[name][1] for one in shapes.values() if name in one]
    kind = common_type(kinds)
    if name not in shape:
        return f"CAST(NULL AS {kind or kinds[0]})"
    cell = of(table, shape[name][0])
    return f"CAST({cell} AS {kind})" if kind else cell
