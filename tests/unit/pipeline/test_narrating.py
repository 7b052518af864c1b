"""What describing the claimed tables asks a model, keeps, shows and costs, on the real store."""

import socket
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager

import pytest

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.pipeline.describe import (
    SchemaNarrationsFigures,
    answer_key,
    describe_tables,
)
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished, Stage
from pneuma_assets.core.tables import (
    Column,
    Document,
    DocumentKind,
    Problem,
    Table,
    TableRef,
    TableTerms,
)
from tests.support.fake_model import FakeLanguageModel
from tests.support.recording_endpoint import completion, serving
from tests.support.word_encoder import WordEncoder

GROUNDED = NarrationConfig.model_validate({"model": "m"})
PAPER = NarrationConfig.model_validate({"model": {"model": "m", "endpoint_url": "http://h/v1"}})
RUN = "run"


def table(name: str, *columns: str) -> Table:
    return Table(f"lake/{name}", tuple(Column(one, "VARCHAR") for one in columns), 4, "")


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
    store: Store, config: NarrationConfig, tables: Iterable[Table], version: str = "1", **more
) -> tuple[SchemaNarrationsFigures, FakeLanguageModel]:
    model = FakeLanguageModel()
    claim(store, tables, version)
    return describe_tables(store, RUN, model, config, **more), model


def save(store: Store, config: NarrationConfig, described: Table, *answers: str) -> None:
    """Let the model have said this of the first columns of a table."""
    key = answer_key(FakeLanguageModel(), config.prompt)
    subject = key.subject(described)
    store.narrations.save(key, [(subject, at, text) for at, text in enumerate(answers)])


def rows(store: Store, described: Table, *cells: str) -> None:
    """Let a table have a row."""
    store.profiles.save_terms({described.table_id: TableTerms(rows=(cells,))})


def texts(store: Store, table_id: str) -> dict[str, str]:
    return {
        name: one.text for name, one in store.narrations.of_tables([table_id])[table_id].items()
    }


def test_what_the_papers_prompt_brought_is_not_asked_again(store):
    flowers = table("flowers", "petal", "sepal")
    save(store, PAPER, flowers, "How long a petal is.", "")
    done, model = narrate(store, GROUNDED, [flowers])
    assert (done.narrated, model.prompts) == (0, [])
    assert texts(store, "lake/flowers") == {"petal": "How long a petal is."}


def test_what_a_grounded_prompt_brought_goes_before_it(store):
    flowers = table("flowers", "petal")
    save(store, PAPER, flowers, "Anything.")
    save(store, GROUNDED, flowers, "How long a petal is.")
    narrate(store, GROUNDED, [flowers])
    assert texts(store, "lake/flowers") == {"petal": "How long a petal is."}


def test_what_a_model_said_is_shown_with_its_date(store):
    flowers = table("flowers", "petal", "sepal", "year")
    began = store.now()
    for encoder in (None, WordEncoder()):
        save(store, GROUNDED, flowers, "How long a petal is.")
        narrate(store, GROUNDED, [flowers], str(encoder), encoder=encoder)
        at = store.narrations.of_tables(["lake/flowers"])["lake/flowers"]["petal"].said_at
        assert began <= at <= store.now()


def test_what_an_endpoint_said_while_it_was_shown_values_is_not_asked_again(store):
    flowers = table("flowers", "petal")
    save(store, GROUNDED, flowers, "How long a petal is.")
    done, _ = narrate(store, PAPER, [flowers])
    assert done.narrated == 0


def test_a_table_that_nobody_foresaw_costs_the_others_nothing(store):
    odd, sound = table("odd", "petal_length", "sepal_length"), table("sound", "petal_length")
    store.profiles.save_terms(
        {odd.table_id: TableTerms(rows=(("1",),))}
    )  # narrower than its profile
    done, _ = narrate(store, GROUNDED, [odd, sound])
    assert texts(store, "lake/sound")
    assert texts(store, "lake/odd") == {}
    (problem,) = store.problems.all()
    assert (problem.subject, problem.stage) == ("lake/odd", "narrations")
    assert "IndexError" in problem.cause
    assert (done.tables, done.columns) == (1, 1)


def test_what_does_not_lead_back_to_its_column_is_not_shown(store):
    flowers = table("flowers", "petal", "sepal", "year")
    save(store, GROUNDED, flowers, "The sepal.", "The sepal.", "")
    done, _ = narrate(store, GROUNDED, [flowers], encoder=WordEncoder())
    assert texts(store, "lake/flowers") == {"sepal": "The sepal."}
    assert (done.shown, done.refused) == (1, 1)
    claim(store, [flowers], "2")
    describe_tables(store, RUN, FakeLanguageModel(), GROUNDED)
    assert len(texts(store, "lake/flowers")) == 2, "nobody could tell without an encoder"


def test_a_renamed_column_costs_one_call_also_where_nothing_was_shown(store):
    before = table("flowers", "petal", "sepal", "stem", "leaf")
    save(store, GROUNDED, before, "The leaf.", "", "", "")
    narrate(store, GROUNDED, [before], encoder=WordEncoder())
    assert texts(store, "lake/flowers") == {}
    after = table("flowers", "petal", "sepal", "stem", "blade")
    done, model = narrate(store, GROUNDED, [after], "2", encoder=WordEncoder())
    assert done.narrated == len(model.prompts) == 1


