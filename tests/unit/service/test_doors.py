"""One desk: Python, the command line and Dagster's resource refuse the same things alike."""

import json
import re
from contextlib import contextmanager
from dataclasses import asdict
from html import unescape
from pathlib import Path

import anyio
import dagster as dg
import pytest
from mcp import Client

from pneuma_assets import (
    ConfigError,
    DocumentKind,
    IndexFilter,
    PneumaError,
    QueryError,
    StateError,
    open_workspace,
)
from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.indexed_folders import MARK
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Problem, TableRef
from pneuma_assets.index_run import run_indexing
from pneuma_assets.mcp_server.server import build_server
from pneuma_assets.resources.build import build_resources
from tests.support.doors import fails, succeeds
from tests.support.index_blocks import index_texts
from tests.support.served_home import client_of, local_app

EMPTY = "the file is empty; write it again"
TEXTS = {"lake/rain": "how much rain fell", "lake/cars": "cars and their horsepower"}


@pytest.fixture(autouse=True)
def lake(here) -> None:
    (here / "lake").mkdir()
    (here / "pneuma.yaml").write_text(
        "home: home\nquery: {trust: 0.1}\nsources: [{type: folder, name: lake, path: lake}]\n"
    )


@pytest.fixture
def indexed(here):
    """Two tables that are indexed, one that failed, one that waits."""
    ids = [*TEXTS, "lake/broken", "lake/new"]
    refs = [TableRef(table_id, "lake", f"/{table_id}.csv", "csv", "1") for table_id in ids]
    with Store(here / "home" / "state.db") as store:
        store.listings.sync("lake", refs)
        store.queue.fail(Problem("lake/broken", "profile", EMPTY))
    index_texts(here / "home", TEXTS)


def by_python(use) -> str:
    with open_workspace() as workspace, pytest.raises(PneumaError) as raised:
        use(workspace)
    return str(raised.value)


@contextmanager
def dagster():
    resource = build_resources(load_deployment())["pneuma_query"]
    with dg.build_resources({"pneuma_query": resource}) as resources:
        yield resources.pneuma_query


def by_command_line(*arguments: str) -> str:
    return fails(1, *arguments).removeprefix("error: ")


def told_by_all(question: str, where: IndexFilter, *options: str) -> str:
    """What every door says to a question, which must be the same."""
    with dagster() as resource, pytest.raises(QueryError) as raised:
        resource.ask(question, where=where)
    said = {
        by_python(lambda workspace: workspace.ask(question, where=where)),
        by_python(lambda workspace: workspace.ask_each([question], where=where)),
        str(raised.value),
        by_command_line("search", question, *options),
    }
    assert len(said) == 1, said
    return said.pop()


@pytest.mark.parametrize(
    ("where", "options", "message"),
    [
        (
            IndexFilter(tables=("lake/rian",)),
            ["--table", "lake/rian"],
            "unknown table 'lake/rian'; did you mean lake/rain, lake/new, lake/broken?",
        ),
        (
            IndexFilter(sources=("lak",)),
            ["--source", "lak"],
            "unknown source 'lak'; did you mean lake?",
        ),
        (
            IndexFilter(tables=("lake/rain", "lake/broken")),
            ["--table", "lake/rain", "--table", "lake/broken"],
            f"table 'lake/broken' is not indexed: {EMPTY}",
        ),
        (
            IndexFilter(tables=("lake/new",)),
            ["--table", "lake/new"],
            "table 'lake/new' is not indexed: it waits for the next run; run: pneuma-assets index",
        ),
    ],
    ids=["table", "source", "failed", "waiting"],
)
def test_names_that_cannot_be_looked_in(indexed, where, options, message):
    assert told_by_all("rain", where, *options) == message


