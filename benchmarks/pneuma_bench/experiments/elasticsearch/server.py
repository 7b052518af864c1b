"""What the benchmarks need to know of an Elasticsearch server: its work, its merges, its requests.

Wall-clock times on a machine that others use say little, so the server's processor time is read
from its own statistics and reported beside them.
"""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from os import environ
from time import perf_counter, process_time, sleep
from typing import Any, ClassVar

from elastic_transport import Urllib3HttpNode
from elasticsearch import Elasticsearch, OrjsonSerializer

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
