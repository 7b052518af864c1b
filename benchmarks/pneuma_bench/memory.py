"""Embeddings kept between measurements: what is measured anew is mostly not the encoder."""

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import Vector, content_hash
from pneuma_bench.kept_file import KeptFile

_AT_ONCE = 512


class VectorFile(KeptFile):
    """Vectors by what they are of, in a file; what was added is there after a kill.

    Raises:
        BenchmarkError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, v BLOB)")

    def known(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return those vectors that are kept."""
        found: dict[str, Vector] = {}
        try:
            for some in chunks(keys, _AT_ONCE):
                marks = ",".join("?" * len(some))
                rows = self._file.execute(f"SELECT * FROM vectors WHERE key IN ({marks})", some)
                found |= {key: np.frombuffer(v, np.float32) for key, v in rows if not len(v) % 4}
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return found

    def add(self, keys: Sequence[str], vectors: Vector) -> None:
        """Keep vectors."""
        rows = [(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        try:
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise self._failed(error) from error


class RememberingEncoder:
    """An encoder that embeds a text once; keeps `models.base.Encoder`.

    `embedded` counts the texts that the encoder itself was given.
    """

    def __init__(self, encoder: Encoder, kept: VectorFile) -> None:
        self._encoder, self._kept = encoder, kept
        self.name, self.dimension, self.window = encoder.name, encoder.dimension, encoder.window
        self.token_spans = encoder.token_spans
        self.embedded = 0

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Embed texts of an index."""
        return self._encode("document", texts, self._encoder.encode_documents)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions."""
        return self._encode("query", texts, self._encoder.encode_queries)

    def _encode(
        self, side: str, texts: Sequence[str], encode: Callable[[Sequence[str]], Vector]
    ) -> Vector:
        keys = {text: content_hash(self.name, side, text) for text in texts}
        size = self.dimension * np.dtype(np.float32).itemsize
        kept = self._kept.known([*keys.values()])
        known = {key: vector for key, vector in kept.items() if vector.nbytes == size}
        new = [text for text, key in keys.items() if key not in known]
        for some in chunks(new, _AT_ONCE):
            vectors = encode(some)
            self._kept.add([keys[text] for text in some], vectors)
            known.update(zip([keys[text] for text in some], vectors, strict=True))
            self.embedded += len(some)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[keys[text]] for text in texts])
