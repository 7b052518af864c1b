"""How names, values and types are spelled in the SQL of DuckDB that operators consist of.

This file and those called `sql_*` beside it stand in the scripts that run without this project
(`seek.script`), too, so they need nothing else of it. Their `options` are those of an operator's
model as JSON has them, their `columns` the names and types of the columns of each table that a step
reads, in the order in which it reads them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Columns = Mapping[str, Sequence[tuple[str, str]]]
Ask = Callable[[str], Sequence[Sequence[Any]]]
"""Returns the rows of a query over the tables that a step reads."""


def quoted(name: str) -> str:
    """Return a name as DuckDB reads it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as DuckDB reads it."""
    return "'" + text.replace("'", "''") + "'"


def of(table: str, column: str) -> str:
    """Return a column of a table."""
    return f"{quoted(table)}.{quoted(column)}"


def as_text(value: str) -> str:
    """Return a value as text without blanks around it."""
    return f"trim(CAST({value} AS VARCHAR), ' \t\r\n')"


def kind_of(duckdb_type: str) -> str:
    """Return whether a type is of a number, a day, a truth value, a text, or what it is."""
    upper = duckdb_type.upper()
    if re.match(r"U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|DECIMAL|DOUBLE|FLOAT|REAL|BIGNUM", upper):
        return "number"
    return "text" if upper == "VARCHAR" else upper.partition(" ")[0]


def type_of(columns: Sequence[tuple[str, str]], name: str) -> str:
    """Return the type of a column, whatever the capitals of its name."""
    return next((kind for own, kind in columns if own.lower() == name.lower()), "VARCHAR")


def common_type(kinds: Sequence[str]) -> str:
    """Return the type that holds what columns of these types hold; '' where it is the same."""
    if len(set(kinds)) == 1:
        return ""
    if {kind_of(kind) for kind in kinds} == {"number"}:
        return "DOUBLE"
    return "TIMESTAMP" if {*kinds} == {"DATE", "TIMESTAMP"} else "VARCHAR"


TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "boolean": "BOOLEAN",
}


def typed(name: str, wanted: str, table: str, kind: str) -> str:
    """Return a column as the type that people call so; NULL where a cell is none of it."""
    cell, has = of(table, name), kind_of(kind)
    if wanted == "text":
        return f"CAST({cell} AS VARCHAR)"
    if wanted == "number" and has == "number":
        return cell
    if wanted == "integer":
        digits = f"regexp_full_match({as_text(cell)}, '[+-]?[0-9]+([.]0*)?')"
        whole = f"{cell} = trunc({cell})" if has == "number" else digits
        return f"CASE WHEN {whole} THEN TRY_CAST({cell} AS BIGINT) END"
    if wanted == "boolean" and has == "number":
        return f"CASE {cell} WHEN 0 THEN false WHEN 1 THEN true END"
    return f"TRY_CAST({cell} AS {TYPES[wanted]})"


def as_wanted(wanted: Sequence[tuple[str, str]], table: str, has: Columns) -> str:
    """Return the query of a table's columns that are wanted, of their types, in their order."""
    kinds = {name.lower(): (name, kind) for name, kind in has[table]}
    cells = [
        f"{typed(own, kind, table, own_kind)} AS {quoted(name)}"
        for name, kind in wanted
        for own, own_kind in [kinds[name.lower()]]
    ]
    return f"SELECT {', '.join(cells)} FROM {quoted(table)}"


def condition(on: Mapping[str, Any], columns: Columns) -> str:
    """Return when rows of two tables go together: every pair of columns is equal."""
    (base, mine), (other, theirs) = (
        (on["table"], on["columns"]),
        (on["other"], on["other_columns"]),
    )
    return " AND ".join(
        _equal(
            of(base, one),
            of(other, same),
            type_of(columns[base], one),
            type_of(columns[other], same),
            on.get("fold", False),
        )
        for one, same in zip(mine, theirs, strict=True)
    )


def _equal(mine: str, theirs: str, first: str, second: str, fold: bool) -> str:
    if fold:
        return f"lower({as_text(mine)}) = lower({as_text(theirs)})"
    kinds = kind_of(first), kind_of(second)
    if kinds[0] == kinds[1] or "text" not in kinds:
        return f"{mine} = {theirs}"
    text, other, kind = (mine, theirs, second) if kinds[0] == "text" else (theirs, mine, first)
    cast = {"number": "DOUBLE"}.get(kind_of(kind), kind_of(kind))
    equal = f"TRY_CAST({text} AS {cast}) = {other}"
    if not kind.upper().endswith("INT"):
        return equal
    # Beyond these a DOUBLE is one for several integers.
    exact = f"{other} > -9007199254740992 AND {other} < 9007199254740992"
    return f"{equal} AND ({exact} OR {as_text(text)} = CAST({other} AS VARCHAR))"


def joined(base: str, joins: Sequence[Mapping[str, Any]], columns: Columns) -> str:
    """Return what stands behind FROM: a table, and those joined to it."""
    parts = [quoted(base)]
    for on in joins:
        kind = "LEFT JOIN" if on.get("kind", "left") == "left" else "JOIN"
        parts.append(f"{kind} {quoted(on['other'])} ON {condition(on, columns)}")
    return " ".join(parts)


def join(options: Mapping[str, Any], columns: Columns, _ask: Ask | None = None) -> str:
    """Return the query of tables joined: the columns named, or all but the keys that repeat."""
    base = next(iter(columns))
    chosen = options.get("columns") or _all_columns(base, options["joins"], columns)
    shown = (f"{of(*one.split('.', 1))} AS {quoted(name)}" for name, one in chosen.items())
    return f"SELECT {', '.join(shown)} FROM {joined(base, options['joins'], columns)}"


def _all_columns(base: str, joins: Sequence[Mapping[str, Any]], columns: Columns) -> dict[str, str]:
    chosen = {name: f"{base}.{name}" for name, _ in columns[base]}
    taken = {name.lower() for name in chosen}
    for on in joins:
        keys = {
            theirs.lower()
            for mine, theirs in zip(on["columns"], on["other_columns"], strict=True)
            if mine.lower() == theirs.lower()
        }
        for name, _ in columns[on["other"]]:
            if name.lower() in keys:
                continue
            free = name
            while free.lower() in taken:
                free = f"{on['other']}_{free}"
            taken.add(free.lower())
            chosen[free] = f"{on['other']}.{name}"
    return chosen


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
