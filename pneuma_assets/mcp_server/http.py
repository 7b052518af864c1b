"""The tools over HTTP, each request with the caller's own proof of who asks."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pneuma_assets.core.access import Asker
from pneuma_assets.mcp_server.server import build_server

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace

PATH = "/mcp"
MOST_BYTES = 256 * 1024
"""Of a request; the longest question has 10,000 characters."""


def tools_over_http(desk: "Workspace", origins: Collection[str] = ()) -> Starlette:
    """Return the route of the tools; an application that takes it over has to run its lifespan.

    No session is kept, so that any worker answers any request. Who asks is `request.state.asker`,
    which whatever stands before it has to set, an `Asker`.

    Args:
        desk: The workspace.
        origins: Other sites whose pages may call it; none but the server's own if empty.
    """
    server = build_server(desk, _asker_of)
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        # Hosts and origins are checked here and by the application, which knows how it is reached.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    route = Route(PATH, _OwnPages(inner, frozenset(origins)), methods=["POST"])
    return Starlette(routes=[route], lifespan=lambda _: server.session_manager.run())


def _asker_of(request: Any) -> Asker:
    asker = request.state.asker
    if not isinstance(asker, Asker):
        raise TypeError("nothing has told who asks")
    return asker


class _OwnPages:
    """Refuses requests that a browser makes for the page of another site."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self._app, self._origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        headers = Request(scope).headers
        origin = headers.get("origin")
        own = origin is None or origin.partition("://")[2] == headers.get("host")
        if own or origin in self._origins:
            await self._app(scope, receive, send)
        else:
            refusal = PlainTextResponse("Pages of other sites may not call these tools.", 403)
            await refusal(scope, receive, send)
