"""Blocks a second in: an engine, the bare client with the same documents, the embedded engine."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import psutil
from elasticsearch import Elasticsearch

from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_bench.experiments.elasticsearch.server import Meter, settle
from pneuma_bench.experiments.elasticsearch.writers import TakesTurns
from pneuma_bench.experiments.support.large_corpus import LargeCorpus

WRITE_HEADER = (
    "| writer | blocks | blocks/s until the call returns | and until merged "
    "| cpu ms a block, own + server | MB |\n" + "|" + " --- |" * 6
)


@dataclass(slots=True)
class Turns:
    """What one writer's calls took: seconds until they returned, and all work until merged."""

    writer: TakesTurns
    meter: Meter
    returned: float = 0.0

    def measure(self, client: Elasticsearch, act: Callable[[], None]) -> None:
        """Add one call."""
        with self.meter.running():
            start = perf_counter()
            act()
            self.returned += perf_counter() - start
            settle(client)

    def line(self, blocks: int) -> str:
        """Return the writer's line of the table."""
        meter = self.meter
        return (
            f"| {self.writer.label} | {blocks:,} | {blocks / self.returned:,.0f} "
            f"| {blocks / meter.wall:,.0f} "
            f"| {_each(meter.own_cpu, blocks)} + {_each(meter.server_cpu, blocks)} "
            f"| {self.writer.size_bytes() / 1e6:,.0f} |"
        )


def take_turns(
    client: Elasticsearch, ours: TakesTurns, bare: TakesTurns, corpus: LargeCorpus, tables: int
) -> None:
    """Write the corpus with each, `tables` at a time, and print a line for each and the ratio."""
    both = [Turns(ours, Meter(client)), Turns(bare, Meter(client))]
    for turn, part in enumerate(corpus.slices(tables)):
        for one in both[:: 1 if turn % 2 else -1]:
            one.writer.prepare(part)
            one.measure(client, one.writer.write)
    for one in both:
        one.measure(client, one.writer.finish)
        print(one.line(len(corpus.embeddings)))
    mine, theirs = both
    print(
        f"| ours of the bare client's | | {theirs.returned / mine.returned:.0%} "
        f"| {theirs.meter.wall / mine.meter.wall:.0%} "
        f"| {mine.meter.cpu / theirs.meter.cpu:.0%} of its work | |",
        flush=True,
    )


def embedded_line(index: SearchIndex, corpus: LargeCorpus, tables: int) -> str:
    """Write the corpus into the embedded engine; return its line, memory after a question too."""
    meter = Meter(None)
    for part in corpus.slices(tables):
        contents = {i: TableContents(blocks) for i, blocks in part.items()}
        with meter.running():
            index.replace_tables(contents)
    process = psutil.Process()
    before = process.memory_info().rss
    index.search([IndexQuery(corpus.questions[0], corpus.question_vectors[0])], 1)
    grown = process.memory_info().rss - before
    blocks = len(corpus.embeddings)
    rate = f"{blocks / meter.wall:,.0f}"
    return (
        f"| embedded | {blocks:,} | {rate} | {rate} | {_each(meter.own_cpu, blocks)} "
        f"| {index.info().size_bytes / 1e6:,.0f} |\n(embedded, loaded by its first question: "
        f"{grown / 1e6:,.0f} MB of memory)"
    )


def _each(seconds: float, blocks: int) -> str:
    return f"{seconds / blocks * 1000:.2f}"
