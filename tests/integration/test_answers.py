"""Questions are answered in cells by every door, over files and in a database, within the rules."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict
from functools import cache
from pathlib import Path
from threading import Barrier
from typing import Any

import dagster as dg
import pytest
import yaml
from typer.testing import CliRunner

from pneuma_assets import IndexFilter, QueryError, open_workspace
from pneuma_assets.cli.app import app
from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.results import CellAnswer, Outcome
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.errors import AccessRefusedError, ConfigError, TableReadError
from pneuma_assets.core.service import answer_sources
from pneuma_assets.core.service.answer import _Told
from pneuma_assets.core.service.answer_sources import AnswerSources
from pneuma_assets.core.service.check_parts import Missing
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import TableRef, TableTerms
from pneuma_assets.resources.build import build_resources
from tests.support.deployment_files import deploy, folder_source
from tests.support.fake_model import shown_tables
from tests.support.postgresql_process import Server
from tests.support.postgresql_server import new_database
from tests.support.recording_endpoint import (
    Endpoint,
    completion,
    prompt_of,
    recording_endpoint,
    serving,
)
from tests.support.sql_database import VARIABLE, Database
from tests.support.stages import run_stages
from tests.support.word_encoder import WordEncoder

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]

AUTHORS = "author_id,name,salary\n" + "".join(
    f"{n},Person {'ABCDEFGH'[n]},{9100 + n}\n" for n in range(8)
)
PAPERS = "paper_id,title,year\n" + "".join(f"{n},Title {n},{1990 + n}\n" for n in range(8))
WRITES = "author_id,paper_id\n" + "".join(f"{n % 5},{n}\n" for n in range(8))
LAKE = {"author": AUTHORS, "paper": PAPERS, "writes": WRITES}
Indexed = Callable[..., Path]
LATEST = "what is the salary of the author Person C"
WRITTEN = "SELECT p.title FROM paper p JOIN writes w USING (paper_id) JOIN author a USING (author_id) WHERE a.name = 'person c'"  # noqa: E501


def counted(usage: dict[str, int], endpoint: Endpoint, tokens: tuple[int, int]) -> bool:
    """Tell whether this is what an endpoint was asked, which tells these tokens of each answer."""
    answered = len(endpoint.requests) - 1  # but the first, which it was too busy for
    read, written = (answered * one for one in tokens)
    return usage == {"calls": answered + 1, "read": read, "written": written, "cost": 0.0}


@pytest.fixture(scope="module")
def indexed_once(
    tmp_path_factory: pytest.TempPathFactory, small_encoder: WordEncoder
) -> Callable[[str, str], dict[str, Any]]:
    """Index files as a source, both given as JSON; returns the deployment. Tests only ask it."""

    @cache
    def index(files: str, source: str) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("indexed")
        (folder / "lake").mkdir()
        for name, text in json.loads(files).items():
            file = folder / "lake" / f"{name}.csv"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        lake = folder_source(folder / "lake") | json.loads(source)
        run_stages(deploy(folder, lake), {}, "run")
        return {"home": str(folder / "home"), "sources": [lake]}

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


def written(sql: str | None = None, missing: str | None = None, **more: object) -> str:
    """Return what a model answers that chooses the first set."""
    said = {"plan": "", "set": 1, "sql": sql, "missing": missing, "other_reading": None}
    return json.dumps(said | more)


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
    assert "these rows contain words of the question, and are not an answer" in said
    assert "No language model is set up" in said
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
    assert "the question names no cell of the nearest tables" in said
    assert "name one in answers.model" in said
    assert "nearest tables: lake/author" in said
    told = CliRunner().invoke(app, ["--config", str(file), "answer", "--json", "lowest salary"])
    found = json.loads(told.stdout)
    assert (found["outcome"], found["named"], found["answers"]) == ("no rows", [], [])


BIRDS = "species,mean_body_mass\n" + "".join(f"Penguin {n},{4000 + n}\n" for n in range(6))
TURF = "plot,rating,club\n" + "".join(
    f"{n},{'Good' if n % 2 else 'Average'},North {n}\n" for n in range(6)
)


def test_a_common_word_is_no_cell_of_a_table_that_is_not_the_nearest(indexed):
    file = indexed({"karcher.penguins": BIRDS, "karcher.turf": TURF})
    with open_workspace(file) as workspace:
        answer = workspace.answer("average mean body mass of penguins by species")
        by_two_words = workspace.answer("mean body mass by species of penguins in North 3")
        in_the_nearest = workspace.answer("plot with a rating that is average, by club")
    assert (answer.outcome, answer.named) == (Outcome.NO_ROWS, ())
    assert answer.nearest[0] == "lake/karcher.penguins"
    assert "No language model is set up" in answer.reason
    assert [one.matched for one in by_two_words.named] == [{"north 3": ("club",)}]
    assert [one.matched for one in in_the_nearest.named] == [{"average": ("rating",)}]
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", "penguins of North 3"])
    assert shown.output.splitlines()[0].startswith("nearest tables: lake/karcher.")


def test_rows_of_hidden_columns_are_neither_found_nor_shown_without_a_model(indexed):
    file = indexed(LAKE, source={"privacy": {"hidden_columns": ["salary"]}})
    with open_workspace(file) as workspace:
        by_name = workspace.answer("what does Person C earn?")
        by_salary = workspace.answer("which author has the salary 9102?")
    assert by_name.named[0].columns == ("author_id", "name")
    assert by_name.named[0].rows == (("2", "Person C"),)
    assert (by_salary.outcome, by_salary.named) == (Outcome.NO_ROWS, ())


@pytest.mark.parametrize("heard", [True, False])
def test_every_request_for_an_answer_is_counted_also_those_of_the_judge(indexed, heard):
    busy = iter([True])

    def reply(body: dict[str, Any]) -> tuple[int, object]:
        if next(busy, False):
            return 429, {}
        missing = heard and '"missing"' in prompt_of(body)
        status, said = completion(written(missing="who *reviewed* it") if missing else "yes")
        said["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return status, said

    with serving(reply) as endpoint:
        model = at(endpoint.url, send_values=True)
        with open_workspace(indexed(LAKE, answers=model, judge=model)) as workspace:
            answer = workspace.answer("titles of papers that the author person c writes")
    assert answer.outcome == (Outcome.REFUSED if heard else Outcome.NOT_WRITTEN)
    told = "the model says that no table has this: who *reviewed* it" if heard else "gave no answer"
    assert told in answer.reason
    assert any(shown_tables(prompt_of(one)) for one in endpoint.requests)
    assert counted(asdict(answer.usage), endpoint, (100, 10))


def test_a_model_joins_tables_and_what_it_misspells_is_corrected(indexed):
    with recording_endpoint(lambda _: f"```sql\n{WRITTEN};\n```") as endpoint:
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
    assert answer["usage"]["calls"] == len(endpoint.requests) == 1
    assert answer["usage"]["read"] > 100
    said = endpoint.said
    assert b"Person" not in said.replace(b"person c", b"")
    assert b"9100" not in said


def test_a_hidden_column_is_neither_shown_nor_read(indexed):
    with recording_endpoint(lambda _: written("SELECT salary FROM author")) as endpoint:
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
    assert "9102" not in json.dumps([asdict(answer), asdict(without)])


def test_a_question_of_low_confidence_is_asked_all_the_same_and_told_beside_the_answer(indexed):
    with recording_endpoint(lambda _: written("SELECT salary FROM author")) as endpoint:
        unlikely = {"min_confidence": 1.0}
        file = indexed(LAKE, query=unlikely, answers=at(endpoint.url))
        with open_workspace(file) as workspace:
            answer = workspace.answer("what does an author earn")
        shown = CliRunner().invoke(
            app, ["--config", str(file), "answer", "what does an author earn"]
        )
    assert (answer.outcome, answer.unlikely) == (Outcome.ANSWERED, True)
    assert "No confident match (0." in shown.output


BOUGHT = {
    "orders": "order_id,amount\n" + "".join(f"{n},{10 * n}\n" for n in range(1, 6)),
    "payments": "payment_id,order_id,paid\n" + "".join(f"{n},{n % 5 + 1},{n}\n" for n in range(15)),
}
REPEATED = "SELECT sum(o.amount) AS s FROM orders o JOIN payments p ON o.order_id = p.order_id"


def test_a_sum_that_a_join_repeats_and_a_second_reading_are_told_at_every_door(indexed):
    other = {
        "first": "all payments",
        "means": "all orders",
        "sql": "SELECT sum(amount) FROM orders",
    }
    with recording_endpoint(lambda _: written(REPEATED, other_reading=other)) as endpoint:
        file = indexed(BOUGHT, answers=at(endpoint.url))
        asked = ["--config", str(file), "answer", "sum of the amount of orders with payments"]
        shown = CliRunner().invoke(app, asked)
        told = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    first, second = told["answers"]
    assert (first["rows"], first["means"]) == ([[450]], "all payments")
    assert (second["rows"], second["means"], second["doubts"]) == ([[150]], "all orders", [])
    (doubt,) = first["doubts"]
    assert "is over 15 rows, but 5 of" in doubt
    said = " ".join(shown.output.split())
    assert doubt in said
    assert "the model takes the question so: all payments" in said


def test_without_a_model_no_judge_is_asked(indexed):
    with recording_endpoint(lambda _: "no") as endpoint:
        file = indexed(LAKE, judge=at(endpoint.url, send_values=True))
        with open_workspace(file) as workspace:
            named = workspace.answer(LATEST).named
    assert named
    assert not endpoint.said


def test_rows_of_a_table_that_has_changed_since_are_shown_with_that(indexed, monkeypatch):
    file = indexed(LAKE)
    monkeypatch.setattr(AnswerSources, "changed", lambda _, tables: set(tables))
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", LATEST])
    assert "9102" in shown.output
    assert "lake/author: it has changed since it was indexed; index it again" in shown.output


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


def test_a_question_that_no_table_answers_is_refused_unless_it_names_a_rare_cell(indexed):
    file = indexed(
        LAKE | {"desk": "desk,salary\nKX77,9102\nKX78,9103\n"}, query={"min_confidence": 1.0}
    )
    with open_workspace(file) as workspace:
        answer = workspace.answer("salary of author 9102 and of the title")
        named = workspace.answer("who sits at KX77")
    assert answer.outcome == Outcome.REFUSED
    assert "lake/author" in answer.nearest
    assert answer.reason.startswith("No confident match (0.")
    assert named.outcome == Outcome.NAMED
    assert [(one.table, list(one.matched)) for one in named.named] == [("lake/desk", ["kx77"])]
    assert named.reason.startswith("No confident match (0.")
    with open_workspace(file) as workspace:
        by_name = workspace.answer("what does the author Person C earn")
    assert [list(one.matched) for one in by_name.named] == [["person c"]], "in the nearest tables"
    shown = CliRunner().invoke(app, ["--config", str(file), "answer", "what does an author earn"])
    assert shown.exit_code == 0
    assert "nearest tables: " in shown.output


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


PEOPLE = "name,salary\n" + "".join(f"Person {letter},{ord(letter)}\n" for letter in "ABCDEFGH")
QUESTION = "what is the salary of person c"
CHANGED = "has changed since it was indexed; index it again"


def answered(file: Path) -> CellAnswer:
    with open_workspace(file) as workspace:
        return workspace.answer(QUESTION)


def test_files_of_one_name_are_told_apart_and_nothing_is_opened_for_it(indexed, monkeypatch):
    file = indexed({"2019/people": PEOPLE, "2020/people": PEOPLE + "Person Z,1\n"})
    monkeypatch.setattr(answer_sources, "IsolatedSource", missing_secret)
    ids = ["lake/2019/people", "lake/2020/people", "lake/gone"]
    with AnswerSources(load_deployment(file, environ={}), {}) as sources:
        tables = sources.tables(dict.fromkeys(ids, TableTerms()))
        assert {i: one.read.name for i, one in tables.items()} == {
            "lake/2019/people": "people_2019",
            "lake/2020/people": "people_2020",
        }
        assert sources.dialect(list(tables.values())) == "duckdb"


def missing_secret(*_: object) -> None:
    raise ConfigError("the variable SECRET is not set")


def test_a_source_that_cannot_be_opened_fails_its_own_tables_alone(indexed, monkeypatch):
    monkeypatch.setattr(answer_sources, "IsolatedSource", missing_secret)
    answer = answered(indexed({"people": PEOPLE}))
    assert answer.outcome == Outcome.NO_ROWS
    assert "the variable SECRET is not set" in answer.problems[0].cause


def test_a_table_that_has_changed_or_left_since_is_named_with_what_to_do(tmp_path):
    table = tmp_path / "lake" / "people.csv"
    table.parent.mkdir()
    table.with_name("cats.csv").write_text("cat\nTom\n")
    table.write_text(PEOPLE)
    loaded = deploy(tmp_path, folder_source("lake"), query={"min_confidence": 0.0})
    file = loaded.file
    run_stages(loaded, {}, "run")
    table.write_text(PEOPLE.replace("salary", "wages"))
    (problem,) = answered(file).problems
    assert f"lake/people has no column 'salary': it {CHANGED}" in problem.cause
    table.unlink()
    (problem,) = answered(file).problems
    assert "if it has changed since it was indexed, index it again" in problem.cause
    with AnswerSources(loaded, {}) as sources:
        tables = list(
            sources.tables(dict.fromkeys(["lake/cats", "lake/people"], TableTerms())).values()
        )
        both = checked(
            "SELECT name, cat FROM people JOIN cats ON name = cat",
            [one.read for one in tables],
            "duckdb",
            9,
        )
        with pytest.raises(TableReadError):
            _Told(sources, missing := Missing(loaded, sees_all=True)).run(both, tables)
        assert [one.effect for one in missing.parts] == ["no rows of lake/people are read"]
        assert sources.changed(["lake/people", "lake/cats"]) == set()
        listed_anew(loaded)
        assert sources.changed(["lake/people", "lake/cats", "lake/none"]) == {"lake/people"}
    (problem,) = answered(file).problems
    assert f"lake/people {CHANGED}" in problem.cause


def test_a_refusal_is_told_in_the_words_of_the_database_to_who_may_see_all_alone(tmp_path):
    class Refusing:
        def run(self, *_: object) -> None:
            raise AccessRefusedError("shop.pay cannot be read: denied to 'reader'@'10.0.0.7'")

    loaded = deploy(tmp_path, folder_source("lake"))
    for sees_all in (True, False):
        with pytest.raises(AccessRefusedError) as caught:
            _Told(Refusing(), Missing(loaded, sees_all=sees_all)).run(None, ())  # type: ignore[arg-type]
        assert ("10.0.0.7" in str(caught.value)) is sees_all


def listed_anew(loaded: LoadedDeployment) -> None:
    """List the people as another version, as a tick of the sensor does before the next run."""
    with Store(loaded.home / "state.db") as store:
        refs = store.tables.refs(store.tables.listed())
        now = [
            TableRef(one.table_id, one.source, one.location, one.format, f"{one.version} anew")
            if one.table_id == "lake/people"
            else one
            for one in refs.values()
        ]
        store.listings.sync("lake", now)


def test_nobody_waits_for_the_statement_of_another(indexed, monkeypatch):
    run, both_run = answer_sources.run, Barrier(2, timeout=30)

    def met(*given: Any) -> Any:
        both_run.wait()
        return run(*given)

    monkeypatch.setattr(answer_sources, "run", met)
    with open_workspace(indexed({"people": PEOPLE})) as workspace, ThreadPoolExecutor(2) as askers:
        counted = "SELECT count(*) AS n FROM people", ["lake/people"]
        asked = [askers.submit(workspace.run_sql, *counted) for _ in range(2)]
        assert [one.result().rows for one in asked] == [((8,),)] * 2


def test_a_table_of_hidden_columns_alone_is_left_out(indexed):
    files = {"people": PEOPLE, "cats": "cat,age\nTom,3\n"}
    file = indexed(files, source={"privacy": {"hidden_columns": ["cat*", "age"]}})
    ids = ["lake/people", "lake/cats"]
    with AnswerSources(load_deployment(file, environ={}), {}) as sources:
        assert list(sources.tables(dict.fromkeys(ids, TableTerms()))) == ["lake/people"]


def by_statements(file: Path, written: Mapping[str, str]) -> dict[str, tuple[object, ...]]:
    """Return the first row of each question's statement, as a model writes it."""

    def write(prompt: str) -> str:
        return next(sql for question, sql in written.items() if question in prompt)

    with recording_endpoint(write) as endpoint:
        answers = {"model": {"model": "m", "endpoint_url": endpoint.url}}
        told = yaml.safe_load(file.read_text()) | {"answers": answers}
        file.write_text(yaml.safe_dump(told))
        with open_workspace(file) as workspace:
            given = {question: workspace.answer(question) for question in written}
    for question, answer in given.items():
        assert answer.answers, (question, answer.problems, answer.reason)
    return {question: answer.answers[0].rows[0] for question, answer in given.items()}


