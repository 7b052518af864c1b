"""What files of several tables hold, kept in this process, so that each version is opened once."""

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.listing import LookInside
from pneuma_assets.core.tables import TableRef

_KEPT = 20_000
_AGAIN_SECONDS = 600.0
"""A file that could not be opened is tried again after so long, or when it changes."""


@dataclass(frozen=True, slots=True)
class _Seen:
    names: Sequence[str]
    problem: str
    at: float


_seen: OrderedDict[tuple[str, str], _Seen] = OrderedDict()


def remembered(look_inside: LookInside, ref: TableRef) -> Sequence[str]:
    """Return the names of the tables in a file; it is opened if this version of it is new.

    Raises:
        TableReadError: It cannot be opened, now or some minutes ago.
    """
    key = (ref.location, ref.version)
    seen = _seen.get(key)
    if seen is None or (seen.problem and time.monotonic() - seen.at > _AGAIN_SECONDS):
        try:
            seen = _Seen(tuple(look_inside(ref)), "", time.monotonic())
        except TableReadError as error:
            seen = _Seen((), str(error), time.monotonic())
        _seen[key] = seen
        while len(_seen) > _KEPT:
            _seen.popitem(last=False)
    if seen.problem:
        raise TableReadError(seen.problem)
    return seen.names