def test_an_unknown_table_beside_many_whose_names_hold_capitals(here):
    known = [f"lake/Shop_{n}/Orders_{n}" for n in range(150)]
    refs = [TableRef(table_id, "lake", f"/{table_id}.csv", "csv", "1") for table_id in known]
    with Store(here / "home" / "state.db") as store:
        store.listings.sync("lake", refs)
    index_texts(here / "home", dict.fromkeys(known, "what customers ordered"))
    listed = "; `pneuma-assets status --tables` lists them"  # on the command line alone
    for name, remedy, command_line in [
        ("nope", "", listed),
        ("lake/shop_7/ordesr_7", "; did you mean lake/Shop_7/Orders_7, ", ""),
    ]:
        where = IndexFilter(tables=(name,))
        told = f"unknown table '{name}'{remedy}"
        message = f"{told}{command_line}"
        assert told_by_all("orders", where, "--table", name).startswith(message)
        for command in ("describe", "lineage", "joins"):
            assert by_command_line(command, name).startswith(message)
        assert told in by_tool("describe_table", table=name)
        with client_of(local_app(here / "pneuma.yaml")) as client:
            answers = (
                client.get("/api/v1/table", params={"id": name}),
                client.get(f"/tables/{name}"),
            )
        assert [answer.status_code for answer in answers] == [404, 404]
        assert all(told in unescape(answer.text) for answer in answers)


def by_tool(tool: str, **arguments: object) -> str:
    async def asked() -> str:
        with open_workspace() as workspace:
            async with Client(build_server(workspace, lambda _: Asker("ann", None))) as client:
                result = await client.call_tool(tool, arguments)
        assert result.is_error
        return result.content[0].text

    return anyio.run(asked)


def test_a_kind_that_is_not_made(indexed):
    for kind, remedy in {
        "contxt": "did you mean context?",
        "qqq": "use one of: context, folder, lineage, names, rows, schema, summary, values",
    }.items():
        said = told_by_all("rain", IndexFilter(kinds=(DocumentKind(kind),)), "--kind", kind)
        assert said == f"unknown kind '{kind}'; {remedy}"
    assert "'A kind' is not a kind of document" in fails(2, "search", "rain", "--kind", "A kind")


def test_every_kind_that_is_made_stands_in_the_help():
    from pneuma_assets.core.service.engine import document_kinds

    shown = succeeds("search", "--help")
    assert all(f"({kind})" in shown for kind in document_kinds())


def test_a_source_that_is_broken_says_why_its_tables_are_not_indexed(indexed, here):
    with Store(here / "home" / "state.db") as store:
        store.problems.record("lake", "listing", [Problem("lake", "listing", "it is gone")])
    where = IndexFilter(tables=("lake/new",))
    said = told_by_all("rain", where, "--table", "lake/new")
    assert said.endswith("is not indexed: its source lake has a problem: it is gone")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda w: w.ask(None), "the question must be a str, not NoneType"),
        (lambda w: w.ask_many("rain"), "questions must be a list of str, not str"),
        (lambda w: w.ask_many(["rain", 5]), "the question must be a str, not int"),
        (lambda w: w.ask_each(5), "questions must be a list of str, not int"),
        (lambda w: w.ask("rain", k="5"), "k must be a whole number from 1 to 1000, not '5'"),
        (lambda w: w.ask("rain", judge="no"), "judge must be True, False or None, not 'no'"),
        (lambda w: w.ask("rain", where=None), "where must be an IndexFilter, not NoneType"),
        (
            lambda w: w.ask("rain", where=IndexFilter(sources="lake")),
            "sources of a filter must be a list of str, not str",
        ),
        (lambda w: w.index(sources="lake"), "sources must be a list of str, not str"),
        (lambda w: w.index(sources=[5]), "each of sources must be a str, not int"),
        (lambda w: w.index(5), "folder must be a str or a Path, not int"),
        (lambda w: w.add_context("lake/rain", None, "t"), "the name must be a str, not NoneType"),
        (lambda w: w.add_context("lake/rain", "n", b"t"), "the text must be a str, not bytes"),
        (lambda w: w.add_context(5, "n", "t"), "the table's id must be a str, not int"),
        (lambda w: w.remove_context("lake/rain", 5), "the name must be a str, not int"),
        (lambda w: w.contexts(None), "the table's id must be a str, not NoneType"),
        (lambda w: w.copy_index("embedded", None), "TO must be a str, not NoneType"),
        (lambda _: open_workspace(home=5), "home must be a str or a Path, not int"),
    ],
)
def test_arguments_of_another_type(indexed, use, message):
    assert by_python(use) == message


