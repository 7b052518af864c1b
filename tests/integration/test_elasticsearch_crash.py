"""The server or the indexing process is killed at any moment: every table is old or new."""

import itertools
import threading
from collections.abc import Sequence
from contextlib import closing
from functools import partial

import pytest
from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import Hit, IndexQuery, SideHits
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.elastic.state import read_state
from tests.support.elasticsearch_index import configured, rebuilt_beside
from tests.support.elasticsearch_server import Cluster, client_of
from tests.support.faulty_proxy import FaultyProxy, faulty_proxy
from tests.support.index_blocks import replace_blocks
from tests.support.killing import TABLES, UNTOUCHED, kill_writers
from tests.support.versioned_tables import DIMENSION, ENCODER, all_at, unit_vector, versions_found
from tests.support.waiting import LONGEST, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def open_index(url: str, name: str, **options) -> ElasticsearchIndex:
    config = configured(urls=(url,), name=name, **{"patience_seconds": LONGEST, **options})
    return ElasticsearchIndex(config, ENCODER, DIMENSION, retention_seconds=10.0)


def test_a_killed_writer_leaves_old_or_new(elasticsearch_url, index_name):
    where = (elasticsearch_url, index_name)
    with closing(open_index(*where)) as reader:
        kill_writers(reader, partial(open_index, *where), partial(unfinished_writes, *where))
        compare_with_a_clean_run(reader, *where)


def unfinished_writes(url: str, name: str) -> int:
    """Return how many of the killed writers had begun to write without getting to the end."""
    with client_of(url) as client:
        (found,) = client.indices.get_alias(name=name)
        return len(read_state(client, found).state.leases)


def compare_with_a_clean_run(reader: ElasticsearchIndex, url: str, name: str) -> None:
    """Write everything once more, and once into a new index: both must answer alike.

    By words only after a rebuild: what killed writers left counts in BM25's statistics till then.
    """
    tables = all_at(TABLES, 9999) | all_at(UNTOUCHED, 1)
    with closing(open_index(url, f"{name}-clean")) as clean:
        replace_blocks(clean, tables)
        replace_blocks(reader, tables)
        assert versions_found(reader) == versions_found(clean)
        assert_same(answer(reader).semantic, answer(clean).semantic)
        config = ElasticsearchConfig(urls=(url,), name=name)
        with rebuilt_beside(config, ENCODER, DIMENSION) as successor:
            replace_blocks(successor, tables)
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


def test_a_server_that_turns_writes_away(small_server):
    with closing(open_index(small_server.url, "busy", patience_seconds=0.0)) as impatient:
        replace_blocks(impatient, all_at(UNTOUCHED, 1))
        with pytest.raises(SearchIndexError, match="overloaded"):
            replace_blocks(impatient, all_at(MANY, 1, words=60))
        assert versions_found(impatient) == dict.fromkeys(UNTOUCHED, 1)
    with closing(open_index(small_server.url, "busy")) as patient:
        replace_blocks(patient, all_at(MANY, 1, words=60))
        assert versions_found(patient) == dict.fromkeys([*MANY, *UNTOUCHED], 1)


@pytest.mark.parametrize("patient", [True, False], ids=["patient", "impatient"])
def test_a_server_killed_during_the_bulk(small_server, patient):
    name = "killed-patient" if patient else "killed-impatient"
    patience = LONGEST if patient else 1.0
    with (
        faulty_proxy(small_server.url) as proxy,
        closing(open_index(small_server.url, name)) as index,
        closing(open_index(proxy.url, name, patience_seconds=patience)) as writer,
    ):
        replace_blocks(index, all_at(UNTOUCHED, 1) | all_at(MANY, 1))
        failure = killed_during_a_write(small_server, proxy, writer, patient)
        versions = versions_found(index)
        assert {versions.pop(table_id) for table_id in UNTOUCHED} == {1}
        if patient:
            assert failure is None
            assert versions == dict.fromkeys(MANY, 2)
        else:
            assert "index.elasticsearch.urls" in str(failure)
            assert versions == dict.fromkeys(MANY, 1)
        replace_blocks(index, all_at(MANY, 3))
        assert set(versions_found(index).values()) == {1, 3}


def killed_during_a_write(
    cluster: Cluster, proxy: FaultyProxy, writer: ElasticsearchIndex, patient: bool
) -> Exception | None:
    """Kill the server while a thread replaces tables, start it again; return what was raised.

    Of the documents, one request's get there before it dies, so the write cannot have ended.
    """
    raised: list[Exception | None] = []
    dead, bulks = threading.Event(), itertools.count()

    def hold(_: int, __: str, path: str) -> None:
        if "_bulk" in path and next(bulks):
            dead.wait()

    def write() -> None:
        try:
            replace_blocks(writer, all_at(MANY, 2, words=60))
            raised.append(None)
        except SearchIndexError as error:
            raised.append(error)

    proxy.choose = hold
    thread = threading.Thread(target=write)
    with cluster.client() as client:
        before = documents_taken(client)
        thread.start()
        wait_until(lambda: documents_taken(client) >= before + 50, "no document was written")
        cluster.kill()
    dead.set()
    if not patient:
        thread.join()  # gives up while the server is away
    cluster.restart()
    thread.join()
    return raised[0]


def documents_taken(client: Elasticsearch) -> int:
    stats = client.indices.stats(metric="indexing")
    return stats["_all"]["primaries"]["indexing"]["index_total"]
