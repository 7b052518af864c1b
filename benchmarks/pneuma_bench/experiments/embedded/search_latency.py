"""How long does one question take? Fused search with true scores, as a question runs it.

    python -m pneuma_bench.experiments.embedded.search_latency --blocks 30000 100000

A fused search asks both sides for 50 blocks (k = 10, n = 5) and fetches the true scores of those
that one side alone has found (Pneuma, section 5.1). With the evidence of --rows rows a table, a
question also asks every field for 50 tables and fetches the true scores of all tables that any
signal has proposed.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.signals import proposed_tables
from pneuma_assets.core.terms.rare_words import sought_words
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.support.corpus import (
    DIMENSION,
    Corpus,
    CorpusMaker,
    arguments,
    time_each,
)
from pneuma_bench.experiments.support.timing import timed

CANDIDATES_A_SIDE = 50


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
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
