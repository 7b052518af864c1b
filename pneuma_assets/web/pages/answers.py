"""Answers in cells: the statement can be edited, run again, and its rows exported."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query
from fastapi.responses import HTMLResponse, Response

from pneuma_assets.core.answers.results import Outcome, TableAnswer
from pneuma_assets.core.config.models import MOST_ROWS
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.web.export import exported
from pneuma_assets.web.pages.charts import chart_of
from pneuma_assets.web.pages.page import Lines, Page, ThePage
from pneuma_assets.web.pages.search import TABS, Search
from pneuma_assets.web.pages.table import sampled
from pneuma_assets.web.pool import AnswerRoute
from pneuma_assets.web.problems import problem_of

router = APIRouter(prefix="/answer", include_in_schema=False, route_class=AnswerRoute)

HEADINGS = {
    Outcome.ANSWERED: "Answered",
    Outcome.REFUSED: "No table here says that",
    Outcome.NOT_WRITTEN: "Tables may say it, but no statement was found",
    Outcome.NAMED: "Not answered: rows that contain words of the question",
    Outcome.NO_ROWS: "Not answered",
}

Statement = Annotated[str, Form(min_length=1, max_length=20_000), Lines]
Tables = Annotated[list[Annotated[str, Form(max_length=2_000)]], Form(min_length=1, max_length=20)]
Question = Annotated[str, Query(max_length=10_000)]


@router.get("", response_class=HTMLResponse)
@router.get("/run", response_class=HTMLResponse)  # where a form that was refused leads back to
def answer_page(page: ThePage, q: Question = "") -> HTMLResponse:
    """Show the cells that answer a question, with the statements that gave them."""
    try:
        answer = page.desk.answer(q, where=page.where)
    except PneumaError as error:
        return _shown(page, q, "No answer", problem=problem_of(error))
    charts = [chart_of(one.columns, one.rows) for one in answer.answers]
    shown = {"answer": answer, "charts": charts}
    named = {one.table for one in answer.named}
    if not answer.answers and answer.nearest and answer.nearest[0] not in named:
        shown |= {"nearest": answer.nearest[0], **sampled(page, answer.nearest[0])}
    response = _shown(page, q, HEADINGS[answer.outcome], **shown)
    if answer.outcome is Outcome.REFUSED:
        page.note_later(response, q, "refused")
    return response


@router.post("/run", response_class=HTMLResponse)
def run_page(page: ThePage, sql: Statement, tables: Tables, q: Question = "") -> HTMLResponse:
    """Run a statement that somebody edited, through the guard that a model's passes."""
    try:
        one = replace(page.desk.run_sql(sql, tables, where=page.where), sql=sql, made_by="you")
        chart, problem, heading = chart_of(one.columns, one.rows), None, "Your statement"
    except PneumaError as error:
        one = TableAnswer(tuple(tables), sql, "", (), (), more=False, read=(), made_by="you")
        chart, problem, heading = None, problem_of(error), "The statement was not run"
    return _shown(page, q, heading, one=one, chart=chart, problem=problem)


@router.post("/export")
def export(
    page: ThePage,
    sql: Statement,
    tables: Tables,
    format: Annotated[Literal["csv", "parquet"], Form()],  # noqa: A002
) -> Response:
    """Return the rows of a statement as a file, also those that the page does not show."""
    return exported(page.desk.run_sql(sql, tables, rows=MOST_ROWS, where=page.where), format)


def _shown(page: Page, question: str, heading: str, **more: Any) -> HTMLResponse:
    shown: dict[str, Any] = {
        "answer": None,
        "one": None,
        "chart": None,
        "charts": (),
        "problem": None,
        "missing": (),
        "sample": None,
        "nearest": None,
    }
    form = Search(q=question, tab="answer")
    asked = {"question": question.strip(), "heading": heading, "form": form, "tabs": TABS}
    asked["here_with_query"] = form.url()  # what a form shows has no address to return to
    return page.render("answered.html", **shown | asked | more)
