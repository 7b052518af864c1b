"""What it costs to ask as somebody: 10,000 tables, of which the asker may see a part.

    python -m pneuma_bench.experiments.embedded.restricted [--tables 10000] [--questions 40]

Prints processor milliseconds a question (`search` and `table_scores` of what it proposed), the
first question of an asker apart: what an asker sees is made then, and again after each change.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pneuma_assets.core.index.base import IndexFilter, IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.signals import proposed_tables
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms

_DIMENSION, _BLOCKS, _ROWS, _WORDS = 384, 3, 10, 20_000


def _contents(number: int, words: np.ndarray, random: np.random.Generator) -> TableContents:
    table_id = f"w/s{number % 50}/t{number}"

    def text(length: int) -> str:
        return " ".join(words[np.minimum(random.zipf(1.3, length), _WORDS) - 1])

    drawn = random.standard_normal((_BLOCKS, _DIMENSION)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    blocks = [
        EmbeddedBlock(Block(table_id, DocumentKind.CONTEXT, text(80)), vector) for vector in drawn
    ]
    rows = tuple((text(5), text(5)) for _ in range(_ROWS))
    evidence = TableTerms(tuple(table_id.split("/")), ("name", "remark"), rows=rows)
    readers = None if number % 5 == 0 else (f"w/role{number % 50}",)
    return TableContents(blocks, evidence, TableFacts(readers))


def _ask(index: SearchIndex, queries: Sequence[IndexQuery], where: IndexFilter) -> list[float]:
    spent = []
    for query in queries:
        before = time.process_time()
        (side,) = index.search([query], 50, where)
        index.table_scores([query], [proposed_tables(side, 100)], where)
        spent.append(1000 * (time.process_time() - before))
    return spent


def main() -> None:
    """Fill an index and ask it as several askers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=40)
    options = parser.parse_args()
    random = np.random.default_rng(7)
    words = np.array([f"w{number:x}" for number in range(_WORDS)])
    with tempfile.TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder), "random", _DIMENSION)
        for first in range(0, options.tables, 500):
            numbers = range(first, min(first + 500, options.tables))
            index.replace_tables(
                {f"w/s{n % 50}/t{n}": _contents(n, words, random) for n in numbers}
            )
        queries = []
        for _ in range(options.questions):
            vector = random.standard_normal(_DIMENSION).astype(np.float32)
            text = " ".join(words[random.integers(20, 3000, 6)])
            queries.append(IndexQuery(text, vector / np.linalg.norm(vector), text))
        _ask(index, queries[:1], IndexFilter())  # loads it
        half = tuple(f"w/role{number}" for number in range(25))
        askers = {"may see all": None, "a role (22 %)": ("w/role1",), "25 roles (60 %)": half}
        for name, readers in askers.items():
            first, *others = _ask(index, queries, IndexFilter(readers=readers))
            print(f"{name}: first {first:.1f} ms, then {np.median(others):.1f} ms")
        index.close()


if __name__ == "__main__":
    main()
