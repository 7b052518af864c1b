"""Makes the routers of the interface for programs."""

from fastapi import APIRouter

from pneuma_assets.web.pool import PooledRoute
from pneuma_assets.web.problems import documented


def api_router(tag: str, route: type[PooledRoute] = PooledRoute) -> APIRouter:
    """Return a router whose routes run in a pool and document the problems that all may have."""
    return APIRouter(prefix="/api/v1", tags=[tag], route_class=route, responses=documented(404))
