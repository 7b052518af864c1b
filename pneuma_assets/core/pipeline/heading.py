"""Embedding columns' headers, once the tables of a run are searchable (Octopus, section 4)."""

from collections.abc import Iterator, Sequence

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Vector
from pneuma_assets.core.terms.fields import header_of

RECIPE = "1"
"""Raised where headers are spelled otherwise."""

_AT_ONCE = 512
"""Headers embedded at a time."""


def mark_headers(store: Store, encoder: Encoder) -> int:
    """Keep one embedding of each header that a searchable table has; returns how many are new.

    Where no table is another than last time, and the encoder is the same, nothing is done. Killed
    in between, it is done by the next run.

    Raises:
        ModelError: The encoder cannot be loaded.
    """
    now = (RECIPE, encoder.name, *store.joins.stamp())
    if store.headers.made_of() == now:
        return 0
    names = sorted(set(_headers(store)) - {""})
    kept = store.headers.of(encoder.name, names)
    missing = [name for name in names if name not in kept]
    for some in chunks(missing, _AT_ONCE):
        kept |= _embedded(encoder, some)
        report("embedding headers", len(kept), len(names))
    store.headers.replace(encoder.name, kept, now)
    return len(missing)


def _headers(store: Store) -> Iterator[str]:
    for table in store.tables.profiles(store.tables.indexed()):
        yield from (header_of(column.name) for column in table.columns)


def _embedded(encoder: Encoder, headers: Sequence[str]) -> dict[str, Vector]:
    return dict(zip(headers, encoder.encode_documents(headers), strict=True))
