"""What statements may read of a lake: names that differ, and tables as they are now."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from pneuma_assets import open_workspace
from pneuma_assets.core.answers.results import CellAnswer, Outcome
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.service import answer_sources
from pneuma_assets.core.service.answer_sources import AnswerSources
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import TableRef, TableTerms
from pneuma_assets.index_run import run_indexing
from tests.support.recording_endpoint import recording_endpoint
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

PEOPLE = "name,salary\n" + "".join(f"Person {letter},{ord(letter)}\n" for letter in "ABCDEFGH")
QUESTION = "what is the salary of person c"
CHANGED = "has changed since it was indexed; run `pneuma-assets index`"


@pytest.fixture(autouse=True)
def encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    for door in ("pneuma_assets.core.models.encoder.encoder", "pneuma_assets.resources.models"):
        monkeypatch.setattr(f"{door}.open_encoder", lambda _: WordEncoder())


@pytest.fixture
def indexed(tmp_path: Path) -> Callable[..., LoadedDeployment]:
    """Index files of a folder `lake`, by their paths in it."""

    def index(files: dict[str, str], **privacy: object) -> LoadedDeployment:
        for name, text in files.items():
            file = tmp_path / "lake" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        source = {"type": "folder", "name": "lake", "path": "lake", "privacy": privacy}
        written = {"home": "home", "sources": [source], "query": {"min_confidence": 0.0}}
        (tmp_path / "pneuma.yaml").write_text(yaml.safe_dump(written))
        with open_workspace(tmp_path / "pneuma.yaml") as workspace:
            run_indexing(workspace.loaded)
            return workspace.loaded

    return index


def answered(loaded: LoadedDeployment) -> CellAnswer:
    with open_workspace(loaded.file) as workspace:
        return workspace.answer(QUESTION)


def test_files_of_one_name_are_told_apart_and_nothing_is_opened_for_it(indexed, monkeypatch):
    loaded = indexed({"2019/people.csv": PEOPLE, "2020/people.csv": PEOPLE + "Person Z,1\n"})
    monkeypatch.setattr(answer_sources, "IsolatedSource", missing_secret)
    ids = ["lake/2019/people", "lake/2020/people", "lake/gone"]
    with AnswerSources(loaded, {}) as sources:
        tables = sources.tables(dict.fromkeys(ids, TableTerms()))
        assert {i: one.read.name for i, one in tables.items()} == {
            "lake/2019/people": "people_2019",
            "lake/2020/people": "people_2020",
        }
        assert sources.dialect(list(tables.values())) == "duckdb"


def missing_secret(*_: object) -> None:
    raise ConfigError("the variable SECRET is not set")


def test_a_source_that_cannot_be_opened_fails_its_own_tables_alone(indexed, monkeypatch):
    loaded = indexed({"people.csv": PEOPLE})
    assert answered(loaded).named[0].rows == (("Person C", "67"),)
    monkeypatch.setattr(answer_sources, "IsolatedSource", missing_secret)
    answer = answered(loaded)
    assert answer.outcome == Outcome.NO_ROWS
    assert "the variable SECRET is not set" in answer.problems[0].cause


def test_a_table_that_lost_a_column_says_that_it_has_changed(indexed, tmp_path):
    loaded = indexed({"people.csv": PEOPLE})
    (tmp_path / "lake" / "people.csv").write_text(PEOPLE.replace("salary", "wages"))
    (problem,) = answered(loaded).problems
    assert f"lake/people has no column 'salary': it {CHANGED}" in problem.cause


def test_a_table_that_cannot_be_read_any_more_says_what_to_do(indexed, tmp_path):
    loaded = indexed({"people.csv": PEOPLE})
    (tmp_path / "lake" / "people.csv").unlink()
    (problem,) = answered(loaded).problems
    assert "if it has changed since it was indexed, run `pneuma-assets index`" in problem.cause
    listed_anew(loaded)
    (problem,) = answered(loaded).problems
    assert f"lake/people {CHANGED}" in problem.cause


def test_tables_that_were_listed_as_another_since_are_known(indexed):
    loaded = indexed({"people.csv": PEOPLE, "cats.csv": "cat\nTom\n"})
    with AnswerSources(loaded, {}) as sources:
        assert sources.changed(["lake/people", "lake/cats"]) == set()
        listed_anew(loaded)
        assert sources.changed(["lake/people", "lake/cats", "lake/none"]) == {"lake/people"}


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


def test_a_table_of_hidden_columns_alone_is_left_out(indexed):
    loaded = indexed(
        {"people.csv": PEOPLE, "cats.csv": "cat,age\nTom,3\n"}, hidden_columns=["cat*", "age"]
    )
    with AnswerSources(loaded, {}) as sources:
        assert list(sources.tables(dict.fromkeys(["lake/people", "lake/cats"], TableTerms()))) == [
            "lake/people"
        ]


def by_statements(file: Path, written: Mapping[str, str]) -> dict[str, tuple[object, ...]]:
    """Return the first row of each question's statement, as a model writes it."""

    def write(prompt: str) -> str:
        if "Answer only 'yes' or 'no'." in prompt:
            return "yes"
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


def test_numbers_and_days_of_an_engine_that_gives_texts_are_compared_as_such(tmp_path, encoder):
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection, connection:
        connection.executescript(
            "CREATE TABLE goods (title TEXT, price NUMERIC(10, 2), stock INTEGER, since DATETIME);"
            "INSERT INTO goods VALUES ('kettle', 9.5, 100, '2021-03-04 10:00:00'),"
            "('mill', 10, 9, '2020-12-31 23:00:00'), ('oven', 100.25, 20, NULL);"
        )
    source = {"type": "sql", "name": "shop", "url": "sqlite:///shop.sqlite"}
    written = {"home": "home", "sources": [source], "query": {"min_confidence": 0.0}}
    file = tmp_path / "pneuma.yaml"
    file.write_text(yaml.safe_dump(written))
    asked = {
        "largest price of goods": ("SELECT max(price) FROM goods", ("100.25",)),
        "goods with a stock above 10": ("SELECT title FROM goods WHERE stock > 10", ("kettle",)),
        "average stock of goods": ("SELECT avg(stock) FROM goods", (43.0,)),
        "goods since 2021": ("SELECT count(*) FROM goods WHERE since >= '2021-01-01'", (1,)),
    }
    with open_workspace(file) as workspace:
        run_indexing(workspace.loaded)
        mill = workspace.answer("the price of the mill")
    assert mill.named[0].rows == (("mill", "10", "9", "2020-12-31 23:00:00"),)
    found = by_statements(file, {question: sql for question, (sql, _) in asked.items()})
    assert found == {question: row for question, (_, row) in asked.items()}


def test_days_of_which_some_are_not_known_stay_days(indexed):
    days = ["2021-03-04", "NA", "", "2022-01-31", "2020-02-02", "n/a", "2019-05-05"]
    rows = "".join(f"Person {letter},{day}\n" for letter, day in zip("ABCDEFG", days, strict=True))
    loaded = indexed({"people.csv": "name,hired\n" + rows})
    question = "names of people hired after 2021"
    sql = "SELECT name FROM people WHERE hired > '2021-12-31'"
    assert by_statements(loaded.file, {question: sql}) == {question: ("Person D",)}
