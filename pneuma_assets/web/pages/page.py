"""One page for one asker: what all templates are given, and messages after something was done."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import AfterValidator
from starlette.background import BackgroundTask

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.web.dependencies import Desk, Settings, WhoAsks
from pneuma_assets.web.guard import csrf_token
from pneuma_assets.web.pages.rendering import render
from pneuma_assets.web.problems import Problem

_OWN_PATH = re.compile(r"/(?![/\\])[^\x00-\x1f\x7f]*")
STATIC = Path(__file__).parents[1] / "static"

Lines = AfterValidator(lambda text: text.replace("\r\n", "\n"))
"""Of a form's field: browsers end its lines otherwise than files and statements do."""

DONE: Mapping[str, str] = {
    "described": "Your description stands. It is searched after the next indexing run.",
    "rejected": "The description is rejected. It is searched until the next indexing run.",
    "withdrawn": "The correction is removed. It is searched until the next indexing run.",
    "document-added": "The document is added. It is searched after the next indexing run.",
    "document-removed": "The document is removed. It is searched until the next indexing run.",
    "join-confirmed": "The join is confirmed.",
    "join-rejected": "The join is rejected.",
    "right": "Thank you. Who asks the like and may see all that it reads is shown it as confirmed.",
    "wrong": "Thank you. This answer is noted as wrong.",
    "forgotten": "The answer is forgotten.",
    "conversation-deleted": "The conversation is deleted, with its files and rows.",
    "shared": "Shared with all who may see the tables of this conversation.",
    "accepted": "You accepted this state. It is ready to be downloaded or saved.",
}
"""What is said after a form was sent, by the word that the address carries."""


@dataclass(frozen=True, slots=True)
class Page:
    """What every page has: the request, the desk, who asks, and how the deployment is set up."""

    request: Request
    desk: Workspace
    asker: Asker
    web: WebConfig

    @property
    def where(self) -> IndexFilter:
        """Lets questions find what who asks may see."""
        return IndexFilter(readers=self.asker.readers)

    def note_later(self, response: Response, question: str, outcome: str) -> None:
        """Have what came of a question noted once the response is sent (`note_question`)."""
        note = self.desk.note_question
        response.background = BackgroundTask(note, question, outcome, door="page")

    def render(self, name: str, **context: object) -> HTMLResponse:
        """Return a page or a part of one."""
        shown = common(self.request, self.asker) | {"names_of": self.desk.statement_names}
        return HTMLResponse(render(name, shown | context))


def _page(request: Request, desk: Desk, asker: WhoAsks, web: Settings) -> Page:
    return Page(request, desk, asker, web)


ThePage = Annotated[Page, Depends(_page)]


def common(request: Request, asker: Asker | None) -> dict[str, Any]:
    """Return what the frame of every page shows."""
    url, theme = request.url, request.cookies.get("theme")
    caller = getattr(request.state, "caller", None)
    navigation = [("/", "Search")]
    if asker is not None:
        navigation += [("/seek", "Conversations")]
    if asker is not None and asker.is_operator:
        navigation += [("/status", "Status"), ("/failing", "Questions that fail")]
    return {
        "asker": asker,
        "can_leave": bool(caller and caller.session_id),
        "csrf_token": csrf_token(request) if caller else "",
        "done": DONE.get(request.query_params.get("done", "")),
        "here": url.path,
        "here_with_query": f"{url.path}?{url.query}" if url.query else url.path,
        "navigation": navigation,
        "site": request.app.state.settings.title,
        "static": static_url,
        "theme": theme if theme in ("light", "dark") else None,
    }


def own_path(there: str) -> str:
    """Return a path of this server; whatever else was given leads to its first page."""
    return there if _OWN_PATH.fullmatch(there) else "/"


def go_back(back: str, done: str, place: str = "") -> RedirectResponse:
    """Return to the page that a form was on, which then says what was done.

    Args:
        back: Path and query; one that leads to another site leads to the start.
        done: A word of `DONE`.
        place: The id of the part of the page to return to.
    """
    path, _, query = own_path(back).partition("#")[0].partition("?")
    given = [(key, one) for key, one in parse_qsl(query) if key != "done"]
    address = f"{path}?{urlencode([*given, ('done', done)])}"
    return RedirectResponse(address + (f"#{place}" if place else ""), 303)


@cache
def static_url(name: str) -> str:
    """Return the address of a file of the pages, another one when the file is another."""
    mark = blake2b((STATIC / name).read_bytes(), digest_size=6).hexdigest()
    return f"/static/{name}?{mark}"


_SAYS = {
    401: "Please log in",
    403: "You may not do this",
    404: "Not found",
    413: "This is too large",
    422: "This cannot be asked so",
    429: "Too many requests",
    503: "Not available now",
}


def render_problem(request: Request, problem: Problem) -> HTMLResponse:
    """Return the page that says what went wrong and what to do; a form's leads back to the form."""
    says = _SAYS.get(problem.status, problem.title)
    back = "" if request.method == "GET" else _came_from(request)
    return rendered("error.html", request, problem.status, problem=problem, says=says, back=back)


def _came_from(request: Request) -> str:
    """Return the path of this server's page that a form was on; empty where that is not known."""
    host, slash, path = request.headers.get("referer", "").partition("://")[2].partition("/")
    return own_path(slash + path) if host == request.headers.get("host") else ""


def rendered(name: str, request: Request, status: int, **context: object) -> HTMLResponse:
    """Return a page that stands for what was asked for, perhaps for nobody who is known."""
    asker = getattr(request.state, "asker", None)
    return HTMLResponse(render(name, common(request, asker) | context), status)
