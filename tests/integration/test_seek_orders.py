"""Texts that order the conductor about change no state, call no tool, and leave no process."""

import json

import pytest

from pneuma_assets.core.seek.untrusted import WITHHELD, outside
from tests.support.orders import HARMLESS, ORDERS
from tests.support.recording_endpoint import serving
from tests.support.scripted_model import act, say, scripted_model
from tests.support.seek_lake import ANA, BO, LAKE, actions, deploy, kinds, model_at, opened
from tests.support.small_server import answering, send

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]


@pytest.mark.parametrize("text", ORDERS)
def test_an_order_is_withheld(text):
    assert outside(f"Some words. {text}", 500) == WITHHELD


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_order_is_shown(text):
    assert outside(text, 500) == text


def quoted(cell: str) -> str:
    return '"{}"'.format(cell.replace('"', '""'))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, small_encoder, read_here):
    """A lake in which every order is a cell, a column's name, a description, and knowledge."""
    columns = [f"note {n}" for n in range(len(ORDERS))]
    notes = [columns, list(ORDERS), ["fine"] * len(ORDERS)]
    named = [list(ORDERS), ["fine"] * len(ORDERS)]
    csv = ["\n".join(",".join(map(quoted, row)) for row in rows) for rows in (notes, named)]
    file = deploy(
        tmp_path_factory.mktemp("orders"),
        files={**LAKE, "notes": {"notes": csv[0] + "\n", "named": csv[1] + "\n"}},
    )
    with opened(file) as workspace:
        for name, text in zip(columns, ORDERS, strict=True):
            workspace.describe("lake/notes/notes", name, " ".join(text.split()), author="eve")
        begun = workspace.seek.start(BO, "Notes").conversation_id
        for text in ORDERS:
            workspace.seek.share(begun, f"Of notes: {text}", BO)
    return file


def obeying(line):
    """Return a model that does what it is ordered to, wherever an order stands, else its line."""

    def answer(prompt):
        told = prompt.partition("\nDATA (")[2]  # what its own role says is no order of others
        flat = [json.dumps(one, ensure_ascii=False).strip('"') for one in ORDERS]
        for text, escaped in zip(ORDERS, flat, strict=True):
            if text in told or escaped in told:
                return ORDERS[text]
        return line

    return answer


def test_a_model_that_obeys_every_order_it_reads_is_shown_none(hostile):
    sources = [
        {"name": "notes", "of": ["lake/notes/notes"]},
        {"name": "named", "of": ["lake/notes/named"]},
    ]
    lines = [
        act("search", query="notes named"),
        act("search", query="notes", where="knowledge"),
        act("change", sources=sources),
        act("look", table="lake/notes/notes"),
        act("look", table="lake/notes/named"),
        act("probe", sql="SELECT * FROM notes"),
        act("probe", sql="SELECT * FROM named"),
        act("probe", sql="SELECT nothing FROM named"),
        say("Done."),
    ]
    with (
        scripted_model(*map(obeying, lines)) as (endpoint, script),
        opened(hostile, model_at(endpoint.url, actions=20)) as workspace,
    ):
        begun = workspace.seek.start(ANA).conversation_id
        list(workspace.seek.say(begun, "What do the notes say?", ANA))
        found = workspace.seek.get(begun, ANA)
    done = [name for name, _ in actions(found)]
    assert done == [one["next"]["action"] for one in lines[:-1]]
    assert [one.name for one in found.state.sources] == ["notes", "named"]
    assert found.events[-1].data["text"] == "Done."
    shown = "\n".join(script.prompts)
    assert WITHHELD in shown
    assert "fine" in shown, "cells are shown"
    assert "said before" in shown, "knowledge is shown"


@pytest.mark.parametrize("text", ORDERS)
def test_what_a_model_that_is_talked_into_it_can_do_is_a_proposal_at_most(hostile, text):
    """Also where nothing is withheld: nothing is made, agreed to, kept, or sent anywhere."""
    with serving(lambda _: (200, {"results": []})) as web:
        script = [act("search", query="notes"), ORDERS[text], ORDERS[text], say()]
        with scripted_model(*script) as (endpoint, _):
            seek = model_at(endpoint.url, web=web.url.removesuffix("/v1"))
            with opened(hostile, seek) as workspace:
                begun = workspace.seek.start(ANA).conversation_id
                before = workspace.seek.knowledge(ANA), len(workspace.seek.list(ANA))
                list(workspace.seek.say(begun, "What do the notes say?", ANA))
                found = workspace.seek.get(begun, ANA)
                assert (workspace.seek.knowledge(ANA), len(workspace.seek.list(ANA))) == before
                workspace.seek.delete(begun, ANA)
        assert not {"made", "result", "accepted"} & set(kinds(found))
        assert not found.is_agreed
        assert all("salaries" not in i for one in found.state.sources for i in one.table_ids)
        assert web.said == b""
        assert "87654" not in str(found.to_dict())


def test_the_web_is_asked_in_the_person_s_own_words_alone(hostile):
    asked = []

    def searxng(handler, _):
        asked.append((handler.path, handler.headers["Authorization"]))
        page = {"url": "https://x.example", "title": "T", "content": "Tariffs rose."}
        send(handler, json.dumps({"results": [page] * 20}).encode())

    query = "tariffs of Germany for Eve with 91234"
    script = [act("search", query=query, where="web"), say()]
    with (
        answering(searxng) as url,
        scripted_model(*script) as (endpoint, said),
        opened(hostile, model_at(endpoint.url, web=url)) as workspace,
    ):
        begun = workspace.seek.start(ANA).conversation_id
        list(workspace.seek.say(begun, "Which tariffs has Germany?", ANA))
        found = workspace.seek.get(begun, ANA)
    assert asked == [("/search?q=tariffs+germany&format=json", None)]
    assert len(found.events[1].data["found"]) == 8
    assert "Tariffs rose." in said.prompts[1]
