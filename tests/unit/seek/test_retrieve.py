"""Knowledge is found by its words; the web is asked within bounds, or says why not."""

from contextlib import contextmanager

import numpy as np
import pytest

from pneuma_assets.core.asking_http import is_public
from pneuma_assets.core.errors import QueryError, SourceError
from pneuma_assets.core.seek.retrieve import (
    MOST_FOUND,
    Document,
    alias,
    fetch_page,
    search_knowledge,
    search_web,
)
from pneuma_assets.core.store.knowledge import Statement
from pneuma_assets.core.text.analysis import analyzer_named
from tests.support.small_server import answering, send

SAID = ["Which tariffs has Germany, and are German ones rising?"]
ENGLISH = analyzer_named("english")


def statement(number, text):
    return Statement(f"k{number}", text, (), "ana", 0.0, "c")


def found(query, statements):
    documents = search_knowledge(query, statements, ENGLISH)
    return [one.id for one in documents]


def test_rarer_words_count_more_and_statements_without_any_are_not_found():
    known = [
        statement(1, "Tariffs are shares of prices."),
        statement(2, "Tariffs include indirect tariffs."),
        statement(3, "Tariffs began in 1990."),
        statement(4, "Beaches close in May."),
    ]
    assert found("indirect tariffs", known) == ["k2", "k1", "k3"]
    assert found("weather", known) == []
    assert found("", known) == []
    many = [statement(n, "Tariffs.") for n in range(50)]
    assert len(found("tariffs", many)) == MOST_FOUND


@contextmanager
def searxng(status, body):
    """The address of a server that always answers so, and the tokens that it was sent."""

    def answer(handler, _):
        asked.append(handler.headers["Authorization"])
        send(handler, body, status)

    asked = []
    with answering(answer) as url:
        yield f"{url}/", asked


@pytest.mark.parametrize(
    ("status", "body"),
    [(500, b"{}"), (302, b"{}"), (200, b"<html>"), (200, b"[]"), (200, b'{"results": 1}'),
     (200, b'{"results": [1]}'), (200, b"[" * 100_000), (200, b"x" * 2_000_001)],
)  # fmt: skip
def test_a_server_that_does_not_answer_as_searxng_is_told_of(status, body):
    with searxng(status, body) as (url, _), pytest.raises(SourceError, match=r"seek\.web"):
        search_web("tariffs", url, None, SAID, ENGLISH)


def test_pages_are_bounded_and_the_token_is_sent():
    page = b'{"url": "https://x", "title": null, "content": "%s"}' % (b"c" * 9_000)
    with searxng(200, b'{"results": [%s]}' % b",".join([page] * 30)) as (url, asked):
        asked_for, pages = search_web("tariff of Germans german", url, "secret", SAID, ENGLISH)
    assert asked_for == "tariff germans german", "in another form, too"
    assert len(pages) == MOST_FOUND
    assert len(pages[0].text) == 1_000
    assert asked == ["Bearer secret"]


@pytest.mark.parametrize("query", ["91234", "Eve's salary", "", "!!"])
def test_words_that_the_person_did_not_say_are_not_sent(query):
    with searxng(200, b"{}") as (url, asked), pytest.raises(QueryError, match="own words"):
        search_web(query, url, None, SAID, ENGLISH)
    assert asked == []


def test_without_a_server_nothing_is_asked():
    with pytest.raises(QueryError, match=r"seek\.web"):
        search_web("tariffs", None, None, SAID, ENGLISH)


def test_what_is_meant_is_found_by_meaning_too():
    known = [statement(1, "Revenue is net of returns."), statement(2, "Beaches close in May.")]
    near = {"turnover": [1.0, 0.0], known[0].text: [0.8, 0.6], known[1].text: [0.1, 0.99]}

    def vectors(texts):
        return np.array([near[one] for one in texts])

    documents = search_knowledge("turnover", known, ENGLISH, vectors)
    assert [one.id for one in documents] == ["k1"]


def page_of(handler, _):
    send(handler, b"<html><title>T</title><p>Tariffs rose to 15&nbsp;%.</p><script>x</script>")


def test_a_page_is_read_as_a_document_with_its_address(monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.asking_http.is_public", lambda _: True)
    with answering(page_of) as url:
        page = fetch_page({"id": f"{url}/a", "title": "T"})
    assert (page.kind, page.id, page.title) == ("web", f"{url}/a", "T")
    assert "Tariffs rose to 15 %." in page.text
    assert "x" not in page.text.split()


@pytest.mark.parametrize("address", ["file:///etc/passwd", "http://[::1]:9/", "http:///a"])
def test_no_address_of_ones_own_network_is_asked(address):
    with pytest.raises(SourceError):
        fetch_page({"id": address})


def test_ones_own_network_is_not_even_connected_to(monkeypatch):
    connected = []
    monkeypatch.setattr("socket.create_connection", lambda *given: connected.append(given))
    with pytest.raises(SourceError, match="no public address"):
        fetch_page({"id": "http://127.0.0.1:9/"})
    assert connected == []


@pytest.mark.parametrize(
    ("address", "is_one"),
    [("93.184.216.34", True), ("2606:2800:220:1::1", True), ("10.0.0.1", False), ("::1", False),
     ("169.254.169.254", False), ("::ffff:127.0.0.1", False), ("64:ff9b::7f00:1", False),
     ("2002:7f00:1::", False), ("224.0.0.1", False), ("fe80::1", False)],
)  # fmt: skip
def test_what_a_public_address_is(address, is_one):
    assert is_public(address) is is_one


def test_documents_have_short_names_by_kind_in_their_order():
    documents = [
        Document("table", "a", tables=("a", "b")),
        Document("web", "w"),
        Document("table", "c"),
    ]
    named = alias([one.to_dict() for one in documents])
    assert {name: one["id"] for name, one in named.items()} == {"t1": "a", "w1": "w", "t2": "c"}
    assert named["t1"]["tables"] == ["a", "b"]
    assert "tables" not in named["t2"]
