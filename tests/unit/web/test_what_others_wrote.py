"""What one person writes, another reads only who may see every table of it: on every door."""

import json

import anyio
import pytest
from mcp import Client

from pneuma_assets import IndexFilter
from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.mcp_server.server import build_server
from tests.support.doors import run
from tests.support.indexed_home import make_home
from tests.support.served_home import FILE, LAKE, loaded_from
from tests.support.served_rights import users_of

API = "/api/v1"
RIVERS = "open/nature/rivers"
SALARIES = "finance/salaries"
SECRET = "zqcanary"
"""What only who may see finance may read."""
FRED, EVE, OLGA = Asker("fred", ("finance",)), Asker("eve", ("eve",)), Asker("olga")
QUESTION = "How long is the Danube?"

UNRESOLVED = {
    "table function": f"SELECT * FROM read_csv('salaries.csv') WHERE payslip = '{SECRET}'",
    "a query in a text": f"SELECT * FROM query('SELECT {SECRET} FROM finance.salaries')",
    "another dialect": f"SELECT TOP 1 [{SECRET}] FROM [hr].[salaries]",
    "a column that is not there": f"SELECT {SECRET} FROM rivers",
    "a schema that is not there": f"SELECT river FROM {SECRET}.rivers",
}
"""Statements said to be of rivers alone of which the guard cannot tell what they read."""
OF_ANOTHER = {
    "its name in WITH": "WITH rivers AS (SELECT * FROM finance.salaries WHERE payslip ="
    f" '{SECRET}') SELECT * FROM rivers",
    "its name in WITH, elsewhere": "WITH salaries AS (SELECT * FROM finance.salaries) SELECT"
    f" *, '{SECRET}' FROM rivers JOIN salaries ON river = payslip",
    "a longer name": f"SELECT river FROM rivers_medical WHERE river = '{SECRET}'",
    "a shorter name": f"SELECT * FROM r WHERE x = '{SECRET}'",
    "a subquery": f"SELECT river, (SELECT max(zloty) AS {SECRET} FROM salaries) FROM rivers",
}
"""Statements said to be of rivers alone that read another table."""


@pytest.fixture(scope="module")
def file(tmp_path_factory, small_encoder, read_here):
    medical = {"lake/finance/rivers_medical.csv": f"river,length\n{SECRET},1\n"}
    return make_home(tmp_path_factory.mktemp("written"), {**LAKE, **medical}, FILE)


@pytest.fixture(scope="module")
def users(file):
    with users_of(file) as every:
        yield every


@pytest.fixture(scope="module")
def desk(file):
    with Workspace(loaded_from(file), {}) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _forgotten(desk):
    yield
    for one in desk.confirmed_answers():
        if one.author == "fred":
            desk.forget_answer(one.answer_id)


@pytest.fixture
def shown(file, users, desk):
    """Returns all that somebody is shown on every door."""

    def by_tool(asker, tool, arguments):
        async def asked():
            async with Client(build_server(desk, lambda _: asker)) as client:
                return (await client.call_tool(tool, arguments)).model_dump_json()

        return anyio.run(asked)

    def everything(asker):
        client, readers = users[asker.name], asker.readers
        texts = [
            by_tool(asker, "find_tables", {"question": QUESTION}),
            *(
                by_tool(asker, tool, {"table": RIVERS})
                for tool in ("describe_table", "example_queries")
            ),
        ]
        for path in (
            *(f"{API}/confirmed", f"{API}/confirmed?q={QUESTION}", f"{API}/search?q={QUESTION}"),
            *(f"{API}/table?id={RIVERS}", f"{API}/table/contexts?id={RIVERS}"),
            *(f"{API}/suggestions?q=how%20long", f"{API}/table/descriptions?id={RIVERS}"),
            *(f"/?q={QUESTION}", f"/tables/{RIVERS}?q={QUESTION}", f"/tables/{RIVERS}", "/seek"),
        ):
            answer = client.get(path)
            assert answer.status_code == 200, answer.text
            texts.append(answer.text)
        names = [one for name in readers or () for one in ("--as", name)]
        for command in (["confirmed", "--json"], ["confirmed", QUESTION], ["search", QUESTION]):
            done = run(*command, "--config", file, *names)
            assert done.exit_code == 0, done.output
            texts.append(done.output)
        texts.append(repr(desk.confirmed_answers(readers=readers, author=asker.name)))
        texts.append(
            repr(desk.search(QUESTION, author=asker.name, where=IndexFilter(readers=readers)))
        )
        texts.append(repr(desk.table(RIVERS, readers=readers)))
        texts.append(repr(desk.seek.knowledge(asker)))
        texts.append(repr(desk.seek.first_questions(asker)))
        return texts

    return everything


def told(texts, what=SECRET):
    return [one for one in texts if what in one]


def confirm(client, sql, question=QUESTION, tables=(RIVERS,)):
    said = {"question": question, "tables": tables, "sql": sql}
    return client.post(f"{API}/confirmed", json=said)


