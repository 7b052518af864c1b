"""How long does one question take? Fused search with true scores, as a question runs it.

    python -m pneuma_bench.experiments.embedded.search_latency --blocks 30000 100000

A fused search asks both sides for 50 blocks (k = 10, n = 5) and fetches the true scores of those
that one side alone has found (Pneuma, section 5.1). With the evidence of --rows rows a table, a
question also asks every field for 50 tables and fetches the true scores of all tables that any
signal has proposed. With --encode, the default encoder embeds each question first, as a person's
question needs; with --threads, that many askers ask at once.
"""

import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.tables import TableTerms
from pneuma_bench.experiments.support.corpus import (
    DIMENSION,
    Corpus,
    CorpusMaker,
    arguments,
    seconds,
    time_each,
)

CANDIDATES_A_SIDE = 50


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, nargs="+", default=[30_000, 100_000])
    parser.add_argument("--rows", type=int, default=50, help="rows of evidence a table")
    parser.add_argument("--encode", action="store_true", help="embed each question, too")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    maker = CorpusMaker(options.data)
    for blocks in options.blocks:
        corpus = maker.corpus(blocks, options.questions)
        with tempfile.TemporaryDirectory() as folder:
            index = EmbeddedIndex(Path(folder), "made", DIMENSION)
            report(index, corpus, options.encode, options.threads)
            if options.rows:
                evidence = {i: maker.evidence(i, options.rows) for i in corpus.tables}
                report_evidence(index, corpus, evidence)
            index.close()


def report(index: SearchIndex, corpus: Corpus, encode: bool, threads: int) -> None:
    """Index the corpus and print how long questions take."""
    tables = {i: TableContents(blocks) for i, blocks in corpus.tables.items()}
    built, _ = seconds(lambda: index.replace_tables(tables))
    queries = list(map(IndexQuery, corpus.questions, corpus.vectors))
    first, _ = seconds(lambda: fused(index, queries[0]))
    size = index.info().size_bytes / 1e6
    print(
        f"{len(corpus.blocks):,} blocks: built in {built:.1f} s, {size:.0f} MB on disk, "
        f"first question {first:.2f} s"
    )
    print("  fused search, p50 / p95 / cpu ms:", time_each(lambda q: fused(index, q), queries))
    print(f"  a batch of {len(queries)}: {seconds(lambda: index.search(queries, 50))[0]:.2f} s")
    if encode:
        print("  encoding included, p50 / p95 / cpu ms:", with_encoder(index, corpus))
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            took, _ = seconds(lambda: list(pool.map(lambda q: fused(index, q), queries)))
        print(f"  {threads} askers at once: {len(queries) / took:.0f} questions/s")


def report_evidence(index: SearchIndex, corpus: Corpus, evidence: Mapping[str, TableTerms]) -> None:
    """Give the tables evidence, too, and print how long questions take that ask for it."""
    tables = {i: TableContents(blocks, evidence[i]) for i, blocks in corpus.tables.items()}
    built, worked = seconds(lambda: index.replace_tables(tables))
    index.optimise()
    queries = [
        IndexQuery(*asked, asked[0]) for asked in zip(corpus.questions, corpus.vectors, strict=True)
    ]
    first, _ = seconds(lambda: fused_tables(index, queries[0]))
    size = index.info().size_bytes / 1e6
    rows = sum(len(one.rows) for one in evidence.values())
    print(
        f"  evidence of {rows:,} rows in {len(tables):,} tables: added in {built:.1f} s "
        f"({worked:.1f} s of processor time), {size:.0f} MB on disk, first question {first:.2f} s"
    )
    print("  search, p50 / p95 / cpu ms:", time_each(lambda q: index.search([q], 50), queries))
    proposed: list[int] = []
    timing = time_each(lambda q: proposed.append(fused_tables(index, q)), queries)
    print(f"  search and scores of {np.median(proposed):.0f} tables, p50 / p95 / cpu ms:", timing)
    changed = list(tables.items())[:20]
    timing = time_each(lambda item: replaced_and_asked(index, item, queries[0]), changed)
    print("  a replacement and the next question, p50 / p95 / cpu ms:", timing)


def fused_tables(index: SearchIndex, query: IndexQuery) -> int:
    """Do what one question asks of an index with evidence; returns how many tables it scores."""
    (hits,) = index.search([query], CANDIDATES_A_SIDE)
    proposed = {hit.block.table_id for side in (hits.lexical, hits.semantic) for hit in side}
    proposed |= {hit.table_id for tables in hits.fields.values() for hit in tables}
    index.table_scores([query], [sorted(proposed)])
    return len(proposed)


def replaced_and_asked(
    index: SearchIndex, item: tuple[str, TableContents], query: IndexQuery
) -> None:
    """Change one table's evidence and ask, as a reader does that follows a writer."""
    table_id, contents = item
    changed = replace(contents.evidence, rows=contents.evidence.rows[1:])
    index.replace_tables({table_id: replace(contents, evidence=changed)})
    fused_tables(index, query)


def fused(index: SearchIndex, query: IndexQuery) -> None:
    """Do what one question asks of the index."""
    hits = index.search([query], CANDIDATES_A_SIDE)[0]
    lexical = {hit.block.block_id for hit in hits.lexical}
    semantic = {hit.block.block_id for hit in hits.semantic}
    index.scores([query], [sorted(lexical ^ semantic)])


def with_encoder(index: SearchIndex, corpus: Corpus) -> str:
    """Time questions from their text on."""
    from pneuma_assets.core.models.encoder.encoder import open_encoder

    encoder = open_encoder(EncoderConfig())

    def ask(question: str) -> None:
        (vector,) = encoder.encode_queries([question])
        fused(index, IndexQuery(question, vector))

    ask(corpus.questions[0])
    return str(time_each(ask, corpus.questions))


if __name__ == "__main__":
    main()