def test_numbers_and_days_of_an_engine_that_gives_texts_are_compared_as_such(tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection, connection:
        connection.executescript(
            "CREATE TABLE goods (title TEXT, price NUMERIC(10, 2), stock INTEGER, since DATETIME);"
            "INSERT INTO goods VALUES ('kettle', 9.5, 100, '2021-03-04 10:00:00'),"
            "('mill', 10, 9, '2020-12-31 23:00:00'), ('oven', 100.25, 20, NULL);"
        )
    source = {"type": "sql", "name": "shop", "url": "sqlite:///shop.sqlite"}
    loaded = deploy(tmp_path, source, query={"min_confidence": 0.0})
    file = loaded.file
    asked = {
        "largest price of goods": ("SELECT max(price) FROM goods", ("100.25",)),
        "goods with a stock above 10": ("SELECT title FROM goods WHERE stock > 10", ("kettle",)),
        "average stock of goods": ("SELECT avg(stock) FROM goods", (43.0,)),
        "goods since 2021": ("SELECT count(*) FROM goods WHERE since >= '2021-01-01'", (1,)),
    }
    run_stages(loaded, {}, "run")
    with open_workspace(file) as workspace:
        mill = workspace.answer("the price of the mill")
    assert mill.named[0].rows == (("mill", "10", "9", "2020-12-31 23:00:00"),)
    found = by_statements(file, {question: sql for question, (sql, _) in asked.items()})
    assert found == {question: row for question, (_, row) in asked.items()}


def test_days_of_which_some_are_not_known_stay_days(indexed):
    days = ["2021-03-04", "NA", "", "2022-01-31", "2020-02-02", "n/a", "2019-05-05"]
    rows = "".join(f"Person {letter},{day}\n" for letter, day in zip("ABCDEFG", days, strict=True))
    file = indexed({"people": "name,hired\n" + rows})
    question = "names of people hired after 2021"
    sql = "SELECT name FROM people WHERE hired > '2021-12-31'"
    assert by_statements(file, {question: sql}) == {question: ("Person D",)}


@pytest.fixture(scope="module")
def database(postgresql: Server) -> Iterator[Database]:
    with new_database(postgresql.superuser_url) as url:
        database = Database(url)
        database.run(
            "CREATE ROLE asker LOGIN PASSWORD 'hunter2'",
            *("CREATE SCHEMA shop", "CREATE SCHEMA hr", "GRANT USAGE ON SCHEMA shop TO asker"),
            "CREATE TABLE shop.people (id int PRIMARY KEY, name text, city text)",
            "INSERT INTO shop.people SELECT n, 'Person ' || n, 'Rome' "
            "FROM generate_series(1, 30) n",
            "GRANT SELECT ON ALL TABLES IN SCHEMA shop TO asker",
            "CREATE TABLE hr.people (id int, secret text)",
            "INSERT INTO hr.people VALUES (1, 'canary-9137')",
        )
        yield database


REPEATED_THERE = "SELECT sum(a.id) FROM people a JOIN people b ON a.city = b.city"


def test_a_statement_runs_in_the_database_itself(database, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "hunter2")
    config = database.config("asker").model_dump(mode="json", exclude_defaults=True)

    def write(prompt: str) -> str:
        again = "That is no answer" in prompt
        return written(REPEATED_THERE if again else "SELECT secret FROM hr.people")

    with recording_endpoint(write) as endpoint:
        source, answers = {**config, "type": "sql"}, at(endpoint.url)
        loaded = deploy(tmp_path, source, query={"min_confidence": 0.0}, answers=answers)
        run_stages(loaded, os.environ, "run")
        with open_workspace(loaded.file) as workspace:
            answer = workspace.answer("how many people live in the city Rome")
            named = workspace.answer("which city is Person 7 from?", model=False).named
    assert [(one.table.rpartition("/")[2], one.rows) for one in named] == [
        ("people", ((7, "Person 7", "Rome"),))
    ]
    assert answer.answers, answer.problems
    (one,) = answer.answers
    assert one.rows == ((13950,),)
    assert one.repaired
    assert "is over 900 rows, but 30 of a" in one.doubts[0]
    assert one.dialect == "postgres"
    assert '"shop"."people"' in one.sql
    assert "canary" not in json.dumps(asdict(answer))
    assert any("'hr.people'" in problem.cause for problem in answer.problems)
