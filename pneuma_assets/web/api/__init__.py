"""The interface for programs, under `/api/v1`."""

from fastapi import APIRouter

from pneuma_assets.web.api import search


def routers() -> list[APIRouter]:
    """Return all its routes."""
    return [one.router for one in (search,)]
