"""Lineage is sent where openlineage-python is told to, what changed of it and no more."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.lineage.edges import Edge, EdgeKind
from pneuma_assets.core.service import openlineage
from pneuma_assets.core.service.openlineage import emit_lineage
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.edges import Origin
from pneuma_assets.core.tables import TableRef
from tests.support.small_server import answering, send
from tests.support.webserver import free_port

EDGE = Edge("w/main/orders", "w/main/revenue", EdgeKind.VIEW, (("amount", "total"),))
OTHER = Edge("w/main/orders", "w/main/report", EdgeKind.VIEW)
KEY = Edge("w/main/orders", "w/main/items", EdgeKind.FOREIGN_KEY)


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    with Store(tmp_path / "state.db") as opened:
        listed(opened, "items", "orders", "report", "revenue")
        yield opened


def listed(store: Store, *names: str) -> None:
    refs = [TableRef(f"w/main/{name}", "w", name, "table", "1") for name in names]
    store.listings.sync("w", refs, rule=None)


def said(store: Store, *edges: Edge) -> None:
    store.edges.replace([Origin("test", repr(edges), edges=edges)])


def deployment(file: Path | None) -> Deployment:
    source = {"type": "duckdb", "name": "w", "path": "/w.duckdb"}
    emit = {} if file is None else {"emit": str(file)}
    return Deployment.model_validate({"sources": [source], "lineage": emit})


def configured(folder: Path, **transport: object) -> Deployment:
    file = folder / "openlineage.yml"
    file.write_text(json.dumps({"transport": transport}))
    return deployment(file)


def causes(store: Store) -> list[str]:
    return [problem.cause for problem in store.problems.all()]


def outputs(file: Path) -> list[tuple[str, int]]:
    events = [json.loads(line) for line in file.read_text().splitlines()]
    return [(event["outputs"][0]["name"], len(event["inputs"])) for event in events]


def test_a_file_gets_what_changed_and_what_is_built_from_nothing_any_more(store, tmp_path):
    file = tmp_path / "events.jsonl"
    to = configured(tmp_path, type="file", log_file_path=str(file), append=True)
    said(store, EDGE, OTHER, KEY)
    assert emit_lineage(store, to) == 2
    assert outputs(file) == [("w.main.report", 1), ("w.main.revenue", 1)]
    assert emit_lineage(store, to) == 0
    said(store, EDGE, KEY)
    assert emit_lineage(store, to) == 1
    assert outputs(file)[2:] == [("w.main.report", 0)]
    listed(store, "items", "orders", "report")
    said(store, KEY)
    assert emit_lineage(store, to) == 0
    assert set(store.edges.sent()) == {"w/main/report"}
    assert causes(store) == []


def test_what_several_say_of_a_column_is_sent_once(store, tmp_path):
    file = tmp_path / "events.jsonl"
    to = configured(tmp_path, type="file", log_file_path=str(file), append=True)
    said(store, EDGE, replace(EDGE, kind=EdgeKind.DBT))
    assert emit_lineage(store, to) == 1
    (event,) = map(json.loads, file.read_text().splitlines())
    columns = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [one["field"] for one in columns["total"]["inputFields"]] == ["amount"]


@pytest.mark.integration
def test_an_endpoint_that_fails_is_a_problem_until_it_has_heard_all(store, tmp_path):
    heard, status = [], 400

    def hear(handler, body):
        heard.append(json.loads(body))
        send(handler, status=status)

    said(store, EDGE, OTHER)
    with answering(hear) as url:
        to = configured(
            tmp_path, type="http", url=url, endpoint="api/v1/lineage", compression=None,
            retry={"total": 0},
        )  # fmt: skip
        assert emit_lineage(store, to) == 0
        (cause,) = causes(store)
        assert "lineage is not sent" in cause
        assert "400" in cause
        heard.clear()
        status = 201
        assert emit_lineage(store, to) == 2
    assert causes(store) == []
    assert [event["job"]["name"] for event in heard] == ["w/main/report", "w/main/revenue"]
    columns = heard[1]["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert columns["total"]["inputFields"][0]["field"] == "amount"


def test_what_a_transport_sends_later_and_fails_to_is_sent_again(store, tmp_path):
    url = f"http://127.0.0.1:{free_port()}"
    to = configured(tmp_path, type="async_http", url=url, retry={"total": 0})
    said(store, EDGE)
    assert emit_lineage(store, to) == 0
    (cause,) = causes(store)
    assert "1 events failed" in cause
    assert store.edges.sent() == {}


def test_what_one_run_has_no_time_for_the_next_one_sends(store, tmp_path, monkeypatch):
    file = tmp_path / "events.jsonl"
    to = configured(tmp_path, type="file", log_file_path=str(file), append=True)
    said(store, EDGE, OTHER)
    times = iter([0.0, 1.0, 61.0, 61.0])
    monkeypatch.setattr(openlineage.time, "monotonic", lambda: next(times))
    assert emit_lineage(store, to) == 1
    monkeypatch.undo()
    assert emit_lineage(store, to) == 1
    assert len(outputs(file)) == 2


@pytest.mark.parametrize("text", ["", "- a", "transport: {}", "transport: [", "{a: " * 5000])
def test_a_file_that_configures_nothing_is_told_and_nothing_fails(store, tmp_path, text):
    file = tmp_path / "openlineage.yml"
    file.write_text(text)
    said(store, EDGE)
    assert emit_lineage(store, deployment(file)) == 0
    (cause,) = causes(store)
    assert str(file) in cause


def test_a_key_in_a_broken_file_is_not_told(store, tmp_path, caplog):
    file = tmp_path / "openlineage.yml"
    file.write_text('transport:\n  type: http\n  auth: {type: api_key, apiKey: "s3cret\n')
    said(store, EDGE)
    assert emit_lineage(store, deployment(file)) == 0
    (cause,) = causes(store)
    assert "openlineage.yml, line 4: is not YAML" in cause
    assert "s3cret" not in cause + caplog.text


@pytest.mark.parametrize(
    "transport",
    [
        {"auth": {"type": "api_key", "apiKey": "s3cret-0\n"}},
        {"custom_headers": {"X-A": "Basic s3cret-1\n"}},
    ],
)
def test_a_key_that_a_transport_quotes_is_not_told(store, tmp_path, caplog, transport):
    to = configured(
        tmp_path, type="http", url="http://127.0.0.1:1", retry={"total": 0}, **transport
    )
    said(store, EDGE)
    assert emit_lineage(store, to) == 0
    (cause,) = causes(store)
    assert cause.startswith("lineage is not sent (InvalidHeader)")
    assert "s3cret" not in cause + caplog.text


def test_nothing_is_sent_and_nothing_a_problem_where_nothing_is_to_be_sent(store, tmp_path):
    said(store, EDGE)
    assert emit_lineage(store, deployment(tmp_path / "none.yml")) == 0
    assert len(causes(store)) == 1
    assert emit_lineage(store, deployment(None)) == 0
    assert (causes(store), store.edges.sent()) == ([], {})
