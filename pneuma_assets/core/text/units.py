"""Units of measurement, as names of columns and cells show them: `weight_kg`, `length (cm)`, 12 kg.

Kept are those that mean nothing else where they stand. So not `min` and `pct` (a minimum, a share
of one), `lb` (a lower bound), `chf` (a failing heart), `ml` at the end of a name, and of letters
alone not m, s, l, h (millions, `author(s)`, left, at home).
"""

import re
from collections.abc import Sequence

_PLAIN = """
mm millimeters cm centimeters km kilometers mg milligrams kg kilograms lbs pounds
sqft square_feet sqm square_meters mph miles_per_hour kmh kilometers_per_hour
kph kilometers_per_hour mmhg millimeters_of_mercury kwh kilowatt_hours mwh megawatt_hours
gwh gigawatt_hours khz kilohertz mhz megahertz ghz gigahertz hpa hectopascals kpa kilopascals
mins minutes secs seconds hrs hours usd US_dollars eur euros gbp pounds_sterling jpy yen
"""
_BESIDE = """
g grams ml milliliters sec seconds hr hours ms milliseconds ha hectares oz ounces % percent
\u00b0c degrees_Celsius \u00b0f degrees_Fahrenheit
m2 square_meters m\u00b2 square_meters km2 square_kilometers km\u00b2 square_kilometers
m3 cubic_meters m\u00b3 cubic_meters m/s meters_per_second km/h kilometers_per_hour
o/oo per_mille \u2030 per_mille
"""


def _by_sign(text: str) -> dict[str, str]:
    words = text.split()
    return {
        sign: unit.replace("_", " ") for sign, unit in zip(words[::2], words[1::2], strict=True)
    }


_AT_END = _by_sign(_PLAIN)
_IN_BRACKETS = _AT_END | _by_sign(_BESIDE)

_BRACKETS = re.compile(r"\s*[(\[]\s*(?:in )?([^()\[\]]{1,12})[)\]]\s*$", re.IGNORECASE)
_LAST = re.compile(r"(.+?)(?:[\W_]+in)?[\W_]+([^\W_]{2,4})$", re.IGNORECASE | re.DOTALL)
_MEASURED = re.compile(r"[-+]?\d[\d.,]{0,30} ?([^\d\s.,]{1,6}[23]?)")
_NAME_CHARACTERS = 200


def unit_of_name(name: str) -> tuple[str, str]:
    """Return a name without its unit, and the unit in words; the name and nothing without one."""
    name = name[:_NAME_CHARACTERS]
    if (found := _BRACKETS.search(name)) and (unit := _unit(found[1].strip())):
        return name[: found.start()], unit
    if (found := _LAST.fullmatch(name)) and found[2].lower() in _AT_END:
        return found[1], _AT_END[found[2].lower()]
    return name, ""


def unit_of_cells(cells: Sequence[str]) -> str:
    """Return the unit in words that stands behind the number in each of some cells, if one does."""
    found = {_unit(match[1]) if match else "" for match in map(_MEASURED.fullmatch, cells)}
    return found.pop() if len(found) == 1 else ""


def _unit(sign: str) -> str:
    return _IN_BRACKETS.get(sign if len(sign) == 1 else sign.lower(), "")  # G may be games
