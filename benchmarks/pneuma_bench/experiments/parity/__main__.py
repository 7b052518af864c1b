"""Do both engines give the same answers? The same questions, blocks and vectors for each.

    ELASTICSEARCH_URL=http://localhost:9200 python -m pneuma_bench.experiments.parity FOLDER \
        [NAME ...]

FOLDER holds NAME.tables.jsonl and NAME.queries.jsonl (benchmarks/README.md). Both engines round the
lengths of texts as Lucene does; the last table shows that exact lengths would not find more.
"""

import argparse
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from unittest.mock import patch

import numpy as np

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexQuery
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded import bm25
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.folder import discard
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Vector
from pneuma_bench.experiments.elasticsearch.server import (
    add_address,
    bare_client,
    drop,
    scratch_name,
)
from pneuma_bench.experiments.parity.answers import (
    print_answers,
    print_fields,
    print_scores,
    same_nearest,
)
from pneuma_bench.experiments.support.large_corpus import GivenVectors
from pneuma_bench.retrieval import RetrievalSet, evaluate, index_set, read_set

CACHE = Path(tempfile.gettempdir()) / "pneuma-assets-benchmarks" / "parity"
ASKED = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=["fetaqa_dev", "tabfact_val"])
    add_address(parser)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--quantization", choices=["bbq", "int8", "none"], default="bbq")
    parser.add_argument("--cache", type=Path, default=CACHE, help="keeps the embeddings")
    options = parser.parse_args()
    for name in options.names:
        compare(read_set(options.folder, name), options)


def compare(dataset: RetrievalSet, options: argparse.Namespace) -> None:
    """Print how one set's answers compare."""
    name = scratch_name()
    config = ElasticsearchConfig(
        urls=(options.url,), name=name, shards=options.shards, quantization=options.quantization
    )
    with ExitStack() as opened:
        client = opened.enter_context(closing(bare_client(options.url)))
        opened.callback(drop, client, name)
        cache = options.cache / dataset.name
        embedded, vectors = embedded_once(dataset, cache)
        opened.enter_context(closing(embedded))
        info = embedded.info()
        elastic = ElasticsearchIndex(config, info.encoder, info.dimension)
        opened.enter_context(closing(elastic))
        exact = with_exact_lengths(EmbeddedIndex(cache / "index", info.encoder, info.dimension))
        opened.enter_context(closing(exact))
        elastic.replace_tables(dict(embedded.contents()))
        asked = dataset.questions[: options.questions]
        queries = list(map(IndexQuery, asked, vectors, asked))
        print(f"\n{dataset.name}: {info.blocks:,} blocks, {len(queries)} questions")
        ours, theirs = (index.search(queries, ASKED) for index in (embedded, elastic))
        print_scores(embedded, elastic, queries, [*zip(ours, theirs, strict=True)])
        print_fields(embedded, elastic, queries, ours)
        missed = [not same_nearest(*sides) for sides in zip(ours, theirs, strict=True)]
        encoder = GivenVectors(dataset.questions, vectors)
        ask, ask_elastic, ask_exact = (
            QueryEngine(index, encoder) for index in (embedded, elastic, exact)
        )
        print_answers(ask, ask_elastic, dataset.first(options.questions), missed)
        engines = {"embedded": ask, "elasticsearch": ask_elastic, "exact lengths": ask_exact}
        print_quality(engines, dataset)


def embedded_once(dataset: RetrievalSet, cache: Path) -> tuple[EmbeddedIndex, Vector]:
    """Return the set in an embedded index, and its questions' vectors; made if not kept yet."""
    encoder = open_encoder(EncoderConfig())
    folder = cache / "index"
    try:
        index = EmbeddedIndex(folder, encoder.name, encoder.dimension)
    except SearchIndexError:  # kept by another version of the engine, or of the encoder
        discard(folder)
        index = EmbeddedIndex(folder, encoder.name, encoder.dimension)
    kept = cache / "questions.npy"
    if index.list_tables().keys() != {table.table_id for table, _ in dataset.tables}:
        index_set(index, encoder, dataset, SamplingConfig())
        kept.unlink(missing_ok=True)
    if not kept.exists():
        np.save(kept, encoder.encode_queries(dataset.questions))
    return index, np.load(kept)


def with_exact_lengths(index: EmbeddedIndex) -> EmbeddedIndex:
    """Let an index score by unrounded lengths, for as long as nobody writes to it."""
    with patch.object(bm25, "lucene_lengths", lambda lengths: lengths):
        index.search([IndexQuery("lengths", None)], 1)  # reads them, once
    return index


def print_quality(engines: dict[str, QueryEngine], dataset: RetrievalSet) -> None:
    """Print how often each finds the wanted table, over all questions of the set."""
    print(
        f"\n| recall, {len(dataset.questions):,} questions | words R@1 | R@10 | fused R@1 | R@10 |"
    )
    print("|" + " --- |" * 5)
    for label, engine in engines.items():
        words, fused = (evaluate(engine, dataset, alpha=alpha) for alpha in (1.0, 0.5))
        figures = [figure[metric] for figure in (words, fused) for metric in ("R@1", "R@10")]
        print(f"| {label} | {' | '.join(f'{one:.4f}' for one in figures)} |", flush=True)


if __name__ == "__main__":
    main()
