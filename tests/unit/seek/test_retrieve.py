"""Knowledge is found by its words; the web is asked within bounds, or says why not."""

from contextlib import contextmanager

import pytest

from pneuma_assets.core.errors import QueryError, SourceError
from pneuma_assets.core.seek.retrieve import (
    MOST_FOUND,
    Document,
    alias,
    search_knowledge,
    search_web,
)
from pneuma_assets.core.store.knowledge import Statement
from pneuma_assets.core.text.analysis import analyzer_named
from tests.support.small_server import answering, send

SAID = ["Which tariffs has Germany?"]


def statement(number, text):
    return Statement(f"k{number}", text, (), "ana", 0.0, "c")


def found(query, statements):
    documents = search_knowledge(query, statements, analyzer_named("english"))
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
        search_web("tariffs", url, None, SAID)


def test_pages_are_bounded_and_the_token_is_sent():
    page = b'{"url": "https://x", "title": null, "content": "%s"}' % (b"c" * 9_000)
    with searxng(200, b'{"results": [%s]}' % b",".join([page] * 30)) as (url, asked):
        pages = search_web("German tariffs", url, "secret", SAID)
    assert len(pages) == MOST_FOUND
    assert len(pages[0].text) == 1_000
    assert asked == ["Bearer secret"]


@pytest.mark.parametrize("query", ["91234", "Eve's salary", "", "!!"])
def test_words_that_the_person_did_not_say_are_not_sent(query):
    with searxng(200, b"{}") as (url, asked), pytest.raises(QueryError, match="own words"):
        search_web(query, url, None, SAID)
    assert asked == []


def test_without_a_server_nothing_is_asked():
    with pytest.raises(QueryError, match=r"seek\.web"):
        search_web("tariffs", None, None, SAID)


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
