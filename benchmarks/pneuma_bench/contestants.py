"""This project's search beside plain retrievers, on one set (Pneuma, section 7)."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import bm25s
import numpy as np
from Stemmer import Stemmer

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.evaluation.metrics import Interval, first_place, mean_intervals
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.progress import report
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.tables import Document, DocumentKind, Table, Vector
from pneuma_bench.files import kept_json, write_lines
from pneuma_bench.keys import measurement_key
from pneuma_bench.lab import Lab
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import setting_of

SIDES = {"alpha": 0.5, "n": 5}
"""The paper's own search: two sides of equal weight, five candidates a place (section 7.1)."""
_K, _TIMED = 10, 100
"""Tables of an answer; questions asked one by one to learn how long one takes (section 7.2.2)."""
_DENSE_ROWS = 100
"""TARGET embeds at most so many rows of a table."""
ANALYSIS: Mapping[str, Any] = {
    "stopwords": "en", "stemmer": Stemmer("english"), "show_progress": False
}  # fmt: skip
"""How `bm25s` makes words of texts here."""
_LOADING = [" ".join(["ready"] * 300)] * 8
"""So many tokens that the whole encoder is loaded for them, not the part that questions need."""


class Prepared(NamedTuple):
    """What indexing a set took: seconds, bytes that are kept to answer, and vectors."""

    seconds: float
    size_bytes: int
    vectors: int


