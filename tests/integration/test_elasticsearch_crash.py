"""The server or the indexing process is killed at any moment: every table is old or new."""

import multiprocessing
import random
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from multiprocessing.connection import Connection

import pytest
from elasticsearch import Elasticsearch
from elasticsearch_index import rebuilt_beside
from elasticsearch_server import Cluster
from versioned_tables import DIMENSION, ENCODER, all_at, unit_vector, versions_found

from pneuma_assets.core.config_index import ElasticsearchConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import Hit, IndexQuery, SideHits
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.elastic.state_store import read_state

pytestmark = [pytest.mark.integration, pytest.mark.slow]

KILLS = 20
TABLES = [f"s/{n}" for n in range(12)]
UNTOUCHED = [f"s/untouched{n}" for n in range(3)]


def open_index(url: str, name: str, **options) -> ElasticsearchIndex:
    retention = options.pop("retention_seconds", 2.0)
    config = ElasticsearchConfig(urls=(url,), name=name, **options)
    return ElasticsearchIndex(config, ENCODER, DIMENSION, retention_seconds=retention)


def write_for_ever(url: str, name: str, version: int, told: Connection) -> None:
    """Replace all tables again and again, saying which version has been promised durable."""
    index = open_index(url, name)
    told.send(version)  # it begins
    while True:
        version += 1
        index.replace_tables(all_at(TABLES, version))
        told.send(version)
        if version % 4 == 0:
            index.delete_tables(TABLES[:3])
            index.optimise()


def drain(told: Connection) -> list[int]:
    """Return everything that the killed process had said."""
    said = []
    try:
        while told.poll(0):
            said.append(told.recv())
    except EOFError:
        pass
    return said


@pytest.mark.timeout(300)
def test_a_killed_writer_leaves_old_or_new(elasticsearch_url, index_name):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([ElasticsearchIndex.__module__])
    chance = random.Random(7)
    with closing(open_index(elasticsearch_url, index_name)) as reader:
        reader.replace_tables(all_at(UNTOUCHED, 1))
        started = time.monotonic()
        reader.replace_tables(all_at(TABLES, 0))
        one_turn = time.monotonic() - started
        promised = 0
        for _ in range(KILLS):
            told, tell = context.Pipe(duplex=False)
            arguments = (elasticsearch_url, index_name, promised, tell)
            writer = context.Process(target=write_for_ever, args=arguments)
            writer.start()
            tell.close()
            told.recv()
            time.sleep(chance.uniform(0, 2.5) * one_turn)
            writer.kill()
            writer.join()
            promised = max([promised, *drain(told)])
            versions = check(reader, elasticsearch_url, index_name)
            # What was promised is there; what came after it is there as a whole or not at all.
            assert len(set(versions.values())) <= 1
            assert set(versions.values()) <= {promised, promised + 1}
            promised = max([promised, *versions.values()])
        assert promised > KILLS / 4
        assert unfinished_writes(elasticsearch_url, index_name) > KILLS / 4
        compare_with_a_clean_run(reader, elasticsearch_url, index_name)


def unfinished_writes(url: str, name: str) -> int:
    """Return how many of the killed writers had begun to write without getting to the end."""
    with Elasticsearch(url) as client:
        (found,) = client.indices.get_alias(name=name)
        return len(read_state(client, found).state.leases)


def check(reader: ElasticsearchIndex, url: str, name: str) -> dict[str, int]:
    """Return what a reader sees that was open all the time, the same as one that opens now."""
    versions = versions_found(reader)
    with closing(open_index(url, name)) as again:
        assert versions_found(again) == versions
    for table_id in UNTOUCHED:
        assert versions.pop(table_id) == 1
    return versions


