"""Elasticsearch as the index, beside its bare client and beside the embedded engine, in one run.

    ELASTICSEARCH_URL=http://localhost:9200 python -m pneuma_bench.experiments.elasticsearch

Start a server first; its index is dropped at the end. Writing is measured in slices that take
turns, each followed by a wait until the server has merged, so neither pays for the other; what
the bare client sends is made beforehand. Processor times tell what others on the machine do not.
Half of the questions are about a block, the text and the vector of the others are unrelated.
"""

import tempfile
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_bench.experiments.elasticsearch.asking import (
    FUSED_HEADER,
    count_round_trips,
    fused_line,
    print_overlap,
)
from pneuma_bench.experiments.elasticsearch.server import (
    WRITE_HEADER,
    Bare,
    Meter,
    Writer,
    add_address,
    bare_client,
    described,
    drop,
    embedded_line,
    scratch_name,
    take_turns,
)
from pneuma_bench.experiments.support.corpus import DIMENSION, arguments
from pneuma_bench.experiments.support.large_corpus import LargeCorpus

ENCODER = "made"


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    add_address(parser)
    parser.add_argument("--blocks", type=int, default=300_000)
    parser.add_argument("--tables-a-call", type=int, default=2_000)
    options = parser.parse_args()
    name = scratch_name()
    with closing(bare_client(options.url)) as client:
        print(described(client), flush=True)
        corpus = LargeCorpus(options.data, options.blocks, options.questions)
        print(f"{len(corpus.embeddings):,} blocks", flush=True)
        try:
            compare_engines(client, name, corpus, options)
        finally:
            drop(client, name)


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
            ours = Writer("elasticsearch", elastic)
            take_turns(client, ours, bare, corpus, options.tables_a_call)
            bare.drop()
            print(embedded_line(embedded, corpus, options.tables_a_call), flush=True)
            compare_answering(client, elastic, embedded, corpus)


def compare_answering(
    client: Elasticsearch, elastic: SearchIndex, embedded: SearchIndex, corpus: LargeCorpus
) -> None:
    """Print how fast both engines answer, as written and optimised."""
    print_overlap(embedded, corpus)
    print("", FUSED_HEADER, sep="\n")
    engines = {"elasticsearch": elastic, "embedded": embedded}
    for stage in ("as written", "optimised"):
        for label, index in engines.items():
            if stage == "optimised":
                optimise(label, index, client)
            meter = Meter(client if index is elastic else None)
            print(fused_line(f"{label}, {stage}", index, corpus, meter), flush=True)
    count_round_trips(elastic, corpus)


def optimise(label: str, index: SearchIndex, client: Elasticsearch) -> None:
    """Optimise and print what it took."""
    before = index.info().size_bytes
    meter = Meter(client)
    with meter.running():
        index.optimise()
    after = index.info().size_bytes
    print(
        f"(optimising {label}: {meter.wall:.1f} s, cpu {meter.cpu:.1f} s, "
        f"{before / 1e6:,.0f} to {after / 1e6:,.0f} MB)",
        flush=True,
    )


if __name__ == "__main__":
    main()
