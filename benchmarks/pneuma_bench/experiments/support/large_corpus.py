"""A large corpus for comparing engines: real text with changes, vectors whose neighbours mean it.

Ten blocks a table; texts are made when asked for, so that 300,000 blocks take the 460 MB of their
vectors and little more. Blocks that are changes of the same text have vectors of the same cluster.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Vector
from pneuma_bench.experiments.search_latency import DIMENSION, CorpusMaker

BLOCKS_A_TABLE = 10
CLUSTERS = 1_500  # two texts each: of 300,000 blocks, both sides find as many as in real sets
_NOISE = np.float32(0.7)  # two vectors of a cluster have a cosine of about 0.67
_WORDS_ASKED = 8  # of a block's 110
_VECTORS_AT_ONCE = 10_000


class LargeCorpus(CorpusMaker):
    """`blocks` blocks, the same ones every time, and questions.

    Every second question, from the first on, is about a block: words of it, and a vector near its
    own. Of the others, a real question's text and a vector near a cluster, the two have nothing to
    do with each other: hardly a block is found by both sides, the most work for a fused search.
    """

    def __init__(self, data: Path, blocks: int, questions: int) -> None:
        super().__init__(data)
        self._centres = self._random.standard_normal((CLUSTERS, DIMENSION), dtype=np.float32)
        self._tables = blocks // BLOCKS_A_TABLE
        rows = self._tables * BLOCKS_A_TABLE
        self._origins = self._random.integers(0, len(self._texts), rows)
        self.embeddings = np.empty((rows, DIMENSION), np.float32)
        for start in range(0, rows, _VECTORS_AT_ONCE):
            part = slice(start, start + _VECTORS_AT_ONCE)
            self.embeddings[part] = self._near(self._centres[self._origins[part] % CLUSTERS])
        self.questions = list(dict.fromkeys(self._questions))[:questions]
        clusters = self._random.integers(0, CLUSTERS, len(self.questions))
        self.question_vectors = self._near(self._centres[clusters])
        places = range(0, len(self.questions), 2)
        asked = self._random.integers(0, rows, len(places))
        points = self.embeddings[asked] * np.float32(DIMENSION**0.5)  # as long as the noise
        self.question_vectors[::2] = self._near(points)
        for place, row in zip(places, asked, strict=True):
            words = self._block(int(row)).text.split()
            self.questions[place] = " ".join(self._chance.choices(words, k=_WORDS_ASKED))

    def slices(self, tables: int) -> Iterator[dict[str, list[EmbeddedBlock]]]:
        """Yield all tables, `tables` at a time."""
        for first in range(0, self._tables, tables):
            numbers = range(first, min(first + tables, self._tables))
            yield dict(self._numbered(number) for number in numbers)

    def _near(self, points: Vector) -> Vector:
        """Return a unit vector near each of the points, shape (points, DIMENSION)."""
        drawn = self._random.standard_normal(points.shape, dtype=np.float32)
        drawn *= _NOISE
        drawn += points
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def _numbered(self, number: int) -> tuple[str, list[EmbeddedBlock]]:
        rows = range(number * BLOCKS_A_TABLE, (number + 1) * BLOCKS_A_TABLE)
        blocks = [EmbeddedBlock(self._block(row), self.embeddings[row]) for row in rows]
        return blocks[0].block.table_id, blocks

    def _block(self, row: int) -> Block:
        self._chance = random.Random(row)
        number = row // BLOCKS_A_TABLE
        table_id = f"lake/folder{number % 100}/table{number}"
        return Block(table_id, DocumentKind.ROWS, self._changed(self._texts[self._origins[row]]))


class GivenVectors:
    """The part of an encoder that asking needs; it knows its questions, so encoding takes no time.

    Args:
        questions: Texts.
        vectors: Their embeddings, shape (questions, dimension).
    """

    name = "given"

    def __init__(self, questions: Sequence[str], vectors: Vector) -> None:
        self.dimension = vectors.shape[1]
        self._vectors = {text.strip(): row for text, row in zip(questions, vectors, strict=True)}

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Return the vectors of known questions."""
        return np.stack([self._vectors[text] for text in texts])
