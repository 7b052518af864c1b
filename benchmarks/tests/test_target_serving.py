"""Requests of the package's retriever are read strictly, and answered as `run` answers."""

import io
import json
import os

import pytest

from benchmarks.tests.support.bench_sets import SIDES, TABLES
from pneuma_bench.lab import Lab
from pneuma_bench.settings import setting_of
from pneuma_bench.target.serving import TargetServer, serve
from tests.support.word_encoder import WordEncoder

CORPUS = [
    {"database_id": "0", "table_id": name, "table": [columns, *rows], "context": {"text": ""}}
    for name, (columns, rows) in TABLES.items()
]


@pytest.fixture
def server():
    def lab(dataset):
        return Lab(dataset, None, os.environ, lambda _: WordEncoder())

    with TargetServer(setting_of(SIDES, {}), lab) as one:
        yield one


def ask(server, *requests):
    """Send requests as bytes or as objects; return the replies."""
    sent = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in requests)
    replies = io.BytesIO()
    serve(io.BytesIO(b"".join(line + b"\n" for line in sent)), replies, server)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def request(do, **more):
    return {"do": do, "dataset": "d", **more}


QUESTION = request("ask", questions=["length of the river Danube"], k=2)


def test_a_corpus_is_indexed_and_asked(server):
    *counted, answer = ask(
        server,
        request("embed"),
        request("tables", tables=CORPUS[:4]),
        request("tables", tables=CORPUS[4:]),
        request("end"),
        QUESTION,
    )
    assert counted == [{"tables": n} for n in (0, 4, 6, 6)]
    assert answer["tables"][0][0] == ["0", "rivers"]
    assert len(answer["tables"][0]) == 2


def test_a_set_that_is_begun_anew_has_its_new_tables_alone(server):
    begin = request("embed", hide_names=True)
    send = [request("tables", tables=CORPUS), request("end")]
    *_, answer = ask(
        server, begin, *send, begin, request("tables", tables=CORPUS[1:2]), send[1], QUESTION
    )
    assert answer["tables"] == [[["0", "lakes"]]]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b"[]", "cannot be used"),
        (request("drop"), "do: Input should be 'embed'"),
        (request("embed", table="x"), "Extra inputs"),
        (request("ask", questions=["a"], k="10"), "valid integer"),
        (request("ask", questions=["a"], k=1), "send `embed` first"),
    ],
)
def test_what_is_wrong_with_a_request_is_its_reply(server, line, says):
    (reply, after) = ask(server, line, request("embed"))
    assert says in reply["error"]
    assert after == {"tables": 0}


def test_tables_are_refused_as_those_of_a_file(server):
    twice, _, nothing = (
        ask(server, request("embed"), request("tables", tables=tables), request("end"), QUESTION)
        for tables in ([*CORPUS, CORPUS[0]], CORPUS, [{"table_id": "x", "table": "no"}])
    )
    assert "another table has the id '0.rivers'" in twice[2]["error"]
    assert "not indexed yet" in twice[3]["error"]
    assert "'table' must be a list of rows" in nothing[2]["error"]


def test_what_was_refused_is_begun_anew(server):
    bad = request("tables", tables=[{"table_id": "x", "table": "no"}])
    *_, more, again = ask(server, request("embed"), bad, request("end"), bad, request("end"))
    assert "ended already" in more["error"]
    assert "ended already" in again["error"]


@pytest.mark.parametrize("odd", [{"id": "other"}, {"name": "x/y"}])
def test_a_table_goes_back_by_the_ids_that_it_came_with(server, odd):
    sent = {**CORPUS[0], **odd}
    *_, answer = ask(
        server, request("embed"), request("tables", tables=[sent]), request("end"), QUESTION
    )
    assert answer["tables"] == [[["0", sent["table_id"]]]]
