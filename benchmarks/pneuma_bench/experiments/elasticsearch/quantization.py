"""What each way of shortening vectors costs: time to build, size, and recall of the meaning."""

from argparse import Namespace
from contextlib import closing
from time import perf_counter
from typing import Literal

import numpy as np
from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import IndexQuery, SearchIndex
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_bench.experiments.elasticsearch.asking import PROPOSED
from pneuma_bench.experiments.elasticsearch.server import Meter, drop, settle
from pneuma_bench.experiments.elasticsearch.writing import fill
from pneuma_bench.experiments.support.corpus import DIMENSION
from pneuma_bench.experiments.support.large_corpus import BLOCKS_A_TABLE, LargeCorpus, recall

Quantization = Literal["bbq", "int8", "none"]

NEAREST = 10
_HEADER = (
    "| vectors | blocks | state | built s / cpu | MB "
    f"| recall@{NEAREST} of {NEAREST} | of {PROPOSED} | p50 ms of {PROPOSED} |\n"
    + "|"
    + " --- |" * 8
)


def compare_quantizations(
    client: Elasticsearch, name: str, corpus: LargeCorpus, options: Namespace
) -> None:
    """Build one index a quantization, and print two lines for each: as written, and optimised."""
    blocks = min(options.quantization_blocks, len(corpus.embeddings))
    blocks -= blocks % BLOCKS_A_TABLE
    nearest = corpus.nearest(NEAREST, blocks)
    print("", _HEADER, sep="\n", flush=True)
    kinds: tuple[Quantization, ...] = ("bbq", "int8", "none")
    for kind in kinds:
        config = ElasticsearchConfig(urls=(options.url,), name=f"{name}-{kind}", quantization=kind)
        with closing(ElasticsearchIndex(config, "made", DIMENSION)) as index:
            built = Meter(client)
            with built.running():
                fill(index, corpus, blocks // BLOCKS_A_TABLE, options.tables_a_call)
                settle(client)
            _report(kind, "as written", index, built, corpus, nearest)
            optimised = Meter(client)
            with optimised.running():
                index.optimise()
                settle(client)
            _report(kind, "optimised", index, optimised, corpus, nearest)
            drop(client, config.name)


def _report(
    kind: str,
    state: str,
    index: SearchIndex,
    built: Meter,
    corpus: LargeCorpus,
    nearest: list[set[str]],
) -> None:
    info = index.info()
    queries = [IndexQuery(None, vector) for vector in corpus.question_vectors]
    few = recall(nearest, [index.search([query], NEAREST)[0] for query in queries])
    took, found = [], []
    for query in queries:
        start = perf_counter()
        found.append(index.search([query], PROPOSED)[0])
        took.append((perf_counter() - start) * 1000)
    print(
        f"| {kind} | {info.blocks:,} | {state} | {built.wall:.1f} / {built.cpu:.1f} "
        f"| {info.size_bytes / 1e6:,.0f} | {few:.3f} | {recall(nearest, found):.3f} "
        f"| {np.median(took):.1f} |",
        flush=True,
    )
