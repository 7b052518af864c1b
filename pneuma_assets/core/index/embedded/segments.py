"""Keeping a reader's segments of postings few, however many small replacements it follows."""

from collections.abc import Callable, Iterable

from pneuma_assets.core.index.embedded.bm25 import Postings


def merged(
    segments: Iterable[Postings], size: Callable[[Postings], int], most: int
) -> tuple[Postings, ...]:
    """Merge neighbours of similar size at the end, as long as the result is no larger than `most`.

    So a row is merged as often as the logarithm of their number, not with every replacement.
    """
    parts = list(segments)
    while len(parts) > 1:
        before, last = (size(part) for part in parts[-2:])
        if before > 2 * last or before + last > most:
            break
        parts[-2:] = [Postings.merge(parts[-2:])]
    return tuple(parts)
