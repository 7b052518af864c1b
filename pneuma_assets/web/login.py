"""Logging in and out in a browser: by a key, or at the provider."""

import secrets
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from pneuma_assets.web.authentication import Authentication
from pneuma_assets.web.pages.page import own_path, rendered
from pneuma_assets.web.problems import RefusedError

router = APIRouter(include_in_schema=False)

_CALLBACK = "/login/callback"


@router.get("/login")
async def show(request: Request, next: str = "/") -> Response:  # noqa: A002 (as the address says)
    """Show how one can log in; one who need not is sent on."""
    if request.app.state.policy.is_local:
        return RedirectResponse(own_path(next), 303)
    return _form(request, next, "", 200)


@router.post("/login")
async def by_key(
    request: Request,
    key: Annotated[str, Form(max_length=1000)] = "",
    next: Annotated[str, Form(max_length=4000)] = "/",  # noqa: A002
) -> Response:
    """Log in by an API key."""
    authentication: Authentication = request.app.state.authentication
    found = await authentication.by_key(key.strip())
    if found is None:
        return _form(request, next, "This key is wrong, has run out, or was revoked.", 403)
    response = RedirectResponse(own_path(next), 303)
    authentication.sessions.begin(response, {"key": found[1]})
    return response


@router.get("/login/provider")
async def at_provider(request: Request, next: str = "/") -> Response:  # noqa: A002
    """Send the browser to the provider."""
    authentication: Authentication = request.app.state.authentication
    provider = authentication.provider
    if provider is None:
        raise RefusedError(404, "unknown", "No provider signs people in here; log in by a key.")
    url, kept = await provider.begin_login(_callback_of(request))
    response = RedirectResponse(url, 303)
    authentication.sessions.begin_login(response, {**kept, "next": own_path(next)[:500]})
    return response


@router.get(_CALLBACK)
async def returned(
    request: Request,
    state: Annotated[str, Query(max_length=200)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Log in who comes back from the provider."""
    authentication: Authentication = request.app.state.authentication
    provider, sessions = authentication.provider, authentication.sessions
    kept = sessions.login_of(request)
    is_mine = kept is not None and secrets.compare_digest(state.encode(), kept["state"].encode())
    if provider is None or kept is None or not is_mine or not code:
        raise RefusedError(
            403, "login-failed", "The login was not begun here, or too long ago; log in again."
        )
    names = await provider.end_login(kept, code, _callback_of(request))
    response = RedirectResponse(own_path(str(kept["next"])), 303)
    sessions.begin(response, {"names": names})
    sessions.end(response, "pneuma-login")
    return response


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the login of this browser."""
    response = RedirectResponse("/login", 303)
    request.app.state.authentication.sessions.end(response, "pneuma-session")
    return response


def _callback_of(request: Request) -> str:
    base = request.app.state.settings.base_url or str(request.base_url)
    return f"{base.rstrip('/')}{_CALLBACK}"


def _form(request: Request, there: str, problem: str, status: int) -> Response:
    """Return the page on which one logs in."""
    there, provider = own_path(there), ""
    if request.app.state.authentication.provider is not None:
        provider = f"/login/provider?next={quote(there, safe='')}"
    return rendered("login.html", request, status, there=there, problem=problem, provider=provider)
