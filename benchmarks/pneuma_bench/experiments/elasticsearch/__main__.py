"""Elasticsearch as the index, beside its bare client and beside the embedded engine, in one run.

    ELASTICSEARCH_URL=http://localhost:9200 python -m pneuma_bench.experiments.elasticsearch

Start a server first; its index is dropped at the end. Writing is measured in slices that take
turns, each followed by a wait until the server has merged, so neither pays for the other; what
the bare client sends is made beforehand. Processor times tell what others on the machine do not.
Half of the questions are about a block, the text and the vector of the others are unrelated.
What the evidence of tables costs is measured with real tables.
With --parts, a long run becomes several; asking takes filling both engines, too.
"""

import tempfile
from argparse import ArgumentTypeError, Namespace
from collections.abc import Collection
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
from pneuma_bench.experiments.elasticsearch.evidence import compare_evidence
from pneuma_bench.experiments.elasticsearch.quantization import compare_quantizations
from pneuma_bench.experiments.elasticsearch.server import (
    Meter,
    add_address,
    bare_client,
    described,
    drop,
    scratch_name,
    settle,
)
from pneuma_bench.experiments.elasticsearch.writers import Bare, Writer
from pneuma_bench.experiments.elasticsearch.writing import (
    WRITE_HEADER,
    embedded_line,
    fill,
    take_turns,
)
from pneuma_bench.experiments.support.corpus import DIMENSION, arguments
from pneuma_bench.experiments.support.large_corpus import LargeCorpus

ENCODER = "made"
PARTS = ("writing", "asking", "quantization", "evidence")


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    add_address(parser)
    parser.add_argument("--blocks", type=int, default=300_000)
    parser.add_argument("--tables-a-call", type=int, default=2_000)
    parser.add_argument("--quantization-blocks", type=int, default=50_000)
    parser.add_argument("--parts", type=parts_of, default=PARTS, help=f"of {','.join(PARTS)}")
    options = parser.parse_args()
    name = scratch_name()
    with closing(bare_client(options.url)) as client:
        print(described(client), flush=True)
        try:
            if "evidence" in options.parts:
                compare_evidence(client, name, options)
            if {*options.parts} - {"evidence"}:
                compare_large(client, name, options)
        finally:
            drop(client, name)


def compare_large(client: Elasticsearch, name: str, options: Namespace) -> None:
    """Print what is measured with a large corpus."""
    corpus = LargeCorpus(options.data, options.blocks, options.questions)
    print(f"{len(corpus.embeddings):,} blocks", flush=True)
    if {"writing", "asking"} & {*options.parts}:
        compare_engines(client, name, corpus, options)
    if "quantization" in options.parts:
        compare_quantizations(client, name, corpus, options)


def parts_of(text: str) -> Collection[str]:
    """Return the parts to run, given with commas between them."""
    parts = text.split(",")
    if unknown := [part for part in parts if part not in PARTS]:
        raise ArgumentTypeError(f"{unknown[0]!r} is not one of {', '.join(PARTS)}")
    return parts


def compare_engines(
    client: Elasticsearch, name: str, corpus: LargeCorpus, options: Namespace
) -> None:
    """Print how fast both engines take the corpus in, and how fast they answer."""
    config = ElasticsearchConfig(urls=(options.url,), name=name)
    with tempfile.TemporaryDirectory() as folder:
        elastic = ElasticsearchIndex(config, ENCODER, DIMENSION)
        embedded = EmbeddedIndex(Path(folder), ENCODER, DIMENSION)
        with closing(elastic), closing(embedded):
            if "writing" in options.parts:
                print(WRITE_HEADER)
                bare = Bare(client, config, ENCODER)
                ours = Writer("elasticsearch", elastic)
                take_turns(client, ours, bare, corpus, options.tables_a_call)
                bare.drop()
                print(embedded_line(embedded, corpus, options.tables_a_call), flush=True)
            else:
                for index in (elastic, embedded):
                    fill(index, corpus, corpus.tables, options.tables_a_call)
                settle(client)
            if "asking" in options.parts:
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
