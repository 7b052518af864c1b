"""What goes wrong between this program and a healthy server, or in one of its indices.

Each failure says what to do, loses nothing, and a later run completes.
"""

import itertools
import threading
from contextlib import contextmanager, suppress

import pytest

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import IndexDamagedError, SearchIndexError
from tests.support.elasticsearch_index import opener, reindex_on
from tests.support.elasticsearch_server import client_of
from tests.support.faulty_proxy import Fault, faulty_proxy
from tests.support.index_blocks import replace_blocks
from tests.support.versioned_tables import DIMENSION, ENCODER, all_at, look, versions_found
from tests.support.waiting import LONGEST, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TABLES = [f"s/{n}" for n in range(4)]
OLD = dict.fromkeys(TABLES, 1)
NEW = dict.fromkeys(TABLES, 2)


@pytest.fixture
def open_index(elasticsearch_url, index_name):
    defaults = {"patience_seconds": LONGEST, "retention_seconds": 60.0}
    with opener((elasticsearch_url,), index_name, ENCODER, DIMENSION, **defaults) as opening:
        yield opening


@pytest.fixture
def index(open_index):
    index = open_index()
    replace_blocks(index, all_at(TABLES, 1))
    return index


@pytest.fixture
def proxy(elasticsearch_url):
    with faulty_proxy(elasticsearch_url) as running:
        yield running


@pytest.fixture
def client(elasticsearch_url):
    with client_of(elasticsearch_url) as client:
        yield client


def requests_of(proxy, call):
    proxy.heal()
    call()
    return proxy.count


@pytest.mark.parametrize("fault", [Fault.LOSE_REQUEST, Fault.LOSE_ANSWER])
def test_a_lost_connection_anywhere_in_a_replacement(index, open_index, proxy, fault):
    writer = open_index(urls=(proxy.url,), retention_seconds=0.0)  # cleans up each time
    version, number, faults = 1, 0, 0
    while number <= faults:
        version, number = version + 1, number + 1
        tables = all_at(TABLES, version)
        proxy.lose(number, fault)
        replace_blocks(writer, tables)
        faults = max(faults, proxy.count - 1)
        assert versions_found(index) == dict.fromkeys(TABLES, version), f"request {number}"
    assert number > 4  # every request of a replacement has been lost once


@pytest.mark.parametrize("fault", [Fault.LOSE_REQUEST, Fault.LOSE_ANSWER])
def test_a_lost_connection_anywhere_in_a_deletion(index, open_index, proxy, fault):
    writer = open_index(urls=(proxy.url,), retention_seconds=0.0)
    for number in range(1, 1 + requests_of(proxy, lambda: writer.delete_tables(TABLES[:1]))):
        replace_blocks(index, all_at(TABLES, number))
        proxy.lose(number, fault)
        writer.delete_tables(TABLES[:2])
        assert versions_found(index) == dict.fromkeys(TABLES[2:], number), f"request {number}"


@pytest.mark.parametrize("fault", [Fault.LOSE_REQUEST, Fault.LOSE_ANSWER])
def test_a_lost_connection_anywhere_in_a_search(index, open_index, proxy, fault):
    reader = open_index(urls=(proxy.url,))
    for number in range(1, 1 + requests_of(proxy, lambda: look(reader, len(TABLES)))):
        proxy.lose(number, fault)
        assert look(reader, len(TABLES)) == [OLD, OLD]


def test_a_connection_that_stays_lost_during_the_bulk(index, open_index, proxy):
    writer = open_index(urls=(proxy.url,), patience_seconds=1.0)
    proxy.choose = lambda _, __, path: Fault.LOSE_REQUEST if "_bulk" in path else None
    with pytest.raises(SearchIndexError, match=r"Check index\.elasticsearch\.urls"):
        replace_blocks(writer, all_at(TABLES, 2))
    assert versions_found(index) == OLD
    proxy.heal()
    replace_blocks(writer, all_at(TABLES, 2))
    assert versions_found(index) == NEW


def test_a_server_that_stalls(index, open_index, proxy):
    stalled = open_index(urls=(proxy.url,), patience_seconds=1.0, timeout_seconds=0.5)
    proxy.choose = lambda *_: Fault.STALL
    for call in (
        lambda: replace_blocks(stalled, all_at(TABLES, 2)),
        lambda: look(stalled, len(TABLES)),
        stalled.info,
    ):
        with pytest.raises(SearchIndexError, match="did not answer in time"):
            call()  # the proxy stalls until the end, so it is this program that has given up
    proxy.heal()
    assert versions_found(index) == OLD

    def goes_on():
        with suppress(SearchIndexError):  # half a second may be too short for a busy server
            replace_blocks(stalled, all_at(TABLES, 2))
            return True

    wait_until(goes_on, "the handle that was stalled writes")
    assert versions_found(index) == NEW


def test_a_request_that_arrives_long_after_it_was_given_up(index, open_index, proxy):
    """By then its blocks have been sent again, replaced, and removed: they must not come back."""
    writer = open_index(urls=(proxy.url,), timeout_seconds=1.0)
    bulks = itertools.count()
    proxy.choose = lambda _, __, path: Fault.DELAY if "_bulk" in path and not next(bulks) else None
    replace_blocks(writer, all_at(TABLES, 2))
    assert versions_found(index) == NEW
    cleaner = open_index(retention_seconds=0.0)
    replace_blocks(cleaner, all_at(TABLES, 3))
    cleaner.optimise()
    assert not proxy.carried_out.is_set()
    proxy.released.set()
    assert proxy.carried_out.wait(timeout=LONGEST)
    replace_blocks(cleaner, all_at(["s/more"], 3))  # shows what has arrived
    assert versions_found(index) == dict.fromkeys([*TABLES, "s/more"], 3)


