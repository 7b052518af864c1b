"""From a question and sets of tables to rows, by what a model writes (Algorithm 2)."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pneuma_assets.core.answers.answer import Ways, by_model
from pneuma_assets.core.answers.attempt import Attempts
from pneuma_assets.core.answers.llm import ModelWriter
from pneuma_assets.core.errors import SqlEmptyError, TableReadError
from pneuma_assets.core.models.base import Generation
from pneuma_assets.core.models.usage import counting, note
from tests.support.answer_tables import answer_set, answer_table
from tests.support.rows_in_duckdb import RowsInDuckDB

SALES = [
    answer_set(answer_table(f"sales_{year}", {"shop": "text", "total": "int"}, rows))
    for year, rows in (
        (2019, [("Oslo", "5")]),
        (2020, [("Oslo", "7"), ("Rome", "1")]),
        (2021, [("Rome", "2")]),
    )
]
PEOPLE = answer_set(answer_table("people", {"name": "text", "age": "int"}, [("Ann", "30")]))
TOTAL = "SELECT total FROM sales_2019 WHERE shop = 'rome'"


class Scripted:
    """A model that answers what it is told to, in order, and keeps what it was asked."""

    name = "scripted"
    context = None

    def __init__(self, *answers: str | dict | Generation) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def generate(self, prompts, max_new_tokens, stop=(), schema=None) -> Iterator[Generation]:
        for number, prompt in enumerate(prompts):
            self.asked.append("\n".join(turn["content"] for turn in prompt))
            note(calls=1)
            answer = self.answers.pop(0)
            if isinstance(answer, dict):
                answer = json.dumps(answer)
            yield answer if isinstance(answer, Generation) else Generation(number, answer)

    def close(self) -> None:
        pass


def says(sql=None, number=1, missing=None, other=None) -> dict:
    return {"plan": "", "set": number, "sql": sql, "missing": missing, "other_reading": other}


def ask(model, sets, *, question="total of rome?", values=True, **ways):
    writer = ModelWriter(model, 100, values)
    with counting() as usage:
        found = by_model(question, sets, writer, Attempts(RowsInDuckDB(), 5), Ways(**ways))
    return found, usage


def test_one_statement_answers_all_tables_of_the_same_columns():
    model = Scripted(says(TOTAL))
    found, usage = ask(model, SALES)
    assert [(one.tables, one.rows) for one in found.answers] == [
        (("wh/lake/sales_2020",), ((1,),)),
        (("wh/lake/sales_2021",), ((2,),)),
    ]
    assert usage.calls == 1
    assert all(one.corrections[0].stored == "Rome" for one in found.answers)
    assert found.answers[1].sql == (
        'SELECT "sales_2021"."total" FROM "sales_2021" WHERE "sales_2021"."shop" = \'Rome\''
    )

    assert found.answers[0].read == (
        ("wh/lake/sales_2020", "total"),
        ("wh/lake/sales_2020", "shop"),
    )


def test_a_corrected_statement_is_shown_with_its_own_limit_alone():
    limited, plain = (
        ask(Scripted(sql), SALES)[0].answers[0].sql for sql in (f"{TOTAL} LIMIT 4", TOTAL)
    )
    assert limited == f"{plain} LIMIT 4"
    assert "LIMIT" not in plain


def test_without_clusters_each_table_is_a_set_and_the_model_chooses():
    wrong, right = says(TOTAL), says(TOTAL.replace("2019", "2020"), 2)
    found, usage = ask(Scripted(wrong, right), SALES, clustered=False)
    assert [one.tables for one in found.answers] == [("wh/lake/sales_2020",)]
    assert usage.calls == 2, "the first table gives no row, and it is told so"


def test_what_the_model_says_is_in_no_table_ends_the_question_in_its_words():
    found, usage = ask(Scripted(says(missing="how\nlong a shop is open", number=None)), [PEOPLE])
    assert (found.missing, usage.calls) == ("how long a shop is open", 1)
    assert not found.answers
    assert not found.problems


def test_of_what_is_half_there_the_rest_is_told_beside_the_rows():
    model = Scripted(says("SELECT age FROM people", missing="who was born where"))
    found, _ = ask(model, [PEOPLE])
    assert found.answers[0].doubts == ("the model says that no table has this: who was born where",)


@pytest.mark.parametrize(
    ("silent", "told"),
    [
        (Generation(0, ""), "no whole JSON object"),
        (Generation(0, "SELECT age FROM", whole=False), "cut off"),
        (Generation(0, "", problem="refused"), "refused"),
    ],
)
def test_nothing_said_is_no_verdict_and_is_not_asked_again(silent, told):
    found, usage = ask(Scripted(silent), [PEOPLE])
    assert told in found.unheard
    assert (found.missing, found.answers, usage.calls) == ("", [], 1)
    (problem,) = found.problems
    assert problem.subject == "scripted"
    assert problem.cause.startswith("the model gave no answer: ")


@pytest.mark.parametrize("spoilt", ["no", says(), '{"sql": "SELECT age FROM people"}'])
def test_an_answer_of_another_form_is_asked_for_anew(spoilt):
    found, usage = ask(Scripted(spoilt, says("SELECT age FROM people")), [PEOPLE])
    assert (found.answers[0].rows, found.unheard, usage.calls) == (((30,),), "", 2)
    found, usage = ask(Scripted(*[spoilt] * 3), [PEOPLE])
    assert (found.answers, found.missing, usage.calls) == ([], "", 3)
    assert found.unheard


def test_a_small_model_that_writes_sql_alone_is_understood():
    for text in (
        "<think>No.</think>```sql\nSELECT age FROM people;\n```",
        "SELECT age FROM people",
    ):
        found, usage = ask(Scripted(text), [PEOPLE, *SALES])
        assert (found.answers[0].rows, usage.calls) == (((30,),), 1)


def test_a_word_with_two_readings_has_two_answers():
    other = {
        "first": "the year 2019",
        "means": "all years",
        "sql": "SELECT max(age) + 1 FROM people",
    }
    found, _ = ask(Scripted(says("SELECT age FROM people", other=other)), [PEOPLE])
    assert [(one.rows, one.means) for one in found.answers] == [
        (((30,),), "the year 2019"),
        (((31,),), "all years"),
    ]
    same = {**other, "sql": "SELECT max(age) FROM people"}
    found, _ = ask(Scripted(says("SELECT age FROM people", other=same)), [PEOPLE])
    assert [one.means for one in found.answers] == [""]
    refused = {**other, "sql": "DELETE FROM people"}
    found, _ = ask(Scripted(says("SELECT age FROM people", other=refused)), [PEOPLE])
    assert [one.means for one in found.answers] == [""]
    assert [(one.stage, "all years" in one.cause) for one in found.problems] == [("reading", True)]


def test_a_second_reading_that_cannot_be_read_is_a_problem_and_no_answer():
    class Torn(RowsInDuckDB):
        def run(self, statement, tables):
            if "max" in statement.sql.lower():
                raise TableReadError("it is gone")
            return super().run(statement, tables)

    other = {"first": "now", "means": "ever", "sql": "SELECT max(age) FROM people"}
    writer = writer_of(says("SELECT age FROM people", other=other))
    found = by_model("age?", [PEOPLE], writer, Attempts(Torn(), 5), Ways())
    assert [(one.rows, one.means) for one in found.answers] == [(((30,),), "")]
    (problem,) = found.problems
    assert problem.stage == "reading"
    assert problem.cause == "the question may mean another thing: ever: it is gone"


def test_a_second_reading_is_not_asked_when_the_time_is_over():
    runner = RowsInDuckDB()
    other = {"first": "now", "means": "ever", "sql": "SELECT max(age) + 1 FROM people"}
    writer = writer_of(says("SELECT age FROM people", other=other))
    attempts = Attempts(runner, 5, until=time.monotonic())
    found = by_model("age?", [PEOPLE], writer, attempts, Ways())
    assert len(runner.ran) == 1
    assert [(one.rows, one.means) for one in found.answers] == [(((30,),), "")]
    assert "took too long" in found.problems[0].cause


def test_the_model_chooses_among_sets_each_with_its_dialect():
    class InTwo(RowsInDuckDB):
        def dialect(self, tables):
            return "postgres" if tables[0].read.name == "people" else "duckdb"

    model = Scripted(says("SELECT total FROM sales_2019", 2), says("SELECT age FROM people", 2))
    writer = ModelWriter(model, 100, True)
    found = by_model("age?", [SALES[0], PEOPLE], writer, Attempts(InTwo(), 5), Ways())
    assert found.answers[0].tables == ("wh/lake/people",)
    assert found.answers[0].dialect == "postgres"
    assert "Set 1, in the SQL of DuckDB" in model.asked[0]
    assert "Set 2, in the SQL of PostgreSQL" in model.asked[0]
    assert "none of the tables it may read" in model.asked[1], "each set is checked by itself"
    found, _ = ask(
        Scripted(says("SELECT age FROM people", 7), says("SELECT age FROM people")), [PEOPLE]
    )
    assert "there is no set 7" in found.problems[0].cause
    assert found.answers


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("SELECT aeg FROM people", "no column 'aeg'"),
        ("DELETE FROM people", "no SELECT statement"),
        ("SELECT age FROM people WHERE name = 'Bob'", "people.name has no value 'Bob'"),
        ("SELECT CAST(name AS int) FROM people", "Could not convert"),
        ("SELECT age FROM people; SELECT 1", "2 statements"),
        ("SELECT 30", "it reads no column"),
        ("SELECT 'Ann' FROM people LIMIT 1", "it reads no column"),
        ("SELECT count(*) FROM people WHERE name = 'Bob'", "it counts 0; people.name has no value"),
        ("SELECT nullif(age, 30) FROM people", "its rows have no value"),
    ],
)
def test_a_model_is_told_twice_what_is_wrong(wrong, told):
    model = Scripted(says(wrong), says(wrong), says("SELECT age FROM people"))
    found, usage = ask(model, [PEOPLE])
    assert (found.answers[0].rows, found.answers[0].repaired) == (((30,),), True)
    assert told in model.asked[1]
    assert model.asked[1].startswith(model.asked[0])
    assert model.asked[2].startswith(model.asked[1])
    assert usage.calls == 3
    none, _ = ask(Scripted(says(wrong)), [PEOPLE], repairs=0)
    assert not none.answers
    assert told in none.problems[0].cause


def test_a_model_that_sends_nothing_at_all_gave_no_answer():
    class Silent(Scripted):
        def generate(self, *_, **__):
            return iter(())

    found, _ = ask(Silent(), [PEOPLE])
    assert found.unheard == "it sent nothing"


def test_why_a_model_refuses_is_told_as_far_as_it_may_be():
    refused = Scripted(Generation(0, "", "the endpoint http://judge.internal refuses"))
    writer = ModelWriter(refused, 100, True, lambda _: "it is away")
    found = by_model("total?", [PEOPLE], writer, Attempts(RowsInDuckDB(), 5), Ways())
    assert [one.cause for one in found.problems] == ["the model gave no answer: it is away"]


@pytest.mark.parametrize("together", [False, True])
def test_threads_take_turns_at_a_model_unless_it_can_be_asked_by_several(together):
    class Shared(Scripted):
        asking, most, concurrent = 0, 0, together

        def generate(self, prompts, max_new_tokens, stop=(), schema=None):
            self.asking += 1
            self.most = max(self.most, self.asking)
            if together:
                both.wait(60)
            else:
                time.sleep(0.02)
            yield Generation(0, "SELECT age FROM people")
            self.asking -= 1

    both, model = threading.Barrier(2), Shared()
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, model, [PEOPLE]) for _ in range(2)]
        assert all(one.result(120)[0].answers for one in asked)
    assert model.most == (2 if together else 1)


def test_a_model_that_may_not_see_cells_is_not_told_what_an_error_quotes():
    model = Scripted("SELECT CAST(name AS int) FROM people", "SELECT age FROM people")
    found, _ = ask(model, [PEOPLE], values=False)
    assert found.answers
    assert not any("Ann" in prompt for prompt in model.asked)


VAST = answer_set(
    answer_table(
        "vast",
        {"name": "text", **{f"column_{n}": "int" for n in range(1_500)}},
        [("Ann", *map(str, range(1_500)))],
    )
)


@pytest.mark.parametrize(
    "missed", [says(missing="column 1400", number=None), says("SELECT column_1400 FROM vast")]
)
def test_where_columns_were_left_out_all_are_shown_at_last(missed):
    missed = {**missed, "sql": missed["sql"] and missed["sql"].replace("column_1400", "colum_1400")}
    model = Scripted(missed, says("SELECT column_1400 FROM vast"))
    found, _ = ask(model, [VAST, PEOPLE], question="who has the most?")
    assert "column_1400" not in model.asked[0]
    assert "column_1400" in model.asked[1]
    assert (found.answers[0].rows, found.missing) == (((1400,),), "")
    model = Scripted(says(missing="a column"), says(missing="a column"))
    found, usage = ask(model, [VAST], question="who has the most?")
    assert (found.missing, usage.calls) == ("a column", 2)


def test_a_set_whose_tables_cannot_be_read_leaves_another_one():
    class Torn(RowsInDuckDB):
        def run(self, statement, tables):
            if tables[0].table_id.endswith("2019"):
                raise TableReadError("it is gone")
            return super().run(statement, tables)

    model = Scripted(says("SELECT total FROM sales_2019"), says("SELECT age FROM people", 2))
    writer = ModelWriter(model, 100, True)
    found = by_model("total?", [SALES[0], PEOPLE], writer, Attempts(Torn(), 5), Ways())
    assert found.answers[0].tables == ("wh/lake/people",)
    assert "cannot be read" in model.asked[1]


def test_what_may_mislead_is_told_beside_the_rows():
    attempts = Attempts(RowsInDuckDB(), 5, doubts=lambda *_: ["a join repeats it"])
    found = by_model("age?", [PEOPLE], writer_of("SELECT age FROM people"), attempts, Ways())
    assert found.answers[0].doubts == ("a join repeats it",)


def test_tables_called_alike_are_read_each_by_its_own_rows():
    sql = (
        "WITH sales_2019 AS (SELECT * FROM sales_2019 WHERE shop = 'Oslo') "
        "SELECT sum(total) FROM sales_2019"
    )
    found, _ = ask(Scripted(says(sql)), SALES[:2])
    assert [one.rows for one in found.answers] == [((5,),), ((7,),)]
    assert [one.tables for one in found.answers] == [
        ("wh/lake/sales_2019",),
        ("wh/lake/sales_2020",),
    ]


def test_a_table_that_cannot_be_read_leaves_those_like_it():
    class Torn(RowsInDuckDB):
        def run(self, statement, tables):
            if tables[0].table_id.endswith("2019"):
                raise TableReadError("it is gone")
            return super().run(statement, tables)

    writer = writer_of("SELECT sum(total) FROM sales_2019")
    found = by_model("total?", SALES, writer, Attempts(Torn(), 5), Ways())
    assert [one.rows for one in found.answers] == [((8,),), ((2,),)]
    assert found.problems[0].cause == "it is gone"
    alone = by_model("total?", SALES[:1], writer_of("SELECT total FROM sales_2019"),
                     Attempts(Torn(), 5), Ways())  # fmt: skip
    assert (alone.answers, len(alone.problems)) == ([], 1)


def test_no_statement_is_begun_when_the_time_of_the_question_is_over():
    runner = RowsInDuckDB()
    attempts = Attempts(runner, 5, until=time.monotonic())
    found = by_model(
        "total?", SALES, writer_of("SELECT sum(total) FROM sales_2019"), attempts, Ways()
    )
    assert len(runner.ran) == len(found.answers) == 1
    assert {one.stage for one in found.problems} == {"part"}


def test_a_stored_0_is_an_answer_and_no_count():
    stock = answer_table("stock", {"name": "VARCHAR", "units": "BIGINT"}, [("Bolt", "0")])
    sql = "SELECT units FROM stock WHERE name IN ('Bolt', 'Bolts')"
    attempts = Attempts(RowsInDuckDB(), 5)
    given = attempts.attempt(sql, answer_set(stock), "duckdb", "model")
    assert given.rows == ((0,),)
    with pytest.raises(SqlEmptyError, match="it counts 0"):
        attempts.attempt(
            "SELECT count(*) FROM stock WHERE name = 'Bolts'", answer_set(stock), "duckdb", "model"
        )


def writer_of(*answers):
    return ModelWriter(Scripted(*answers), 100, True)
