"""Pages for those who operate a deployment: where it stands, and which questions fail."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.service.describe import moment
from pneuma_assets.core.service.status import how_to_index
from pneuma_assets.web.dependencies import operator
from pneuma_assets.web.pages.page import ThePage
from pneuma_assets.web.pages.rendering import ago
from pneuma_assets.web.pool import PooledRoute

router = APIRouter(
    include_in_schema=False, route_class=PooledRoute, dependencies=[Depends(operator)]
)

MOST = 200
"""Problems of a page."""
PAGE = 50


@router.get("/status", response_class=HTMLResponse)
def status_page(page: ThePage, check: bool = False) -> HTMLResponse:
    """Show what is indexed, what is not and why, and on demand whether sources can be listed."""
    status = page.desk.status()
    problems = [(one.subject, one.stage, one.cause) for one in status.problems[:MOST]]
    sources: list[tuple[object, ...]] = [
        (one.name, one.where, "-" if one.tables is None else one.tables, one.cause or "reachable")
        for one in (page.desk.check_sources() if check else ())
    ] or [
        (one.name, one.where, one.tables, f"listed {ago(one.listed_at)}" if one.listed_at else "-")
        for one in status.sources
    ]
    return page.render(
        "status.html",
        status=status,
        problems=problems,
        sources=sources,
        checked=check,
        how_to_index=how_to_index(page.desk.loaded, on_page=True),
    )


@router.get("/failing", response_class=HTMLResponse)
def failing_page(
    page: ThePage, number: Annotated[int, Query(alias="page", ge=1, le=100_000)] = 1
) -> HTMLResponse:
    """Show questions that were refused or rejected, the latest first."""
    offset = PAGE * (number - 1)
    try:
        total, found = page.desk.failing_questions(limit=PAGE, offset=offset)
    except ConfigError:  # nothing was ever listed
        total, found = 0, []
    rows = [(one.question, one.outcome, one.times, ago(str(moment(one.asked_at)))) for one in found]
    return page.render(
        "failing.html",
        rows=rows,
        total=total,
        offset=offset,
        number_of_page=number,
        kept=page.web.usage_days > 0,
    )
