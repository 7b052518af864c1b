"""The types of Delta's columns as DuckDB names them.

After the protocol's "Schema Serialization Format"
(https://github.com/delta-io/delta/blob/master/PROTOCOL.md). A log was written by others, and its
types become SQL, so nothing of it but names is taken over, and these are quoted.
"""

import re
from typing import Any

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.duckdb.session import quote_identifier
from pneuma_assets.core.sources.names import one_line

_SIMPLE = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "integer": "INTEGER",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}
_DECIMAL = re.compile(r"decimal\((\d{1,2}),\s?(\d{1,2})\)")
_DEEPEST = 50


def duckdb_type(kind: Any, *, mapped: bool, depth: int = 0) -> str:
    """Return DuckDB's name of a type.

    Args:
        kind: As the log's JSON has it.
        mapped: Whether to name what is nested in it as data files do that have names of their own.
        depth: How many types it is nested in.

    Raises:
        TableReadError: It is not known.
    """
    if isinstance(kind, str) and kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(kind, str) and (decimal := _DECIMAL.fullmatch(kind)):
        return f"DECIMAL({int(decimal[1])}, {int(decimal[2])})"
    if isinstance(kind, dict) and depth < _DEEPEST:

        def inner(part: Any) -> str:
            return duckdb_type(part, mapped=mapped, depth=depth + 1)

        if kind.get("type") == "array":
            return f"{inner(kind['elementType'])}[]"
        if kind.get("type") == "map":
            return f"MAP({inner(kind['keyType'])}, {inner(kind['valueType'])})"
        if kind.get("type") == "struct" and kind["fields"]:
            parts = (
                f"{_name(part, mapped=mapped)} {inner(part['type'])}" for part in kind["fields"]
            )
            return f"STRUCT({', '.join(parts)})"
    raise TableReadError(f"it has columns of the type {one_line(str(kind), 50)}, which is not read")


def _name(part: dict[str, Any], *, mapped: bool) -> str:
    said = part.get("metadata") or {}
    name = said.get("delta.columnMapping.physicalName") if mapped else None
    return quote_identifier(str(name or part["name"]))