def test_nothing_indexed_is_told_and_nothing_is_made(here):
    before = sorted(here.rglob("*"))
    nothing = f"nothing is indexed in {here / 'home'} yet; run: pneuma-assets index"
    assert told_by_all("rain", IndexFilter()) == nothing
    no_table = f"no table is known in {here / 'home'} yet; run: pneuma-assets index"
    for name, use, arguments in [
        ("add", lambda w: w.add_context("lake/rain", "n", "t"), ["lake/rain", "n", "--text", "t"]),
        ("remove", lambda w: w.remove_context("lake/rain", "n"), ["lake/rain", "n"]),
        ("list", lambda w: w.contexts("lake/rain"), ["lake/rain"]),
    ]:
        assert {by_python(use), by_command_line("context", name, *arguments)} == {no_table}
    assert by_python(lambda workspace: workspace.reindex()) == by_command_line("reindex")
    with open_workspace() as workspace:
        assert workspace.status().empty
        assert workspace.known_tables() == []
    assert "nothing is indexed yet; run: pneuma-assets index" in succeeds("status")
    assert sorted(here.rglob("*")) == before


def test_an_index_is_not_copied_to_itself(indexed):
    """With `replace` it would be removed before it is read."""
    for engines, message in [
        (("embedded", "embedded"), "FROM and TO are both embedded; name both engines"),
        (("embedded", "embeded"), "TO: 'embeded' is not a search engine; did you mean 'embedded'?"),
    ]:
        told = by_python(lambda workspace, two=engines: workspace.copy_index(*two, replace=True))
        assert told.startswith(message)
        assert fails(2, "copy-index", *engines, "--replace") == f"error: {told}"
    with open_workspace() as workspace:
        assert workspace.ask("rain")


def test_as_many_tables_as_a_question_needs_are_found_by_all_doors(indexed, here):
    """Both tables are candidates, of which one says what is asked; by default, one is shown."""
    asked = "how much rain fell"
    with open_workspace() as workspace:
        assert [one.table_id for one in workspace.find(asked, k=2)] == ["lake/rain"]
        assert len(workspace.find(asked, tau=0.0, k=2)) == 2
        [answer] = workspace.ask_each([asked], tau=1.0, k=2)
    assert [one.table_id for one in answer.results] == ["lake/rain"]
    (here / "asked").write_text(f"{asked}\n{asked}\n")
    words = "search", "--json", "-k", "2", "--tau"
    [one] = json.loads(succeeds(*words, "1", asked))
    assert one["table_id"] == "lake/rain"
    assert len(json.loads(succeeds(*words, "0", asked))) == 2
    many = json.loads(succeeds(*words, "1", "--questions", "asked"))
    assert [len(one["results"]) for one in many] == [1, 1]
    with dagster() as resource:
        assert [one.table_id for one in resource.find(asked, tau=1.0)] == ["lake/rain"]
    assert "tau must be a number from 0.0 to 1.0, not 1.5" in fails(1, *words, "1.5", asked)


def test_a_closed_workspace_opens_nothing_more(indexed):
    with open_workspace() as workspace:
        workspace.ask("rain")
        workspace.release()
        workspace.ask("rain")  # released, it opens again
    for use in (
        lambda: workspace.ask("rain"),
        lambda: workspace.ask_each(["rain"]),
        workspace.status,
        lambda: workspace.contexts("lake/rain"),
        workspace.index,
    ):
        with pytest.raises(StateError, match="This workspace is closed; open another"):
            use()
    workspace.close()


def test_sources_are_checked_alike(here):
    (here / "lake" / "rain.csv").write_text("city,rain\nKiel,12\n")
    with open_workspace() as workspace:
        (check,) = workspace.check_sources()
    assert (check.name, check.tables, check.reachable) == ("lake", 1, True)
    assert json.loads(succeeds("sources", "--json")) == [json.loads(json.dumps(asdict(check)))]


def test_a_damaged_state_is_restored_alike(indexed):
    with open_workspace() as workspace:
        assert workspace.restore() is None
        state = workspace.loaded.home / "state.db"
    assert succeeds("restore", "--json") == "null\n"
    state.write_bytes(b"not a database")
    told = succeeds("restore")
    assert "the state is now a new file, as there was no backup" in told
    assert "the damaged file is kept: " in told
    state.write_bytes(b"not a database")
    with open_workspace() as workspace:
        assert not workspace.restore().from_backup


