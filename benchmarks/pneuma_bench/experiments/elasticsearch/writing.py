"""Writers into an index that take turns, and a meter of a server's work."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, process_time, sleep
from typing import ClassVar

from elasticsearch import Elasticsearch
from elasticsearch.helpers import parallel_bulk

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.index.base import SearchIndex, TableContents
from pneuma_assets.core.index.elastic.documents import Action, actions_of, prepared
from pneuma_assets.core.index.elastic.mapping import mappings_of, settings_of
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.tables import EmbeddedBlock
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.search_latency import DIMENSION
from pneuma_bench.experiments.support.large_corpus import LargeCorpus

_MERGE_PAUSE = 0.2
_KEPT = 1.1  # seconds; the server answers with figures that are up to one second old

Tables = Mapping[str, Sequence[EmbeddedBlock]]


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

    def _served(self) -> float:
        if self._client is None:
            return 0.0
        sleep(max(0.0, Meter._last_read + _KEPT - perf_counter()))
        Meter._last_read = perf_counter()
        nodes = self._client.nodes.stats(metric="process")["nodes"].values()
        return sum(node["process"]["cpu"]["total_in_millis"] for node in nodes) / 1000


class Ours:
    """An index of the project; every call is durable and visible when it returns.

    As `Bare`, it writes what it was given before, and only writing is measured.
    """

    def __init__(self, label: str, index: SearchIndex) -> None:
        self.label, self._index = label, index
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
        mappings = mappings_of(
            config, Identity(encoder, DIMENSION, ENGLISH.name), incarnation="bare"
        )
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
class _Turns:
    """What one writer's calls took: seconds until they returned, and all work until merged."""

    writer: Ours | Bare
    meter: Meter
    returned: float = 0.0


def take_turns(
    client: Elasticsearch | None, writers: Sequence[Ours | Bare], corpus: LargeCorpus, tables: int
) -> None:
    """Write the corpus with each, `tables` at a time, and print a line for each."""
    turns = [_Turns(writer, Meter(client)) for writer in writers]
    calls = [(part, "write") for part in corpus.slices(tables)]
    for number, (part, name) in enumerate([*calls, ({}, "finish")]):
        for one in turns[:: 1 if number % 2 else -1]:
            if name == "write":
                one.writer.prepare(part)
            with one.meter.running():
                start = perf_counter()
                getattr(one.writer, name)()
                one.returned += perf_counter() - start
                settle(client)
    blocks = len(corpus.embeddings)
    for one in turns:
        meter = one.meter
        own, server = (1000 * cpu / blocks for cpu in (meter.own_cpu, meter.server_cpu))
        print(
            f"| {one.writer.label} | {blocks:,} | {blocks / one.returned:,.0f} "
            f"| {blocks / meter.wall:,.0f} | {own:.2f} + {server:.2f} "
            f"| {one.writer.size_bytes() / 1e6:,.0f} |",
            flush=True,
        )


def settle(client: Elasticsearch | None) -> None:
    """Wait until no index merges, so that what one engine has started does not burden the next."""
    while client and client.indices.stats(metric="merge")["_all"]["total"]["merges"]["current"]:
        sleep(_MERGE_PAUSE)
