"""The tools over HTTP, each request with the caller's own proof of who asks."""

from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from pneuma_assets.core.access_names import Asker
from pneuma_assets.mcp_server.server import build_server

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace

PATH = "/mcp"
MOST_BYTES = 256 * 1024
"""Of a request; the longest question has 10,000 characters."""


def tools_over_http(desk: "Workspace", *, is_shared: bool) -> Starlette:
    """Return the route of the tools; an application that takes it over has to run its lifespan.

    No session is kept, so that any worker answers any request. What stands before it has to refuse
    pages of other sites, and to set who asks, `request.state.asker`, an `Asker`; `is_shared` says
    whether they are several.
    """
    server = build_server(desk, _asker_of, is_shared=is_shared)
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MOST_BYTES,
        # Hosts and origins are checked by the application, which knows how it is reached.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    route = Route(PATH, inner, methods=["POST"])
    return Starlette(routes=[route], lifespan=lambda _: server.session_manager.run())


def _asker_of(request: Any) -> Asker:
    asker = request.state.asker
    if not isinstance(asker, Asker):
        raise TypeError("nothing has told who asks")
    return asker
