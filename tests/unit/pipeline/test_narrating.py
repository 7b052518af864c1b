"""What describing the claimed tables asks a model, keeps, shows and costs, on the real store."""

import json
import socket
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.models.endpoint import Endpoint
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.pipeline.describe import (
    SchemaNarrationsFigures,
    answer_key,
    describe_tables,
)
from pneuma_assets.core.progress import listening
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Stage
from pneuma_assets.core.tables import (
    THE_TABLE,
    Column,
    ColumnProfile,
    Description,
    Document,
    DocumentKind,
    Problem,
    Provenance,
    Table,
    TableRef,
    TableTerms,
)
from tests.support.fake_model import FakeLanguageModel, asked_columns, sentence_about
from tests.support.narrations import said_before
from tests.support.recording_endpoint import completion, prompt_of, serving

VALUES = NarrationConfig.model_validate({"model": "m"})
NAMES = NarrationConfig.model_validate({"model": {"model": "m", "endpoint_url": "http://h/v1"}})
RUN = "run"


def table(name: str, *columns: str, comment: str = "") -> Table:
    return Table(f"lake/{name}", tuple(Column(one, "VARCHAR") for one in columns), 4, "", comment)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as store, store.runs.alive(RUN):
        yield store


def claim(store: Store, tables: Iterable[Table], version: str = "1") -> None:
    """Take tables to where they can be described."""
    tables = list(tables)
    refs = [TableRef(t.table_id, "lake", f"/{t.table_id}", "csv", version) for t in tables]
    store.listings.sync("lake", refs)
    store.queue.claim(RUN, len(refs), 3, ["lake"])
    store.queue.save_profiles(RUN, tables)
    store.queue.advance(RUN, Stage.SAMPLED, [one.table_id for one in tables])


def narrate(
    store: Store,
    config: NarrationConfig,
    tables: Iterable[Table],
    version: str = "1",
    model: FakeLanguageModel | None = None,
) -> tuple[SchemaNarrationsFigures, FakeLanguageModel]:
    asked = model or FakeLanguageModel()
    claim(store, tables, version)
    return describe_tables(store, RUN, asked, config), asked


def save(
    store: Store, config: NarrationConfig, described: Table, *answers: str, summary: str = ""
) -> None:
    """Let the model have said this of a table and of its first columns."""
    key = answer_key(FakeLanguageModel(), config.prompt)
    subject = key.subject(described)
    said = [(subject, at, text) for at, text in enumerate([summary, *answers], THE_TABLE)]
    store.narrations.save(key, said)


def rows(store: Store, described: Table, *cells: str) -> None:
    """Let a table have a row."""
    store.profiles.save_terms({described.table_id: TableTerms(rows=(cells,))})


def summary(store: Store, table_id: str) -> str | None:
    """Return what is shown, and indexed, of a table as a whole; None: nothing."""
    indexed = store.documents.of_kind(DocumentKind.SUMMARY, [table_id]).get(table_id, [])
    found = store.narrations.summaries([table_id])
    assert indexed == [one.text for one in found.values()]
    return found[table_id].text if found else None


def texts(store: Store, table_id: str) -> dict[str, str]:
    return {
        name: one.text for name, one in store.narrations.of_tables([table_id])[table_id].items()
    }


def test_what_names_alone_brought_is_not_asked_again(store):
    flowers = table("flowers", "petal", "sepal")
    save(store, NAMES, flowers, "How long a petal is.", "")
    done, model = narrate(store, VALUES, [flowers])
    assert (done.narrated, model.prompts) == (0, [])
    assert texts(store, "lake/flowers") == {"petal": "How long a petal is."}


def test_what_values_brought_goes_before_it(store):
    flowers = table("flowers", "petal")
    save(store, NAMES, flowers, "Anything.")
    save(store, VALUES, flowers, "How long a petal is.")
    narrate(store, VALUES, [flowers])
    assert texts(store, "lake/flowers") == {"petal": "How long a petal is."}


def test_what_a_model_said_is_shown_with_its_date(store):
    flowers = table("flowers", "petal", "sepal", "year")
    began = store.now()
    save(store, VALUES, flowers, "How long a petal is.", summary="One row is a flower.")
    narrate(store, VALUES, [flowers])
    of_column = store.narrations.of_tables(["lake/flowers"])["lake/flowers"]["petal"]
    of_table = store.narrations.summaries(["lake/flowers"])["lake/flowers"]
    for one in (of_column, of_table):
        assert began <= one.said_at <= store.now()
        assert (one.provenance, one.source, one.confidence) == (Provenance.MODEL, "fake", None)


