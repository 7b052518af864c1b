"""Whoever asks whether the server is ready, however often, costs it little and learns little."""

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service.workspace import Workspace
from tests.support.served_home import client_of, local_app


def test_what_is_missing_is_looked_for_once_a_second(deployment, monkeypatch):
    looked = []
    monkeypatch.setattr(Workspace, "known_tables", lambda _: looked.append(1))
    with client_of(local_app(deployment)) as client:
        assert {client.get("/readyz").status_code for _ in range(20)} == {200}
    assert len(looked) <= 3


def test_what_is_missing_is_named_and_not_where_it_is(deployment, monkeypatch):
    def away(_):
        raise StateError("of a password")

    monkeypatch.setattr(Workspace, "known_tables", away)
    with client_of(local_app(deployment)) as client:
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["missing"]) == (503, ["state"])
    assert "password" not in answer.text
