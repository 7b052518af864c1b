"""Wherever a table is shown whose rows are not all read, it is said how many lines, and where."""

import pytest

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.sources.base import UNREAD
from pneuma_assets.mcp_server.tools import answer, describe_table
from pneuma_assets.workspace import open_workspace
from tests.support.doors import run
from tests.support.indexed_home import make_home
from tests.support.served_home import client_of, local_app
from tests.support.stages import run_stages

RIVERS, GAUGES = "lake/rivers", "lake/gauges"
CUT = '{"river": "elbe", "gauge": 3}\n\n{"river": "rh\n{"river": "oder", "gauge": 5}\n'
NOTE = f"1 line {UNREAD}; the first is line 3"
TOLD = f"{GAUGES}: {NOTE}"
FINDING = ("lines not read", "warning", TOLD)
ME = Asker("ana", is_operator=True)


@pytest.fixture(scope="module")
def file(tmp_path_factory, small_encoder, read_here):
    files = {"lake/rivers.csv": "river,length\nelbe,1094\noder,742\n", "lake/gauges.jsonl": CUT}
    return make_home(tmp_path_factory.mktemp("unread"), files)


@pytest.fixture(scope="module")
def workspace(file):
    with open_workspace(config=file) as one:
        yield one


def test_the_status_says_it(workspace, file):
    status = workspace.status()
    assert [(one.subject, one.stage) for one in status.problems] == [(GAUGES, "rows")]
    assert status.problems[0].cause == f"{NOTE}; mend the file"
    assert [tuple(one.notes) for one in status.tables] == [(NOTE,), ()]
    assert status.counts() == {"indexed": 2}
    shown = run("--config", file, "status").stdout
    assert f"{GAUGES} rows {NOTE}" in " ".join(shown.split())


def test_the_table_and_its_page_say_it(workspace):
    page = workspace.table(GAUGES)
    assert (page.notes, page.problem, page.card.rows) == ((NOTE,), None, 2)
    assert describe_table(workspace, ME, GAUGES).notes == [NOTE]


def test_rows_of_it_say_it(workspace):
    sql = "SELECT river, gauge, length FROM rivers JOIN gauges USING (river)"
    both = workspace.run_sql(sql, [RIVERS, GAUGES])
    assert (len(both.rows), both.unread) == (2, (TOLD,))
    assert workspace.run_sql("SELECT * FROM rivers", [RIVERS, GAUGES]).unread == ()
    named = {one.table: one.unread for one in workspace.answer("oder", model=False).named}
    assert named == {RIVERS: (), GAUGES: (TOLD,)}
    said = {one.tables[0]: one.unread for one in answer(workspace, ME, "oder").named}
    assert said == {RIVERS: [], GAUGES: [TOLD]}


def test_interfaces_show_it_beside_the_rows(file, workspace):
    shown = run("--config", file, "answer", "oder", "--no-model").stdout
    assert " ".join(shown.split()).count(TOLD) == 1
    with client_of(local_app(file)) as client:
        assert client.get("/answer?q=oder").text.count(TOLD) == 1
        assert client.get(f"/tables/{GAUGES}").text.count(NOTE) == 1
        given = client.post(
            "/api/v1/statements", json={"sql": "SELECT * FROM gauges", "tables": [GAUGES]}
        )
    assert given.json()["unread"] == [TOLD]


def made(workspace, begun, *reads):
    steps = [
        {"operator": "sql", "reads": [one], "makes": f"t{at}", "code": f"SELECT river FROM {one}"}
        for at, one in enumerate(reads)
    ]
    state = workspace.seek.get(begun, ME).to_dict()["state"]
    tables = [{"name": step["makes"], "steps": [step]} for step in steps]
    workspace.seek.edit(begun, state | {"tables": tables}, ME)
    found = workspace.seek.materialize(begun, ME)
    return [(one["rule"], one["severity"], one["text"]) for one in found.findings]


def test_a_conversation_says_it_of_tables_and_of_a_person_s_file(workspace):
    begun = workspace.seek.start(ME, "Gauges").conversation_id
    sources = [{"name": "g", "table_ids": [GAUGES]}, {"name": "r", "table_ids": [RIVERS]}]
    workspace.seek.edit(begun, {"sources": sources}, ME)
    assert made(workspace, begun, "r") == []
    assert made(workspace, begun, "r", "g") == [FINDING]
    added = workspace.seek.add_file(begun, "mine.jsonl", CUT.encode(), ME)
    told = ("lines not read", "warning", f"mine.jsonl: {NOTE}")
    assert [(one["rule"], one["severity"], one["text"]) for one in added.findings] == [told]
    assert made(workspace, begun, "file_mine", "g") == [told, FINDING]


def test_once_it_is_mended_nothing_is_said(workspace, file):
    (file.parent / "lake/gauges.jsonl").write_text(CUT.replace("rh\n", 'rhine"}\n'))
    run_stages(load_deployment(config=file, environ={}))
    assert workspace.status().problems == []
    assert workspace.table(GAUGES).notes == ()
    assert workspace.run_sql("SELECT * FROM gauges", [GAUGES]).unread == ()