def test_what_an_endpoint_said_while_it_was_shown_values_is_not_asked_again(store):
    flowers = table("flowers", "petal")
    save(store, VALUES, flowers, "How long a petal is.")
    done, _ = narrate(store, NAMES, [flowers])
    assert done.narrated == 0


def test_what_values_brought_stays_with_its_table_when_values_are_no_more_shown(store):
    secret, public = table("secret", "name", "salary"), table("public", "name", "salary")
    save(store, VALUES, secret, "The name of Mrs Smith.", "What Mrs Smith earns.")
    save(store, VALUES, public, summary="One row is a person.")
    for version, config in enumerate([VALUES, NAMES, NAMES], 1):
        _, model = narrate(store, config, [secret, public], str(version))
        assert "Smith" in texts(store, "lake/secret")["salary"]
        assert "Smith" not in str(texts(store, "lake/public"))
        assert len(model.prompts) == (version == 1)
    renamed = table("secret", "called", "salary")
    other = table("other", "called", "salary")
    narrate(store, NAMES, [renamed, public, other], "4")
    key = answer_key(FakeLanguageModel(), VALUES.prompt)
    assert "Smith" in said_before(store, key, renamed)[1], "it is still its own"
    assert "Smith" not in str([texts(store, i) for i in ("lake/public", "lake/other")])


def test_a_table_with_answers_of_its_own_leaves_none_of_its_schema_unasked(store):
    secret, public = table("secret", "name", "salary"), table("public", "name", "salary")
    save(store, VALUES, secret, "The name of Mrs Smith.", "What Mrs Smith earns.", summary="Staff.")
    done, model = narrate(store, NAMES, [public, secret])
    assert [asked_columns(prompt) for prompt in model.prompts] == [[1, 2]]
    assert done.narrated == 2
    assert {*texts(store, "lake/public")} == {"name", "salary"}


def test_a_table_that_nobody_foresaw_costs_the_others_nothing(store):
    odd, sound = table("odd", "petal_length", "sepal_length"), table("sound", "petal_length")
    store.profiles.save_terms(
        {odd.table_id: TableTerms(rows=(("1",),))}
    )  # narrower than its profile
    done, _ = narrate(store, VALUES, [odd, sound])
    assert texts(store, "lake/sound")
    assert texts(store, "lake/odd") == {}
    assert summary(store, "lake/odd") is None
    (problem,) = store.problems.all()
    assert (problem.subject, problem.stage) == ("lake/odd", "narrations")
    assert "IndexError" in problem.cause
    assert (done.tables, done.columns) == (1, 1)


def test_a_renamed_column_costs_one_request_for_it_alone_also_where_nothing_was_shown(store):
    before = table("flowers", "petal", "sepal", "stem", "leaf")
    save(store, VALUES, before, "", "", "", "", summary="One row is a flower.")
    narrate(store, VALUES, [before])
    assert texts(store, "lake/flowers") == {}
    after = table("flowers", "petal", "sepal", "stem", "blade")
    done, model = narrate(store, VALUES, [after], "2")
    assert [asked_columns(prompt) for prompt in model.prompts] == [[4]]
    assert '"table": null.' in model.prompts[0]
    assert (done.narrated, summary(store, "lake/flowers")) == (1, "One row is a flower.")


def test_an_answer_to_values_speaks_of_its_own_table(store):
    """Tables of one mold have the same schema, and not the same values."""
    cars, ships = table("cars", "kind", "name"), table("ships", "kind", "name")
    rows(store, cars, "estate | saloon", "Beetle")
    rows(store, ships, "barque", "Beagle")
    done, model = narrate(store, VALUES, [cars, ships])
    assert (done.narrated, len(model.prompts)) == (4, 2)
    of_cars, of_ships = model.prompts
    assert "such as estate | saloon" in of_cars
    assert "Beagle" not in of_cars
    assert "such as barque" in of_ships


def test_who_comes_first_decides_nothing(store):
    cars, ships = table("cars", "kind"), table("ships", "kind")
    for one in (cars, ships):
        save(store, VALUES, one, f"A kind of {one.table_id}.")
    narrate(store, VALUES, [ships])
    narrate(store, VALUES, [ships, cars], "2")
    assert [texts(store, one.table_id)["kind"] for one in (cars, ships)] == [
        "A kind of lake/cars.",
        "A kind of lake/ships.",
    ]


