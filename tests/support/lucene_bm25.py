"""BM25 as Lucene computes it, written for reading: what every engine's scores are compared with."""

from collections import Counter
from collections.abc import Sequence
from math import log1p

from pneuma_assets.core.index.base import K1, B


def lucene_bm25(
    entries: Sequence[Sequence[str]], question: Sequence[str], k1: float = K1
) -> list[float]:
    """Return each entry's score; N and the mean length are of the entries that have any term."""
    living = [len(terms) for terms in entries if terms]
    mean = sum(living) / len(living) if living else 1.0
    counted = [Counter(terms) for terms in entries]
    scores = [0.0] * len(entries)
    for term in question:
        containing = sum(term in counts for counts in counted)
        rarity = log1p((len(living) - containing + 0.5) / (containing + 0.5))
        for place, counts in enumerate(counted):
            if term in counts:
                length = rounded_length(len(entries[place]))
                saturation = k1 * (1 - B + B * length / mean)
                scores[place] += rarity * counts[term] / (counts[term] + saturation)
    return scores


def rounded_length(length: int) -> int:
    """Return what Lucene's SmallFloat.intToByte4 and byte4ToInt make of a length."""

    def to_code(value: int) -> int:
        if value.bit_length() < 4:
            return value
        shift = value.bit_length() - 4
        return ((value >> shift) & 7) | ((shift + 1) << 3)

    free = 255 - to_code(2**31 - 1)
    if length < free:
        return length
    code = to_code(length - free)
    mantissa, shift = code & 7, (code >> 3) - 1
    return free + (mantissa if shift == -1 else (mantissa | 8) << shift)
