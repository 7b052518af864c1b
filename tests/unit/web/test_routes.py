"""Every route of the interface for programs, asked as who may do all."""

import io
import re
from html import unescape

import pyarrow.parquet as pq
import pytest

PENGUINS = "open/nature/penguins"
RIVERS = "open/nature/rivers"
API = "/api/v1"
SQL = "SELECT river, length FROM rivers ORDER BY length"


def got(client, path, **asked):
    answer = client.get(API + path, params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_search_tells_why_and_of_how_many(client):
    found = got(client, "/search", q="penguins on islands", k=1)
    assert (found["limit"], found["total"], len(found["hits"])) == (1, 4, 1)
    (hit,) = found["hits"]
    assert hit["card"]["table_id"] == PENGUINS
    assert sum(hit["signals"].values()) == pytest.approx(1)
    assert {one["value"] for one in found["facets"]["source"]} == {"open", "finance", "vault"}
    only = got(client, "/search", q="penguins on islands", source="finance")
    assert {one["card"]["source"] for one in only["hits"]} <= {"finance"}
    assert got(client, "/search", q="penguins", words_only=True)["hits"]


def test_columns_are_found_by_their_names_descriptions_and_frequent_values(client):
    path, about = f"{API}/table/description", {"table_id": PENGUINS, "column": "species"}
    assert client.put(path, json={**about, "text": "kinds of sea birds"}).status_code == 204
    found = {q: got(client, "/search", q=q)["columns"][0] for q in ("island", "Adelie", "of sea")}
    client.delete(path, params={"id": PENGUINS, "column": "species"})
    assert (found["island"]["column"], found["island"]["score"]) == ("island", 1)
    for question, text in (
        ("Adelie", "kinds of sea birds; often Adelie"),
        ("of sea", "kinds of sea birds"),
    ):
        said = found[question]
        assert (said["column"], said["text"], said["score"]) == ("species", text, 0.5)
        ((start, end),) = said["text_marks"]
        assert text[start:end] in question


def test_a_column_of_text_shows_frequent_values_and_one_of_numbers_its_ends(client):
    columns = got(client, "/table", id=PENGUINS)["columns"]
    profiles = {one["name"]: one["profile"] for one in columns}
    species, mass = profiles["species"], profiles["mass"]
    assert (species["least"], species["greatest"]) == (None, None)
    assert species["frequent"] == [["Adelie", 0.5], ["Gentoo", 0.5]]
    assert (mass["least"], mass["greatest"]) == ("3000", "3059")
    page = " ".join(client.get(f"/tables/{PENGUINS}").text.split())
    assert 'most often <span class="ink">Adelie</span> 50 %' in page
    assert '<span class="ink">3000</span> to <span class="ink">3059</span>' in page
    assert '<span class="ink">Adelie</span> to' not in page


NOT_KNOWN = {
    "/search?q=a&sorce=open": "unknown parameter 'sorce'; there are: q, k, words_only, source,",
    "/tables?q=a": "unknown parameter 'q'; there are: text",
    "/me?q=a": "unknown parameter 'q'; none is known here",
    "/search?q=a&source=opn": "unknown source 'opn'; did you mean open?",
    "/search?q=a&source=open&source=x": "unknown source 'x'; there are, say: finance, open, vault",
    "/tables?owner=x": "unknown owner 'x'; none is known yet",
    "/tables?format=parqet": "unknown format 'parqet'; there are, say: csv",
    "/search?q=a&k=many": "query.k: must be a whole number",
    "/search": "query.q: is missing",
    "/search?q=": "query.q: must have at least 1 character",
    "/search?q=a&k=0": "query.k: must be greater than or equal to 1",
}


@pytest.mark.parametrize(("path", "told"), NOT_KNOWN.items())
def test_what_is_asked_wrongly_is_refused_with_what_there_is(client, path, told):
    answer = client.get(API + path)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"].startswith(told)


def test_several_questions_are_answered_in_their_order(client):
    asked = {"questions": ["penguins", "rivers"], "k": 1, "facets": {"sources": ["open"]}}
    found = client.post(f"{API}/search", json=asked).json()
    assert found["total"] == 2
    tables = [one["hits"][0]["card"]["table_id"] for one in found["items"]]
    assert tables == [PENGUINS, RIVERS]


def test_who_types_is_told_what_may_be_meant_and_lists_have_parts(client):
    found = got(client, "/suggestions", q="peng")
    assert PENGUINS in {one["table_id"] for one in found["items"]}
    assert got(client, "/suggestions", q="")["limit"] == 8
    whole = got(client, "/tables")
    assert whole["total"] == len(whole["tables"]) == 4
    part = got(client, "/tables", offset=1, limit=2)
    assert (part["total"], part["offset"], part["limit"]) == (4, 1, 2)
    assert part["tables"] == whole["tables"][1:3]
    assert [one["name"] for one in got(client, "/tables", text="river")["tables"]] == ["rivers"]


@pytest.mark.parametrize("path", ["lineage", "joins", "descriptions", "contexts"])
def test_lists_about_a_table_have_a_total(client, path):
    found = got(client, f"/table/{path}", id=PENGUINS, limit=1)
    assert found["limit"] == 1
    assert len(found["items"]) == min(1, found["total"])


def test_a_table_is_told_and_its_rows_are_shown(client):
    table = got(client, "/table", id=PENGUINS)
    assert [one["name"] for one in table["columns"]] == ["species", "island", "mass"]
    rows = got(client, "/table/rows", id=RIVERS, limit=1)
    assert (rows["columns"], len(rows["rows"])) == (["river", "length"], 1)


@pytest.mark.parametrize("path", ["", "/rows", "/lineage", "/joins", "/descriptions", "/contexts"])
def test_a_table_that_there_is_not_is_not_found(client, path):
    answer = client.get(f"{API}/table{path}", params={"id": "open/nature/penguin"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "unknown"
    assert PENGUINS in answer.json()["detail"]


def test_people_describe_reject_and_withdraw(client):
    about = {"table_id": PENGUINS, "column": "mass"}

    def said():
        every = got(client, "/table/descriptions", id=PENGUINS)["items"]
        return next(one for one in every if one["column"] == "mass")

    path = f"{API}/table/description"
    assert client.put(path, json={**about, "text": "in grams"}).status_code == 204
    assert said()["text"] == "in grams"
    assert client.put(path, json={**about, "text": None}).status_code == 204
    assert said()["rejected_by"]
    asked = {"id": PENGUINS, "column": "mass"}
    assert client.delete(path, params=asked).status_code == 204
    assert client.delete(path, params=asked).status_code == 404


def test_people_add_and_remove_texts(client):
    path = f"{API}/table/context"
    text = {"table_id": PENGUINS, "name": "how", "text": "By hand."}
    assert client.put(path, json=text).status_code == 204
    assert got(client, "/table/contexts", id=PENGUINS)["total"] == 1
    asked = {"id": PENGUINS, "name": "how"}
    assert client.delete(path, params=asked).status_code == 204
    assert client.delete(path, params=asked).status_code == 404


def test_people_judge_joins(client):
    join = {
        **{"table_id": PENGUINS, "columns": ["island"]},
        **{"other": RIVERS, "other_columns": ["river"]},
    }
    path = f"{API}/table/join"
    assert client.put(path, json={**join, "holds": True}).status_code == 204
    assert got(client, "/table/joins", id=PENGUINS)["items"][0]["kind"] == "person"
    assert got(client, "/joins/verdicts")["total"] == 1
    assert client.put(path, json={**join, "holds": None}).status_code == 204
    assert got(client, "/joins/verdicts")["total"] == 0


def test_groups_and_answers(client):
    assert got(client, "/groups", q="penguins on islands")["items"][0]["tables"] == [PENGUINS]
    asked = {"question": "the length of the Danube", "model": False}
    found = client.post(f"{API}/answers", json=asked).json()
    assert found["outcome"] == "named"
    assert ["Danube", "2850"] in found["named"][0]["rows"]


def test_a_statement_is_run_and_taken_as_a_file(client):
    statement = {"sql": SQL, "tables": [RIVERS]}
    found = client.post(f"{API}/statements", json=statement).json()
    assert (found["columns"], found["more"]) == (["river", "length"], False)
    assert [row[0] for row in found["rows"]] == ["Rhine", "Danube"]
    taken = client.post(f"{API}/statements/export", json=statement)
    assert taken.text.splitlines() == ["river,length", "Rhine,1230", "Danube,2850"]
    assert "attachment" in taken.headers["content-disposition"]
    file = client.post(f"{API}/statements/export?format=parquet", json=statement).content
    assert pq.read_table(io.BytesIO(file)).column("river").to_pylist() == ["Rhine", "Danube"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_has_all_rows_and_says_in_its_name_where_it_has_not(client, kind):
    statement = {"sql": "SELECT mass FROM penguins", "tables": [PENGUINS]}
    shown = client.post(f"{API}/statements", json=statement).json()
    assert (len(shown["rows"]), shown["more"]) == (50, True)
    joined = "JOIN penguins q USING (island) JOIN penguins r USING (island)"
    pairs = f"SELECT p.mass FROM penguins p {joined}"
    for sql, rows, name in ((statement["sql"], 60, "answer"), (pairs, 10_000, "first-10000-rows")):
        asked = {"sql": sql, "tables": [PENGUINS]}
        on_page = {**asked, "format": kind}
        for taken in (
            client.post(f"{API}/statements/export?format={kind}", json=asked),
            client.post("/answer/export", data=on_page),
        ):
            assert rows == (
                pq.read_table(io.BytesIO(taken.content)).num_rows
                if kind == "parquet"
                else len(taken.text.splitlines()) - 1
            )
            assert f'filename="{name}.{kind}"' in taken.headers["content-disposition"]
            assert taken.headers["x-more-rows"] == str(rows > 60).lower()


def test_a_page_of_large_cells_is_bounded(client):
    """What a request makes of rows in the server's process is bounded by counts, not by seconds."""
    long = (
        "SELECT p.mass || string_agg(q.species, '') AS name, count(*) AS n FROM penguins p "
        "JOIN penguins q USING (island) JOIN penguins r USING (island) GROUP BY p.mass LIMIT 40"
    )
    statement = {"sql": long, "tables": [PENGUINS]}
    found = client.post(f"{API}/statements", json=statement).json()
    assert len(found["rows"]) == 40
    assert min(len(name) for name, _ in found["rows"]) > 20_000
    page = client.post("/answer/run", data=statement).text
    assert page.count('<rect class="bar"') == 40
    assert len(page) < 40 * 3_000


def test_the_statement_beside_rows_that_a_question_names_gives_these(client):
    found = client.get("/answer?q=the length of the Danube").text
    form = found.partition("<h3>Rows of")[2].partition("</form>")[0]
    sql = unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", form, re.DOTALL)[1])
    taken = client.post("/answer/export", data={"sql": sql, "tables": [RIVERS], "format": "csv"})
    assert taken.text.splitlines() == ["river,length", "Danube,2850"]
    assert "up to 10,000 and 4 MB" in form


@pytest.mark.parametrize(
    ("sql", "tables", "status", "code"),
    [
        ("DROP TABLE rivers", [RIVERS], 422, "statement-refused"),
        ("SELECT * FROM penguins", [RIVERS], 422, "statement-refused"),
        ("SELECT passphrase FROM keys", [RIVERS], 422, "statement-refused"),
        ("SELECT * FROM read_csv('/etc/passwd')", [RIVERS], 422, "statement-refused"),
        ("SELECT 1; SELECT 2", [RIVERS], 422, "statement-refused"),
        ("SELECT no FROM rivers", [RIVERS], 422, "statement-refused"),
        ("SELECT CAST(river AS INTEGER) FROM rivers", [RIVERS], 422, "statement-failed"),
        ("SELECT 1", ["open/nothing"], 404, "unknown"),
    ],
)
def test_a_statement_that_may_not_run_says_why(client, sql, tables, status, code):
    answer = client.post(f"{API}/statements", json={"sql": sql, "tables": tables})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_answers_are_confirmed_found_again_and_forgotten(client):
    said = {"question": "which river is longest", "tables": [RIVERS], "sql": SQL}
    answer_id = client.post(f"{API}/confirmed", json=said).json()["answer_id"]
    found = got(client, "/confirmed", q="which river is longest")
    assert [one["answer_id"] for one in found["items"]] == [answer_id]
    assert got(client, "/confirmed")["items"][0]["door"] == "http"
    path = f"{API}/confirmed/{answer_id}"
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == 404
    assert got(client, "/confirmed")["total"] == 0


def test_operators_see_what_fails_and_where_all_stands(client):
    assert got(client, "/questions/failing")["limit"] == 50
    standing = got(client, "/status")
    assert standing["tables"] == 4
    assert sum(standing["whole"]["counts"].values()) == 4
    assert got(client, "/me")["is_operator"]


def test_a_question_is_none_that_fails_since_nobody_opened_what_it_found(client):
    found, refused = "penguins on islands", "blood pressure of astronauts"

    def failed():
        items = got(client, "/questions/failing")["items"]
        return [one["question"] for one in items if one["question"] in (found, refused)]

    for question in (found, refused):
        assert client.get("/", params={"q": question}).status_code == 200
    assert failed() == [refused]
    assert client.get(f"/tables/{RIVERS}", params={"q": refused}).status_code == 200
    assert failed() == []


def test_rows_are_shown_only_where_the_deployment_says_so(deployment):
    from pneuma_assets.core.config.web import WebConfig
    from tests.support.served_home import client_of, local_app

    with client_of(local_app(deployment, WebConfig(sample_rows=False))) as client:
        asked = {"id": RIVERS}
        assert client.get(f"{API}/table/rows", params=asked).status_code == 403
