"""Names that are typed in: a question that is, or nearly is, a table's or column's name.

Whoever knows a name wants what bears it, whatever descriptions of other tables say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain

from rapidfuzz.distance import OSA

from pneuma_assets.core.tables import TableTerms
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.name_terms import (
    LONGEST_MISTYPED,
    LONGEST_TYPED,
    SHORTEST_MISTYPED,
    names_of_table,
    unglued,
)

_MOST_SLIPS = 2
"""A name may be mistyped once in `SHORTEST_MISTYPED` letters, so often at most."""

_WHOLE_COLUMN, _PART = 2, 3
"""Ranks: of a column's whole name, and of a table's in part."""


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


def named(question: str, found: Mapping[str, TableTerms]) -> dict[str, NameMatch]:
    """Return which of these tables bear the name that the question is, if it may be one."""
    letters = "".join(name_parts(question))
    if not 0 < len(letters) <= LONGEST_TYPED:
        return {}
    typed = _Typed(question.strip().casefold(), letters)
    matches = {table_id: _best(typed, evidence) for table_id, evidence in found.items()}
    return {table_id: match for table_id, match in matches.items() if match is not None}


@dataclass(frozen=True, slots=True)
class _Typed:
    """What was typed in: as it is, in lower case, and its letters and digits alone."""

    text: str
    letters: str


def _best(typed: _Typed, evidence: TableTerms) -> NameMatch | None:
    """Return the closest of a table's own names: of its places alone, none is its own."""
    matches = chain(
        (_of_table(typed, names, evidence) for names in names_of_table(evidence)),
        (_of_column(typed, column, evidence) for column in evidence.columns),
    )
    found = (match for match in matches if match is not None)
    return min(found, key=lambda match: match.rank, default=None)


def _of_table(typed: _Typed, names: Sequence[str], evidence: TableTerms) -> NameMatch | None:
    *places, own = names
    name = ".".join(names)
    before, parts = _parts_of(" ".join(places)), _parts_of(own)
    written = "".join((*before, *parts))
    if written == typed.letters:
        return NameMatch(int(typed.text != name.casefold()), name, column=False)
    if typed.letters in written:
        split = unglued(parts, set(evidence.spelled_names.split()))
        if _is_part(typed.letters, (*before, *split), len("".join(before))):
            return NameMatch(_PART, name, column=False)
    slips = _slips(typed.letters, written)
    return None if slips is None else NameMatch(_PART + 2 * slips, name, column=False)


def _of_column(typed: _Typed, name: str, evidence: TableTerms) -> NameMatch | None:
    parts = _parts_of(name)
    written = "".join(parts)
    if written == typed.letters:
        return NameMatch(_WHOLE_COLUMN, name, column=True)
    if typed.letters in written:
        split = unglued(parts, set(evidence.spelled_columns.split()))
        if _is_part(typed.letters, split, 0):
            return NameMatch(_PART + 1, name, column=True)
    slips = _slips(typed.letters, written)
    return None if slips is None else NameMatch(_PART + 2 * slips + 1, name, column=True)


def _slips(letters: str, written: str) -> int | None:
    """Return how often the name was mistyped; None if it is another, as one of other digits is."""
    most = min(_MOST_SLIPS, len(written) // SHORTEST_MISTYPED)
    if not most or len(written) > LONGEST_MISTYPED or abs(len(written) - len(letters)) > most:
        return None
    if _digits(letters) != _digits(written):
        return None
    slips = OSA.distance(letters, written, score_cutoff=most)
    return slips if slips <= most else None


def _digits(letters: str) -> str:
    return "".join(filter(str.isdigit, letters))


def _is_part(letters: str, parts: Sequence[str], places: int) -> bool:
    """Tell whether whole words of the name, side by side, were typed in, some of them its own.

    Args:
        letters: What was typed in.
        parts: The name's words.
        places: The letters of those in front that are not its own.
    """
    ends = set(accumulate(map(len, parts), initial=0))
    written = "".join(parts)
    starts = (start for start in ends if written.startswith(letters, start))
    return any(start + len(letters) in ends and start + len(letters) > places for start in starts)


@lru_cache(maxsize=65_536)
def _parts_of(name: str) -> Sequence[str]:
    return tuple(name_parts(name))
