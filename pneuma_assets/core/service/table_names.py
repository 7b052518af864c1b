"""What a statement calls tables that lie in no database of their own.

A model writes names as they are shown, so they have no sign but letters, digits and `_`; and one
that is asked about several tables, or reads of several answers, has to tell them apart.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pneuma_assets.core.sources.files.names import HOLDERS, parse_file_name

_NO_NAME = re.compile(r"\W+")


def plain_names(table_ids: Iterable[str]) -> dict[str, str]:
    """Return by id what tables are called.

    A table is called by the last part of its id, without the ending that a file has where several
    share a name, and with that of the file before it where it is one of a file's tables. Of those
    that are then called alike the parts stay in which their ids differ: `lake/2019/sales` and
    `lake/2020/sales` are `sales_2019` and `sales_2020`.
    """
    alike: dict[str, list[tuple[str, str, Sequence[str]]]] = defaultdict(list)
    for table_id in dict.fromkeys(table_ids):
        name, parts = _taken_apart(table_id)
        alike[name.casefold()].append((table_id, name, parts))
    found = {}
    for same in alike.values():
        kept = _different([parts for _, _, parts in same])
        for (table_id, name, _), parts in zip(same, kept, strict=True):
            found[table_id] = "_".join((name, *(_plain(part) for part in parts if part)))
    return found


def _taken_apart(table_id: str) -> tuple[str, Sequence[str]]:
    """Return what a table is called, and the other parts of its id, its file's ending last."""
    *above, last = table_id.split("/")
    parsed = parse_file_name(last)
    name = _plain(last if parsed is None else parsed.stem)
    ending = "" if parsed is None else last[len(parsed.stem) :]
    holder = parse_file_name(above[-1]) if above else None
    if holder is not None and holder.format in HOLDERS:
        name = _plain(f"{holder.stem}_{name}")
    return name, (*above, ending)


def _different(paths: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return paths without the parts with which all of them begin and end."""
    if len(paths) == 1:
        return [()]
    shortest = min(map(len, paths))
    first = _common(paths, shortest)
    last = _common([path[::-1] for path in paths], shortest - first)
    return [path[first : len(path) - last] for path in paths]


def _common(paths: Sequence[Sequence[str]], most: int) -> int:
    count = 0
    while count < most and len({path[count] for path in paths}) == 1:
        count += 1
    return count


def _plain(name: str) -> str:
    return _NO_NAME.sub("_", name).strip("_") or "data"
