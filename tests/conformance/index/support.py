"""What the parts of the index conformance suite share."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pytest

from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.tables import (
    Block,
    DocumentKind,
    EmbeddedBlock,
    TableFacts,
    TableTerms,
    Vector,
    content_hash,
)

ENCODER = "encoder-a"

FULL_EVIDENCE = TableTerms(
    names=("lake", "rivers of europe"),
    columns=("danube_river", "length_km"),
    spelled_names="europa",
    spelled_columns="length kilometre",
    rows=(("Danube", "2,850"), ("Rhine", None), ("", "0")),
    cells=("Elbe", "the Danube river"),
)
"""No part of it is as it is by default."""

FULL_FACTS = TableFacts(
    readers=("w/finance", "ana"),
    updated_at=1_700_000_000.25,
    owned=True,
    documented=0.1,
    feeds=3,
    copy_of="s/original",
    joins=("s/a", "s/b"),
    family="s/first",
    prefix="xx",
)
"""Likewise."""


class IndexFactory(Protocol):
    """Opens the test's own storage, empty at first; a second call is a second reader or writer."""

    def __call__(self, encoder: str = ENCODER, dimension: int | None = None) -> SearchIndex: ...


class Conformance:
    """Base of every part. An engine's subclass defines `index_factory` and what it cannot keep."""

    dimension = 64
    lexical_tolerance = 1e-9
    """Relative; an engine that stores rounded lengths needs more."""
    lexical_factor = 1.0
    """The engine's BM25 divided by the textbook's (some multiply by k1 + 1)."""
    semantic_tolerance = 1e-5
    """Absolute; an engine that quantizes vectors needs more."""
    exact_under_rights = True
    """Whether hidden tables count in no statistic, so that scores are those of an index that never
    had them; elsewhere they are in no result and no count, as under any filter."""
    replacements = 40
    """How often the writer replaces a table under a reader's eyes."""

    @pytest.fixture
    def index_factory(self) -> Iterator[IndexFactory]:
        raise NotImplementedError

    @pytest.fixture
    def index(self, index_factory: IndexFactory) -> SearchIndex:
        return index_factory()

    def settle(self, index: SearchIndex) -> None:
        """Let removed blocks stop counting in BM25's statistics.

        The contract's scores are those of the living blocks. An engine whose statistics lag
        until it merges overrides this, and says so in its documentation.
        """

    def vector(self, *seed: object) -> Vector:
        digest = content_hash(*(str(part) for part in seed))
        drawn = np.random.default_rng(int(digest, 16)).standard_normal(self.dimension)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)

    def embedded(
        self, table_id: str, *texts: str, kind: DocumentKind = DocumentKind.ROWS
    ) -> list[EmbeddedBlock]:
        """Return a block a text; the vector depends on the text alone."""
        return [EmbeddedBlock(Block(table_id, kind, text), self.vector(text)) for text in texts]

    def full_contents(self, table_id: str) -> TableContents:
        """Return contents of which no field is as it is by default: each must come back."""
        return TableContents(self.embedded(table_id, "alpha", "beta"), FULL_EVIDENCE, FULL_FACTS)

    def words(self, text: str) -> IndexQuery:
        return IndexQuery(text=text, vector=None)

    def meaning(self, text: str) -> IndexQuery:
        return IndexQuery(text=None, vector=self.vector(text))

    def both(self, text: str) -> IndexQuery:
        return IndexQuery(text=text, vector=self.vector(text))

    def traces(self, text: str) -> IndexQuery:
        return IndexQuery(text=None, vector=None, evidence=text)

    def lexical_texts(self, index: SearchIndex, question: str) -> list[str]:
        """Return the texts that the words find, best first."""
        return [
            hit.block.text for hit in index.search([self.words(question)], limit=100)[0].lexical
        ]


def identical(first: Sequence[EmbeddedBlock], second: Sequence[EmbeddedBlock]) -> bool:
    """Tell whether two tables' blocks are the same, in any order, vectors to float32."""
    ours = {item.block: item.vector for item in first}
    theirs = {item.block: item.vector for item in second}
    return ours.keys() == theirs.keys() and all(
        np.allclose(ours[block], theirs[block], atol=1e-6) for block in ours
    )
