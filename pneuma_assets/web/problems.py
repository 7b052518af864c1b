"""What went wrong, as RFC 9457 says it: for programs as JSON, for the page as one object."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Self

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, PrivateAttr
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pneuma_assets.core.errors import (
    BusyError,
    ConfigError,
    ModelError,
    PneumaError,
    QueryError,
    SearchIndexError,
    SecretMissingError,
    SourceError,
    SqlFailedError,
    SqlRefusedError,
    StateError,
    TableReadError,
    TooSlowError,
)
from pneuma_assets.core.seek.conversation import NothingToUndoError, UnknownConversationError
from pneuma_assets.core.seek.results import StepFailedError
from pneuma_assets.core.seek.state import StateInvalidError
from pneuma_assets.core.store.conversations import ConversationChangedError
from pneuma_assets.core.text.validation_messages import readable

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """Problem details (RFC 9457): why a request was not answered, and what to do about it."""

    type: str = Field("about:blank", description="Always `about:blank`: `code` tells them apart.")
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["unknown table 'lake/rain'; did you mean lake/rainfall?"])
    code: str = Field(examples=["unknown"])
    errors: list[dict[str, Any]] | None = Field(None, description="What is wrong, part by part.")
    _headers: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, status: int, detail: str, code: str, headers: Mapping[str, str] = {}) -> Self:
        """Return a problem, with headers of the response."""
        made = cls(title=HTTPStatus(status).phrase, status=status, detail=detail, code=code)
        made._headers = headers
        return made

    def response(self) -> Response:
        """Return the response for programs."""
        body = self.model_dump(exclude_none=True)
        return JSONResponse(body, self.status, dict(self._headers), MEDIA_TYPE)


class RefusedError(Exception):
    """Ends a request with a problem."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.problem = Problem.of(status, detail, code, headers or {})


_AWAY = "tell who operates this server; its log says why"
_BY_KIND: Sequence[tuple[type[PneumaError], int, str, str]] = (
    (BusyError, 503, "busy", ""),
    (TooSlowError, 503, "too-slow", ""),
    (UnknownConversationError, 404, "unknown", ""),
    (QueryError, 422, "question", ""),
    (SecretMissingError, 503, "not-set-up", f"A part of this is not set up; {_AWAY}."),
    (ConfigError, 404, "unknown", ""),
    (SqlRefusedError, 422, "statement-refused", ""),
    (SqlFailedError, 422, "statement-failed", ""),
    (StateInvalidError, 422, "state-invalid", ""),
    (StepFailedError, 422, "step-failed", ""),
    (NothingToUndoError, 422, "nothing-to-undo", ""),
    (ConversationChangedError, 409, "changed-meanwhile", ""),
    (ModelError, 503, "model-away", f"The language model or encoder is not available; {_AWAY}."),
    (StateError, 503, "state-away", f"The state is not available; {_AWAY}."),
    (SearchIndexError, 503, "index-away", f"The search index is not available; {_AWAY}."),
    (SourceError, 503, "source-away", f"The source of a table does not answer; {_AWAY}."),
    (TableReadError, 503, "table-away", f"A table cannot be read; {_AWAY}."),
)
"""Of the server's own trouble the log alone has the message, which names files and hosts."""


def problem_of(error: Exception, body: object = None) -> Problem:
    """Return what is told of an error; of what nobody expected, the log alone has the text.

    Args:
        error: What kept a request from being answered.
        body: The type of the request's body.
    """
    if isinstance(error, RefusedError):
        return error.problem
    if isinstance(error, RequestValidationError):
        return _invalid(error, body)
    if isinstance(error, HTTPException):
        code = HTTPStatus(error.status_code).name.lower().replace("_", "-")
        return Problem.of(error.status_code, str(error.detail), code, error.headers or {})
    for kind, status, code, said in _BY_KIND:
        if isinstance(error, kind):
            if said:
                logger.warning("%s: %s", code, error)
            headers = {"Retry-After": "1"} if kind is BusyError else {}
            return Problem.of(status, error.elsewhere or said or str(error), code, headers)
    logger.error("a request failed", exc_info=error)
    return Problem.of(500, f"This failed unexpectedly; {_AWAY}.", "failed")


def _invalid(error: RequestValidationError, body: object) -> Problem:
    """Say what is wrong with which part, without repeating what was given."""
    found = readable(error.errors()[:20], "the request", body)
    errors = [{"where": one.where[:200], "what": one.what[:500]} for one in found]
    first = f"{errors[0]['where']}: {errors[0]['what']}" if errors else "is not as it should be"
    problem = Problem.of(422, first, "invalid")
    return problem.model_copy(update={"errors": errors}) if errors else problem


def respond(request: Request, error: Exception) -> Response:
    """Return the response to a request that failed: a page for a browser, JSON for a program."""
    taken = getattr(request.scope.get("route"), "body_field", None)
    problem = problem_of(error, taken and taken.field_info.annotation)
    if wants_page(request):
        page: Response = request.app.state.render_problem(request, problem)
        return page
    return problem.response()


def wants_page(request: Request) -> bool:
    """Tell whether a person looks at a page, so that errors are shown on one."""
    is_page = not request.url.path.startswith(("/api/", "/mcp", "/metrics", "/healthz", "/readyz"))
    return is_page and "text/html" in request.headers.get("accept", "")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems of a route for its OpenAPI description, with those of all routes."""
    every = sorted({*statuses, 401, 403, 422, 429, 503})
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {one: {"description": HTTPStatus(one).phrase, "content": content} for one in every}
