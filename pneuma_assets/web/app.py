"""Puts the server together: the interface for programs, the page, and what every request passes."""

import logging
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from threading import Thread
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.extras import installed
from pneuma_assets.core.hardware import return_freed_memory
from pneuma_assets.core.service.work_pool import WorkPool
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.web import health, login, pages
from pneuma_assets.web.api import routers
from pneuma_assets.web.authentication import Authentication
from pneuma_assets.web.guard import Guard
from pneuma_assets.web.metrics import Metrics
from pneuma_assets.web.openapi import describe
from pneuma_assets.web.pages.page import STATIC
from pneuma_assets.web.policy import Policy
from pneuma_assets.web.problems import RefusedError, respond

_ASKING, _ANSWERING = 8, 2
"""Threads of one worker: for what is quick, and for models and statements."""


def create_app(
    loaded: LoadedDeployment, policy: Policy, environ: Mapping[str, str] | None = None
) -> FastAPI:
    """Return the server of a deployment.

    Args:
        loaded: The deployment.
        policy: How it is reached (`policy_of`).
        environ: Holds the secrets that the deployment names; None: this process's.

    Raises:
        ConfigError: A secret that the deployment names is not set.
    """
    environ = os.environ if environ is None else environ
    settings = loaded.deployment.web
    app = FastAPI(
        title=settings.title,
        version="1",
        summary="Find tables in plain language, under the asker's own rights.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    state = app.state
    state.desk, state.settings, state.policy = Workspace(loaded, environ), settings, policy
    state.authentication = Authentication(loaded, policy, environ)
    state.metrics = Metrics(settings, environ)
    shared = not policy.is_local
    state.asking = WorkPool("asking", _ASKING, settings.request_seconds, is_shared=shared)
    state.answering = WorkPool("answering", _ANSWERING, settings.answer_seconds, is_shared=shared)
    state.readiness = health.Readiness(state.desk, state.asking)
    state.mounted = []
    for router in (*routers(), health.router, login.router):
        app.include_router(router)
    _add_doors(app)
    _add_middleware(app)
    describe(app)
    return app


def app_from_environment() -> FastAPI:
    """Return the server that `serve` describes in the environment of its workers."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("pneuma_assets").setLevel(logging.INFO)
    return_freed_memory()
    return create_app(load_deployment(), Policy.from_environ(os.environ))


def _add_doors(app: FastAPI) -> None:
    """Serve files, the page, and the tools for agents, where they are there."""
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(pages.router)
    app.state.render_problem = pages.render_problem
    if installed("mcp"):
        from pneuma_assets.mcp_server.server import tools_over_http

        tools = tools_over_http(app.state.desk, is_shared=not app.state.policy.is_local)
        app.router.routes.extend(tools.routes)
        app.state.mounted.append(tools)


def _add_middleware(app: FastAPI) -> None:
    """Have every request pass them; the last one added is the first one passed."""
    state = app.state
    app.add_middleware(
        Guard,
        policy=state.policy,
        authentication=state.authentication,
        metrics=state.metrics,
        per_minute=state.settings.requests_per_minute,
        origins=state.settings.allowed_origins,
    )
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    if state.settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(state.settings.allowed_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
        )
    for kind in (PneumaError, RefusedError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handled)


async def _handled(request: Any, error: Exception) -> Any:
    return respond(request, error)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the index and the encoder while the first requests come, and close all at the end."""
    state = app.state
    Thread(target=health.warm_up, args=(state.desk,), daemon=True).start()
    async with AsyncExitStack() as stack:
        for mounted in state.mounted:
            await stack.enter_async_context(mounted.router.lifespan_context(mounted))
        try:
            yield
        finally:
            for one in (state.asking, state.answering, state.authentication, state.desk):
                one.close()
