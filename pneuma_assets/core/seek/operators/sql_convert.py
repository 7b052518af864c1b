"""The SQL of numbers, days and units written otherwise."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pneuma_assets.core.seek.operators.sql_text import (
    Ask,
    Columns,
    as_text,
    literal,
    of,
    quoted,
)

UNITS: Mapping[str, tuple[str, float, float]] = {
    **{"mg": ("mass", 1e-6, 0), "g": ("mass", 1e-3, 0), "kg": ("mass", 1, 0)},
    **{"t": ("mass", 1e3, 0), "oz": ("mass", 0.028349523125, 0), "lb": ("mass", 0.45359237, 0)},
    **{"mm": ("length", 1e-3, 0), "cm": ("length", 1e-2, 0), "m": ("length", 1, 0)},
    **{"km": ("length", 1e3, 0), "in": ("length", 0.0254, 0), "ft": ("length", 0.3048, 0)},
    **{"yd": ("length", 0.9144, 0), "mi": ("length", 1609.344, 0)},
    **{"ml": ("volume", 1e-3, 0), "l": ("volume", 1, 0), "m3": ("volume", 1e3, 0)},
    **{"gal": ("volume", 3.785411784, 0), "bbl": ("volume", 158.987294928, 0)},
    **{"m2": ("area", 1, 0), "ha": ("area", 1e4, 0), "km2": ("area", 1e6, 0)},
    **{"ft2": ("area", 0.09290304, 0), "acre": ("area", 4046.8564224, 0)},
    **{"s": ("time", 1, 0), "min": ("time", 60, 0), "h": ("time", 3600, 0)},
    **{"d": ("time", 86400, 0), "wh": ("energy", 1e-3, 0), "kwh": ("energy", 1, 0)},
    **{"mwh": ("energy", 1e3, 0), "gwh": ("energy", 1e6, 0), "mj": ("energy", 1 / 3.6, 0)},
    **{"k": ("temperature", 1, 0), "c": ("temperature", 1, 273.15)},
    **{"f": ("temperature", 5 / 9, 459.67 * 5 / 9)},
    **{"fraction": ("share", 1, 0), "percent": ("share", 0.01, 0), "bp": ("share", 1e-4, 0)},
    **{"one": ("count", 1, 0), "thousand": ("count", 1e3, 0), "million": ("count", 1e6, 0)},
    **{"billion": ("count", 1e9, 0)},
}
"""What each unit measures, and by which factor and addend it becomes that measure's own unit."""


def convert(options: Mapping[str, Any], columns: Columns, _ask: Ask | None = None) -> str:
    """Return the query of a table with columns converted, in their place or as new ones."""
    base = next(iter(columns))
    made = {one["into"] or one["column"]: converted(one, base) for one in options["conversions"]}
    kept = {name.lower() for name, _ in columns[base]}
    by_lower = {name.lower(): value for name, value in made.items()}
    cells = [
        f"{by_lower.get(name.lower(), of(base, name))} AS {quoted(name)}"
        for name, _ in columns[base]
    ]
    cells += [f"{v} AS {quoted(name)}" for name, v in made.items() if name.lower() not in kept]
    return f"SELECT {', '.join(cells)} FROM {quoted(base)}"


def converted(one: Mapping[str, Any], base: str) -> str:
    """Return what a cell becomes; NULL where it is not what the conversion says."""
    value = of(base, one["column"])
    if one["to"] == "number":
        return _number(value, one["decimal"], one["remove"])
    if one["to"] in {"date", "timestamp"}:
        tried = (f"try_strptime({as_text(value)}, {literal(form)})" for form in one["formats"])
        return f"CAST(coalesce({', '.join(tried)}) AS {one['to'].upper()})"
    if one["unit"]:
        return _in_unit(value, one["unit"], one["into_unit"])
    unit = f"lower({as_text(of(base, one['unit_column']))})"
    measure = UNITS[one["into_unit"]][0]
    cases = (
        f"WHEN {literal(name)} THEN {_in_unit(value, name, one['into_unit'])}"
        for name, (of_measure, *_) in UNITS.items()
        if of_measure == measure
    )
    return f"CASE {unit} {' '.join(cases)} END"


def _number(value: str, decimal: str, remove: Sequence[str]) -> str:
    """Return a number written for people: with thousands apart, a currency, a sign of percent."""
    text = as_text(value)
    named = "".join(f"|{re.escape(one)}" for one in remove)
    bare = f"regexp_replace({text}, '[\\s\\x{{A0}}\\x{{202F}}\\p{{Sc}}%()]" + (
        f"{named.replace(chr(39), chr(39) * 2)}', '', 'g')"
    )
    thousands = "," if decimal == "." else "."
    shape = (
        rf"[+-]?([0-9]{{1,3}}([{thousands}''][0-9]{{3}})+|[0-9]+)?"
        rf"([{decimal}][0-9]*)?([eE][+-]?[0-9]+)?"
    )
    plain = f"regexp_replace({bare}, '[{thousands}'']', '', 'g')"
    plain = f"replace({plain}, ',', '.')" if decimal == "," else plain
    number = f"TRY_CAST({plain} AS DOUBLE)"
    # `5 10` are two numbers, `5 100` is one: blanks stand before three digits alone.
    apart = r"[0-9][\s\x{A0}\x{202F}]+([0-9]{1,2}([^0-9]|$)|[0-9]{4})"
    return (
        f"CASE WHEN regexp_full_match({bare}, '{shape}') "
        f"AND NOT regexp_matches({text}, '{apart}') THEN {number} "
        f"* CASE WHEN {text} LIKE '%\\%%' ESCAPE '\\' THEN 0.01 ELSE 1 END "
        f"* CASE WHEN {text} LIKE '(%)' THEN -1 ELSE 1 END END"
    )


def _in_unit(value: str, unit: str, into: str) -> str:
    (_, factor, addend), (_, into_factor, into_addend) = UNITS[unit], UNITS[into]
    if addend or into_addend:
        return f"({value} * {factor!r} + {addend - into_addend!r}) / {into_factor!r}"
    return f"{value} * {factor / into_factor!r}"
