"""Encoders that a deployment can tell apart by name: what one has built, another cannot search."""

import numpy as np
import pytest

from pneuma_assets.core.tables import Vector
from tests.support.word_encoder import DOORS, WordEncoder

ENCODERS = {"words": (64, 0), "other": (64, 17), "longer": (96, 5)}
"""Dimension of each, and by how many places its vectors are turned: no two go together."""


class NamedEncoder(WordEncoder):
    """A `WordEncoder` under the name that a deployment gives it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.dimension, self._turned = ENCODERS[name]

    def encode_documents(self, texts: list[str]) -> Vector:
        return np.roll(super().encode_documents(texts), self._turned, axis=1)


def use_named_encoders(patched: pytest.MonkeyPatch) -> None:
    """Let `encoder.model` name one of ours, for runs and for questions."""
    for door in DOORS:
        patched.setattr(door, lambda config, *_: NamedEncoder(config.model.model))
