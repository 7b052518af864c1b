"""Routes whose functions run in the threads of a pool, beside the event loop."""

import inspect
from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.service.work_pool import WorkPool


class PooledRoute(APIRoute):
    """A route whose function, where it is a plain one, runs in the pool `asking` of the app."""

    pool = "asking"

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        if not inspect.iscoroutinefunction(endpoint):
            endpoint = _pooled(endpoint, self.pool)
        super().__init__(path, endpoint, **more)


class AnswerRoute(PooledRoute):
    """Likewise, in the pool of answers: models and statements, few at once."""

    pool = "answering"


def _pooled(endpoint: Callable[..., Any], pool: str) -> Callable[..., Any]:
    """Return a function with the same parameters, and the request, that runs this one in a pool."""
    signature = inspect.signature(endpoint)
    asked = inspect.Parameter("pooled_request", inspect.Parameter.KEYWORD_ONLY, annotation=Request)

    async def run(pooled_request: Request, **given: Any) -> Any:
        chosen: WorkPool = getattr(pooled_request.app.state, pool)
        asker: Asker | None = pooled_request.state.asker
        return await chosen.run(lambda: endpoint(**given), asker.name if asker else "")

    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), asked]
    )
    run.__name__, run.__doc__ = endpoint.__name__, endpoint.__doc__
    run.__module__ = endpoint.__module__
    return run
