"""Several nodes, and an index rebuilt while it is asked: every call is answered, and rightly."""

import operator
import threading
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from tests.support.elasticsearch_index import opener, rebuilt_beside, reindex_on
from tests.support.elasticsearch_server import Cluster, client_of
from tests.support.index_blocks import replace_blocks
from tests.support.versioned_tables import (
    BLOCKS,
    DIMENSION,
    ENCODER,
    all_at,
    look,
    versions_found,
    versions_of,
)
from tests.support.waiting import LONGEST, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = [f"s/{n}" for n in range(6)]
REBUILDS = 3
WAIT = f"{LONGEST:.0f}s"


Task = Callable[[ElasticsearchIndex], None]


class Load:
    """Threads that query or write until told to stop, and what became of it.

    Attributes:
        rounds: How often each thread has done its work.
        oldest: The version of every table that an answer may show, or a newer one.
        newest: The last version that is being written.
    """

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.seconds: list[float] = []
        self.oldest = self.newest = 1
        self.rounds: list[int] = []
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def ask(self, index: ElasticsearchIndex) -> None:
        """Search for everything: every table must be there, at one version."""
        oldest, started = self.oldest, time.monotonic()
        sides = look(index, len(TABLES))
        self.seconds.append(time.monotonic() - started)
        for side in sides:
            self._check(side, oldest)

    def read(self, index: ElasticsearchIndex) -> None:
        """Read everything, as a copy to another engine does."""
        oldest = self.oldest
        assert index.list_tables() == dict.fromkeys(TABLES, BLOCKS)
        self._check(versions_of(item.block for item in index.blocks()), oldest)
        assert index.info().tables == len(TABLES)

    def write(self, index: ElasticsearchIndex) -> None:
        """Replace every table by its next version."""
        self.newest += 1
        replace_blocks(index, all_at(TABLES, self.newest))
        self.oldest = self.newest

    def run(self, what: Task, index: ElasticsearchIndex) -> None:
        """Do something in a thread, again and again."""
        thread = threading.Thread(target=self._repeat, args=(len(self.rounds), what, index))
        self.rounds.append(0)
        self._threads.append(thread)
        thread.start()

    def wait_for(self, rounds: int) -> None:
        """Wait until each thread has begun and done so many; returns at once where one failed."""
        wanted = [done + rounds + 1 for done in self.rounds]
        wait_until(
            lambda: self.failures or all(map(operator.ge, self.rounds, wanted)),
            "the load stands still",
        )

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _check(self, versions: dict[str, int], oldest: int) -> None:
        assert versions.keys() == set(TABLES)
        assert set(versions.values()) <= set(range(oldest, self.newest + 1))

    def _repeat(self, number: int, what: Task, index: ElasticsearchIndex) -> None:
        try:
            while not self._stop.is_set():
                what(index)
                self.rounds[number] += 1
        except BaseException as error:  # noqa: BLE001 (raised by the test's own thread)
            self.failures.append(error)


def test_no_call_fails_while_indices_of_several_shards_are_swapped(elasticsearch_url, index_name):
    options = {"shards": 3, "replicas": 0}
    config = ElasticsearchConfig(urls=(elasticsearch_url,), name=index_name, **options)
    load, names = Load(), set()

    def open_and_ask(_: ElasticsearchIndex) -> None:
        with closing(ElasticsearchIndex(config, ENCODER, DIMENSION, create=False)) as opened:
            load.ask(opened)

    with (
        client_of(elasticsearch_url) as client,
        opener(config.urls, config.name, ENCODER, DIMENSION, **options) as open_index,
    ):

        def swapped() -> None:
            load.wait_for(rounds=1)  # so that each index is asked in each way
            names.update(client.indices.get(index=f"{index_name}-*"))

        index = open_index()
        replace_blocks(index, all_at(TABLES, 1))
        for what in (load.ask, load.read, open_and_ask):
            load.run(what, open_index())
        swapped()
        for version in range(2, 2 + REBUILDS):
            load.newest = version
            with rebuilt_beside(config, ENCODER, DIMENSION) as successor:
                replace_blocks(successor, all_at(TABLES[:3], version))
                replace_blocks(successor, all_at(TABLES[3:], version))
                assert set(versions_found(index).values()) == {version - 1}
            load.oldest = version
            swapped()
            reindex_on(config)
            swapped()
            assert set(versions_found(index).values()) == {version}
        load.stop()
    assert load.failures == []
    assert len(names) == 1 + 2 * REBUILDS
    print(f"longest answer {max(load.seconds):.2f} s of {len(load.seconds)}")


@pytest.fixture(scope="module")
def cluster():
    with Cluster(nodes=3) as running:
        yield running


@pytest.fixture
def open_index(cluster):
    options = {"timeout_seconds": 10.0, "patience_seconds": LONGEST}
    with opener(cluster.urls, "pneuma", ENCODER, DIMENSION, **options) as opening:
        yield opening


def master_of(client):
    (found,) = client.cat.master(h="node", format="json")
    return found["node"]


def index_with_a_part_on(client, node, open_index):
    """Return an index without copies, of which a node holds shards, but not the state's."""
    index = open_index(name="red", shards=6, replicas=0)  # two a node
    replace_blocks(index, all_at(TABLES, 1))
    ((state,),) = client.search_shards(index="red", routing="state")["shards"]
    nodes = {int(s["shard"]): s["node"] for s in client.cat.shards(index="red", format="json")}
    if nodes[state["shard"]] == node:
        other = next(one for one in nodes.values() if one != node)
        move = {"index": "red-000001", "shard": state["shard"], "from_node": node, "to_node": other}
        client.cluster.reroute(commands=[{"move": move}])
        client.cluster.health(index="red", wait_for_no_relocating_shards=True, timeout=WAIT)
    nodes = {int(s["shard"]): s["node"] for s in client.cat.shards(index="red", format="json")}
    assert nodes.pop(state["shard"]) != node
    assert node in nodes.values()
    return "red"


def test_the_master_is_lost_under_writes_and_queries(cluster, open_index, record_property):
    index = open_index(shards=3)  # each node holds primaries
    replace_blocks(index, all_at(TABLES, 1))
    load = Load()
    with cluster.client() as client:
        master = master_of(client)
        red = index_with_a_part_on(client, master, open_index)
        client.cluster.health(index="pneuma", wait_for_status="green", timeout=WAIT)
        assert index.info().health == "green"
        load.run(load.write, index)
        load.run(load.ask, index)
        load.run(load.ask, index)
        load.wait_for(rounds=4)
        cluster.kill(int(master.removeprefix("n")))
        client.cluster.health(wait_for_nodes="2", timeout=WAIT)
        load.wait_for(rounds=8)
        load.stop()
    record_property("longest_answer_seconds", max(load.seconds))
    print(f"longest answer {max(load.seconds):.2f} s of {len(load.seconds)}")
    assert load.failures == []
    assert versions_found(index) == dict.fromkeys(TABLES, load.oldest)
    check_that_nothing_answers(open_index(name=red, patience_seconds=1.0, timeout_seconds=3.0))


def check_that_nothing_answers(index):
    """An index that has lost a part must not answer from the rest, nor take writes."""
    assert index.info().health == "red"
    for call in (
        lambda: look(index, len(TABLES)),
        index.list_tables,
        lambda: list(index.blocks()),
        lambda: replace_blocks(index, all_at(TABLES, 2)),
    ):
        with pytest.raises(SearchIndexError, match=r"health|load"):
            call()
