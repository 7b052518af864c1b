"""Lucene's rounding of lengths, one at a time (`SmallFloat.intToByte4`)."""

_EXACT_BELOW = 24
_KEPT_BITS = 4
_MOST = 1 << 16


def rounded_length(length: int) -> int:
    """Return a length as Lucene reads it back: a small one as it is, of a larger one four bits."""
    if length < _EXACT_BELOW:
        return length
    above = length - _EXACT_BELOW
    shift = max(above.bit_length() - _KEPT_BITS, 0)
    return _EXACT_BELOW + (above >> shift << shift)


def _rounded() -> tuple[int, ...]:
    found = list(range(1, _EXACT_BELOW))
    length = _EXACT_BELOW
    while length < _MOST:
        found.append(length)
        above = length - _EXACT_BELOW
        length += 1 << max(above.bit_length() - _KEPT_BITS, 0)
    return tuple(found)


ROUNDED = _rounded()
"""All lengths from 1 to 65,536 that are as they are rounded; no entry has as many terms."""
