"""Searches that outlive what they read, and indices that are damaged."""

from collections.abc import Callable

import pytest
from elasticsearch import Elasticsearch

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from pneuma_assets.core.index.elastic import client as transport
from pneuma_assets.core.index.elastic.engine import ElasticsearchIndex
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.text.analysis import ENGLISH
from tests.support.elasticsearch_index import begin_on, opener, publish_on, reindex_on
from tests.support.elasticsearch_server import client_of
from tests.support.index_blocks import replace_blocks
from tests.support.versioned_tables import DIMENSION, ENCODER, all_at, look, versions_found
from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = [f"s/{n}" for n in range(4)]
IDENTITY = Identity(ENCODER, DIMENSION, ENGLISH.name)


@pytest.fixture
def config(elasticsearch_url, index_name):
    return ElasticsearchConfig(urls=(elasticsearch_url,), name=index_name, replicas=0)


@pytest.fixture
def open_index(config):
    with opener(config.urls, config.name, ENCODER, DIMENSION, replicas=0) as opening:
        yield opening


@pytest.fixture
def client(elasticsearch_url):
    with client_of(elasticsearch_url) as connected:
        yield connected


def indices(client: Elasticsearch, name: str) -> list[str]:
    return sorted(client.indices.get(index=f"{name}-*"))


class Clock:
    """What searches time themselves with: it goes on when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0.0
        monkeypatch.setattr(transport, "time", self)

    def monotonic(self) -> float:
        return self.seconds


def slow_down(
    monkeypatch: pytest.MonkeyPatch, index: ElasticsearchIndex, before: Callable[[int], None]
) -> list[int]:
    """Do something before each request for searches; returns their numbers, as they are sent."""
    send, sent = index._client.msearch, []

    def msearch(**options: object) -> object:
        sent.append(len(sent) + 1)
        before(sent[-1])
        return send(**options)

    monkeypatch.setattr(index._client, "msearch", msearch)
    return sent


def test_a_search_that_outlives_what_it_reads_is_asked_again(open_index, monkeypatch):
    """Its answer would lack the tables whose documents were deleted meanwhile."""
    clock = Clock(monkeypatch)
    writer = open_index(retention_seconds=0.0)
    replace_blocks(writer, all_at(TABLES, 1))
    reader = open_index(retention_seconds=2.0)
    old = look(reader, len(TABLES))
    replace_blocks(writer, all_at(TABLES, 2))

    def outlive(number: int) -> None:
        if number == 2:  # asks again at the state that the first has found
            replace_blocks(writer, all_at(TABLES, 3))
            writer.optimise()
            clock.seconds += 2.0

    sent = slow_down(monkeypatch, reader, outlive)
    found = look(reader, len(TABLES))
    new = [dict.fromkeys(TABLES, 3)] * 2
    assert (old, found) == ([dict.fromkeys(TABLES, 1)] * 2, new)
    assert len(sent) == 4
    assert look(reader, len(TABLES)) == new
    assert len(sent) == 5, "a quick answer is taken at once"


def test_a_cluster_that_is_always_too_slow_is_told(open_index, monkeypatch):
    index = open_index(retention_seconds=1.0)
    replace_blocks(index, all_at(TABLES[:1], 1))
    clock = Clock(monkeypatch)

    def hang(_: int) -> None:
        clock.seconds += 1.1

    sent = slow_down(monkeypatch, index, hang)
    for call in (lambda: look(index, 1), index.list_tables):
        with pytest.raises(SearchIndexError, match="longer than 1 second"):
            call()
    assert len(sent) == 6


def without_writing_alias(client: Elasticsearch, index: str) -> None:
    """Take away the alias that writers use, as a restored backup without aliases does."""
    (alias,) = client.indices.get_alias(index=index, name=f"{index}-w-*")[index]["aliases"]
    client.indices.delete_alias(index=index, name=alias)


@pytest.fixture
def damaged(open_index, client, index_name):
    index = open_index(patience_seconds=LONGEST)
    replace_blocks(index, all_at(TABLES, 1))
    without_writing_alias(client, f"{index_name}-000001")
    return index


def test_an_index_without_its_alias_for_writers_is_damaged(damaged, open_index):
    for call in (lambda: replace_blocks(damaged, all_at(TABLES, 2)), open_index):
        with pytest.raises(IndexDamagedError, match=r"lost its alias .*--rebuild"):
            call()


def test_an_index_without_its_alias_for_writers_is_rebuilt(
    damaged, config, open_index, client, index_name
):
    begin_on(config, IDENTITY)
    building = open_index(building=True)
    replace_blocks(building, all_at(TABLES, 2))
    publish_on(config, building)
    assert versions_found(open_index()) == dict.fromkeys(TABLES, 2)
    assert len(indices(client, index_name)) == 1, "an index that nobody uses is left"


def test_a_damaged_index_that_cannot_be_copied_can_be_rebuilt(
    config, open_index, client, index_name
):
    """A copy that fails for good must not hold off the only remedy."""
    index = open_index()
    replace_blocks(index, all_at(TABLES, 1))
    first = f"{index_name}-000001"
    found = client.search(index=first, query={"exists": {"field": "vector"}}, size=1)
    client.delete(index=first, id=found["hits"]["hits"][0]["_id"], refresh=True)
    with pytest.raises(SearchIndexError, match=r"its record says .*--rebuild"):
        reindex_on(config)
    begin_on(config, IDENTITY)
    building = open_index(building=True)
    replace_blocks(building, all_at(TABLES, 2))
    assert publish_on(config, building)
    assert versions_found(index) == dict.fromkeys(TABLES, 2)
    assert len(indices(client, index_name)) == 1