class Contestant(Protocol):
    """A retriever; one object indexes and answers for one set.

    One that asks a model says by an attribute `unanswered` how many of its prompts had no reply
    that can be read: what depends on them is not found, and is no verdict on the retriever.
    """

    def prepare(self, dataset: RetrievalSet) -> Prepared:
        """Index the tables."""

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return at most `k` ids of tables of each question, best first."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one contestant did on one set.

    Attributes:
        places: Of each question that a table answers, the place of the first right one, from 1;
            0 where none was found. In the order of the set.
        kinds: What sort each of these questions is; `""` where that is not known.
        facts: Sizes and times by name.
    """

    places: Sequence[int]
    kinds: Sequence[str]
    facts: Mapping[str, float]

    def hit_rate(self, k: int, kind: str | None = None) -> tuple[float, Interval]:
        """Return the hit rate (section 7.1) and its 95 % interval; NaN without questions."""
        pairs = zip(self.places, self.kinds, strict=True)
        hits = np.array([0 < place <= k for place, one in pairs if kind in (None, one)], np.float64)
        mean = float(hits.mean()) if len(hits) else float("nan")
        return mean, mean_intervals({"hits": hits})["hits"]


def measured(contestant: Contestant, dataset: RetrievalSet, rounds: int) -> Measured:
    """Let a contestant index a set and answer every question; count, and time 100 of them."""
    prepared = contestant.prepare(dataset)
    places, kinds = [], []
    answers = contestant.answer(dataset.questions, _K)
    for found, one in zip(answers, dataset.asked, strict=True):
        if one.relevant:
            places.append(first_place(found, one.relevant) or 0)
            kinds.append(one.kind)
    some = [*islice(cycle(dataset.questions[:: max(1, len(answers) // _TIMED)]), _TIMED)]
    contestant.answer(some[:1], _K)
    began = time.perf_counter()
    for question in some * rounds:
        contestant.answer([question], _K)
    rate = len(some) * rounds / (time.perf_counter() - began)
    silent = getattr(contestant, "unanswered", 0)
    facts = {**prepared._asdict(), "questions_a_second": rate, "unanswered": silent}
    return Measured(places, kinds, facts)


def beside(
    dataset: RetrievalSet,
    deployment: Deployment,
    keep: Lab,
    rounds: int,
    most_rows: int,
    others: Mapping[str, Callable[[Encoder], Contestant]] = MappingProxyType({}),
) -> Iterator[tuple[str, Measured]]:
    """Yield every contestant's name and what it did on a set; what was measured stays in `keep`.

    This project is indexed in a lab that remembers nothing; of each table `most_rows` rows are
    embedded one by one, 0 being none. `others` make more contestants by their names; one of them
    is measured again as long as a model leaves prompts unanswered.
    """
    encoder = keep.encoder(setting_of(deployment, {}))
    encoder.encode_documents(_LOADING)
    with keep.forgetful() as fresh:
        makers: dict[str, Contestant] = {
            "this project": OurSearch(fresh, deployment, {}),
            "this project, the paper's two sides": OurSearch(fresh, deployment, SIDES),
            "BM25, whole tables": WholeTableWords(),
            "embeddings, whole tables": WholeTableVectors(encoder),
        }
        if most_rows:
            makers["embeddings, every row"] = RowVectors(encoder, most_rows)
        makers |= {name: make(encoder) for name, make in others.items()}
        for done, (name, contestant) in enumerate(makers.items()):
            report("measuring", done, len(makers))
            settings = setting_of(deployment, {}).key, name, str(rounds), str(most_rows)
            path = keep.folder / "beside" / f"{measurement_key(dataset, *settings)}.json"
            if (kept := kept_json(path)) is None:
                found = measured(contestant, dataset, rounds)
                kept = {"places": found.places, "kinds": found.kinds, "facts": dict(found.facts)}
                if not found.facts["unanswered"]:
                    write_lines(path, [kept])
            yield name, Measured(**kept)


class OurSearch:
    """This project's search with some options of a setting."""

    def __init__(self, lab: Lab, deployment: Deployment, given: Mapping[str, Any]) -> None:
        self._lab, self._setting = lab, setting_of(deployment, given)

    def prepare(self, dataset: RetrievalSet) -> Prepared:  # noqa: ARG002 (the lab has it)
        """Build the index; two settings that share one build it once."""
        index, built, _ = self._lab.index(self._setting)
        self._engine, info = self._lab.engine(self._setting, remembering=False), index.info()
        return Prepared(built.seconds, info.size_bytes, info.blocks)

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Ask as the product does."""
        found = self._engine.ask_many(questions, **{**self._setting.ask_options(()), "k": k})
        return [[result.table_id for result in one] for one in found]


class WholeTableWords:
    """BM25 over each table as one text (the paper's full-text search): names, columns, all rows.

    Words are those of `bm25s`: letters and digits, lower case, English function words left out,
    stemmed; k1 = 1.5, b = .75, Lucene's formula.
    """

    def prepare(self, dataset: RetrievalSet) -> Prepared:
        """Index every table's text; where none has a word, nothing is ever found."""
        self._ids = [table.table_id for table, _ in dataset.tables]
        began = time.perf_counter()
        texts = [whole_text(dataset, table, rows) for table, rows in dataset.tables]
        self._bm25 = bm25s.BM25()
        words = bm25s.tokenize(texts, **ANALYSIS)
        self._known = frozenset(words.vocab)
        size = 0
        if self._known:  # bm25s cannot index texts without any
            self._bm25.index(words, show_progress=False)
            size = sum(self._bm25.scores[one].nbytes for one in ("data", "indices", "indptr"))
        return Prepared(time.perf_counter() - began, size, 0)

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return the tables of the highest scores above 0; of equal ones, those that come first."""
        answers: list[list[str]] = []
        for words in bm25s.tokenize(list(questions), return_ids=False, **ANALYSIS):
            known = [word for word in words if word in self._known]
            scores = self._bm25.get_scores(known) if known else np.zeros(len(self._ids))
            best = np.argsort(-scores, kind="stable")[:k]
            answers.append([self._ids[at] for at in best if scores[at] > 0])
        return answers


class RowVectors:
    """One vector a row, "column: value, ..."; a table is as near as its nearest row."""

    def __init__(self, encoder: Encoder, most_rows: int = 0) -> None:
        self._encoder, self._most = encoder, most_rows

    def prepare(self, dataset: RetrievalSet) -> Prepared:
        """Embed every text; the texts of a table stand together, in the order of the tables."""
        self._ids = [table.table_id for table, _ in dataset.tables]
        began = time.perf_counter()
        owners, texts = self._texts(dataset)
        vectors = self._encoder.encode_documents(texts)
        self._owners, self._vectors = self._joined(np.array(owners), vectors)
        return Prepared(time.perf_counter() - began, self._vectors.nbytes, len(self._vectors))

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return the tables of the nearest texts; of equally near ones, those that come first."""
        owners, begin = np.unique(self._owners, return_index=True)
        answers = []
        for question in self._encoder.encode_queries(list(questions)):
            nearest = np.maximum.reduceat(self._vectors @ question, begin)
            order = np.argsort(-nearest, kind="stable")[:k]
            answers.append([self._ids[owners[at]] for at in order])
        return answers

    def _texts(self, dataset: RetrievalSet) -> tuple[list[int], list[str]]:
        owners, texts = [], []
        for at, (table, rows) in enumerate(dataset.tables):
            for row in rows[: self._most]:
                pairs = zip(table.columns, row, strict=True)
                texts.append(", ".join(f"{column.name}: {cell or ''}" for column, cell in pairs))
                owners.append(at)
        return owners, texts

    def _joined(self, owners: Vector, vectors: Vector) -> tuple[Vector, Vector]:
        """Return whose vectors there are, and these."""
        return owners, vectors


class WholeTableVectors(RowVectors):
    """One vector a table (TARGET, section 3): columns and up to 100 rows as Markdown.

    A text longer than the encoder's window is cut into windows, whose mean is the table's vector.
    """

    def _texts(self, dataset: RetrievalSet) -> tuple[list[int], list[str]]:
        owner = {table_id: at for at, table_id in enumerate(self._ids)}
        documents = [
            Document(table.table_id, DocumentKind.ROWS, "\n".join(markdown(dataset, table, rows)))
            for table, rows in dataset.tables
        ]
        blocks = pack_blocks(documents, self._encoder)
        return [owner[block.table_id] for block in blocks], [block.text for block in blocks]

    def _joined(self, owners: Vector, vectors: Vector) -> tuple[Vector, Vector]:
        those = np.unique(owners)
        means = np.stack([vectors[owners == one].mean(axis=0) for one in those])
        return those, means / np.linalg.norm(means, axis=1, keepdims=True)


def whole_text(dataset: RetrievalSet, table: Table, rows: Sequence[Row]) -> str:
    """Return all that a table says: its names, what people wrote, its columns, every cell."""
    said = (*dataset.names.get(table.table_id, ()), *dataset.contexts.get(table.table_id, ()))
    cells = (" ".join(cell for cell in row if cell) for row in rows)
    return "\n".join((*said, " ".join(column.name for column in table.columns), *cells))


def markdown(dataset: RetrievalSet, table: Table, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table: its name, its columns, up to 100 rows."""
    if name := dataset.names.get(table.table_id, ()):
        yield " ".join(name)
    yield f"| {' | '.join(column.name for column in table.columns)} |"
    for row in rows[:_DENSE_ROWS]:
        yield f"| {' | '.join((cell or '').replace(chr(10), ' ') for cell in row)} |"
