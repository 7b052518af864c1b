"""Elasticsearch as the index, beside the embedded engine: writing blocks, then asking.

    ELASTICSEARCH_URL=http://localhost:9200 python -m pneuma_bench.experiments.elasticsearch.writing

Start a server first; its index is dropped at the end. Text and vectors are those of
`experiments.search_latency`, and so is what a question asks of an index.
"""

import argparse
import tempfile
import time
from contextlib import closing
from itertools import islice
from os import environ
from pathlib import Path

from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_bench.experiments.search_latency import DATA, DIMENSION, Corpus, CorpusMaker, report
from pneuma_bench.experiments.support.timing import timed

AT_ONCE = 2_000
"""Tables of a call."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    address = environ.get("ELASTICSEARCH_URL", "http://localhost:9200")
    parser.add_argument("--url", default=address, help="of an Elasticsearch 9 without passwords")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of *.tables.jsonl")
    parser.add_argument("--blocks", type=int, default=300_000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    corpus = CorpusMaker(options.data).corpus(options.blocks, options.questions)
    config = ElasticsearchConfig(urls=(options.url,), name=f"benchmark-{time.time_ns():x}")
    with closing(Elasticsearch(options.url, request_timeout=600)) as client:
        print(f"Elasticsearch {client.info()['version']['number']}", flush=True)
        try:
            with closing(ElasticsearchIndex(config, "made", DIMENSION)) as index:
                measure("elasticsearch", index, corpus)
        finally:
            # One by one: servers may refuse a pattern.
            for name in client.indices.get(index=f"{config.name}*", expand_wildcards="all"):
                client.indices.delete(index=name)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(EmbeddedIndex(Path(folder), "made", DIMENSION)) as embedded,
    ):
        measure("embedded", embedded, corpus)


def measure(name: str, index: SearchIndex, corpus: Corpus) -> None:
    """Write the corpus and ask, as it is written and optimised."""

    def write() -> None:
        tables = iter(corpus.tables.items())
        while some := [*islice(tables, AT_ONCE)]:
            index.replace_tables({one: TableContents(blocks) for one, blocks in some})

    _, took = timed(write)
    count, size = len(corpus.blocks), index.info().size_bytes / 1e6
    print(f"{name}: {count / took.wall:,.0f} blocks/s, {1000 * took.cpu / count:.2f} ms of own "
          f"processor time a block, {size:,.0f} MB", flush=True)  # fmt: skip
    report(index, corpus)
    _, took = timed(index.optimise)
    print(f"  optimised in {took.wall:.1f} s", flush=True)
    report(index, corpus)


if __name__ == "__main__":
    main()
