"""The interface for programs, under `/api/v1`."""

from fastapi import APIRouter

from pneuma_assets.web.api import (
    answers,
    conversations,
    memory,
    operation,
    search,
    tables,
)


def routers() -> list[APIRouter]:
    """Return all its routes."""
    every = (search, tables, answers, memory, conversations, operation)
    return [*(one.router for one in every), tables.changes, conversations.work]
