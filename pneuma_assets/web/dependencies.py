"""What routes take: the desk, who asks, the settings; and the refusal of who may not."""

from typing import Annotated

from fastapi import Depends, Request

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.web.problems import RefusedError


async def _desk(request: Request) -> Workspace:
    desk: Workspace = request.app.state.desk
    return desk


async def _asker(request: Request) -> Asker:
    asker: Asker | None = request.state.asker
    if asker is None:
        raise RefusedError(401, "not-known", "Say who asks.", {"WWW-Authenticate": "Bearer"})
    return asker


async def _settings(request: Request) -> WebConfig:
    settings: WebConfig = request.app.state.settings
    return settings


Desk = Annotated[Workspace, Depends(_desk)]
"""The deployment that is asked."""

WhoAsks = Annotated[Asker, Depends(_asker)]
"""Who asks; every method of the desk is given their `readers`."""

Settings = Annotated[WebConfig, Depends(_settings)]
"""The section `web` of the deployment."""


async def editor(asker: WhoAsks) -> Asker:
    """Return who asks; refuses who may not correct, confirm and add."""
    if not asker.may_edit:
        raise RefusedError(403, "may-not-edit", "You may read here and change nothing.")
    return asker


async def operator(asker: WhoAsks) -> Asker:
    """Return who asks; refuses who does not operate the deployment."""
    if not asker.is_operator:
        raise RefusedError(403, "operators-only", "Only who operates this server sees that.")
    return asker


Editor = Annotated[Asker, Depends(editor)]
"""Who asks, who may correct, confirm and add."""
