"""Conversations over HTTP: from a need to a file, each for its author alone."""

import io

import pyarrow.parquet as pq
import pytest

from pneuma_assets.cli.seek import _show as show
from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.store.conversations import NewEvent

API = "/api/v1/conversations"
STATE = {
    "sources": [{"name": "rivers", "table_ids": ["open/nature/rivers"]}],
    "tables": [
        {
            "name": "long_rivers",
            "columns": [{"name": "river"}, {"name": "length", "type": "integer"}],
            "steps": [
                {
                    "operator": "sql",
                    "reads": ["rivers"],
                    "makes": "long_rivers",
                    "code": "SELECT river, length FROM rivers",
                }
            ],
        }
    ],
    "queries": [{"name": "most", "sql": "SELECT max(length) AS most FROM long_rivers"}],
}


@pytest.fixture
def begun(client):
    answer = client.post(API, json={"title": "Rivers"})
    assert answer.status_code == 201, answer.text
    here = f"{API}/{answer.json()['conversation_id']}"
    yield here
    client.delete(here)


def done(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_need_becomes_a_file(client, begun):
    said = done(client.post(f"{begun}/messages", json={"text": "how long are rivers?", "key": "1"}))
    assert said["events"][0]["kind"] == "person"
    assert said["events"][-1]["kind"] == "assistant"
    again = done(client.post(f"{begun}/messages", json={"text": "how long?", "key": "1"}))
    assert len(again["events"]) == len(said["events"])
    wrong = STATE | {"queries": [{"name": "most", "sql": "SELECT max(length) FROM rivers"}]}
    (finding,) = done(client.put(f"{begun}/state", json=wrong))["findings"]
    assert (finding["subject"], finding["severity"]) == ("most", "error")
    assert done(client.put(f"{begun}/state", json=STATE))["findings"] == []
    ran = done(client.post(f"{begun}/results"))
    assert ran["events"][-1]["cells"]["rows"]["most"]
    assert done(client.post(f"{begun}/acts/accept"))["events"][-1]["kind"] == "accepted"
    text = client.get(f"{begun}/tables/long_rivers").text
    assert text.splitlines()[0] == "river,length"
    packed = client.get(f"{begun}/tables/long_rivers", params={"format": "parquet"}).content
    rows = pq.read_table(io.BytesIO(packed))
    assert rows.num_rows == len(text.splitlines()) - 1
    most = client.get(f"{begun}/results/most").text.split()
    assert most == ["most", str(max(rows["length"].to_pylist()))]
    assert "long_rivers" in client.get(f"{begun}/script").text
    changes = done(client.get(f"{begun}/versions"))
    assert "+table long_rivers" in changes["items"][-2]["changes"]
    before = done(client.post(f"{begun}/acts/undo"))["state"]
    assert before["queries"][0]["sql"] == wrong["queries"][0]["sql"]


def test_a_conversation_is_listed_renamed_and_deleted(client, begun):
    done(client.patch(begun, json={"title": "Long rivers"}))
    listed = done(client.get(API))
    assert "Long rivers" in {one["title"] for one in listed["items"]}
    assert client.delete(begun).status_code == 204
    assert client.get(begun).status_code == 404
    assert client.get(f"/seek/{begun.rpartition('/')[2]}").status_code == 404


WRONG = {
    "a state that cannot be": ("put", "/state", {"tables": [{"name": "a b"}]}, 422),
    "a step of nothing": (
        "put",
        "/state",
        {"tables": [{"name": "a", "steps": [{"operator": "sql", "makes": "b", "code": "x"}]}]},
        422,
    ),
    "nothing said": ("post", "/messages", {"text": ""}, 422),
    "no such act": ("post", "/acts/explode", None, 422),
    "nothing to accept": ("post", "/acts/accept", None, 422),
    "nothing to agree to": ("post", "/messages", {"text": "make it", "agreed": True}, 422),
    "no title": ("patch", "", {"title": " "}, 422),
    "no such table": ("get", "/tables/none", None, 422),
    "no such query": ("get", "/results/none", None, 422),
    "no such file": ("get", "/other/none", None, 422),
}


@pytest.mark.parametrize(("method", "path", "body", "status"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_is_a_problem(client, begun, method, path, body, status):
    given = {} if body is None else {"json": body}
    answer = getattr(client, method)(begun + path, **given)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        (
            "patch",
            "",
            {"titel": "a"},
            "body.titel: unknown key; did you mean 'title'? known here: title",
        ),
        (
            "put",
            "/state",
            {"tabels": []},
            "body.tabels: unknown key; did you mean 'tables'? known here",
        ),
        (
            "put",
            "/state",
            {"tables": [{"name": "a", "what": 1}]},
            "body.tables.0.what: unknown key; known here: name, description, columns, steps",
        ),
    ],
)
def test_of_an_unknown_key_those_are_told_that_there_are(client, begun, method, path, body, said):
    assert getattr(client, method)(begun + path, json=body).json()["detail"].startswith(said)


def test_what_was_not_made_as_it_is_now_is_not_accepted(client, begun):
    done(client.put(f"{begun}/state", json=STATE))
    page = f"/seek/{begun.rpartition('/')[2]}"
    for refused in (client.post(f"{begun}/acts/accept"), client.post(f"{page}/acts/accept")):
        assert refused.status_code == 422
        assert "make it, look at it, then accept" in refused.text
    assert "acts/accept" not in client.get(page).text
    done(client.post(f"{begun}/tables"))
    assert "acts/accept" in client.get(page).text
    done(client.post(f"{begun}/acts/accept"))


def test_lines_of_a_form_end_as_lines_do_elsewhere(client, begun):
    sql = {"sql": "SELECT river,\r\nlength\r\nFROM rivers", "tables": "open/nature/rivers"}
    page = client.post("/answer/run", data=sql)
    assert page.status_code == 200
    assert "SELECT river,\nlength\nFROM rivers</textarea>" in page.text
    here = f"/seek/{begun.rpartition('/')[2]}"
    page = client.post(f"{here}/say", data={"text": "Rivers,\r\nby length"})
    assert "Rivers,\nby length</p>" in page.text
    page = client.post(f"{here}/state", data={"version": 9, "state": "{\r\n}"})
    assert not {"\r", "\ufffd"} & set(page.text)
    done(client.put(f"{begun}/state", json={"assumptions": [{"text": "Long:\nabove 500 km"}]}))
    client.post(f"{here}/confirm", data={"text": "Long:\r\nabove 500 km"})
    assert done(client.get(begun))["state"]["assumptions"][0]["confirmed"]


def test_who_judges_a_statement_of_their_own_returns_to_its_question(client):
    sql = {"sql": "SELECT count(*) AS n FROM rivers", "tables": "open/nature/rivers"}
    page = client.post("/answer/run?q=how many%3F", data=sql).text
    assert 'name="back" value="/answer?q=how+many%3F"' in page
    assert 'action="/answer/run?q=how%20many%3F"' in page


def test_a_refused_export_of_an_edited_statement_leads_back_to_the_question(client):
    there = "/answer/run?q=longest%20river"
    sent = {"sql": "SELECT 1", "tables": "open/nature/rivers", "format": "pdf"}
    came = {"referer": f"{client.base_url}{there}", "accept": "text/html"}
    refused = client.post("/answer/export", data=sent, headers=came)
    assert refused.status_code == 422
    assert f'href="{there}">Go back</a>' in refused.text
    assert 'value="longest river"' in client.get(there).text


@pytest.mark.parametrize("form", ["rename", "say"])
def test_an_empty_form_is_refused_in_plain_words_on_its_page(client, begun, form):
    answer = client.post(f"/seek/{begun.rpartition('/')[2]}/{form}", data={"title": "", "text": ""})
    assert answer.status_code == 422
    assert "The title is empty" in answer.text or "The message is empty" in answer.text
    assert "is missing" not in answer.text


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        ("http://localhost/seek/1?a=b&c=%22", 'href="/seek/1?a=b&amp;c=%22"'),
        ("http://localhost", 'id="back" href="/"'),
        ("http://localhost//evil.example", 'id="back" href="/"'),
        ("http://evil.example/seek/1", None),
        ("http://localhost.evil.example/", None),
        ("http://localhost@evil.example/", None),
        ("javascript:alert(1)", None),
        (None, None),
    ],
)
def test_the_page_of_a_refused_form_leads_back_to_the_form(client, referer, back):
    given = {"Accept": "text/html"} | ({"Referer": referer} if referer else {})
    answers = [
        client.post("/edit/forget", data={"answer_id": "none"}, headers=given),
        client.post("/seek/1/file", content=b"x" * 1_000_001, headers=given),
    ]
    assert [one.status_code for one in answers] == [404, 413]
    for answer in answers:
        assert back is None or back in answer.text
        assert ('id="back"' in answer.text) == (back is not None)
        assert "evil.example" not in answer.text


def test_what_a_message_has_to_warn_of_is_shown_at_every_door(app, client, begun, capsys):
    conversation_id = begun.rpartition("/")[2]
    warned = NewEvent("assistant", {"text": "Look.", "by": "m"}, {"caveats": ["no cell is Oslo"]})
    desk = app.state.desk
    asker = Asker(done(client.get(begun))["author"])
    desk.store.conversations.append(conversation_id, 0, [warned])
    assert "no cell is Oslo" in client.get(f"/seek/{conversation_id}").text
    assert done(client.get(begun))["events"][-1]["cells"]["caveats"] == ["no cell is Oslo"]
    show(desk.seek.get(conversation_id, asker), as_json=False)
    assert "- no cell is Oslo" in capsys.readouterr().out
