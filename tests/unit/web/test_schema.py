"""Requests made up from the OpenAPI description: every answer is one that it describes."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.web.authentication import local_asker
from tests.support.served_home import local_app

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
EXAMPLES = 300
HOST = {"Host": "localhost"}
BOUNDS = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "derandomize": True,
}


@pytest.fixture
def served(deployment):
    """An app of each test's own: schemathesis ends its lifespan with the test, for good."""
    return local_app(deployment, WebConfig(requests_per_minute=1_000_000))


def checked_of(begun: str):
    """What is done with a request; one about a conversation is about this one."""

    def check(case) -> None:
        if "conversation_id" in case.path_parameters:
            case.path_parameters["conversation_id"] = begun
        case.call_and_validate(checks=CHECKS, headers=HOST)

    return check


def check_all(served, examples: int) -> None:
    """Make up requests to every route, in the order of the description; of conversations to one."""
    described = schemathesis.openapi.from_asgi("/api/v1/openapi.json", served, headers=HOST)
    for found in described.get_all_operations():
        operation = found.ok()
        begun = served.state.desk.seek.start(local_asker()).conversation_id

        check = settings(max_examples=examples, **BOUNDS)(checked_of(begun))
        given(case=operation.as_strategy())(check)()


def test_every_answer_is_as_it_is_described(served):
    check_all(served, 8)


@pytest.mark.slow
def test_every_answer_is_as_it_is_described_at_length(served):
    check_all(served, EXAMPLES)


def test_every_route_says_what_it_is_and_shows_an_example(client):
    found = client.get("/api/v1/openapi.json").json()
    every = [
        (path, method, one)
        for path, of_path in found["paths"].items()
        for method, one in of_path.items()
    ]
    assert len({one["operationId"] for *_, one in every}) == len(every)
    for path, method, one in every:
        assert one["summary"], path
        assert one["tags"], path
        parameters = one.get("parameters", [])
        required = [p for p in parameters if p["required"] and p["in"] == "query"]
        for p in required:
            assert "examples" in p or "examples" in p["schema"], (path, method, p["name"])
        body = one.get("requestBody")
        if body:
            reference = body["content"]["application/json"]["schema"]["$ref"]
            model = found["components"]["schemas"][reference.rpartition("/")[2]]
            for name in model.get("required", model["properties"]):
                shown = model | model["properties"][name]
                assert "examples" in shown, (path, name)
        if path.startswith("/api/"):
            assert one["responses"]["422"]["content"].keys() == {"application/problem+json"}
