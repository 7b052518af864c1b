"""Checks what callers give: names that must exist, with the nearest that do, and types."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from pneuma_assets.core.errors import PneumaError, QueryError

_LONGEST = 200
_SAID = 10**15
"""A greater number is not repeated: Python spells none of more than 4,300 digits."""
_COMPARED = 100
"""Names of which `difflib` tells how alike they are."""

MAX_KNOWN = 20_000
"""Most names compared letter by letter; beyond, only those that contain what was given."""


def nearest(name: str, known: Iterable[str], most: int = 3, alike: float = 0.5) -> list[str]:
    """Return up to `most` known names like `name`: those that contain it, then similar ones.

    Of those that contain it the first are those that end in it after a '/', as tables of that name
    do. Capitals do not matter. `alike` is the least similarity, as `difflib` measures it, 0 to 1.
    """
    names = sorted(known)
    wanted = name.casefold()
    found = [one for one in names if wanted and wanted in one.casefold()]
    found = sorted(found, key=lambda one: not one.casefold().endswith(f"/{wanted}"))[:most]
    if len(found) < most and len(names) <= MAX_KNOWN and len(name) <= _LONGEST:
        folded = {one.casefold(): one for one in names}
        likest = _likest(wanted, list(folded), alike)
        similar = get_close_matches(wanted, likest, n=most, cutoff=alike)
        found += [folded[one] for one in similar if folded[one] not in found]
    return found[:most]


def _likest(name: str, known: Sequence[str], alike: float) -> Sequence[str]:
    """Return those of many names that can be the nearest: `difflib` takes 0.1 ms for each."""
    if len(known) <= _COMPARED:
        return known
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    found = process.extract(
        name,
        known,
        scorer=Indel.normalized_similarity,  # no less than difflib's
        score_cutoff=alike,
        limit=_COMPARED,
    )
    return [one for one, *_ in found]


def check_known(
    what: str,
    names: Iterable[str],
    known: Collection[str],
    error: type[PneumaError],
    *,
    otherwise: str = "",
    besides: str = "",
    within: str = "",
) -> None:
    """Raise `error`, with the nearest known names, for a name that is not known.

    Args:
        what: What the names are of, such as 'table'.
        names: Those that somebody gave.
        known: Those that there are.
        error: What is raised.
        otherwise: The remedy where no known name is like the one given; empty: the command that
            lists them, of which who asks through a server is told nothing.
        besides: What may be the case as well, where names are known.
        within: What follows the name, such as ' of lake/rain'.
    """
    for name in names:
        if name in known:
            continue
        near = nearest(name, known)
        said = f"unknown {what} '{name}'{within}"
        remedy = f"did you mean {', '.join(near)}?" if near else otherwise
        command = "" if remedy else "`pneuma-assets status --tables` lists them"
        if not known:
            remedy, command = "none is known yet", "run: pneuma-assets index"
        elif besides:
            remedy += f" ({besides})"
        told = [one for one in (said, remedy) if one]
        raise error("; ".join([*told, *filter(None, [command])])).saying_elsewhere("; ".join(told))


def check_text(what: str, given: object, error: type[PneumaError]) -> None:
    """Raise `error` unless this is text; `what` says what of, such as 'the question'."""
    if not isinstance(given, str):
        raise error(f"{what} must be a str, not {type(given).__name__}")


def check_number(
    what: str, given: object, least: int, most: int, error: type[PneumaError] = QueryError
) -> None:
    """Raise `error` unless this is a whole number within bounds, both included."""
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        said = given if isinstance(given, int) and abs(given) < _SAID else type(given).__name__
        raise error(f"{what} must be a whole number from {least} to {most:,}, not {said}")


def check_names(what: str, given: object, error: type[PneumaError]) -> None:
    """Raise `error` unless these are texts in a list, a tuple or a set.

    One text alone is refused: it would be taken for a name a letter.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Collection):
        raise error(f"{what} must be a list of str, not {type(given).__name__}")
    for name in given:
        check_text(f"each of {what}", name, error)
