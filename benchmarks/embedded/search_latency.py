"""How long does one question take? Fused search with true scores, as a question runs it.

    python -m benchmarks.embedded.search_latency --blocks 30000 100000

A fused search asks both sides for 50 blocks (k = 10, n = 5) and fetches the true scores of those
that one side alone has found (Pneuma, section 5.1). With --encode, the default encoder embeds
each question first, as a person's question needs; with --threads, that many askers ask at once.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.support.corpus import DIMENSION, Corpus, CorpusMaker, arguments, seconds, time_each
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex

CANDIDATES_A_SIDE = 50


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, nargs="+", default=[30_000, 100_000])
    parser.add_argument("--encode", action="store_true", help="embed each question, too")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    maker = CorpusMaker(options.data)
    for blocks in options.blocks:
        corpus = maker.corpus(blocks, options.questions)
        with tempfile.TemporaryDirectory() as folder:
            report(Path(folder), corpus, options.encode, options.threads)


def report(folder: Path, corpus: Corpus, encode: bool, threads: int) -> None:
    """Index the corpus and print how long questions take."""
    index = EmbeddedIndex(folder, "made", DIMENSION)
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
    index.close()


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