def test_indexing_a_source_that_is_not_there(here):
    said = {
        by_python(lambda workspace: workspace.index(sources=["lak"])),
        by_python(lambda workspace: run_indexing(workspace.loaded, sources=["lak"])),
        by_command_line("index", "--source", "lak"),
    }
    assert said == {"unknown source 'lak'; did you mean lake?"}
    assert not (here / "home").exists()


def test_an_answer_is_the_same_at_every_door(indexed):
    with open_workspace() as workspace:
        results = workspace.ask("rain")
        (again,) = workspace.ask_many(question for question in ["rain"])
        good, bad, worse = workspace.ask_each(question for question in ["rain", "?", 5])
    assert results == again == list(good.results)
    assert (bad.question, bad.results, worse.question) == ("?", (), "")
    assert "no words" in bad.error
    assert worse.error == "the question must be a str, not int"
    with dagster() as resource:
        assert resource.ask("rain") == results


def python_of(page: str) -> str:
    text = (Path(__file__).resolve().parents[3] / page).read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return code


@pytest.mark.parametrize(("page", "home"), [("README.md", "home"), ("docs/ask.md", ".pneuma")])
def test_the_python_of_the_documentation_runs(indexed, capsys, page, home):
    index_texts(Path(home), {"lake/transport/modechoice": "waiting time for the train", **TEXTS})
    exec(compile(python_of(page), page, "exec"), {})
    said = capsys.readouterr().out
    assert "lake/rain" in said
    if page == "docs/ask.md":
        assert "did you mean lake/transport/modechoice" in said


def test_indexing_from_python_is_seen_by_questions_of_the_same_workspace(here, read_here):
    (here / "pneuma.yaml").unlink()
    (here / "home").mkdir()
    (here / "other").mkdir()
    (here / "home" / "pneuma.yaml").write_text(
        f"{MARK}\nsources:\n- name: other\n  type: folder\n  path: {here / 'other'}\n"
    )
    (here / "lake" / "rain.csv").write_text("city,rain\nKiel,12\n")
    with open_workspace(home="home") as workspace:
        assert workspace.index("lake").indexed == 1
        assert [result.table_id for result in workspace.ask("rain")] == ["lake/rain"]
        (here / "lake" / "snow.csv").write_text("city,snow\nOslo,40\n")
        assert workspace.index(sources=["lake"]).indexed == 1
        assert [result.table_id for result in workspace.ask("snow", k=1)] == ["lake/snow"]
        assert workspace.index(rebuild=True).indexed == 2
        assert [result.table_id for result in workspace.ask("snow", k=1)] == ["lake/snow"]
        assert workspace.status().counts() == {"indexed": 2}
        with pytest.raises(ConfigError, match="a folder or names of sources, not both"):
            workspace.index("lake", sources=["lake"])


def test_an_answer_that_is_none_is_shown_as_such(indexed):
    question = "volcano eruptions"
    with open_workspace() as workspace:
        confidence = workspace.ask(question)[0].answerable
        (answer,) = workspace.ask_each([question])
    assert confidence < 0.27
    assert answer.confidence == confidence
    assert answer.to_dict()["confidence"] == round(confidence, 6)
    shown = succeeds("search", question).splitlines()
    line = f"No confident match ({confidence:.2f})."
    assert (shown[0], shown[2].split()[0]) == (line, "1")
    (result,) = json.loads(succeeds("search", "-k", "1", "--json", question))
    assert result["answerable"] == round(confidence, 6)
    assert line[:20] not in succeeds("search", "how much rain fell")


def test_from_which_confidence_on_is_said_in_the_deployment_file(indexed, here):
    written = (here / "pneuma.yaml").read_text()
    (here / "pneuma.yaml").write_text(written.replace("trust: 0.1", "min_confidence: 0"))
    assert "No confident match" not in succeeds("search", "volcano eruptions")
    (here / "pneuma.yaml").write_text(written.replace("trust: 0.1", "min_confidence: 1"))
    asked = succeeds("search", "--questions", "-", stdin="rain\nwhose cars\n")
    assert asked.count("No confident match") == 2
    assert "No confident match" not in succeeds("search", "--alpha", "0.5", "whose cars")
