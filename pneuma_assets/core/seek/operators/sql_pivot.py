"""The SQL that makes columns of rows, and rows of columns."""

from collections.abc import Mapping
from typing import Any

from pneuma_assets.core.seek.operators.sql_text import (
    Ask,
    Columns,
    common_type,
    literal,
    of,
    quoted,
    type_of,
)

MOST_PIVOTED = 150


def pivot(options: Mapping[str, Any], columns: Columns, ask: Ask) -> str:
    """Return the query that makes a column of each value of one column."""
    base = next(iter(columns))
    name = f"CAST({of(base, options['column'])} AS VARCHAR)"
    values = options["values"] or pivoted(name, base, ask)
    how = {"only": "max"}.get(options["aggregate"], options["aggregate"])
    value = of(base, options["value"])
    cells = [f"{of(base, row)} AS {quoted(row)}" for row in options["rows"]]
    cells += [
        f"{how}(CASE WHEN {name} = {literal(one)} THEN {value} END) AS {quoted(one)}"
        for one in values
    ]
    grouped = ", ".join(of(base, row) for row in options["rows"])
    return f"SELECT {', '.join(cells)} FROM {quoted(base)} GROUP BY {grouped}"


def pivoted(name: str, base: str, ask: Ask) -> list[str]:
    """Return the different values that become columns."""
    sql = f"SELECT DISTINCT {name} AS v FROM {quoted(base)} WHERE {name} <> '' ORDER BY v"
    found = [str(row[0]) for row in ask(f"{sql} LIMIT {MOST_PIVOTED + 1}")]
    if len(found) > MOST_PIVOTED:
        raise ValueError(f"more than {MOST_PIVOTED} columns would come of it; name them in values")
    return found


def unpivot(options: Mapping[str, Any], columns: Columns, _ask: Ask | None = None) -> str:
    """Return the query that makes a row of each of some columns; without a value there is none."""
    base = next(iter(columns))
    kept = options["keep"]
    others = [name for name, _ in columns[base] if name not in kept]
    names = options["columns"] or others
    kind = common_type([type_of(columns[base], name) for name in names])
    cases = " ".join(
        f"WHEN {literal(name)} THEN {f'CAST({cell} AS {kind})' if kind else cell}"
        for name in names
        for cell in [of(base, name)]
    )
    values = ", ".join(f"({literal(name)})" for name in names)
    cells = [f"{of(base, name)} AS {quoted(name)}" for name in kept]
    cells.append(f'"of_columns"."name" AS {quoted(options["name"])}')
    cells.append(f'CASE "of_columns"."name" {cases} END AS {quoted(options["value"])}')
    rows = (
        f"SELECT {', '.join(cells)} FROM {quoted(base)} "
        f'CROSS JOIN (VALUES {values}) AS "of_columns"("name")'
    )
    return f"SELECT * FROM ({rows}) AS q WHERE {of('q', options['value'])} IS NOT NULL"