def test_an_answer_to_names_is_that_of_all_tables_with_its_schema(store):
    done, model = narrate(store, NAMES, [table("cars", "kind"), table("ships", "kind")])
    assert done.narrated == len(model.prompts) == 1
    assert texts(store, "lake/cars") == texts(store, "lake/ships") != {}


def test_a_table_whose_rows_changed_is_not_asked_again(store):
    cars = table("cars", "kind")
    rows(store, cars, "estate")
    narrate(store, VALUES, [cars])
    rows(store, cars, "saloon")
    done, _ = narrate(store, VALUES, [cars], "2")
    assert done.narrated == 0


def test_rows_that_were_not_gathered_are_shown_as_they_were_sampled(store):
    cars = table("cars", "kind")
    claim(store, [cars])
    text = "kind: estate | saloon"
    row = Document(cars.table_id, DocumentKind.ROWS, text)
    store.documents.replace(DocumentKind.ROWS, [(cars.table_id, [row])])
    model = FakeLanguageModel()
    describe_tables(store, RUN, model, VALUES)
    (prompt,) = model.prompts
    assert f"/*\n{text}\n*/" in prompt
    assert "such as" not in prompt


@contextmanager
def away(how: str) -> Iterator[str]:
    """Yield the address of an endpoint that answers no request as it should."""
    if how == "refused":
        with closing(socket.create_server(("127.0.0.1", 0))) as port:
            address = f"http://127.0.0.1:{port.getsockname()[1]}/v1"
        yield address
        return
    status, body = {
        "busy": (429, b"{}"),
        "failing": (500, b"{}"),
        "cut off": (200, b'{"choices": [{"mess'),
        "no JSON": (200, b"<html>"),
        "empty": completion(""),
    }[how]
    with serving(lambda _: (status, body)) as endpoint:
        yield endpoint.url


def finish(store: Store, *described: Table) -> None:
    done = [Finished(one.table_id, one.schema_hash, 1) for one in described]
    store.queue.finish(RUN, done)


@pytest.mark.parametrize("how", ["refused", "busy", "failing", "cut off", "no JSON", "empty"])
def test_indexing_goes_on_without_the_model_which_is_asked_again(store, how):
    flowers, lake = table("flowers", "petal", "weight_kg"), ["lake"]
    with away(how) as url:
        gone = OpenAIModel("fake", Endpoint(url))
        claim(store, [flowers])
        done = describe_tables(store, RUN, gone, VALUES)
    assert (done.narrated > 0) == (done.unanswered > 0) == (how == "empty")
    assert [one.ref.table_id for one in store.queue.claimed(RUN, Stage.NARRATED)] == [
        flowers.table_id
    ]
    assert "kilograms" in texts(store, flowers.table_id)["weight_kg"], "its name speaks meanwhile"
    (problem,) = store.problems.all()
    assert (problem.subject, problem.stage) == (flowers.table_id, "narrations")
    assert "the table and 2 of 2 columns" in problem.cause
    assert how == "empty" or url in problem.cause
    finish(store, flowers)
    assert store.problems.all() == [problem], "it is searchable, and yet to be described"
    assert store.queue.counts(3, lake, 0.0).failed == 0, "not at once"
    store.queue.retry(lake)  # a person asks for a run, or time passes
    assert store.queue.counts(3, lake, 0.0).failed == 1
    done, model = narrate(store, VALUES, [flowers])
    assert (len(model.prompts), done.narrated) == (1, 2)
    assert set(texts(store, flowers.table_id)) == {"petal", "weight_kg"}
    assert store.problems.all() == []
    finish(store, flowers)
    store.queue.retry(lake)
    assert store.queue.counts(3, lake, 0.0).failed == 0


def test_a_table_that_the_model_refuses_is_not_asked_again_for_its_own_sake(store):
    def reply(asked: dict) -> tuple[int, object]:
        is_harmless = asked["messages"][0]["content"] == "Say yes."
        return completion("Yes") if is_harmless else (400, {"error": {"message": "a filter"}})

    flowers, lake = table("flowers", "petal"), ["lake"]
    with serving(reply) as endpoint:
        claim(store, [flowers])
        model = OpenAIModel("fake", Endpoint(endpoint.url))
        describe_tables(store, RUN, model, VALUES)
    finish(store, flowers)
    (problem,) = store.problems.all()
    assert "--rebuild" in problem.cause
    store.queue.retry(lake)
    assert store.queue.counts(3, lake, 0.0).failed == 0


