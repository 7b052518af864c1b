"""What every request passes (who asks, how often, from which page) and every response bears."""

import logging
import time
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pneuma_assets.core.models.usage import counting
from pneuma_assets.web.authentication import Authentication, Caller
from pneuma_assets.web.limits import RateLimiter, read_body
from pneuma_assets.web.metrics import Metrics
from pneuma_assets.web.policy import Policy
from pneuma_assets.web.problems import RefusedError, respond, wants_page
from pneuma_assets.web.sessions import CSRF_FIELD, CSRF_HEADER

access_log = logging.getLogger("pneuma_assets.web.access")

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_OPEN = ("/static/", "/healthz", "/readyz", "/login", "/favicon.ico", "/api/v1/openapi.json")
"""Needs no proof of who asks; `/metrics` has a token of its own."""
_PROVING = (("POST", "/login"), ("GET", "/login/callback"))
"""Where who asks is looked for in the state, or at the provider."""
_LEFT = 499
"""Is counted where who asks left before the answer; nginx calls it so, too."""
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_READING = ("GET", "HEAD", "OPTIONS")
_MOST_FIELDS = 1_000


class Guard:
    """Lets requests in, or not, and watches how they end.

    Args:
        app: What is asked.
        policy: How the server is reached.
        authentication: Tells who asks.
        metrics: Counts.
        per_minute: Requests of one asker.
        origins: Other sites whose pages may ask with a key or token.
    """

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        authentication: Authentication,
        metrics: Metrics,
        per_minute: int,
        origins: Collection[str] = (),
    ) -> None:
        self.app, self._policy, self._authentication = app, policy, authentication
        self._metrics, self._rate = metrics, RateLimiter(per_minute)
        self._origins = (None, *origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that may be answered, and answer any other."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request, status, begun = Request(scope, receive), 0, time.perf_counter()

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", _kept(scope, status))
            await send(message)

        try:
            admitted = await self._admitted(request, receive)
            with self._metrics.in_progress(), counting() as used:
                try:
                    await self.app(scope, admitted, sending)
                finally:
                    self._metrics.note_usage(used)
        except ClientDisconnect:
            status = _LEFT
        except Exception as error:
            if status:
                raise
            await self._failed(request, error)(scope, receive, sending)
        finally:
            self._note(scope, status, time.perf_counter() - begun)

    async def _admitted(self, request: Request, receive: Receive) -> Receive:
        """Return what gives the body of a request that may be answered."""
        if not self._policy.allows(request.headers, request.scope["http_version"]):
            told = (
                "This server answers to the name localhost alone, and through no proxy; to have it "
                "tell who asks, make a key (pneuma-assets keys create) and start it again."
            )
            raise RefusedError(421, "wrong-host", told)
        body = await read_body(receive, request.headers.get("content-length"))
        is_open = request.url.path.startswith(_OPEN)
        caller = None if is_open else await self._caller(request)
        self._check_origin(request, caller)
        if caller is not None:
            self._rate.take(caller.counted_as)
            if caller.session_id and request.method not in _READING:
                body = await self._check_token(request, caller, body)
        elif (request.method, request.url.path) in _PROVING:
            self._rate.take(_address(request))
        request.state.caller = caller
        request.state.asker = caller and caller.asker
        return body

    async def _caller(self, request: Request) -> Caller | None:
        if request.url.path == "/metrics" and self._metrics.is_reader(request):
            return None
        try:
            caller = await self._authentication.caller_of(request)
        except RefusedError:
            self._rate.take(_address(request))
            raise
        if caller is None:
            self._rate.take(_address(request))
            raise RefusedError(
                401,
                "not-known",
                "Say who asks: send a key or a token, or log in.",
                {"WWW-Authenticate": "Bearer"},
            )
        return caller

    def _check_origin(self, request: Request, caller: Caller | None) -> None:
        """Refuse what another site's page has a browser do, unless it may and proves who asks."""
        headers = request.headers
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        is_other = origin is not None and origin.partition("://")[2] != headers.get("host")
        is_other = is_other or site not in (None, "same-origin", "none")
        is_ambient = caller is not None and caller.is_ambient
        if request.method in _READING:  # which may ask a model; a person may follow a link to it
            is_led = headers.get("sec-fetch-user") == "?1" or (caller and caller.session_id)
            may = not is_ambient or (is_led and headers.get("sec-fetch-dest") == "document")
        else:
            may = caller is not None and not is_ambient and origin in self._origins
        if is_other and not may:
            raise RefusedError(403, "other-site", "Another site asked for this; do it here.")

    async def _check_token(self, request: Request, caller: Caller, body: Receive) -> Receive:
        """Refuse a change by a login without the token of its page."""
        token = request.headers.get(CSRF_HEADER)
        if token is None and request.headers.get("content-type", "").startswith(_FORMS):
            message = await body()
            parts = [message.get("body", b"")]
            while message.get("more_body"):
                message = await body()
                parts.append(message.get("body", b""))
            whole = b"".join(parts)
            sent = Request(request.scope, _once(whole, body))
            try:
                async with sent.form(max_fields=_MOST_FIELDS) as fields:
                    token = str(fields.get(CSRF_FIELD, ""))
            except HTTPException as error:
                told = f"This form cannot be read; it has at most {_MOST_FIELDS:,} fields."
                raise RefusedError(413, "too-large", told) from error
            body = _once(whole, body)
        if not self._authentication.sessions.is_own(token or "", caller.session_id):
            raise RefusedError(403, "no-token", "This page is out of date; load it again.")
        return body

    def _failed(self, request: Request, error: Exception) -> Response:
        is_page = request.method == "GET" and wants_page(request)
        if is_page and isinstance(error, RefusedError) and error.problem.status == 401:
            there = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"/login?next={quote(there[:2000], safe='')}", 303)
        return respond(request, error)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request, and log it by its route: a path or a query may name a table."""
        route = getattr(scope.get("route"), "path_format", None) or getattr(
            scope.get("route"), "path", "-"
        )
        self._metrics.note(scope["method"], str(route), status, seconds)
        access_log.info("%s %s %s %.1f ms", scope["method"][:10], route, status, 1000 * seconds)


def _kept(scope: Scope, status: int) -> str:
    """Return how long a browser keeps a response: files alone, those long whose address is marked.

    The mark changes with the file.
    """
    if not scope["path"].startswith("/static/") or status not in (200, 304):
        return "no-store"
    return "public, max-age=31536000, immutable" if scope["query_string"] else "no-cache"


def _once(whole: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": whole, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _address(request: Request) -> str:
    return f"address {request.client.host if request.client else '-'}"


def csrf_token(request: Request) -> str:
    """Return the token that the forms and scripts of a page send with a change."""
    caller: Caller | None = request.state.caller
    authentication: Authentication = request.app.state.authentication
    return authentication.sessions.csrf_token(caller.session_id if caller else "")
