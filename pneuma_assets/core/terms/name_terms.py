"""The terms by which a name is found that somebody types in: whole, in part, or with a slip.

Tables' names and columns' names have terms of their own: `t` and `c` stand in front. A name is its
letters and digits, so `petal_length`, `petalLength` and `petal length` are the same one. A slip is
a letter too many, one too few, another one, or two that changed places; two names that are one slip
apart become the same where each loses a letter at most, so a name's terms are itself and itself
without each of its letters (the symmetric deletes of SymSpell: Garbe, 2012). A name as it is shares
all of these with a question, so it stands before those that are one slip away.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from pneuma_assets.core.tables import TableTerms

SHORTEST_MISTYPED, LONGEST_MISTYPED = 5, 64
"""Letters of a name that is recognised when mistyped."""

LONGEST_TYPED = 128
"""Letters and digits of what may be a name: twice PostgreSQL's 63 bytes, a schema and a table."""

_MOST_PARTS = 5
"""Of a name, up to so many words side by side are its part."""

_MOST_TERMS = 16_000
_MOST_PLACES = 3
_LONGEST_GLUED = 64

Parts = Sequence[str]
"""A name's parts in lower case, as `fields.name_parts` has them."""


def names_of_table(evidence: TableTerms) -> list[tuple[str, ...]]:
    """Return what a table may be called: its own name, and with the places around it."""
    most = min(_MOST_PLACES, len(evidence.names))
    return [evidence.names[-count:] for count in range(1, most + 1)]


def unglued(parts: Parts, words: Collection[str]) -> list[str]:
    """Return a name's parts with those split that are glued of these words: the fewest words."""
    return [word for part in parts for word in _unglued(part, words)]


def _unglued(part: str, words: Collection[str]) -> Sequence[str]:
    if not words or len(part) > _LONGEST_GLUED or part in words:
        return (part,)
    least: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(part) + 1):
        ways = (
            (*before, part[start:end])
            for start, before in enumerate(least)
            if before is not None and part[start:end] in words
        )
        least.append(min(ways, key=len, default=None))
    return least[-1] or (part,)


def name_terms(table: Sequence[tuple[Parts, Parts]], columns: Sequence[Parts]) -> list[str]:
    """Return the terms of what a table may be called, places and own name, and of its columns.

    Each is there once. Where there are too many, whole names come before parts, and parts before
    slips.
    """
    named = [
        *(("t", (*places, *own), len(places)) for places, own in table),
        *(("c", column, 0) for column in columns),
    ]
    wholes = (_whole(kind, name) for kind, name, places in named if len(name) > places)
    runs = chain(*(_runs(*one) for one in named))
    slips = chain(*(_slips(kind, name) for kind, name, _ in named))
    return _first(chain(wholes, runs, slips))


def query_name_terms(asked: Parts) -> list[str]:
    """Return what to look up for what may be a name; nothing if it is too long for one."""
    if not 0 < len("".join(asked)) <= LONGEST_TYPED:
        return []
    terms = ((_whole(kind, asked), *_slips(kind, asked), _run(kind, asked)) for kind in "tc")
    return _first(chain.from_iterable(terms))


def names_with(parts: Parts) -> list[str]:
    """Return the terms of tables and columns of which this is the name, or some words of it."""
    return [term for kind in "tc" for term in (_whole(kind, parts), _run(kind, parts)) if parts]


def _first(terms: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for term in terms:
        found[term] = None
        if len(found) == _MOST_TERMS:
            break
    return list(found)


def _whole(kind: str, parts: Parts) -> str:
    return f"{kind}={''.join(parts)}"


def _run(kind: str, parts: Parts) -> str:
    return f"{kind}+{''.join(parts)}"


def _runs(kind: str, parts: Parts, places: int) -> Iterator[str]:
    """Yield the parts of a name that reach beyond the places in front: those name them all."""
    for length in range(1, _MOST_PARTS + 1):
        starts = range(max(0, places - length + 1), len(parts) - length + 1)
        yield from (_run(kind, parts[at : at + length]) for at in starts)


def _slips(kind: str, parts: Parts) -> Iterator[str]:
    letters = "".join(parts)
    if SHORTEST_MISTYPED <= len(letters) <= LONGEST_MISTYPED:
        yield from (f"{kind}={letters[:at]}{letters[at + 1 :]}" for at in range(len(letters)))
