"""BM25 over rows of blocks, in numpy: Lucene's formula, Lucene's rounding of lengths included.

For a question's term t and a block d, summed over the terms (repeated terms count repeatedly):

    ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * |d| / mean |d|))

|d| is rounded as Lucene rounds it, so that this engine and Elasticsearch give the same scores:
what a question finds does not change with the engine, and the answers are as good as without
(docs/index-engine.md). N and the mean length are taken over the living blocks that have any term.
All statistics come from the moment's living blocks, so the score of a block never depends on the
order in which blocks were written, nor on blocks that have since been removed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import fsum
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from pneuma_assets.core.index.base import K1, B, idf

TermKeys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
Scores = npt.NDArray[np.float64]

_EXACT_BELOW = 24
_KEPT_BITS = 4
"""Lucene keeps a length in one byte: small ones as they are, of larger ones the first four bits."""


def lucene_lengths(lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return lengths, shape (rows,), as Lucene reads them back (`SmallFloat.intToByte4`)."""
    above = np.maximum(lengths - _EXACT_BELOW, 0)
    shift = np.maximum(np.frexp(above)[1] - _KEPT_BITS, 0).astype(np.int32)
    rounded = _EXACT_BELOW + ((above >> shift) << shift)
    return np.where(lengths < _EXACT_BELOW, lengths, rounded).astype(np.int32)


@lru_cache(maxsize=65_536)
def term_key(term: str) -> int:
    """Return a term's name in an index: 64 bits, the same in every process and version.

    Among a million different terms, two share a key with a probability of 3 in 100 million.
    """
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def count_terms(terms: Sequence[str]) -> tuple[TermKeys, Counts]:
    """Return the different terms' keys and how often each occurs, both of shape (different,)."""
    counted = Counter(terms)
    keys = np.fromiter(map(term_key, counted), np.uint64, len(counted))
    return keys, np.fromiter(counted.values(), np.uint16, len(counted))


@dataclass(frozen=True, slots=True)
class Postings:
    """Which of `row_count` consecutive rows contain which term, and how often.

    `keys` is sorted; term i occurs in `rows[starts[i]:starts[i + 1]]`, each row once.
    """

    keys: TermKeys
    starts: npt.NDArray[np.int64]
    rows: Rows
    counts: Counts
    row_count: int

    @classmethod
    def build(cls, keys: TermKeys, rows: Rows, counts: Counts, row_count: int) -> "Postings":
        """Group (term, row, count) triples, each of shape (triples,), by term."""
        order = np.argsort(keys, kind="stable")  # a third of the time where terms recur
        ordered = keys[order]
        first = np.ones(len(ordered), dtype=bool)
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        starts = np.append(np.flatnonzero(first), len(ordered))
        return cls(ordered[first], starts, rows[order], counts[order], row_count)

    @classmethod
    def merge(cls, parts: Sequence["Postings"]) -> "Postings":
        """Join postings of neighbouring rows into one."""
        return cls.build(
            np.concatenate([np.repeat(part.keys, np.diff(part.starts)) for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.counts for part in parts]),
            sum(part.row_count for part in parts),
        )

    def find(self, keys: TermKeys) -> dict[int, tuple[Rows, Counts]]:
        """Return the rows that contain each of some terms, and its count in each row.

        They come by the place of the term among `keys`; those that occur nowhere are left out.
        """
        places = np.searchsorted(self.keys, keys)
        inside = places < len(self.keys)
        inside[inside] = self.keys[places[inside]] == keys[inside]
        found = np.flatnonzero(inside)
        starts, stops = self.starts[places[found]], self.starts[places[found] + 1]
        return {
            place: (self.rows[start:stop], self.counts[start:stop])
            for place, start, stop in zip(
                found.tolist(), starts.tolist(), stops.tolist(), strict=True
            )
        }


class Bm25:
    """Scores every row for a question.

    Args:
        postings: Segments that together cover all rows.
        lengths: Number of terms of each row, shape (rows,).
        alive: Which rows count at all, shape (rows,); the others score 0.
        k1: How soon a repeated word counts no more; 0 where it counts once, in any length.
    """

    def __init__(
        self,
        postings: Sequence[Postings],
        lengths: npt.NDArray[np.int32],
        alive: npt.NDArray[np.bool_],
        k1: float = K1,
    ) -> None:
        self._postings = postings
        self._alive = alive
        self._all_alive = bool(alive.all())
        living = lengths[alive]
        self._blocks = int(np.count_nonzero(living))
        mean = living.sum(dtype=np.float64) / self._blocks if self._blocks else 1.0
        self._saturation = k1 * (1 - B + B * lucene_lengths(lengths) / mean)

    def score(self, terms: Sequence[str]) -> Scores:
        """Return each row's score for a question's terms, shape (rows,); 0 where none occurs."""
        counted = Counter(terms)
        keys = np.fromiter(map(term_key, counted), np.uint64, len(counted))
        found = [(at, *one) for part in self._postings for at, one in part.find(keys).items()]
        found.sort(key=itemgetter(0))  # so that a score is added up in the order of the terms
        scores = np.zeros(len(self._alive))
        if not found:
            return scores
        places, every_row, every_count = zip(*found, strict=True)
        of_term = np.repeat(places, [*map(len, every_row)])
        rows, counts = np.concatenate(every_row), np.concatenate(every_count)
        if not self._all_alive:
            living = self._alive[rows]
            of_term, rows, counts = of_term[living], rows[living], counts[living]
        having = np.bincount(of_term, minlength=len(keys))
        rarity = np.array([idf(self._blocks, some) for some in having.tolist()])
        worth = np.fromiter(counted.values(), np.float64, len(keys)) * rarity
        frequency = counts.astype(np.float64)
        frequency /= frequency + self._saturation[rows]
        scores += np.bincount(rows, worth[of_term] * frequency, len(scores))
        return scores

    def reach(self, terms: Sequence[str]) -> float:
        """Return what no row can score more than for these terms, each once."""
        keys = np.fromiter(map(term_key, terms), np.uint64, len(terms))
        having = [0] * len(terms)
        for part in self._postings:
            for at, (rows, _) in part.find(keys).items():
                having[at] += len(rows) if self._all_alive else int(self._alive[rows].sum())
        return fsum(idf(self._blocks, some) for some in having)


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
