"""Makes the routers of the interface for programs, and the lists that they return."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel, Field

from pneuma_assets.web.pool import PooledRoute
from pneuma_assets.web.problems import documented

T = TypeVar("T")


def api_router(tag: str, route: type[PooledRoute] = PooledRoute) -> APIRouter:
    """Return a router whose routes run in a pool and document the problems that all may have."""
    return APIRouter(prefix="/api/v1", tags=[tag], route_class=route, responses=documented(404))


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
