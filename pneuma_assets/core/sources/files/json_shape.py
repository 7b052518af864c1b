"""What a JSON file is, told by its beginning: lines of objects, an array of them, or a document."""

import json
import re

from pneuma_assets.core.errors import TableReadError

_ARRAY = re.compile(r"\s*\[\s*\{")


def is_array(text: str) -> bool:
    """Tell whether JSON is one array of objects."""
    return _ARRAY.match(text) is not None


def is_one_document(text: str) -> bool:
    """Tell whether lines of JSON are parts of one: the first opens what a later one closes."""
    lines = text.strip().splitlines()
    first = lines[0].strip() if lines else ""
    if is_array(text) or len(lines) < 2 or not first.startswith(("{", "[")) or first.endswith("},"):
        return False
    return first.endswith((",", "{", "["))


def holds_rows(text: str) -> bool:
    """Tell whether a `.json` file is a table; one object is a document, whatever is in it.

    Raises:
        TableReadError: It is an array, of anything but objects.
    """
    if is_array(text):
        return True
    if text.lstrip().startswith("["):
        raise TableReadError(
            "it is a JSON array that does not begin with an object, so it has no columns; write it "
            "as an array of objects, or as CSV"
        )
    first, second, *_ = [*filter(None, map(str.strip, text.splitlines())), "", ""]
    return second.startswith("{") and _is_object(first)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
