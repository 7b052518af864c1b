"""The page: search, tables, answers, and what people say of them, as HTML made on the server."""

from fastapi import APIRouter

from pneuma_assets.web.pages import (
    answers,
    conversation_acts,
    conversations,
    edits,
    operators,
    search,
    table,
)
from pneuma_assets.web.pages.page import render_problem

router = APIRouter()
for _part in (search, table, answers, conversations, edits, operators):
    router.include_router(_part.router)
for _routes in (conversation_acts.router, conversation_acts.work):
    router.include_router(_routes)

__all__ = ["render_problem", "router"]
