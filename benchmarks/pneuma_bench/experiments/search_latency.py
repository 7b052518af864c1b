"""How long does one question take? Fused search with true scores, as a question runs it.

    python -m pneuma_bench.experiments.search_latency --blocks 30000 100000

A fused search asks both sides for 50 blocks (k = 10, n = 5) and fetches the true scores of those
that one side alone has found (Pneuma, section 5.1). With the evidence of --rows rows a table, a
question also asks every field for 50 tables and fetches the true scores of all tables that any
signal has proposed.

Text is that of the Wikipedia tables (FeTaQA, TabFact) in --data, about 110 words a block, every
seventh word exchanged so that no two blocks are alike. Vectors lie in clusters, as those of an
encoder do.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.signals import proposed_tables
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms, Vector
from pneuma_assets.core.terms.rare_words import sought_words
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.support.timing import time_each, timed

DIMENSION = 384
BLOCKS_A_TABLE = 4
WORDS_A_BLOCK = 110
WORDS_A_ROW = 10
CLUSTERS = 500
CANDIDATES_A_SIDE = 50
DATA = Path(__file__).resolve().parents[3].parent / "shared/data/retrieval"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Tables of embedded blocks, and questions with vectors of shape (questions, DIMENSION)."""

    tables: dict[str, list[EmbeddedBlock]]
    questions: list[str]
    vectors: Vector

    @property
    def blocks(self) -> list[EmbeddedBlock]:
        """All blocks in a row."""
        return [block for blocks in self.tables.values() for block in blocks]


class CorpusMaker:
    """Makes corpora of any size, the same ones every time."""

    def __init__(self, data: Path) -> None:
        self._texts = [
            " ".join(
                f"{column}: {cell}"
                for row in table["rows"]
                for column, cell in zip(table["columns"], row, strict=False)
            ).split()[:WORDS_A_BLOCK]
            for table in _lines(data, "tables")
        ]
        self._words = sorted({word for text in self._texts for word in text})
        self._questions = [line["question"] for line in _lines(data, "queries")]
        self._chance = random.Random(0)
        self._random = np.random.default_rng(0)
        self._centres = self._random.standard_normal((CLUSTERS, DIMENSION), dtype=np.float32)

    def vectors(self, count: int) -> Vector:
        """Return unit vectors near the clusters' centres, shape (count, DIMENSION)."""
        chosen = self._centres[self._random.integers(0, CLUSTERS, count)]
        noise = self._random.standard_normal((count, DIMENSION), dtype=np.float32)
        drawn = chosen + np.float32(0.7) * noise
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def _table(self, number: int) -> tuple[str, list[EmbeddedBlock]]:
        table_id = f"lake/folder{number % 100}/table{number}"
        return table_id, [
            EmbeddedBlock(Block(table_id, DocumentKind.ROWS, self._text()), vector)
            for vector in self.vectors(BLOCKS_A_TABLE)
        ]

    def evidence(self, table_id: str, rows: int) -> TableTerms:
        """Return evidence of the same text: ten words a row, in cells of two."""
        words: list[str] = []
        while len(words) < rows * WORDS_A_ROW:
            words += self._text().split()
        cells = [" ".join(words[at : at + 2]) for at in range(0, rows * WORDS_A_ROW, 2)]
        width = WORDS_A_ROW // 2
        return TableTerms(
            names=tuple(table_id.split("/")),
            columns=tuple(self._chance.choices(self._words, k=width)),
            rows=tuple(tuple(cells[at : at + width]) for at in range(0, len(cells), width)),
        )

    def corpus(self, blocks: int, questions: int) -> Corpus:
        """Return `blocks` blocks in tables of four."""
        tables = dict(self._table(number) for number in range(blocks // BLOCKS_A_TABLE))
        return Corpus(tables, self._questions[:questions], self.vectors(questions))

    def _text(self) -> str:
        return self._changed(self._chance.choice(self._texts))

    def _changed(self, text: Sequence[str]) -> str:
        words = list(text)
        for place in range(0, len(words), 7):
            words[place] = self._chance.choice(self._words)
        return " ".join(words)


def _lines(data: Path, part: str) -> list[dict[str, Any]]:
    paths = sorted(data.glob(f"*.{part}.jsonl"))
    if not paths:
        sys.exit(f"No *.{part}.jsonl in {data}; name the folder that holds them with --data.")
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of *.tables.jsonl")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--blocks", type=int, nargs="+", default=[30_000, 100_000])
    parser.add_argument("--rows", type=int, default=50, help="rows of evidence a table")
    options = parser.parse_args()
    maker = CorpusMaker(options.data)
    for blocks in options.blocks:
        corpus = maker.corpus(blocks, options.questions)
        with tempfile.TemporaryDirectory() as folder:
            index = EmbeddedIndex(Path(folder), "made", DIMENSION)
            tables = {i: TableContents(blocks) for i, blocks in corpus.tables.items()}
            fill(index, f"{len(corpus.blocks):,} blocks", tables)
            report(index, corpus)
            if options.rows:
                evidence = {i: maker.evidence(i, options.rows) for i in corpus.tables}
                tables = {i: TableContents(b, evidence[i]) for i, b in corpus.tables.items()}
                fill(index, f"evidence of {options.rows} rows a table", tables)
                index.optimise()
                report_evidence(index, corpus)
            index.close()


def fill(index: SearchIndex, what: str, tables: dict[str, TableContents]) -> None:
    """Index tables and print what that takes."""
    _, took = timed(lambda: index.replace_tables(tables))
    size = index.info().size_bytes / 1e6
    print(f"{what}: {took.wall:.1f} s ({took.cpu:.1f} s of processor time), {size:.0f} MB on disk")


def report(index: SearchIndex, corpus: Corpus) -> None:
    """Print how long questions take that both sides answer; one is asked before, uncounted."""
    queries = list(map(IndexQuery, corpus.questions, corpus.vectors))

    def fused(query: IndexQuery) -> None:
        (hits,) = index.search([query], CANDIDATES_A_SIDE)
        sides = [{hit.block.block_id for hit in side} for side in (hits.lexical, hits.semantic)]
        index.scores([query], [sorted(sides[0] ^ sides[1])])

    _, first = timed(lambda: fused(queries[0]))
    print(f"  the first question {first.wall:.2f} s")
    print("  fused search, p50 / p95 / cpu ms:", time_each(fused, queries))


def report_evidence(index: SearchIndex, corpus: Corpus) -> None:
    """Print how long questions take that ask for evidence, and for rare words, too."""
    plain = [IndexQuery(*one, one[0]) for one in zip(corpus.questions, corpus.vectors, strict=True)]
    sought = [replace(one, sought=sought_words(one.text or "", ENGLISH)) for one in plain]
    proposed: list[int] = []

    def fused(query: IndexQuery) -> None:
        (hits,) = index.search([query], CANDIDATES_A_SIDE)
        tables = proposed_tables(hits)
        index.table_scores([query], [tables])
        proposed.append(len(tables))

    for what, queries in (("", plain), (", rare words, too", sought)):
        fused(queries[0])
        timing = time_each(lambda q: index.search([q], 50), queries)
        print(f"  search{what}, p50 / p95 / cpu ms:", timing)
        timing = time_each(fused, queries)
        print(f"  with scores of {np.median(proposed):.0f} tables{what}:", timing)


if __name__ == "__main__":
    main()
