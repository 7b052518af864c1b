"""The columns of a table of many text files, each with columns of its own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

from pneuma_assets.core.sources.duckdb.relation import readable_names
from pneuma_assets.core.sources.files.layout import Layout
from pneuma_assets.core.tables import Column


def joined(
    layouts: Sequence[Layout], partitions: Sequence[Mapping[str, str | None]]
) -> tuple[list[Column], list[list[int | None]]]:
    """Join the columns of all files by name, and say where each file has each of them."""
    kinds: dict[tuple[str, int], list[str]] = {}
    names: dict[tuple[str, int], str] = {}
    files = []
    for layout, partition in zip(layouts, partitions, strict=True):
        columns = [(column.name, column.type) for column in layout.columns]
        parts = [(name, _kind(value)) for name, value in partition.items()]
        slots = _slots([name for name, _ in columns])
        slots += [(name.lower(), 0) for name, _ in parts]  # a folder's value hides a column's
        files.append({slot: i for i, slot in enumerate(slots)})
        for slot, (name, kind) in zip(slots, columns + parts, strict=True):
            names.setdefault(slot, name)
            kinds.setdefault(slot, []).append(kind)
    keys = {name.lower() for partition in partitions for name in partition}
    order = sorted(names, key=lambda slot: slot[0] in keys)  # folders' values stand last
    readable = readable_names([names[slot] for slot in order])
    joined = [
        Column(name, _common(kinds[slot])) for name, slot in zip(readable, order, strict=True)
    ]
    return joined, [[positions.get(slot) for slot in order] for positions in files]


def _slots(names: Sequence[str]) -> list[tuple[str, int]]:
    """Return what columns of different files are matched by: the name, whatever its case."""
    seen: Counter[str] = Counter()
    slots = []
    for name in map(str.lower, names):
        slots.append((name, seen[name]))
        seen[name] += 1
    return slots


def _kind(value: str | None) -> str:
    if value is None:
        return ""
    if value.removeprefix("-").isdecimal() and len(value) <= 18:
        return "BIGINT"
    try:
        date.fromisoformat(value)
    except ValueError:
        return "VARCHAR"
    return "DATE"


def _common(kinds: Sequence[str]) -> str:
    """Return the type of a column that files of one table call by these types."""
    distinct = set(kinds) - {""}
    if len(distinct) == 1:
        return distinct.pop()
    return "DOUBLE" if distinct == {"BIGINT", "DOUBLE"} else "VARCHAR"
