"""Makes the routers of the interface for programs, and the lists that they return."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from pneuma_assets.core.text.safe import one_line, printable
from pneuma_assets.web.pool import PooledRoute
from pneuma_assets.web.problems import RefusedError, documented

T = TypeVar("T")


def api_router(tag: str, route: type[PooledRoute] = PooledRoute) -> APIRouter:
    """Return a router whose routes run in a pool and document the problems that all may have."""
    return APIRouter(
        prefix="/api/v1",
        tags=[tag],
        route_class=route,
        responses=documented(404),
        dependencies=[Depends(_check_parameters)],
    )


def files_of(*media_types: str) -> dict[int | str, dict[str, Any]]:
    """Return the answers of a route that gives files, for its OpenAPI description."""
    return {200: {"content": {one: {"schema": {"type": "string"}} for one in media_types}}}


async def _check_parameters(request: Request) -> None:
    """Refuse a parameter of the query that the description of the route does not have."""
    if not request.query_params:
        return
    path, method = request.scope["route"].path_format, request.method.lower()
    described = request.app.openapi()["paths"][path][method].get("parameters", ())
    known = [one["name"] for one in described if one["in"] == "query"]
    for name in request.query_params:
        if name not in known:
            there_are = f"there are: {', '.join(known)}" if known else "none is known here"
            told = f"unknown parameter '{one_line(printable(name), 40)}'; {there_are}"
            raise RefusedError(422, "invalid", told)


class Page(BaseModel, Generic[T]):
    """A part of a list."""

    total: int = Field(description="How many the whole list has.", examples=[1])
    offset: int = Field(description="How many come before this part.", examples=[0])
    limit: int = Field(description="How many were asked for.", examples=[50])
    items: list[T]


def page_of(whole: Sequence[T], offset: int, limit: int) -> Page[T]:
    """Return a part of a list with the whole list's length."""
    part = list(whole[offset : offset + limit])
    return Page(total=len(whole), offset=offset, limit=limit, items=part)
