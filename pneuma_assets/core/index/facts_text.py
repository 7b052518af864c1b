"""The facts of a table as the text that an engine keeps."""

import json
from dataclasses import asdict, fields
from typing import Any

from pneuma_assets.core.tables import TableFacts

UNTOLD = TableFacts(readers=())
"""Of a table that was written before facts were kept: until somebody tells, it is shown to nobody
who may not see all."""

_NAMES = frozenset(one.name for one in fields(TableFacts))


def facts_text(facts: TableFacts) -> str:
    """Return facts as one text; equal facts have equal texts."""
    return json.dumps(asdict(facts), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def facts_from(text: str) -> TableFacts:
    """Undo `facts_text`; what a newer version knows beside is left out.

    Raises:
        ValueError: It is something else.
        TypeError: Likewise.
    """
    found: dict[str, Any] = json.loads(text)
    if not isinstance(found, dict) or "readers" not in found:
        raise TypeError("no facts of a table")
    readers = found["readers"]
    if readers is not None:
        if not isinstance(readers, list) or not all(isinstance(one, str) for one in readers):
            raise TypeError("readers that are no list of texts")
        found["readers"] = tuple(readers)
    return TableFacts(**{name: value for name, value in found.items() if name in _NAMES})
