"""Names that are typed in: a question of a few words that is, or nearly is, a table's or column's.

Whoever knows a name wants what bears it, whatever descriptions of other tables say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from pneuma_assets.core.evidence.fields import NAME_WORDS, name_parts
from pneuma_assets.core.tables import Evidence

_LETTERS_A_SLIP = 5
"""A name may be mistyped once in so many letters, twice at most."""
_MOST_SLIPS = 2


@dataclass(frozen=True, slots=True)
class NameMatch:
    """How a table bears the name that was typed in.

    Attributes:
        rank: 0 for the table's whole name, 1 for a column's; 2 for part of the table's name, 3 for
            part of a column's; 4 and 5 for the table's or a column's, mistyped.
        name: The name, as people wrote it.
        column: Whether it is a column's.
    """

    rank: int
    name: str
    column: bool


def named(question: str, found: Mapping[str, Evidence]) -> dict[str, NameMatch]:
    """Return which of these tables bear the name that the question is, if it may be one."""
    asked = name_parts(question)
    if not 0 < len(asked) <= NAME_WORDS:
        return {}
    matches = {table_id: _best(asked, evidence) for table_id, evidence in found.items()}
    return {table_id: match for table_id, match in matches.items() if match is not None}


def _best(asked: Sequence[str], evidence: Evidence) -> NameMatch | None:
    """Return the closest of a table's own names: of its places, none is its own."""
    whole = ".".join(evidence.names[-2:])
    tables = [name for name in dict.fromkeys((*evidence.names[-1:], whole)) if name]
    ranked = [
        NameMatch(2 * rank + column, name, bool(column))
        for column, names in ((0, tables), (1, evidence.columns))
        for name in names
        if (rank := _likeness(asked, name_parts(name))) is not None
    ]
    return min(ranked, key=lambda match: match.rank, default=None)


def _likeness(asked: Sequence[str], name: Sequence[str]) -> int | None:
    """Return 0 for the same name, 1 for a part of it, 2 for it mistyped; None for another."""
    typed, written = "".join(asked), "".join(name)
    if not written:
        return None
    if typed == written:
        return 0
    if _is_part(asked, name):
        return 1
    slips = min(_MOST_SLIPS, len(written) // _LETTERS_A_SLIP)
    if slips and OSA.distance(typed, written, score_cutoff=slips) <= slips:
        return 2
    return None


def _is_part(asked: Sequence[str], name: Sequence[str]) -> bool:
    """Tell whether whole words of the name, side by side, were typed in."""
    starts = range(len(name) - len(asked) + 1)
    return any(list(name[at : at + len(asked)]) == list(asked) for at in starts)