def test_statements_that_cannot_be_resolved_are_for_their_author_and_operators(users, shown):
    fred, made = users["fred"], []
    for name, sql in UNRESOLVED.items():
        answer = confirm(fred, sql, f"{QUESTION} {name} {SECRET}")
        assert answer.status_code == 201, answer.text
        made.append(f"{API}/confirmed/{answer.json()['answer_id']}")
    assert told(shown(EVE)) == []
    assert [users["eve"].delete(one).status_code for one in made] == [404] * len(made)
    for asker in (FRED, OLGA):
        texts = "".join(shown(asker))
        assert [sql for sql in UNRESOLVED.values() if json.dumps(sql)[1:-1] not in texts] == []
        assert "Only they and operators see this" in texts
        items = users[asker.name].get(f"{API}/confirmed").json()["items"]
        assert {one["resolved"] for one in items if SECRET in one["question"]} == {False}
    assert [fred.delete(one).status_code for one in made] == [204] * len(made)


@pytest.mark.parametrize("sql", OF_ANOTHER.values(), ids=OF_ANOTHER)
def test_a_statement_that_reads_another_table_is_refused(users, desk, sql):
    answer = confirm(users["fred"], sql)
    assert answer.status_code == 404, answer.text
    assert "name that table, too" in answer.json()["detail"]
    form = {"question": QUESTION, "tables": RIVERS, "verdict": "right", "sql": sql}
    assert "name that table, too" in users["fred"].post("/edit/answer", data=form).text
    with pytest.raises(ConfigError, match="name that table, too"):
        desk.confirm_answer(QUESTION, [RIVERS], sql=sql, author="fred", readers=FRED.readers)
    assert not told([users["olga"].get(f"{API}/confirmed").text])


def test_a_statement_is_kept_as_the_guard_spells_it(users, shown):
    sql = f"""WITH t2 AS (SELECT * FROM rivers) /* unlike {SECRET} */
    SELECT river FROM t2 -- see {SALARIES} {SECRET}"""
    assert confirm(users["fred"], sql).status_code == 201
    eve = shown(EVE)
    assert told(eve) == told(shown(OLGA)) == []
    kept = users["eve"].get(f"{API}/confirmed").json()["items"][0]["sql"]
    assert kept.startswith('WITH "t2" AS (SELECT "rivers"."river", "rivers"."length" FROM')
    assert len(told(eve, "t2")) > 7, "it is shown on every door"


def test_a_statement_of_several_tables_is_for_who_may_see_all_of_them(users, shown):
    sql = f"SELECT river FROM rivers JOIN salaries ON river = payslip WHERE zloty = '{SECRET}'"
    assert confirm(users["fred"], sql, tables=[RIVERS, SALARIES]).status_code == 201
    assert told(shown(EVE)) == []
    assert len(told(shown(FRED))) > 5


def test_what_is_shared_from_a_conversation_is_for_who_may_see_what_it_was_about(desk, shown):
    sources = [{"name": "pay", "table_ids": [SALARIES]}, {"name": "r", "table_ids": [RIVERS]}]
    begun = desk.seek.start(FRED, "Pay").conversation_id
    bare = desk.seek.share(begun, f"{SECRET}, before any table", FRED)
    desk.seek.edit(begun, {"sources": sources}, FRED)
    desk.seek.edit(begun, {"sources": sources[1:]}, FRED)
    later = desk.seek.share(begun, f"{SECRET}, with pay left out again", FRED)
    try:
        assert told(shown(EVE)) == []
        for who in (FRED, OLGA):
            assert {one.knowledge_id for one in desk.seek.knowledge(who)} == {bare, later}
        desk.seek.document_knowledge(later, FRED)
        assert told(shown(EVE)) == []
        assert desk.contexts(RIVERS) == []
        (added,) = desk.contexts(SALARIES)
        assert added.text.startswith(SECRET)
        with pytest.raises(QueryError, match="only by those"):
            desk.seek.document_knowledge(bare, FRED)
    finally:
        for one in (bare, later):
            desk.seek.forget_knowledge(one, FRED)
        desk.seek.delete(begun, FRED)


def test_texts_corrections_and_questions_that_fail_name_no_hidden_table(users, shown):
    fred, eve = users["fred"], users["eve"]
    said = [
        ("context", {"table_id": SALARIES, "name": "n", "text": SECRET}),
        ("description", {"table_id": SALARIES, "column": "zloty", "text": SECRET}),
    ]
    for what, body in said:
        assert fred.put(f"{API}/table/{what}", json=body).status_code == 204
    assert fred.get(f"{API}/search?q={SECRET} of {SALARIES}").status_code == 200
    assert told(shown(EVE)) == []
    assert eve.get(f"{API}/questions/failing").status_code == 403
    for what in ("contexts", "descriptions"):
        assert told([fred.get(f"{API}/table/{what}?id={SALARIES}").text])
        assert eve.get(f"{API}/table/{what}?id={SALARIES}").status_code == 404


def test_only_who_may_see_all_saves_tables(desk):
    begun = desk.seek.start(FRED, "Pay").conversation_id
    with pytest.raises(QueryError, match="ask who operates"):
        desk.seek.save(begun, FRED, "pay")
    desk.seek.delete(begun, FRED)
