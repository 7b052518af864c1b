"""Tables by question."""

from typing import Annotated, Any

from fastapi import Query

from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.web.api.router import api_router
from pneuma_assets.web.dependencies import Desk, WhoAsks

router = api_router("search")

Question = Annotated[
    str,
    Query(
        min_length=1,
        max_length=2000,
        description="In plain language.",
        openapi_examples={"one": {"value": "sales by region in 2020"}},
    ),
]


@router.get("/search", operation_id="search", summary="Find the tables that answer a question")
def search(
    desk: Desk, asker: WhoAsks, q: Question, k: Annotated[int, Query(ge=1, le=100)] = 10
) -> dict[str, Any]:
    """Return tables, best first."""
    found = desk.ask(q, k=k, where=IndexFilter(readers=asker.readers))
    return {"question": q, "limit": k, "hits": [one.to_dict() for one in found]}
