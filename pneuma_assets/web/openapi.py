"""What the OpenAPI description says besides the routes: how one proves who asks."""

from typing import Any

from fastapi import FastAPI

from pneuma_assets.web.problems import Problem

_OPEN = ("/healthz", "/readyz")


def describe(app: FastAPI) -> None:
    """Let the app describe its interface for programs."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = FastAPI.openapi(app)
            parts = schema.setdefault("components", {})
            parts["schemas"]["Problem"] = Problem.model_json_schema()
            schemes = parts.setdefault("securitySchemes", {})
            schemes["bearer"] = {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key, or a token of the OpenID Connect provider.",
            }
            schema["security"] = [{"bearer": []}]
            for path in _OPEN:
                schema["paths"][path]["get"]["security"] = []
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]
