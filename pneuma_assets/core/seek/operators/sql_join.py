"""The SQL of tables joined by columns that are equal."""

from collections.abc import Mapping, Sequence
from typing import Any

from pneuma_assets.core.seek.operators.sql_text import (
    Ask,
    Columns,
    as_text,
    kind_of,
    of,
    quoted,
    type_of,
)


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
