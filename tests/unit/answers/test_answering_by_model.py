"""From a question and sets of tables to rows, by what a model writes (Algorithm 2)."""

import threading
import time
from collections.abc import Iterator, Sequence
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
WIDE = answer_set(
    answer_table(
        "wide", {"name": "text", "hidden_one": "text", **{f"c{n}": "int" for n in range(9)}},
        [("Ann", "red", *"123456789")],
    )
)  # fmt: skip
TOTAL = "SELECT total FROM sales_2019 WHERE shop = 'rome'"


class Scripted:
    """A model that answers what it is told to, in order, and keeps what it was asked."""

    name = "scripted"

    def __init__(self, *answers: str | Generation, sure: float | None = 1.0) -> None:
        self.answers, self.sure = list(answers), sure
        self.asked: list[str] = []
        self.judged: list[str] = []

    def generate(
        self, prompts: Sequence[str], max_new_tokens: int, stop: Sequence[str] = ()
    ) -> Iterator[Generation]:
        for number, prompt in enumerate(prompts):
            self.asked.append(prompt)
            note(calls=1)
            answer = self.answers.pop(0)
            yield answer if isinstance(answer, Generation) else Generation(number, answer)

    def yes_probability(self, prompts: Sequence[str]) -> list[float | None]:
        self.judged += prompts
        note(calls=len(prompts))
        return [self.sure for _ in prompts]

    def close(self) -> None:
        pass


def ask(model, sets, *, question="total of rome?", values=True, **ways):
    writer = ModelWriter(model, 100, values)
    with counting() as usage:
        found = by_model(question, sets, writer, Attempts(RowsInDuckDB(), 5), Ways(**ways))
    return found, usage


def test_one_statement_answers_all_tables_of_the_same_columns():
    model = Scripted(TOTAL)
    found, usage = ask(model, SALES)
    assert [(one.tables, one.rows) for one in found.answers] == [
        (("wh/lake/sales_2020",), ((1,),)),
        (("wh/lake/sales_2021",), ((2,),)),
    ]
    assert usage.calls == 2
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


def test_without_clusters_each_table_is_asked_about():
    model = Scripted(*(TOTAL.replace("2019", str(year)) for year in (2019, 2019, 2020)))
    found, usage = ask(model, SALES, clustered=False)
    assert [one.tables for one in found.answers] == [("wh/lake/sales_2020",)]
    assert usage.calls == 2 + 1 + 2, "the first table gives no row, and is asked about once more"


def test_tables_that_the_model_thinks_do_not_answer_are_not_asked_for_a_statement():
    model = Scripted(sure=0.2)
    found, usage = ask(model, [PEOPLE, *SALES])
    assert found.judged_out
    assert not found.answers
    assert (usage.calls, model.asked) == (2, [])
    assert "0.20" in found.problems[0].cause


def test_a_model_without_a_verdict_is_asked_for_a_statement():
    found, _ = ask(Scripted("SELECT age FROM people", sure=None), [PEOPLE])
    assert found.answers[0].rows == ((30,),)


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
        (Generation(0, "", problem="refused"), "refused"),
        (Generation(0, "SELECT age FROM", whole=False), "is longer than"),
    ],
)
def test_a_model_is_told_once_what_is_wrong(wrong, told):
    model = Scripted(wrong, "SELECT age FROM people")
    found, usage = ask(model, [PEOPLE])
    assert (found.answers[0].rows, found.answers[0].repaired) == (((30,),), True)
    assert told in model.asked[1]
    assert model.asked[1].startswith(model.asked[0])
    assert usage.calls == 3
    none, _ = ask(Scripted(wrong), [PEOPLE], repaired=False)
    assert not none.answers
    assert told in none.problems[0].cause


def test_a_model_that_gives_no_answer_at_all_is_asked_once_more():
    class Silent(Scripted):
        def generate(self, prompts, max_new_tokens, stop=()):
            if self.answers:
                yield from super().generate(prompts, max_new_tokens, stop)

        def yes_probability(self, prompts):
            return []

    found, _ = ask(Silent(), [PEOPLE])
    assert [one.cause for one in found.problems] == [
        "the model writes no statement: it gave no answer"
    ] * 2
    assert not found.judged_out


def test_why_a_model_refuses_is_told_as_far_as_it_may_be():
    refused = Scripted(Generation(0, "", "the endpoint http://judge.internal refuses"))
    writer = ModelWriter(refused, 100, True, lambda _: "it is away")
    found = by_model("total?", [PEOPLE], writer, Attempts(RowsInDuckDB(), 5), Ways(repaired=False))
    assert [one.cause for one in found.problems] == ["the model writes no statement: it is away"]


@pytest.mark.parametrize("together", [False, True])
def test_threads_take_turns_at_a_model_unless_it_can_be_asked_by_several(together):
    class Shared(Scripted):
        asking, most, concurrent = 0, 0, together

        def generate(self, prompts, max_new_tokens, stop=()):
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
        asked = [pool.submit(ask, model, [PEOPLE], judged=False) for _ in range(2)]
        assert all(one.result(120)[0].answers for one in asked)
    assert model.most == (2 if together else 1)


def test_a_model_that_may_not_see_cells_is_not_told_what_an_error_quotes():
    model = Scripted("SELECT CAST(name AS int) FROM people", "SELECT age FROM people")
    found, _ = ask(model, [PEOPLE], values=False)
    assert found.answers
    assert not any("Ann" in prompt for prompt in model.asked)


def test_where_some_columns_led_nowhere_all_are_shown():
    question = "which c3 has the red one?"
    model = Scripted("nothing", "SELECT c10 FROM wide", "SELECT c8 FROM wide")
    found, _ = ask(model, [WIDE], question=question)
    assert "c8" not in model.asked[0]
    assert "c8" in model.asked[2]
    assert found.answers[0].rows == ((9,),)


def test_so_many_sets_are_asked_about_and_one_that_fails_leaves_the_next():
    others = [answer_set(answer_table(f"t{n}", {f"a{n}": "int"}, [["1"]])) for n in range(5)]
    model = Scripted(*("no" for _ in range(20)))
    found, usage = ask(model, others, tries=2)
    assert (len(model.judged), usage.calls) == (2, 6)
    assert not found.judged_out
    assert not found.answers
    model = Scripted("no", "no", "SELECT age FROM people")
    found, _ = ask(model, [WIDE, PEOPLE], pruned=False)
    assert found.answers[0].tables == ("wh/lake/people",)
    assert found.answers[0].parts == {"rank": 1.0, "sure": 1.0}


def test_tables_called_alike_are_read_each_by_its_own_rows():
    sql = (
        "WITH sales_2019 AS (SELECT * FROM sales_2019 WHERE shop = 'Oslo') "
        "SELECT sum(total) FROM sales_2019"
    )
    found, _ = ask(Scripted(sql), SALES[:2])
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
