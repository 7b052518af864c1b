"""Blocks and questions for the index benchmarks: real text repeated with changes, made vectors.

The text is that of Wikipedia tables (FeTaQA, TabFact) in the folder given by --data, about 110
words a block, every seventh word exchanged so that no two blocks are alike. The vectors lie in
clusters, as those of an encoder do; 384 dimensions.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableTerms, Vector

DIMENSION = 384
BLOCKS_A_TABLE = 4
WORDS_A_BLOCK = 110
WORDS_A_ROW = 10
CLUSTERS = 500
DATA = Path(__file__).resolve().parents[4].parent / "shared/data/retrieval"


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


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of repeated calls: by the clock, and of processor time in the middle."""

    p50: float
    p95: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.p50:.1f} / {self.p95:.1f} / {self.cpu:.1f}"


def time_each(action: Callable[[Any], object], items: Iterable[Any]) -> Timing:
    """Call `action` with each item; processor time tells what others on the machine do not."""
    took, worked = [], []
    for item in items:
        start, started = perf_counter(), process_time()
        action(item)
        took.append((perf_counter() - start) * 1000)
        worked.append((process_time() - started) * 1000)
    p50, p95 = np.percentile(took, [50, 95])
    return Timing(float(p50), float(p95), float(np.median(worked)))


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that both benchmarks share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of *.tables.jsonl")
    parser.add_argument("--questions", type=int, default=200)
    return parser


def _lines(data: Path, part: str) -> list[dict]:
    paths = sorted(data.glob(f"*.{part}.jsonl"))
    if not paths:
        sys.exit(f"No *.{part}.jsonl in {data}; name the folder that holds them with --data.")
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]
