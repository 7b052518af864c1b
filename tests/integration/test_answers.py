"""Questions are answered in cells by every door, over files and in a database, within the rules."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from typer.testing import CliRunner

from pneuma_assets import IndexFilter, QueryError, open_workspace
from pneuma_assets.cli.app import app
from pneuma_assets.core.answers.results import Outcome
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.service.answer_sources import AnswerSources
from pneuma_assets.definitions import build_resources
from pneuma_assets.index_run import run_indexing
from tests.support.postgresql_process import Server
from tests.support.postgresql_server import new_database
from tests.support.recording_endpoint import recording_endpoint
from tests.support.sql_database import VARIABLE, Database
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

AUTHORS = "author_id,name,salary\n" + "".join(
    f"{n},Person {'ABCDEFGH'[n]},{9100 + n}\n" for n in range(8)
)
PAPERS = "paper_id,title,year\n" + "".join(f"{n},Title {n},{1990 + n}\n" for n in range(8))
WRITES = "author_id,paper_id\n" + "".join(f"{n % 5},{n}\n" for n in range(8))
LAKE = {"author": AUTHORS, "paper": PAPERS, "writes": WRITES}
Indexed = Callable[..., Path]
SHOPS = {
    f"sales_{year}": f"shop,total\nOslo,{year}\nRome,{year + 1}\n" for year in range(2001, 2013)
}
LATEST = "what is the salary of the author Person C"
WRITTEN = "SELECT p.title FROM paper p JOIN writes w USING (paper_id) JOIN author a USING (author_id) WHERE a.name = 'person c'"  # noqa: E501


@pytest.fixture(scope="module", autouse=True)
def _small_encoder() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        for door in ("pneuma_assets.core.models.encoder.encoder", "pneuma_assets.resources.models"):
            patched.setattr(f"{door}.open_encoder", lambda _: WordEncoder())
        yield


@pytest.fixture(scope="module")
def indexed_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], dict[str, Any]]:
    """Index files as a source, both given as JSON; returns the deployment. Tests only ask it."""

    @cache
    def index(files: str, source: str) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("indexed")
        (folder / "lake").mkdir()
        for name, text in json.loads(files).items():
            (folder / "lake" / f"{name}.csv").write_text(text, encoding="utf-8")
        lake = {"type": "folder", "name": "lake", "path": str(folder / "lake")}
        described = {"home": str(folder / "home"), "sources": [lake | json.loads(source)]}
        (folder / "pneuma.yaml").write_text(yaml.safe_dump(described))
        with open_workspace(folder / "pneuma.yaml") as workspace:
            run_indexing(workspace.loaded)
        return described

    return index


@pytest.fixture
def indexed(tmp_path: Path, indexed_once: Callable[[str, str], dict[str, Any]]) -> Indexed:
    """Return the file of a deployment with these keys, over files that are indexed as a lake."""

    def index(files: dict[str, str], **keys: object) -> Path:
        described = indexed_once(json.dumps(files), json.dumps(keys.pop("source", {})))
        file = tmp_path / "pneuma.yaml"
        file.write_text(yaml.safe_dump(described | {"query": {"min_confidence": 0.0}} | keys))
        return file

    return index


def at(url: str, **more: object) -> dict[str, object]:
    return {"model": {"model": "m", "endpoint_url": url, **more}}


def test_without_a_model_rows_that_the_question_names_are_shown_and_nothing_is_claimed(indexed):
    file = indexed(LAKE)
    with open_workspace(file) as workspace:
        answer = workspace.answer("how many authors are called person c, and what do they earn?")
    assert (answer.outcome, answer.answers, answer.usage.calls) == (Outcome.NAMED, (), 0)
    (one,) = answer.named
    assert one.table == "lake/author"
    assert one.columns == ("author_id", "name", "salary")
    assert one.rows == (("2", "Person C", "9102"),)
    assert one.matched == {"person c": ("name",)}
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", LATEST])
    assert shown.exit_code == 0, shown.output
    assert "lake/author: 'person c' in name" in shown.output
    assert "9102" in shown.output
    said = " ".join(shown.output.split())
    assert "no model was asked" in said
    assert "name one in answers.model (docs/answers.md, Which model)" in said
    told = CliRunner().invoke(app, ["--config", str(file), "answer", "--json", LATEST])
    found = json.loads(told.stdout)
    assert found["outcome"] == "named"
    assert found["named"][0]["matched"] == {"person c": ["name"]}


def test_where_no_cell_is_named_that_is_said_and_the_tables_are_shown(indexed):
    file = indexed(LAKE)
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", "the lowest salary"])
    assert shown.exit_code == 0, shown.output
    said = " ".join(shown.output.split())
    assert "the question names no cell of the tables that were found" in said
    assert "name one in answers.model" in said
    assert "nearest tables: lake/author" in said
    told = CliRunner().invoke(app, ["--config", str(file), "answer", "--json", "lowest salary"])
    found = json.loads(told.stdout)
    assert (found["outcome"], found["named"], found["answers"]) == ("no rows", [], [])


def test_rows_of_hidden_columns_are_neither_found_nor_shown_without_a_model(indexed):
    file = indexed(LAKE, source={"privacy": {"hidden_columns": ["salary"]}})
    with open_workspace(file) as workspace:
        by_name = workspace.answer("what does Person C earn?")
        by_salary = workspace.answer("which author has the salary 9102?")
    assert by_name.named[0].columns == ("author_id", "name")
    assert by_name.named[0].rows == (("2", "Person C"),)
    assert (by_salary.outcome, by_salary.named) == (Outcome.NO_ROWS, ())


def test_a_model_joins_tables_and_what_it_misspells_is_corrected(indexed):
    def write(prompt: str) -> str:
        return "yes" if "Answer only 'yes' or 'no'" in prompt else f"```sql\n{WRITTEN};\n```"

    with recording_endpoint(write) as endpoint:
        file = indexed(LAKE, answers=at(endpoint.url))
        told = CliRunner().invoke(
            app,
            [
                "--config",
                str(file),
                "answer",
                "--json",
                "titles of papers that the author person c writes",
            ],
        )
    assert told.exit_code == 0, told.output
    answer = json.loads(told.stdout)
    assert answer["answers"], answer["problems"]
    one = answer["answers"][0]
    assert sorted(one["rows"]) == [["Title 2"], ["Title 7"]]
    assert set(one["tables"]) == {"lake/author", "lake/paper", "lake/writes"}
    assert one["corrections"] == [
        {"table": "lake/author", "column": "name", "said": "person c", "stored": "Person C"}
    ]
    assert one["made_by"] == "model m"
    assert answer["usage"]["calls"] == 2
    assert answer["usage"]["read"] > 100
    said = endpoint.said
    assert b"Person" not in said.replace(b"person c", b"")
    assert b"9100" not in said


def test_an_endpoint_that_may_see_values_is_shown_some(indexed):
    with recording_endpoint(lambda _: "yes") as endpoint:
        file = indexed(LAKE, answers=at(endpoint.url, send_values=True))
        with open_workspace(file) as workspace:
            workspace.answer(LATEST)
    assert b"Person C" in endpoint.said


def test_a_hidden_column_is_neither_shown_nor_read(indexed):
    def write(prompt: str) -> str:
        return "yes" if "Answer only" in prompt else "SELECT salary FROM author"

    with recording_endpoint(write) as endpoint:
        file = indexed(
            LAKE,
            source={"privacy": {"hidden_columns": ["salary"]}},
            answers=at(endpoint.url, send_values=True),
        )
        with open_workspace(file) as workspace:
            answer = workspace.answer("salary of the author named Person C")
            without = workspace.answer("salary of the author named Person C", model=False)
    assert not answer.answers
    assert any("hidden by rules of privacy" in one.cause for one in answer.problems)
    assert b"9102" not in endpoint.said
    assert "9102" not in json.dumps([answer.to_dict(), without.to_dict()])


@pytest.mark.slow
def test_one_call_answers_twelve_tables_of_the_same_columns(indexed):
    def write(prompt: str) -> str:
        return (
            "yes"
            if "Answer only" in prompt
            else f"SELECT total FROM {table_in(prompt)} WHERE shop = 'Oslo'"
        )

    with recording_endpoint(write) as endpoint:
        file = indexed(SHOPS, answers=at(endpoint.url))
        with open_workspace(file) as workspace:
            answer = workspace.answer("total of the shop Oslo")
    assert answer.usage.calls == 2
    assert len(answer.answers) == 10
    assert {one.rows[0][0] for one in answer.answers} == {
        int(one.tables[0].rpartition("_")[2]) for one in answer.answers
    }


def table_in(prompt: str) -> str:
    return prompt.partition("CREATE TABLE ")[2].partition(" ")[0]


def test_rows_of_a_table_that_has_changed_since_are_shown_with_that(indexed, monkeypatch):
    file = indexed(LAKE)
    monkeypatch.setattr(AnswerSources, "changed", lambda _, tables: set(tables))
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", LATEST])
    assert "9102" in shown.output
    assert (
        "lake/author: it has changed since it was indexed; run `pneuma-assets index`"
        in shown.output
    )


def test_a_model_that_is_not_configured_is_not_asked(indexed):
    with (
        open_workspace(indexed(LAKE)) as workspace,
        pytest.raises(QueryError, match=r"answers\.model"),
    ):
        workspace.answer(LATEST, model=True)


def test_tables_that_who_asks_may_not_see_are_never_read(indexed):
    file = indexed(LAKE, source={"readers": ["ada"]})
    with open_workspace(file) as workspace:
        mine = workspace.answer(LATEST, where=IndexFilter(readers=("ada",)))
        with pytest.raises(QueryError, match="that you may see"):
            workspace.answer(LATEST, where=IndexFilter(readers=("eve",)))
    assert mine.named


def test_a_question_that_no_table_answers_is_refused_with_the_nearest(indexed):
    file = indexed(LAKE, query={"min_confidence": 1.0})
    with open_workspace(file) as workspace:
        answer = workspace.answer(LATEST)
    assert answer.outcome == Outcome.REFUSED
    assert "lake/author" in answer.nearest
    assert "No confident match" in answer.reason
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", LATEST])
    assert shown.exit_code == 0
    assert "nearest tables: " in shown.output


def test_a_model_that_does_not_answer_is_named(indexed):
    file = indexed(LAKE, answers=at("http://127.0.0.1:9/v1"))
    with open_workspace(file) as workspace, pytest.raises(ModelError, match=r"127\.0\.0\.1:9"):
        workspace.answer(LATEST)


@pytest.mark.parametrize("k", [0, 101, True, "three"])
def test_a_wrong_number_of_sets_is_refused(indexed, k):
    with open_workspace(indexed(LAKE)) as workspace, pytest.raises(QueryError, match="1 to 100"):
        workspace.answer(LATEST, k=k)


def test_the_resource_of_dagster_answers_alike(indexed):
    loaded = load_deployment(indexed(LAKE), environ={})
    with dg.build_resources({"pneuma_query": build_resources(loaded)["pneuma_query"]}) as resources:
        answer = resources.pneuma_query.answer("what is the salary of the author person c")
        groups = resources.pneuma_query.find_groups("salary of the author person c")
    assert answer.named[0].rows == (("2", "Person C", "9102"),)
    assert groups[0].tables[0] == "lake/author"


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """A warehouse of two tables in two schemas that are called alike."""
    with Server() as server, new_database(server.superuser_url) as url:
        database = Database(url)
        database.run(
            "CREATE ROLE reader LOGIN PASSWORD 'hunter2'",
            *("CREATE SCHEMA shop", "CREATE SCHEMA hr", "GRANT USAGE ON SCHEMA shop TO reader"),
            "CREATE TABLE shop.people (id int PRIMARY KEY, name text, city text)",
            "INSERT INTO shop.people SELECT n, 'Person ' || n, 'Rome' "
            "FROM generate_series(1, 30) n",
            "GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader",
            "CREATE TABLE hr.people (id int, secret text)",
            "INSERT INTO hr.people VALUES (1, 'canary-9137')",
        )
        yield database


def test_a_statement_runs_in_the_database_itself(database, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "hunter2")
    config = database.config("reader").model_dump(mode="json", exclude_defaults=True)
    written = "SELECT secret FROM hr.people"

    def write(prompt: str) -> str:
        if "Answer only" in prompt:
            return "yes"
        return (
            written if "This statement was written" not in prompt else "SELECT count(*) FROM people"
        )

    with recording_endpoint(write) as endpoint:
        (tmp_path / "pneuma.yaml").write_text(
            yaml.safe_dump(
                {
                    "home": "home",
                    "sources": [{**config, "type": "sql"}],
                    "query": {"min_confidence": 0.0},
                    "answers": at(endpoint.url),
                }
            )
        )
        with open_workspace(tmp_path / "pneuma.yaml") as workspace:
            run_indexing(workspace.loaded)
            answer = workspace.answer("how many people live in the city Rome")
            named = workspace.answer("which city is Person 7 from?", model=False).named
    assert [(one.table.rpartition("/")[2], one.rows) for one in named] == [
        ("people", ((7, "Person 7", "Rome"),))
    ]
    assert answer.answers, answer.problems
    (one,) = answer.answers
    assert one.rows == ((30,),)
    assert one.repaired
    assert one.dialect == "postgres"
    assert '"shop"."people"' in one.sql
    assert "canary" not in json.dumps(answer.to_dict())
    assert any("'hr.people'" in problem.cause for problem in answer.problems)
