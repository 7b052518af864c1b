"""The facts of a table as the text that an engine keeps."""

import json
from dataclasses import asdict
from typing import Any

from pneuma_assets.core.tables import TableFacts

UNTOLD = TableFacts(readers=())
"""Of a table of which nothing is known: until somebody tells, it is shown to nobody who may not
see all."""


def facts_text(facts: TableFacts) -> str:
    """Return facts as one text; equal facts have equal texts."""
    return json.dumps(asdict(facts), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def facts_from(text: str) -> TableFacts:
    """Undo `facts_text`.

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
    return TableFacts(**found)
