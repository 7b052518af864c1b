"""Tables by question, while one types, and without a question."""

from functools import partial
from typing import Annotated, Literal

from fastapi import BackgroundTasks, Query
from pydantic import Field

from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.relations.rank_groups import GroupResult
from pneuma_assets.core.service.catalog_types import Facets, Listing, SearchAnswer, Suggestion
from pneuma_assets.web.api.parameters import (
    Asked,
    Body,
    FacetFilter,
    Limit,
    Most,
    Offset,
    Question,
    Wanted,
)
from pneuma_assets.web.api.router import Page, api_router, page_of
from pneuma_assets.web.dependencies import Desk, WhoAsks

router = api_router("search")

Sort = Literal["name", "updated", "rows"]


class Questions(Body):
    """Several questions, each answered as by itself."""

    questions: list[Asked] = Field(
        min_length=1, max_length=50, examples=[["sales by region", "who flies to Rome?"]]
    )
    k: int = Field(10, ge=1, le=100, description="Most tables of each answer.")
    facets: FacetFilter = FacetFilter()
    words_only: bool = Field(False, description="Whether the words alone are compared: quicker.")


@router.get("/search", operation_id="search", summary="Find the tables that answer a question")
def search(
    desk: Desk,
    asker: WhoAsks,
    question: Question,
    wanted: Wanted,
    after: BackgroundTasks,
    k: Most = 10,
    words_only: Annotated[
        bool, Query(description="Whether the words alone are compared: quicker.")
    ] = False,
) -> SearchAnswer:
    """Return tables, best first, with why each was found, and counts of all that were searched."""
    where = IndexFilter(readers=asker.readers)
    found = desk.search(
        question, k=k, facets=wanted, where=where, words_only=words_only, author=asker.name
    )
    if not words_only and wanted == Facets():
        outcome = "refused" if found.unlikely else "answered"
        after.add_task(desk.note_question, question, outcome, door="http")
    return found


@router.post("/search", operation_id="search_many", summary="Answer several questions")
def search_many(desk: Desk, asker: WhoAsks, asked: Questions) -> Page[SearchAnswer]:
    """Return an answer to each question, in their order."""
    where, facets = IndexFilter(readers=asker.readers), asked.facets.facets()
    search = partial(desk.search, facets=facets, where=where, author=asker.name)
    answers = [search(one, k=asked.k, words_only=asked.words_only) for one in asked.questions]
    return page_of(answers, 0, len(answers))


@router.get("/suggestions", operation_id="suggest", summary="What somebody who types may mean")
def suggest(
    desk: Desk,
    asker: WhoAsks,
    text: Annotated[str, Query(alias="q", max_length=200, examples=["peng"])],
    k: Annotated[int, Query(ge=1, le=20)] = 8,
) -> Page[Suggestion]:
    """Return names of tables and columns, and questions that were asked before."""
    found = desk.suggest(text, k=k, readers=asker.readers)
    return page_of(found, 0, k)


@router.get("/tables", operation_id="browse", summary="Look through all tables")
def browse(
    desk: Desk,
    asker: WhoAsks,
    wanted: Wanted,
    text: Annotated[
        str, Query(max_length=200, description="What names have.", examples=["peng"])
    ] = "",
    sort: Annotated[Sort, Query(description="By what they are ordered.")] = "name",
    offset: Offset = 0,
    limit: Limit = 50,
) -> Listing:
    """Return a part of the list of tables, with the whole list's length and counts of facets."""
    return desk.browse(
        facets=wanted, text=text, sort=sort, offset=offset, limit=limit, readers=asker.readers
    )


@router.get("/groups", operation_id="find_groups", summary="Find tables that answer together")
def find_groups(desk: Desk, asker: WhoAsks, question: Question, k: Most = 10) -> Page[GroupResult]:
    """Return sets of tables that can be joined, best first; one may be of a single table."""
    found = desk.find_groups(question, k=k, where=IndexFilter(readers=asker.readers))
    return page_of(found, 0, k)
