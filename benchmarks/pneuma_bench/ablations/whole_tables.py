"""Plain retrievers over whole tables: words alone, vectors of tables, vectors of rows.

The paper's full-text search (section 7.1) is BM25 over all that a table holds; TARGET's dense table
(section 3) embeds a table's columns and rows as one text. Neither knows anything of this project's
documents, signals or analysis of words.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import bm25s
import numpy as np
from Stemmer import Stemmer

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Document, DocumentKind, Table, Vector
from pneuma_bench.ablations.contestants import Prepared
from pneuma_bench.keys import code_key
from pneuma_bench.sets import RetrievalSet

_AT_ONCE = 512
_DENSE_ROWS = 100
"""TARGET embeds at most so many rows of a table."""


class WholeTableWords(Closing):
    """BM25 over each table as one text: its names, columns and all rows; keeps `Contestant`.

    Words are those of `bm25s`: letters and digits, lower case, English function words left out,
    stemmed; k1 = 1.5, b = .75, Lucene's formula.
    """

    name = "BM25, whole tables"

    @property
    def key(self) -> str:
        """Equal for the same code."""
        return f"{type(self).__name__} {code_key()}"

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:
        """Index every table's text; where none has a word, nothing is ever found."""
        self._analysis = {"stopwords": "en", "stemmer": Stemmer("english"), "show_progress": False}
        self._ids = [table.table_id for table, _ in dataset.tables]
        began = time.perf_counter()
        texts = [_whole_text(dataset, table, rows) for table, rows in dataset.tables]
        self._bm25 = bm25s.BM25()
        words = bm25s.tokenize(texts, **self._analysis)
        self._known = frozenset(words.vocab)
        if self._known:  # bm25s cannot index texts without any
            self._bm25.index(words, show_progress=False)
        seconds = time.perf_counter() - began
        folder.mkdir(parents=True, exist_ok=True)
        if self._known:
            self._bm25.save(str(folder))
        size = sum(path.stat().st_size for path in folder.iterdir())
        return Prepared(seconds, size, len(texts), 0)

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return the tables of the highest scores above 0; of equal ones, those that come first."""
        answers: list[list[str]] = []
        for words in bm25s.tokenize(list(questions), return_ids=False, **self._analysis):
            known = [word for word in words if word in self._known]
            scores = self._bm25.get_scores(known) if known else np.zeros(len(self._ids))
            best = np.argsort(-scores, kind="stable")[:k]
            answers.append([self._ids[at] for at in best if scores[at] > 0])
        return answers

    def close(self) -> None:
        """Nothing is held open."""


class _Vectors(Closing):
    """Embeds texts of tables, and answers by the cosine to a table's nearest one."""

    name = ""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @property
    def key(self) -> str:
        """Equal for the same texts embedded by the same model and code."""
        return f"{type(self).__name__} {code_key()} {self._encoder.name}"

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:
        """Embed every text; the vectors are written as they are held, in float32."""
        self._encoder.encode_documents(["ready"])
        self._ids = [table.table_id for table, _ in dataset.tables]
        began = time.perf_counter()
        owners, texts = self._texts(dataset)
        vectors = np.empty((len(texts), self._encoder.dimension), np.float32)
        for some in chunks(range(len(texts)), _AT_ONCE):
            part = slice(some[0], some[-1] + 1)
            vectors[part] = self._encoder.encode_documents(texts[part])
            report(f"embedding, {self.name}", part.stop, len(texts))
        self._owners, self._vectors = self._joined(np.array(owners), vectors)
        seconds = time.perf_counter() - began
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "vectors.npy", self._vectors)
        size = (folder / "vectors.npy").stat().st_size
        return Prepared(seconds, size, len(texts), len(self._vectors))

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return the tables of the nearest texts; of equally near ones, those that come first.

        The texts of a table stand together, in the order of the tables: so its nearest one is found
        without sorting all, which a plain retriever would not do either.
        """
        owners, begin = np.unique(self._owners, return_index=True)
        answers = []
        for question in self._encoder.encode_queries(list(questions)):
            nearest = np.maximum.reduceat(self._vectors @ question, begin)
            order = np.argsort(-nearest, kind="stable")[:k]
            answers.append([self._ids[owners[at]] for at in order])
        return answers

    def close(self) -> None:
        """Nothing is held open."""

    def _texts(self, dataset: RetrievalSet) -> tuple[list[int], list[str]]:
        raise NotImplementedError

    def _joined(self, owners: Vector, vectors: Vector) -> tuple[Vector, Vector]:
        """Return whose vectors there are, and these."""
        return owners, vectors


class WholeTableVectors(_Vectors):
    """One vector a table: columns and up to 100 rows as Markdown; keeps `Contestant`.

    A text longer than the encoder's window is cut into windows, whose mean is the table's vector.
    """

    name = "embeddings, whole tables"

    def _texts(self, dataset: RetrievalSet) -> tuple[list[int], list[str]]:
        owner = {table_id: at for at, table_id in enumerate(self._ids)}
        documents = [
            Document(table.table_id, DocumentKind.ROWS, "\n".join(_markdown(dataset, table, rows)))
            for table, rows in dataset.tables
        ]
        blocks = pack_blocks(documents, self._encoder)
        return [owner[block.table_id] for block in blocks], [block.text for block in blocks]

    def _joined(self, owners: Vector, vectors: Vector) -> tuple[Vector, Vector]:
        those = np.unique(owners)
        means = np.stack([vectors[owners == one].mean(axis=0) for one in those])
        return those, means / np.linalg.norm(means, axis=1, keepdims=True)


class RowVectors(_Vectors):
    """One vector a row, "column: value, ..."; a table is as near as its nearest row.

    What embedding a database row by row comes to, in this process; keeps `Contestant`.

    Args:
        encoder: Embeds rows and questions.
        most_rows: Of each table, the first so many are embedded.
    """

    name = "embeddings, every row"

    def __init__(self, encoder: Encoder, most_rows: int) -> None:
        super().__init__(encoder)
        self._most = most_rows

    @property
    def key(self) -> str:
        """Equal for the same texts embedded by the same model."""
        return f"{super().key} {self._most}"

    def _texts(self, dataset: RetrievalSet) -> tuple[list[int], list[str]]:
        owners, texts = [], []
        for at, (table, rows) in enumerate(dataset.tables):
            for row in rows[: self._most]:
                pairs = zip(table.columns, row, strict=True)
                texts.append(", ".join(f"{column.name}: {cell or ''}" for column, cell in pairs))
                owners.append(at)
        return owners, texts


def _whole_text(dataset: RetrievalSet, table: Table, rows: Sequence[Row]) -> str:
    """Return all that a table says: its names, what people wrote, its columns, every cell."""
    said = (*dataset.names.get(table.table_id, ()), *dataset.contexts.get(table.table_id, ()))
    cells = (" ".join(cell for cell in row if cell) for row in rows)
    return "\n".join((*said, " ".join(column.name for column in table.columns), *cells))


def _markdown(dataset: RetrievalSet, table: Table, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table: its name, its columns, up to 100 rows."""
    if name := dataset.names.get(table.table_id, ()):
        yield " ".join(name)
    yield f"| {' | '.join(column.name for column in table.columns)} |"
    for row in rows[:_DENSE_ROWS]:
        yield f"| {' | '.join((cell or '').replace(chr(10), ' ') for cell in row)} |"
