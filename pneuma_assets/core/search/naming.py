"""Names that are typed in: a question that is, or nearly is, a table's or column's name.

Whoever knows a name wants what bears it, whatever descriptions of other tables say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import OSA

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.evidence.typed import (
    LONGEST_TYPED,
    MOST_PARTS,
    SHORTEST_MISTYPED,
    names_of_table,
)
from pneuma_assets.core.tables import Evidence

_MOST_SLIPS = 2
"""A name may be mistyped once in `SHORTEST_MISTYPED` letters, so often at most."""

_PART = 3
"""The rank of a table whose name was typed in part."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """How a table bears the name that was typed in.

    Attributes:
        rank: 0 for the table's whole name as people wrote it, 1 for its letters and digits alone,
            2 for a column's; 3 for part of the table's name, 4 for part of a column's; 5 and 6 for
            the table's or a column's, mistyped once, 7 and 8 for twice.
        name: The name, as people wrote it.
        column: Whether it is a column's.
    """

    rank: int
    name: str
    column: bool


def named(question: str, found: Mapping[str, Evidence]) -> dict[str, NameMatch]:
    """Return which of these tables bear the name that the question is, if it may be one."""
    asked = name_parts(question)
    if not 0 < len("".join(asked)) <= LONGEST_TYPED:
        return {}
    typed = question.strip().casefold()
    matches = {table_id: _best(typed, asked, evidence) for table_id, evidence in found.items()}
    return {table_id: match for table_id, match in matches.items() if match is not None}


def _best(typed: str, asked: Sequence[str], evidence: Evidence) -> NameMatch | None:
    """Return the closest of a table's own names: of its places alone, none is its own."""
    matches = [
        NameMatch(rank, name, column)
        for name, places, column in _names(evidence)
        if (rank := _rank(typed, asked, name, places, column)) is not None
    ]
    return min(matches, key=lambda match: match.rank, default=None)


def _names(evidence: Evidence) -> list[tuple[str, int, bool]]:
    """Return a table's and its columns' names, and of how many parts are the places in front."""
    table = [
        (".".join(names), len(_parts_of(" ".join(names[:-1]))), False)
        for names in names_of_table(evidence)
    ]
    return [*table, *((column, 0, True) for column in evidence.columns)]


def _rank(typed: str, asked: Sequence[str], name: str, places: int, column: bool) -> int | None:
    parts = _parts_of(name)
    letters, written = "".join(asked), "".join(parts)
    if not written:
        return None
    if letters == written:
        return 2 if column else int(typed != name.casefold())
    if _is_part(asked, parts, places):
        return _PART + column
    most = min(_MOST_SLIPS, len(written) // SHORTEST_MISTYPED)
    if most and abs(len(written) - len(letters)) <= most:
        slips = OSA.distance(letters, written, score_cutoff=most)
        return _PART + 2 * slips + column if slips <= most else None
    return None


def _is_part(asked: Sequence[str], parts: Sequence[str], places: int) -> bool:
    """Tell whether whole words of the name, side by side, were typed in, some of them its own."""
    length = len(asked)
    starts = range(max(0, places - length + 1), len(parts) - length + 1)
    return length <= MOST_PARTS and any(list(parts[at : at + length]) == asked for at in starts)


@lru_cache(maxsize=65_536)
def _parts_of(name: str) -> Sequence[str]:
    return tuple(name_parts(name))
