"""A tiny deterministic encoder for tests: words are tokens, and each word has its own direction."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b

import numpy as np
import pytest

from pneuma_assets.core.tables import Vector

DOORS = (
    "pneuma_assets.resources.models.open_encoder",
    "pneuma_assets.core.models.encoder.encoder.open_encoder",
)
"""Through which runs and questions open the encoder of a deployment."""


class WordEncoder:
    """Keeps `models.base.Encoder`; texts are alike in the measure that they share words."""

    name = "words"
    dimension = 64

    def __init__(self, window: int = 50) -> None:
        self.window = window
        self.calls: list[Sequence[str]] = []

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        self.calls.append(texts)
        vectors = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
                vectors[row] += np.random.default_rng(seed).standard_normal(self.dimension)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        return self.encode_documents(texts)


@contextmanager
def using_words() -> Iterator[WordEncoder]:
    """Let a `WordEncoder` stand for the encoder of every deployment; yields it."""
    encoder = WordEncoder()
    with pytest.MonkeyPatch.context() as patched:
        for door in DOORS:
            patched.setattr(door, lambda *_: encoder)
        yield encoder
