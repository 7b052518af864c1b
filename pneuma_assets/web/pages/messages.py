"""Pages that stand for what was asked for: an error, a login."""

from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse

from pneuma_assets.web.login import own_path
from pneuma_assets.web.pages.page import common
from pneuma_assets.web.pages.rendering import render
from pneuma_assets.web.problems import Problem

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
    return _rendered("error.html", request, problem.status, problem=problem, says=says, back=back)


def _came_from(request: Request) -> str:
    """Return the path of this server's page that a form was on; empty where that is not known."""
    host, slash, path = request.headers.get("referer", "").partition("://")[2].partition("/")
    return own_path(slash + path) if host == request.headers.get("host") else ""


def render_login(
    request: Request, there: str, problem: str, has_provider: bool, status: int
) -> HTMLResponse:
    """Return the form by which a browser logs in, and what was wrong with the last try.

    Args:
        request: The request.
        there: The path to go on to.
        problem: What was wrong; empty where nothing was.
        has_provider: Whether a provider signs people in.
        status: The HTTP status.
    """
    provider = f"/login/provider?next={quote(there, safe='')}" if has_provider else ""
    return _rendered("login.html", request, status, there=there, problem=problem, provider=provider)


def _rendered(name: str, request: Request, status: int, **context: object) -> HTMLResponse:
    asker = getattr(request.state, "asker", None)
    return HTMLResponse(render(name, common(request, asker) | context), status)