def test_a_table_whose_model_was_away_often_may_fail_as_often_as_any(store, tmp_path):
    flowers, lake = table("flowers", "petal"), ["lake"]
    with away("refused") as url:
        gone = OpenAIModel("fake", Endpoint(url))
        claim(store, [flowers])
        for _ in range(4):
            describe_tables(store, RUN, gone, VALUES)
            finish(store, flowers)
            with closing(sqlite3.connect(tmp_path / "state.db")) as days_later, days_later:
                days_later.execute("UPDATE tables SET retry_at = 0")
            claim(store, [flowers])
    store.queue.fail(Problem(flowers.table_id, "profile", "away for a moment"), RUN)
    assert store.queue.counts(3, lake, None).failed == 1


def test_every_request_and_token_is_counted(store):
    busy = iter([True])

    def reply(body: dict) -> tuple[int, object]:
        if next(busy, False):
            return 429, {}
        status, said = completion(sentence_about(prompt_of(body)))
        return status, said | {"usage": {"prompt_tokens": 70, "completion_tokens": 5}}

    with serving(reply) as endpoint:
        model = OpenAIModel("m", Endpoint(endpoint.url))
        claim(store, [table(name, "petal", "sepal") for name in ("roses", "irises", "asters")])
        done = describe_tables(store, RUN, model, VALUES)
        assert (done.narrated, done.requests) == (6, len(endpoint.requests)) == (6, 4)
    assert (done.tokens_read, done.tokens_written) == (210, 15)


def read(
    store: Store, described: Table, *said: tuple[int, Description], document: str = ""
) -> None:
    """Let people have written this of a table and its columns."""
    texts = [Document(described.table_id, DocumentKind.CONTEXT, document)] if document else []
    store.documents.replace(DocumentKind.CONTEXT, [(described.table_id, texts)])
    store.descriptions.replace([(described.table_id, said)])


WRITTEN = Description("in kilograms", Provenance.DOCUMENT, "flowers.md", 1.0)


def test_what_people_wrote_is_shown_to_the_model_and_neither_asked_for_nor_replaced(store):
    flowers = table("flowers", "petal", "weight")
    read(store, flowers, (1, WRITTEN), document="Flowers of an island.")
    model = FakeLanguageModel(
        answers=lambda _: json.dumps(
            {
                "table": "One row is a flower.",
                "columns": [
                    {"n": 2, "description": "In pounds."},
                    {"n": 1, "description": "How long it is."},
                ],
            }
        )
    )
    done, _ = narrate(store, VALUES, [flowers], model=model)
    (prompt,) = model.prompts
    assert "2. weight (VARCHAR): in kilograms" in prompt
    assert "/*\nFlowers of an island.\n*/" in prompt
    assert asked_columns(prompt) == [1]
    assert texts(store, "lake/flowers") == {"petal": "How long it is.", "weight": "in kilograms"}
    assert (done.narrated, done.written, done.shown, done.summarised) == (1, 1, 2, 1)
    assert summary(store, "lake/flowers") == "One row is a flower.", "searched beside the document"


def test_a_table_that_people_described_in_full_is_not_asked_about(store):
    flowers = table("flowers", "weight", comment="Flowers of an island.")
    read(store, flowers, (0, WRITTEN))
    done, model = narrate(store, VALUES, [flowers])
    assert (model.prompts, done.requests, done.expected_tokens) == ([], 0, 0)


def test_whoever_corrects_what_a_table_is_silences_the_model(store):
    flowers = table("flowers", "petal")
    narrate(store, VALUES, [flowers])
    said = summary(store, "lake/flowers")
    for version, text in enumerate(["Flowers that are sold.", ""], 2):
        store.correct("lake/flowers", None, text, "ann")
        _, model = narrate(store, VALUES, [flowers], str(version))
        assert summary(store, "lake/flowers") is None
        assert model.prompts == []
        assert store.narrations.corrected("lake/flowers") == set()
    store.withdraw_correction("lake/flowers", None)
    _, model = narrate(store, VALUES, [flowers], "4")
    assert (summary(store, "lake/flowers"), model.prompts) == (said, [])


