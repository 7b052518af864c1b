"""What is written beside the tables of a set, and how near it is to a datasheet's questions."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import Vector
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.passages import passages_of
from pneuma_bench.sets import RetrievalSet

_AT_ONCE = 256
_ROUND = 4
"""Decimals of a nearness: beyond them, what stands beside a text in its batch decides."""
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")
_SMALL_WORD = re.compile(r"\b[a-z]{2,}\b")


class Pages:
    """The passages of all documents, and questions and passages as the encoder sees them.

    Nearness is the cosine to the nearest part of a question, less what that part has on average
    with all passages, less what the text has on average with all questions: parts such as "who
    created the dataset?" are near to whatever names a data set, and a general text to all parts.
    What is above 0 is nearer than that.

    Attributes:
        passages: All, by table in the order of the set.
        vectors: Of each passage.
        common: Words that they mostly write small.
    """

    def __init__(self, dataset: RetrievalSet, encoder: Encoder) -> None:
        self._encoder = encoder
        self.passages = [
            passage
            for table, _ in dataset.tables
            for passage in passages_of(
                table.table_id,
                dataset.contexts.get(table.table_id, ()),
                [column.name for column in table.columns],
            )
        ]
        self._of_table: dict[str, list[int]] = defaultdict(list)
        for place, passage in enumerate(self.passages):
            self._of_table[passage.table_id].append(place)
        texts = " ".join(passage.text for passage in self.passages)
        names = Counter(map(str.lower, _CAPITALISED.findall(texts)))
        small = Counter(_SMALL_WORD.findall(texts))
        self.common = frozenset(word for word, times in small.items() if times >= names[word])
        parts = [(at, part) for at, one in enumerate(DATASHEET) for part in one.parts]
        self._question_of_part = np.array([at for at, _ in parts])
        self._parts = encoder.encode_queries([part for _, part in parts])
        self.vectors = self.embedded([passage.shown for passage in self.passages])
        self._usual = np.zeros(len(parts), np.float32)
        if self.passages:
            self._usual = (self.vectors @ self._parts.T).mean(axis=0)
        self.near = self.nearness(self.vectors)

    def of_table(self, table_id: str) -> Sequence[int]:
        """Return the places of a table's passages."""
        return self._of_table.get(table_id, ())

    def embedded(self, texts: Sequence[str]) -> Vector:
        """Return texts as the encoder sees them."""
        found = []
        for start in range(0, len(texts), _AT_ONCE):
            found.append(self._encoder.encode_documents(texts[start : start + _AT_ONCE]))
            report("reading documents", min(start + _AT_ONCE, len(texts)), len(texts))
        return np.concatenate(found) if found else np.empty((0, self._encoder.dimension), "f4")

    def nearness(self, vectors: Vector) -> Vector:
        """Return how near each text is to each of the 51 questions, shape (texts, 51)."""
        parts = vectors @ self._parts.T - self._usual
        whole = np.stack(
            [parts[:, self._question_of_part == at].max(axis=1) for at in range(len(DATASHEET))],
            axis=1,
        )
        less: Vector = np.round(whole - whole.mean(axis=1, keepdims=True), _ROUND)
        return less