@pytest.mark.parametrize("block", ["read_only_allow_delete", "read_only", "write"])
def test_an_index_that_takes_no_writes(index, open_index, client, index_name, block):
    impatient = open_index(patience_seconds=1.0)
    client.indices.put_settings(index=index_name, settings={f"index.blocks.{block}": True})
    for call in (
        lambda: replace_blocks(impatient, all_at(TABLES, 2)),
        lambda: impatient.delete_tables(TABLES),
    ):
        with pytest.raises(SearchIndexError, match=r"disk.*lift the block"):
            call()
    assert versions_found(index) == OLD  # readers go on
    client.indices.put_settings(index=index_name, settings={f"index.blocks.{block}": None})
    replace_blocks(impatient, all_at(TABLES, 2))
    assert versions_found(index) == NEW


@contextmanager
def nowhere_to_go(client, name):
    """Let new indices of this name find no node, until the block ends."""
    template, setting = f"{name}-nowhere", "index.routing.allocation.require._name"
    client.indices.put_index_template(
        name=template,
        index_patterns=[f"{name}-*"],
        priority=1000,
        template={"settings": {setting: "no-such-node"}},
    )
    try:
        yield
    finally:
        client.indices.delete_index_template(name=template)
        client.indices.put_settings(index=f"{name}-*", settings={setting: None})


def is_red(client, name):
    found = client.cat.indices(index=f"{name}-*", format="json", h="health")
    return [one["health"] for one in found] == ["red"]


def test_a_red_index_is_told(open_index, client, index_name):
    with nowhere_to_go(client, index_name), pytest.raises(SearchIndexError, match=r"health|load"):
        replace_blocks(open_index(patience_seconds=1.0, timeout_seconds=2.0), all_at(TABLES, 1))
    index = open_index()
    replace_blocks(index, all_at(TABLES, 1))
    assert versions_found(index) == OLD


def test_a_red_index_that_recovers_in_time_is_waited_for(open_index, proxy, client, index_name):
    found = []

    def write():
        index = open_index(urls=(proxy.url,), timeout_seconds=2.0)
        replace_blocks(index, all_at(TABLES, 1))
        found.append(versions_found(index))

    thread = threading.Thread(target=write)
    with nowhere_to_go(client, index_name):
        thread.start()
        wait_until(lambda: is_red(client, index_name), "the index was not made")
        proxy.count = 0
        wait_until(lambda: proxy.count > 2, "it has not been tried again")
        assert not found
    thread.join()
    assert found == [OLD]


WRONG = {"properties": {"vector": {"type": "keyword"}, "text": {"type": "integer"}}}


@pytest.mark.parametrize("aliased", [True, False])
def test_another_programs_index_is_left_alone(open_index, client, index_name, aliased):
    name = f"{index_name}-000001" if aliased else index_name
    aliases = {index_name: {}} if aliased else {}
    client.indices.create(index=name, mappings=WRONG, aliases=aliases)
    try:
        with pytest.raises(SearchIndexError, match=r"index\.elasticsearch\.name"):
            open_index()
        assert client.count(index=name)["count"] == 0
    finally:
        client.indices.delete(index=name)


def test_a_mapping_that_someone_changed(index, open_index, client, index_name, elasticsearch_url):
    """Documents that do not fit are told with their cause; building anew mends it."""
    (found,) = client.indices.get_alias(name=index_name)
    made = client.indices.get(index=found)[found]
    copied = client.get(index=found, id="state")["_source"]
    client.indices.delete(index=found)
    made["mappings"]["properties"]["terms"] = {"type": "integer"}
    client.indices.create(
        index=found,
        settings={"similarity": made["settings"]["index"]["similarity"]},
        mappings=made["mappings"],
        aliases=made["aliases"],
    )
    client.index(index=found, id="state", document=copied, refresh=True)
    with pytest.raises(SearchIndexError, match=r"documents of the index .* were refused .*reindex"):
        replace_blocks(open_index(patience_seconds=5.0), all_at(TABLES, 2))
    config = ElasticsearchConfig(urls=(elasticsearch_url,), name=index_name)
    reindex_on(config)
    mended = open_index()
    replace_blocks(mended, all_at(TABLES, 2))
    assert versions_found(mended) == NEW


@pytest.mark.parametrize("spoil", ["lost", "replaced"])
def test_a_damaged_state_is_told(index, open_index, client, index_name, spoil):
    (found,) = client.indices.get_alias(name=index_name)
    where = {"index": found, "id": "state", "refresh": True}
    if spoil == "lost":
        client.delete(**where)
    else:
        client.index(**where, document={"doc": "state", "generation": 0, "state": {"last": "x"}})
    for call in (
        open_index,
        index.list_tables,
        lambda: list(index.blocks()),
        lambda: replace_blocks(index, all_at(TABLES, 2)),
        lambda: index.delete_tables(TABLES),
    ):
        with pytest.raises(IndexDamagedError, match="--rebuild"):
            call()