def test_frequent_values_of_a_column_are_shown(store):
    flowers = table("flowers", "colour")
    rows(store, flowers, "rare")
    told = ColumnProfile(0.0, 2, True, frequent=(("red", 0.6), ("blue", 0.3)))
    store.statistics.save_column_profiles({flowers.table_id: {"colour": told}})
    _, model = narrate(store, VALUES, [flowers])
    assert "1. colour (VARCHAR); such as red, blue" in model.prompts[0]


def test_an_endpoint_without_values_sees_names_and_types_alone(store):
    flowers = table("flowers", "petal", "weight", comment="A comment.")
    flowers = Table(flowers.table_id, (*flowers.columns, Column("kind", "ENUM('secret')")), 4, "")
    rows(store, flowers, "secret", "secret", "secret")
    read(store, flowers, (1, WRITTEN), document="A secret document.")
    _, model = narrate(store, NAMES, [flowers])
    (prompt,) = model.prompts
    assert "1. petal (VARCHAR)\n2. weight (VARCHAR)\n3. kind (ENUM)\n" in prompt
    assert not [word for word in ("secret", "kilograms", "flowers", "A comment") if word in prompt]
    assert asked_columns(prompt) == [1, 3]


@pytest.mark.parametrize("config", [VALUES, NAMES])
def test_a_hidden_column_is_neither_named_nor_asked_for(store, config):
    """Of a table of the same mould in which it is not hidden it is."""
    ages, shown = table("ages", "name", "age"), table("shown", "name", "age")
    hidden = Table(ages.table_id, (ages.columns[0], replace(ages.columns[1], hidden=True)), 4, "")
    read(store, hidden, (1, WRITTEN), document="Age: in years\nA list.")
    for version, lake in enumerate(([hidden], [hidden, shown]), 1):
        _, model = narrate(store, config, lake, str(version))
        found = [asked_columns(prompt) for prompt in model.prompts]
        assert found == ([[1]] if version == 1 else [[2] if config is NAMES else [1, 2]])
        about = [prompt for prompt in model.prompts if asked_columns(prompt) == [1]]
        assert not [one for one in about if "age" in one.casefold().replace("ages", "")]
    assert store.problems.all() == []


@pytest.mark.parametrize("answer", ["", "I cannot help.", '{"table": "cut', '{"table": 1}'])
def test_an_answer_that_is_none_is_told_counted_and_asked_again(store, answer):
    flowers = table("flowers", "petal", "weight_kg")
    model = FakeLanguageModel(answers=lambda _: answer)
    done, _ = narrate(store, VALUES, [flowers], model=model)
    assert (done.unanswered, done.summarised) == (1, 0)
    assert "kilograms" in texts(store, "lake/flowers")["weight_kg"]
    assert "petal" not in texts(store, "lake/flowers")
    (problem,) = store.problems.all()
    assert "a later run asks again" in problem.cause
    finish(store, flowers)
    store.queue.retry(["lake"])
    done, _ = narrate(store, VALUES, [flowers])
    assert (done.unanswered, done.narrated, store.problems.all()) == (0, 2, [])


def test_of_an_answer_that_leaves_columns_out_the_others_count(store):
    flowers = table("flowers", "petal", "sepal", "stem")
    told = [{"n": 3, "description": "How long the stem is."}, {"n": 9, "description": "No such."}]
    model = FakeLanguageModel(answers=lambda _: json.dumps({"table": None, "columns": told}))
    narrate(store, VALUES, [flowers], model=model)
    assert texts(store, "lake/flowers") == {"stem": "How long the stem is."}
    (problem,) = store.problems.all()
    assert "does not describe 2 of 3 columns" in problem.cause
    finish(store, flowers)
    store.queue.retry(["lake"])
    _, model = narrate(store, VALUES, [flowers])
    assert [asked_columns(prompt) for prompt in model.prompts] == [[1, 2]]


def many(count: int) -> list[Table]:
    return [table(f"t{number}", "first", "second") for number in range(count)]


