"""The page: search, tables, answers, and what people say of them, as HTML made on the server."""

from fastapi import APIRouter

from pneuma_assets.web.pages import answers, edits, operators, search, table
from pneuma_assets.web.pages.messages import render_login, render_problem

router = APIRouter()
for _part in (search, table, answers, edits, operators):
    router.include_router(_part.router)

__all__ = ["render_login", "render_problem", "router"]