def compare_with_a_clean_run(reader: ElasticsearchIndex, url: str, name: str) -> None:
    """Write everything once more, and once into a new index: both must answer alike.

    By words only after a rebuild: what killed writers left counts in BM25's statistics till then.
    """
    tables = all_at(TABLES, 9999) | all_at(UNTOUCHED, 1)
    with closing(open_index(url, f"{name}-clean")) as clean:
        clean.replace_tables(tables)
        reader.replace_tables(tables)
        assert versions_found(reader) == versions_found(clean)
        assert_same(answer(reader).semantic, answer(clean).semantic)
        config = ElasticsearchConfig(urls=(url,), name=name)
        with rebuilt_beside(config, ENCODER, DIMENSION) as successor:
            successor.replace_tables(tables)
        assert versions_found(reader) == versions_found(clean)
        assert_same(answer(reader).semantic, answer(clean).semantic)
        assert_same(answer(reader).lexical, answer(clean).lexical)


def answer(index: ElasticsearchIndex) -> SideHits:
    """Ask a question whose words are rare in some blocks and frequent in others."""
    return index.search([IndexQuery("version9999 block7 lake", unit_vector("asked"))], 50)[0]


def assert_same(ours: Sequence[Hit], theirs: Sequence[Hit]) -> None:
    """Fail unless the same blocks come in the same order with the same scores."""
    assert [hit.block for hit in ours] == [hit.block for hit in theirs]
    expected = [hit.score for hit in theirs]
    assert [hit.score for hit in ours] == pytest.approx(expected, rel=1e-5)


MANY = [f"s/many{n}" for n in range(80)]


@pytest.fixture(scope="module")
def small_server():
    """A server with so little room for writes under way that it turns many away (429)."""
    with Cluster(settings={"indexing_pressure.memory.limit": "1mb"}) as cluster:
        yield cluster


@pytest.mark.timeout(180)
def test_a_server_that_turns_writes_away(small_server):
    with closing(open_index(small_server.url, "busy", patience_seconds=0.0)) as impatient:
        impatient.replace_tables(all_at(UNTOUCHED, 1))
        with pytest.raises(SearchIndexError, match="overloaded"):
            impatient.replace_tables(all_at(MANY, 1, words=60))
        assert versions_found(impatient) == dict.fromkeys(UNTOUCHED, 1)
    with closing(open_index(small_server.url, "busy", patience_seconds=60.0)) as patient:
        patient.replace_tables(all_at(MANY, 1, words=60))
        assert versions_found(patient) == dict.fromkeys([*MANY, *UNTOUCHED], 1)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("patience", [90.0, 1.0])
def test_a_server_killed_during_the_bulk(small_server, patience):
    name = f"killed-{patience:.0f}"
    with (
        closing(open_index(small_server.url, name)) as index,
        closing(open_index(small_server.url, name, patience_seconds=patience)) as writer,
    ):
        index.replace_tables(all_at(UNTOUCHED, 1) | all_at(MANY, 1))
        failure = killed_during_a_write(small_server, writer, all_at(MANY, 2, words=60), patience)
        versions = versions_found(index)
        assert {versions.pop(table_id) for table_id in UNTOUCHED} == {1}
        if patience > 60:
            assert failure is None
            assert versions == dict.fromkeys(MANY, 2)
        else:
            assert "index.elasticsearch.urls" in str(failure)
            assert versions == dict.fromkeys(MANY, 1)
        index.replace_tables(all_at(MANY, 3))
        assert set(versions_found(index).values()) == {1, 3}


def killed_during_a_write(
    cluster: Cluster, writer: ElasticsearchIndex, tables: Mapping, patience: float
) -> Exception | None:
    """Kill the server while a thread replaces tables, start it again; return what was raised."""
    raised: list[Exception | None] = []

    def write() -> None:
        try:
            writer.replace_tables(tables)
            raised.append(None)
        except SearchIndexError as error:
            raised.append(error)

    thread = threading.Thread(target=write)
    with cluster.client() as client:
        before = documents_taken(client)
        thread.start()
        while documents_taken(client) < before + 50:
            time.sleep(0.005)
        cluster.kill()
    assert thread.is_alive()
    if patience < 60:
        thread.join()  # gives up while the server is away
    cluster.restart()
    thread.join()
    return raised[0]


def documents_taken(client: Elasticsearch) -> int:
    """Return how many documents the server has written since it started."""
    stats = client.indices.stats(metric="indexing")
    return stats["_all"]["primaries"]["indexing"]["index_total"]
