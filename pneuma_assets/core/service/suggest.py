"""Helps people who name something that does not exist to what does."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from pneuma_assets.core.errors import ConfigError

MAX_KNOWN = 20_000
"""Most names compared letter by letter; beyond, only those that contain what was given."""


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return up to `most` known names like `name`: those that contain it, then similar ones."""
    names = sorted(known)
    wanted = name.casefold()
    found = [one for one in names if wanted and wanted in one.casefold()][:most]
    if len(found) < most and len(names) <= MAX_KNOWN:
        similar = get_close_matches(name, names, n=most, cutoff=0.5)
        found += [one for one in similar if one not in found]
    return found[:most]


def check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise `ConfigError`, with the nearest known names, for a name that is not known."""
    for name in names:
        if name in known:
            continue
        near = nearest(name, known)
        remedy = f"did you mean {', '.join(near)}?" if near else "`pneuma-assets status` helps"
        if not known:
            remedy = "none is known yet; run: pneuma-assets index"
        raise ConfigError(f"unknown {what} '{name}'; {remedy}")
