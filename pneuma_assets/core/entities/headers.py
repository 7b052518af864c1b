"""The embeddings of columns' headers, kept or made now, and what mentions match among them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from pneuma_assets.core.entities.matching import (
    LEAST_COSINE,
    MOST_NAMES,
    Headers,
    Match,
    headers_of,
    matched_columns,
    matches,
)
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import Vector
from pneuma_assets.core.text.analysis import Analyzer

KeptHeaders = Callable[[Sequence[str]], Mapping[str, Vector]]
"""Returns the embeddings that are kept of headers, as words; of some there may be none."""


def _nothing(_: Sequence[str]) -> Mapping[str, Vector]:
    return {}


@dataclass(frozen=True, slots=True)
class HeaderMatcher:
    """Matches what questions mention with the columns of tables.

    Mentions and headers are embedded alike, as documents: where they are the same phrase, the
    cosine is 1, whatever an encoder puts before questions.

    Attributes:
        encoder: The deployment's.
        analyzer: Of the index.
        kept: Returns the embeddings that are kept by this encoder; others are made.
        most: Headers that a mention matches by meaning.
        least: Cosine of these.
    """

    encoder: Encoder
    analyzer: Analyzer
    kept: KeptHeaders = _nothing
    most: int = MOST_NAMES
    least: float = LEAST_COSINE

    def among(self, most: int, least: float) -> Self:
        """Return the same with other bounds of a match by meaning."""
        return type(self)(self.encoder, self.analyzer, self.kept, most, least)

    def matched_columns(
        self, mentions: Sequence[str], tables: Mapping[str, Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        """Return which columns of tables are mentioned, and how well each matches, up to 1.

        Args:
            mentions: Phrases that may name columns, as of `mentions.word_mentions`.
            tables: The columns of each table.

        Raises:
            ModelError: The encoder cannot be loaded.
        """
        return matched_columns(self.matches(mentions, tables), tables)

    def matches(
        self, mentions: Sequence[str], tables: Mapping[str, Sequence[str]]
    ) -> list[dict[str, Match]]:
        """Return of each mention the headers of these tables that match it.

        Raises:
            ModelError: The encoder cannot be loaded.
        """
        names = headers_of(tables)
        if not mentions or not names:
            return [{} for _ in mentions]
        headers = Headers(names, self._embedded(names))
        vectors = self.encoder.encode_documents(mentions)
        return matches(mentions, vectors, headers, self.analyzer, most=self.most, least=self.least)

    def _embedded(self, names: Sequence[str]) -> Vector:
        kept = dict(self.kept(names))
        missing = [name for name in names if name not in kept]
        if missing:
            kept |= zip(missing, self.encoder.encode_documents(missing), strict=True)
        return np.stack([kept[name] for name in names])