def test_a_grounded_answer_speaks_of_its_own_table(store):
    """Tables of one mold have the same schema, and not the same values."""
    cars, ships = table("cars", "kind", "name"), table("ships", "kind", "name")
    rows(store, cars, "estate | saloon", "Beetle")
    rows(store, ships, "barque", "Beagle")
    done, model = narrate(store, GROUNDED, [cars, ships])
    assert done.narrated == len(model.prompts) == 4
    asked = {prompt.split()[2]: prompt for prompt in model.prompts if "the kind column" in prompt}
    assert "values such as /* estate | saloon */" in asked["cars"]
    assert "Beagle" not in asked["cars"]
    assert "values such as /* barque */" in asked["ships"]


def test_who_comes_first_decides_nothing(store):
    cars, ships = table("cars", "kind"), table("ships", "kind")
    for one in (cars, ships):
        save(store, GROUNDED, one, f"A kind of {one.table_id}.")
    narrate(store, GROUNDED, [ships])
    narrate(store, GROUNDED, [ships, cars], "2")
    assert [texts(store, one.table_id)["kind"] for one in (cars, ships)] == [
        "A kind of lake/cars.",
        "A kind of lake/ships.",
    ]


def test_the_papers_answer_is_that_of_all_tables_with_its_schema(store):
    done, model = narrate(store, PAPER, [table("cars", "kind"), table("ships", "kind")])
    assert done.narrated == len(model.prompts) == 1
    assert texts(store, "lake/cars") == texts(store, "lake/ships") != {}


def test_a_table_whose_rows_changed_is_not_asked_again(store):
    cars = table("cars", "kind")
    rows(store, cars, "estate")
    narrate(store, GROUNDED, [cars])
    rows(store, cars, "saloon")
    done, _ = narrate(store, GROUNDED, [cars], "2")
    assert done.narrated == 0


def test_rows_that_were_not_gathered_are_shown_as_they_were_sampled(store):
    cars = table("cars", "kind")
    claim(store, [cars])
    text = "kind: estate | saloon"
    row = Document(cars.table_id, DocumentKind.ROWS, text)
    store.documents.replace(DocumentKind.ROWS, [(cars.table_id, [row])])
    model = FakeLanguageModel()
    describe_tables(store, RUN, model, GROUNDED)
    (prompt,) = model.prompts
    assert text in prompt
    assert "values such as" not in prompt


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
        gone = OpenAIModel("fake", url, api_key=None, key_variable="K", retries=0)
        claim(store, [flowers])
        done = describe_tables(store, RUN, gone, GROUNDED)
    assert done.narrated == 0
    assert [one.ref.table_id for one in store.queue.claimed(RUN, Stage.NARRATED)] == [
        flowers.table_id
    ]
    assert "kilograms" in texts(store, flowers.table_id)["weight_kg"], "its name speaks meanwhile"
    (problem,) = store.problems.all()
    assert (problem.subject, problem.stage) == (flowers.table_id, "narrations")
    assert url in problem.cause
    finish(store, flowers)
    assert store.problems.all() == [problem], "it is searchable, and yet to be described"
    assert store.queue.counts(3, lake, 0.0).failed == 0, "not at once"
    store.queue.retry(lake)  # a person asks for a run, or time passes
    assert store.queue.counts(3, lake, 0.0).failed == 1
    done, model = narrate(store, GROUNDED, [flowers])
    assert len(model.prompts) == done.narrated == 2
    assert set(texts(store, flowers.table_id)) == {"petal", "weight_kg"}
    assert store.problems.all() == []
    finish(store, flowers)
    store.queue.retry(lake)
    assert store.queue.counts(3, lake, 0.0).failed == 0


def test_a_column_that_the_model_refuses_is_not_asked_again_for_its_own_sake(store):
    def reply(asked: dict) -> tuple[int, object]:
        is_harmless = asked["messages"][0]["content"] == "Say yes."
        return completion("Yes") if is_harmless else (400, {"error": {"message": "a filter"}})

    flowers, lake = table("flowers", "petal"), ["lake"]
    with serving(reply) as endpoint:
        claim(store, [flowers])
        model = OpenAIModel("fake", endpoint.url, api_key=None, key_variable="K", retries=0)
        describe_tables(store, RUN, model, GROUNDED)
    finish(store, flowers)
    (problem,) = store.problems.all()
    assert "--rebuild" in problem.cause
    store.queue.retry(lake)
    assert store.queue.counts(3, lake, 0.0).failed == 0


def test_a_table_whose_model_was_away_often_may_fail_as_often_as_any(store, tmp_path):
    flowers, lake = table("flowers", "petal"), ["lake"]
    with away("refused") as url:
        gone = OpenAIModel("fake", url, api_key=None, key_variable="K", retries=0)
        claim(store, [flowers])
        for _ in range(4):
            describe_tables(store, RUN, gone, GROUNDED)
            finish(store, flowers)
            with closing(sqlite3.connect(tmp_path / "state.db")) as days_later, days_later:
                days_later.execute("UPDATE tables SET retry_at = 0")
            claim(store, [flowers])
    store.queue.fail(Problem(flowers.table_id, "profile", "away for a moment"), RUN)
    assert store.queue.counts(3, lake, None).failed == 1


def test_every_request_and_token_is_counted(store):
    busy = iter([True])

    def reply(_: object) -> tuple[int, object]:
        if next(busy, False):
            return 429, {}
        status, said = completion("How long one is")
        return status, said | {"usage": {"prompt_tokens": 70, "completion_tokens": 5}}

    with serving(reply) as endpoint:
        model = OpenAIModel("m", endpoint.url, api_key=None, key_variable="K", retries=2)
        claim(store, [table("flowers", "petal", "sepal", "stem")])
        done = describe_tables(store, RUN, model, GROUNDED)
        assert (done.narrated, done.requests) == (3, len(endpoint.requests)) == (3, 4)
    assert (done.tokens_read, done.tokens_written) == (210, 15)
