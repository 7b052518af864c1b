"""Elasticsearch as the index, beside its bare client and beside the embedded engine, in one run.

    ELASTICSEARCH_URL=http://localhost:9200 python -m pneuma_bench.experiments.elasticsearch

Start a server first; its index is dropped at the end. Writing is measured in slices that take
turns, each followed by a wait until the server has merged, so neither pays for the other; what
the bare client sends is made beforehand. Processor times tell what others on the machine do not.
Half of the questions are about a block, the text and the vector of the others are unrelated.
"""

import tempfile
import time
from argparse import ArgumentParser, Namespace
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from os import environ
from pathlib import Path
from time import perf_counter

import numpy as np
from elasticsearch import Elasticsearch, OrjsonSerializer

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_bench.experiments.elasticsearch.writing import (
    WRITE_HEADER,
    Bare,
    Meter,
    Ours,
    take_turns,
)
from pneuma_bench.experiments.search_latency import DATA, DIMENSION
from pneuma_bench.experiments.support.large_corpus import GivenVectors, LargeCorpus
from pneuma_bench.experiments.support.timing import time_each

ENCODER = "made"
ASKERS = 8
_WARM_UP = 20
ASK_HEADER = (
    "| fused search | p50 / p95 / own cpu ms | cpu ms a question, own + server "
    f"| {ASKERS} askers: p50 / p95 ms | questions/s |\n|" + " --- |" * 5
)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of *.tables.jsonl")
    parser.add_argument("--questions", type=int, default=200)
    address = environ.get("ELASTICSEARCH_URL", "http://localhost:9200")
    parser.add_argument("--url", default=address, help="of an Elasticsearch 9 without passwords")
    parser.add_argument("--blocks", type=int, default=300_000)
    parser.add_argument("--tables-a-call", type=int, default=2_000)
    options = parser.parse_args()
    name = f"benchmark-{time.time_ns():x}"
    # As its documents advise for much data.
    bare = Elasticsearch(options.url, serializer=OrjsonSerializer(), request_timeout=600)
    with closing(bare) as client:
        nodes = client.nodes.stats(metric="jvm")["nodes"].values()
        heap = sum(node["jvm"]["mem"]["heap_max_in_bytes"] for node in nodes) / 2**30
        version = client.info()["version"]["number"]
        print(f"Elasticsearch {version}, {len(nodes)} node(s), heap {heap:.1f} GiB", flush=True)
        corpus = LargeCorpus(options.data, options.blocks, options.questions)
        print(f"{len(corpus.embeddings):,} blocks", flush=True)
        try:
            compare_engines(client, name, corpus, options)
        finally:
            # One by one: servers may refuse a pattern.
            for index in client.indices.get(index=f"{name}*", expand_wildcards="all"):
                client.indices.delete(index=index)


def compare_engines(
    client: Elasticsearch, name: str, corpus: LargeCorpus, options: Namespace
) -> None:
    """Print how fast both engines take the corpus in, and how fast they answer."""
    config = ElasticsearchConfig(urls=(options.url,), name=name)
    with tempfile.TemporaryDirectory() as folder:
        elastic = ElasticsearchIndex(config, ENCODER, DIMENSION)
        embedded = EmbeddedIndex(Path(folder), ENCODER, DIMENSION)
        with closing(elastic), closing(embedded):
            print(WRITE_HEADER)
            bare = Bare(client, config, ENCODER)
            writers = [Ours("elasticsearch", elastic), bare]
            take_turns(client, writers, corpus, options.tables_a_call)
            bare.drop()
            take_turns(None, [Ours("embedded", embedded)], corpus, options.tables_a_call)
            print("", ASK_HEADER, sep="\n")
            for stage in ("as written", "optimised"):
                for label, index in {"elasticsearch": elastic, "embedded": embedded}.items():
                    its = client if index is elastic else None
                    if stage == "optimised":
                        optimise(label, index, client)
                    print(ask_line(f"{label}, {stage}", index, corpus, Meter(its)), flush=True)


def optimise(label: str, index: SearchIndex, client: Elasticsearch) -> None:
    """Optimise and print what it took."""
    before = index.info().size_bytes
    meter = Meter(client)
    with meter.running():
        index.optimise()
    print(
        f"(optimising {label}: {meter.wall:.1f} s, cpu {meter.own_cpu + meter.server_cpu:.1f} s, "
        f"{before / 1e6:,.0f} to {index.info().size_bytes / 1e6:,.0f} MB)",
        flush=True,
    )


def ask_line(label: str, index: SearchIndex, corpus: LargeCorpus, meter: Meter) -> str:
    """Ask every question alone, then all of them by several askers at once; return the line."""
    engine = QueryEngine(index, GivenVectors(corpus.questions, corpus.question_vectors))
    for question in corpus.questions[:_WARM_UP]:
        engine.ask(question)
    with meter.running():
        alone = time_each(engine.ask, corpus.questions)

    def asked(question: str) -> float:
        began = perf_counter()
        engine.ask(question)
        return (perf_counter() - began) * 1000

    began = perf_counter()
    with ThreadPoolExecutor(ASKERS) as pool:
        together = list(pool.map(asked, corpus.questions))
    rate = len(corpus.questions) / (perf_counter() - began)
    p50, p95 = np.percentile(together, [50, 95])
    own, server = (1000 * cpu / len(together) for cpu in (meter.own_cpu, meter.server_cpu))
    return f"| {label} | {alone} | {own:.1f} + {server:.1f} | {p50:.1f} / {p95:.1f} | {rate:.0f} |"


if __name__ == "__main__":
    main()
