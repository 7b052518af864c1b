"""Answers in cells: the statement of a model is shown, edited, run again and exported."""

import csv
import io

import httpx
import pyarrow.parquet as pq
import pytest

from tests.support.indexed_home import ONE_FOLDER, make_home
from tests.support.recording_endpoint import recording_endpoint
from tests.support.web_site import LAKE, local_site, new_page, violations

pytestmark = pytest.mark.integration

QUESTION = "/answer?q=how much rain fell at each station"
SQL = "SELECT station, sum(CAST(rain_mm AS DOUBLE)) AS total FROM rain GROUP BY 1 ORDER BY 1"


def write(_prompt: str) -> str:
    return f"```sql\n{SQL};\n```"


@pytest.fixture(scope="module")
def answering(words, tmp_path_factory):
    with recording_endpoint(write) as endpoint:
        more = (
            "query: {min_confidence: 0.0}\n"
            f"answers: {{model: {{model: m, endpoint_url: '{endpoint.url}'}}}}\n"
        )
        file = make_home(tmp_path_factory.mktemp("answering"), LAKE, ONE_FOLDER + more)
        with local_site(file) as address:
            yield address


@pytest.fixture
def page(browser, answering):
    with new_page(browser, answering) as one:
        yield one


def test_an_answer_has_its_rows_its_statement_and_a_chart(page):
    page.goto(QUESTION)
    assert page.get_by_role("cell", name="Kiel").first.is_visible()
    assert "GROUP BY" in page.get_by_label("Statement").first.input_value()
    chart = page.get_by_role("img", name="Bars of total by station")
    assert chart.locator("rect").count() == 6
    assert violations(page) == []


def test_a_statement_is_edited_and_run_again(page):
    page.goto(QUESTION)
    page.get_by_label("Statement").first.fill("SELECT station FROM rain WHERE rain_mm = '8.1'")
    page.get_by_role("button", name="Run").first.click()
    page.wait_for_url("**/answer/run?**")
    assert "Your statement" in page.locator("main h2").first.inner_text()
    assert page.locator("tbody tr").count() >= 1


def test_a_statement_that_may_not_run_is_kept_and_refused(page):
    page.goto(QUESTION)
    page.get_by_label("Statement").first.fill("DROP TABLE rain")
    page.get_by_role("button", name="Run").first.click()
    page.wait_for_url("**/answer/run?**")
    assert page.get_by_role("alert").inner_text()
    assert page.get_by_label("Statement").input_value() == "DROP TABLE rain"


def test_rows_are_exported(answering):
    given = {"sql": SQL, "tables": ["lake/climate/rain"], "question": "rain"}
    text = httpx.post(f"{answering}/answer/export", data={**given, "format": "csv"})
    rows = list(csv.reader(io.StringIO(text.text)))
    assert rows[0] == ["station", "total"]
    assert len(rows) == 7
    file = httpx.post(f"{answering}/answer/export", data={**given, "format": "parquet"})
    assert file.headers["content-disposition"] == 'attachment; filename="answer.parquet"'
    assert pq.read_table(io.BytesIO(file.content)).column("station").to_pylist() == [
        one[0] for one in rows[1:]
    ]


def test_no_cell_of_an_export_is_a_formula(answering):
    given = {"sql": "SELECT '=1+1' AS one FROM rain LIMIT 1", "tables": ["lake/climate/rain"]}
    text = httpx.post(f"{answering}/answer/export", data={**given, "format": "csv"}).text
    assert text.splitlines()[1] == "'=1+1"


def test_without_a_model_rows_are_shown_that_the_question_names(browser, site):
    with new_page(browser, site) as page:
        page.goto("/answer?q=rain at Kiel")
        said = page.locator("main").inner_text()
        assert "Not answered" in said
        assert "These rows contain words of the question, and are not an answer" in said
        assert "No language model is set up" in said
        assert page.locator("mark", has_text="kiel").count() >= 1


def test_without_a_model_the_nearest_table_comes_first_and_a_statement_reads_it(
    browser, words, tmp_path
):
    lake = {
        "lake/birds/pen.guins 1.csv": "species,mass\nAdelie,3700\nGentoo,5000\n",
        "lake/golf/pen.guins 1.csv": "rating,club\nAverage,North 3\nGood,North 4\n",
    }
    with local_site(make_home(tmp_path, lake)) as address, new_page(browser, address) as page:
        page.goto("/answer?q=mass by species of penguins, on average at North 3")
        tables = page.locator("main article")
        assert "lake/birds/pen.guins 1" in tables.first.inner_text()
        assert "North 3" in tables.nth(1).inner_text()
        assert violations(page) == []
        for place, (summary, rows) in enumerate((("Write a", 2), ("Change or export their", 1))):
            page.goto("/answer?q=mass by species of penguins, on average at North 3")
            tables.nth(place).get_by_text(f"{summary} statement").click()
            tables.nth(place).get_by_role("button", name="Run").click()
            page.wait_for_url("**/answer/run?**")
            assert page.locator("tbody tr").count() == rows


def test_where_nothing_answers_a_person_writes_a_statement(browser, site):
    with new_page(browser, site) as page:
        page.goto("/answer?q=zzyzx quuxly")
        page.get_by_text("Write a statement about the nearest tables").click()
        assert page.get_by_label("Statement").input_value().startswith("SELECT *\nFROM ")
        page.get_by_role("button", name="Run").click()
        page.wait_for_url("**/answer/run?**")
        assert page.locator("tbody tr").count() >= 1
