"""What a benchmark needs to know of an Elasticsearch server, and those that write into it."""

import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from time import perf_counter, process_time, sleep
from typing import Any, ClassVar, Protocol

import psutil
from elastic_transport import Urllib3HttpNode
from elasticsearch import Elasticsearch, OrjsonSerializer
from elasticsearch.helpers import parallel_bulk

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import IndexQuery, SearchIndex, TableContents
from pneuma_assets.core.index.elastic.documents import Action, actions_of, prepared
from pneuma_assets.core.index.elastic.mapping import mappings_of, settings_of
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.tables import EmbeddedBlock
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.support.corpus import DIMENSION
from pneuma_bench.experiments.support.large_corpus import LargeCorpus

ADDRESS_VARIABLE = "ELASTICSEARCH_URL"
_MERGE_PAUSE = 0.2
_KEPT = 1.1  # seconds; the server answers with figures that are up to one second old


class Meter:
    """Adds up seconds by the clock, of this process and of the server, over several measurements.

    Args:
        client: Of the server whose processor time counts; None if there is no server.
    """

    _last_read: ClassVar[float] = 0.0

    def __init__(self, client: Elasticsearch | None) -> None:
        self._client = client
        self.wall = self.own_cpu = self.server_cpu = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measure the block."""
        served = self._served()
        start, started = perf_counter(), process_time()
        yield
        self.wall += perf_counter() - start
        self.own_cpu += process_time() - started  # before asking: asking may wait
        self.server_cpu += self._served() - served

    @property
    def cpu(self) -> float:
        """Processor time of this process and of the server."""
        return self.own_cpu + self.server_cpu

    def _served(self) -> float:
        if self._client is None:
            return 0.0
        sleep(max(0.0, Meter._last_read + _KEPT - perf_counter()))
        Meter._last_read = perf_counter()
        nodes = self._client.nodes.stats(metric="process")["nodes"].values()
        return sum(node["process"]["cpu"]["total_in_millis"] for node in nodes) / 1000


def bare_client(url: str) -> Elasticsearch:
    """Return a client as its documents advise it for much data."""
    return Elasticsearch(url, serializer=OrjsonSerializer(), request_timeout=600)


def settle(client: Elasticsearch) -> None:
    """Wait until no index merges, so that what one engine has started does not burden the next."""
    while client.indices.stats(metric="merge")["_all"]["total"]["merges"]["current"]:
        sleep(_MERGE_PAUSE)


def described(client: Elasticsearch) -> str:
    """Return the server's version, nodes and heap in words."""
    nodes = client.nodes.stats(metric="jvm")["nodes"].values()
    heap = sum(node["jvm"]["mem"]["heap_max_in_bytes"] for node in nodes) / 2**30
    version = client.info()["version"]["number"]
    return f"Elasticsearch {version}, {len(nodes)} node(s), heap {heap:.1f} GiB"


@contextmanager
def counted_requests() -> Iterator[list[str]]:
    """Collect every HTTP request that any client of this process sends, repetitions included."""
    sent: list[str] = []
    perform = Urllib3HttpNode.perform_request

    def counting(
        self: Urllib3HttpNode, method: str, target: str, *rest: Any, **options: Any
    ) -> Any:
        sent.append(f"{method} {target.partition('?')[0]}")
        return perform(self, method, target, *rest, **options)

    Urllib3HttpNode.perform_request = counting  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        Urllib3HttpNode.perform_request = perform  # type: ignore[method-assign]


def add_address(parser: ArgumentParser) -> None:
    """Let the caller name the server."""
    parser.add_argument(
        "--url",
        default=environ.get(ADDRESS_VARIABLE, "http://localhost:9200"),
        help=f"of an Elasticsearch 9 without passwords; else {ADDRESS_VARIABLE}",
    )


def scratch_name() -> str:
    """Return an alias that nobody else uses."""
    return f"benchmark-{time.time_ns():x}"


def drop(client: Elasticsearch, name: str) -> None:
    """Delete the indices whose names begin so, one by one: servers may refuse a pattern."""
    for index in client.indices.get(index=f"{name}*", expand_wildcards="all"):
        client.indices.delete(index=index)


Tables = Mapping[str, Sequence[EmbeddedBlock]]


class TakesTurns(Protocol):
    """One that writes the tables it is given, a call at a time."""

    label: str

    def prepare(self, tables: Tables) -> None:
        """Make ready what is not measured."""

    def write(self) -> None:
        """Write what was prepared."""

    def finish(self) -> None:
        """Make everything visible to searches."""

    def size_bytes(self) -> int:
        """Return the size on disk."""


class Writer:
    """An index of the project; every call is durable and visible when it returns."""

    def __init__(self, label: str, index: SearchIndex) -> None:
        self.label = label
        self._index = index
        self._tables: Tables = {}

    def prepare(self, tables: Tables) -> None:
        """Keep the tables; making documents of them is part of the engine's work."""
        self._tables = tables

    def write(self) -> None:
        """Write one call's tables."""
        self._index.replace_tables({i: TableContents(b) for i, b in self._tables.items()})

    def finish(self) -> None:
        """Do nothing: what a call wrote is visible."""

    def size_bytes(self) -> int:
        """Return the size on disk."""
        return self._index.info().size_bytes


class Bare:
    """The client's `parallel_bulk` as it comes, into an index with the same mapping."""

    label = "bare parallel_bulk"

    def __init__(self, client: Elasticsearch, config: ElasticsearchConfig, encoder: str) -> None:
        self._client = client
        self._name = f"{config.name}-bare"
        self._actions: list[Action] = []
        self._generation = 0
        identity = Identity(encoder, DIMENSION, ENGLISH.name)
        mappings = mappings_of(config, identity, incarnation="bare")
        client.indices.create(index=self._name, settings=settings_of(config), mappings=mappings)

    def prepare(self, tables: Tables) -> None:
        """Make the documents, the words' analysis included."""
        self._actions = []
        for table_id, embedded in tables.items():
            self._generation += 1
            table = prepared(table_id, TableContents(embedded))
            for action in actions_of(table_id, table, self._generation, ENGLISH):
                del action["version"], action["version_type"]  # nothing that only we need
                self._actions.append(action)

    def write(self) -> None:
        """Send them; the helper raises if one is refused."""
        for _ in parallel_bulk(self._client, self._actions, index=self._name):
            pass

    def finish(self) -> None:
        """Refresh once, as is advised after a bulk load."""
        self._client.indices.refresh(index=self._name)

    def size_bytes(self) -> int:
        """Return the size on disk."""
        stats = self._client.indices.stats(index=self._name, metric="store")
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def drop(self) -> None:
        """Delete the index, so that it does not take memory from the other."""
        self._client.indices.delete(index=self._name)


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