def test_what_the_model_will_be_asked_is_estimated_before_it_is(store):
    heard: list[str] = []

    def answer(prompt: str) -> str:
        assert heard, "told before the first request"
        return sentence_about(prompt)

    one = {"model": "m", "endpoint_url": "http://h/v1", "send_values": True}
    prices = {"read_price": 2.0, "written_price": 8.0}
    priced = NarrationConfig.model_validate({"model": {**one, **prices}})
    with listening(lambda activity, *_: heard.append(activity)):
        done, model = narrate(store, priced, many(3), model=FakeLanguageModel(answers=answer))
    read = sum(len(prompt) // 3 for prompt in model.prompts)
    written = done.expected_tokens - read
    assert 3 * 2 * 10 < written < 3 * 2 * 200
    assert done.expected_cents == -(-(read * 2 + written * 8) // 10_000) > 0
    assert f"3 tables to describe in 3 requests: about {read:,} tokens to read" in heard[0]
    assert "cost about 0." in heard[0]


def test_a_run_stays_within_its_budget_and_later_ones_go_on(store):
    lake = many(4)
    done, _ = narrate(store, VALUES, lake[:1])
    config = VALUES.model_copy(update={"budget": 2 * done.expected_tokens + 10})
    done, model = narrate(store, config, lake, "2")
    assert (len(model.prompts), done.left, done.summarised) == (2, 1, 3)
    assert done.expected_tokens > config.budget
    (problem,) = store.problems.all()
    assert problem.subject == "lake/t3"
    assert f"{config.budget:,} tokens (narration.budget)" in problem.cause
    assert "a later run asks again" in problem.cause
    finish(store, *lake)
    store.queue.retry(["lake"])
    done, model = narrate(store, config, lake, "2")
    assert (len(model.prompts), done.left) == (1, 0)
    assert store.problems.all() == []


def test_a_table_larger_than_the_budget_is_told_as_that_and_keeps_no_other_waiting(store):
    large, lake = table("large", *(f"a_column_{n}" for n in range(90))), many(3)
    config = VALUES.model_copy(update={"budget": 2_000})
    done, model = narrate(store, config, [large, *lake])
    assert (len(model.prompts), done.left, done.summarised) == (3, 1, 3)
    assert done.expected_tokens > config.budget
    (problem,) = store.problems.all()
    assert problem.subject == "lake/large"
    assert "one request takes more than 2,000 tokens (narration.budget)" in problem.cause


def test_what_the_model_thinks_counts_for_the_budget_too(store):
    def reply(body: dict) -> tuple[int, object]:
        time.sleep(0.02)
        status, said = completion(sentence_about(prompt_of(body)))
        return status, said | {"usage": {"prompt_tokens": 200, "completion_tokens": 1_900}}

    with serving(reply) as endpoint:
        model = OpenAIModel("m", Endpoint(endpoint.url))
        lake = many(60)
        claim(store, lake)
        config = VALUES.model_copy(update={"budget": 100_000})
        done = describe_tables(store, RUN, model, config)
    used = done.tokens_read + done.tokens_written
    assert config.budget - 2_500 < used < config.budget + 2_500, "used up, by one more at most"
    paid = done.tokens_written // 1_900
    assert paid == done.summarised == 60 - done.left < 60, "what is paid for is kept"
    assert len(store.problems.all()) == done.left


def test_what_else_was_answered_as_the_model_failed_is_kept(store):
    together = threading.Barrier(4)

    def reply(body: dict) -> tuple[int, object]:
        together.wait(10)
        if "\nt0\n" in prompt_of(body):
            return 401, {"error": {"message": "no such key"}}
        time.sleep(0.5)
        return completion(sentence_about(prompt_of(body)))

    with serving(reply) as endpoint:
        claim(store, many(4))
        done = describe_tables(store, RUN, OpenAIModel("m", Endpoint(endpoint.url)), VALUES)
    assert (done.summarised, done.narrated) == (3, 6)
    (problem,) = store.problems.all()
    assert problem.subject == "lake/t0"


def test_a_killed_run_asks_for_nothing_again_that_was_answered(store):
    class Killed(FakeLanguageModel):
        def generate(self, *given, **more):
            answers = super().generate(*given, **more)
            yield next(answers)
            yield next(answers)
            raise KeyboardInterrupt

    claim(store, many(4))
    with pytest.raises(KeyboardInterrupt):
        describe_tables(store, RUN, Killed(), VALUES)
    key = answer_key(FakeLanguageModel(), VALUES.prompt)
    assert sum(bool(said_before(store, key, one)) for one in many(4)) == 2
    model = FakeLanguageModel()
    describe_tables(store, RUN, model, VALUES)
    assert len(model.prompts) == 2
