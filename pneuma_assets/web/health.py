"""Whether the server lives, whether it can answer, and what it counts."""

import asyncio
import logging
import time
from functools import partial

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.service.work_pool import WorkPool
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.sqlite_codes import is_full
from pneuma_assets.web.dependencies import operator
from pneuma_assets.web.metrics import Metrics
from pneuma_assets.web.problems import documented

logger = logging.getLogger(__name__)

router = APIRouter(tags=["operation"])

_FRESH_SECONDS = 1.0


class Alive(BaseModel):
    """The process answers."""

    status: str = Field(examples=["alive"])


class Ready(BaseModel):
    """Whether questions can be answered, and what is missing."""

    status: str = Field(examples=["ready"])
    missing: list[str] = Field(examples=[["index"]], description="`index`, `state`, `disk`.")


class Readiness:
    """Looks for what is missing once a second, however many ask, who need not prove who they are.

    Args:
        desk: What is to be ready.
        pool: Where it is looked for.
    """

    def __init__(self, desk: Workspace, pool: WorkPool) -> None:
        self._desk, self._pool, self._lock = desk, pool, asyncio.Lock()
        self._looked_at, self._missing = float("-inf"), list[str]()

    async def missing(self) -> list[str]:
        """Return what is missing: `index`, `state`, or room on the `disk` of the home."""
        async with self._lock:
            if time.monotonic() - self._looked_at > _FRESH_SECONDS:
                self._missing = await self._pool.run(self._look)
                self._looked_at = time.monotonic()
            return self._missing

    def _look(self) -> list[str]:
        missing = []
        for part, look in (("index", self._desk.query_engine), ("state", self._desk.known_tables)):
            try:
                look()
            except PneumaError as error:
                logger.warning("not ready: %s: %s", part, error)
                missing.append(part)
        if is_full(self._desk.loaded.home):
            missing.append("disk")
        return missing


@router.get("/healthz", operation_id="is_alive", summary="Whether the process answers")
async def alive() -> Alive:
    """Answer without looking at anything."""
    return Alive(status="alive")


@router.get(
    "/readyz",
    operation_id="is_ready",
    summary="Whether questions can be answered",
    responses={503: {"model": Ready, "description": "A part is missing."}},
)
async def ready(request: Request, response: Response) -> Ready:
    """Name the part that is missing, without saying where it lies."""
    missing = await request.app.state.readiness.missing()
    response.status_code = 503 if missing else 200
    return Ready(status="not ready" if missing else "ready", missing=missing)


@router.get(
    "/metrics",
    operation_id="read_metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **documented()},
)
async def metrics(request: Request) -> Response:
    """Return counts and times, to operators and to who has the token of `web.metrics_token_env`."""
    figures: Metrics = request.app.state.metrics
    asker = request.state.asker
    if asker is not None:
        await operator(asker)
    return Response(figures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def warm_up(desk: Workspace) -> None:
    """Open what the first question and the first letters typed would open, each if it can be."""
    for open_it in (partial(desk.suggest, "a"), desk.query_engine):
        try:
            open_it()
        except PneumaError as error:
            logger.warning("not all can be asked yet: %s", error)
