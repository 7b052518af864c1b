"""Where nothing is indexed or set up, who asks is told so: no folder, command or variable."""

import pytest

from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.errors import ConfigError, PneumaError
from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.core.service.state import open_store
from pneuma_assets.web.problems import _BY_KIND, problem_of
from tests.support.served_home import client_of, guarded_app, loaded_from

TEXTS = {"Accept": "text/html, application/json, text/event-stream"}
TOOLS = {"find_tables": "question", "describe_table": "table", "answer": "question"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nothing")
    (folder / "lake").mkdir()
    file = folder / "pneuma.yaml"
    file.write_text("home: of-secrets\nsources:\n  - {type: folder, name: lake, path: lake}\n")
    with open_store(loaded_from(file), {}) as store:
        _, key = create_key(store, "ana", ("ana",), may_edit=True)
    with client_of(guarded_app(file), Authorization=f"Bearer {key}", **TEXTS) as one:
        yield one


def told_nothing(answer) -> None:
    assert answer.status_code in (200, 404, 422), answer.text
    assert "of-secrets" not in answer.text
    assert "pneuma-assets index" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/?q=rivers", "/results?q=rivers", "/?q=rivers&tab=groups", "/answer?q=rivers"),
        *("/tables/lake/rain", "/api/v1/search?q=a", "/api/v1/groups?q=a"),
        *(f"/api/v1/table{part}?id=lake/rain" for part in ("", "/rows", "/joins", "/lineage")),
    ],
)
def test_pages_and_routes(client, path):
    told_nothing(client.get(path))


def test_what_is_posted(client):
    told_nothing(client.post("/api/v1/answers", json={"question": "rivers"}))
    told_nothing(client.post("/api/v1/statements", json={"sql": "select 1", "tables": ["a/b"]}))
    told_nothing(client.post("/api/v1/confirmed", json={"question": "q", "tables": ["a/b"]}))


@pytest.mark.parametrize(("tool", "name"), TOOLS.items())
def test_tools_of_agents(client, tool, name):
    called = {"name": tool, "arguments": {name: "rivers"}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    told_nothing(client.post("/mcp", json=asked))


FORESEEN = tuple(kind for kind, *_ in _BY_KIND)


def kinds(of: type[PneumaError]) -> list[type[PneumaError]]:
    return [kind for one in of.__subclasses__() for kind in (one, *kinds(one))]


def test_every_error_of_the_desk_is_an_answer():
    unforeseen = {one.__name__ for one in kinds(PneumaError) if not issubclass(one, FORESEEN)}
    elsewhere = {"BenchmarkError", "IndexingFailedError", "QuestionsRefusedError", "UsageError"}
    within = {"CodeFailedError", "ReaderError", "SandboxUnavailableError", "ShapeError"}
    assert unforeseen <= elsewhere | within


def test_which_secret_is_missing_is_for_the_log_alone(caplog):
    with pytest.raises(ConfigError) as caught:
        read_secret({}, "OF_SECRETS", "models.api_key_env", "the key")
    problem = problem_of(caught.value)
    assert (problem.status, "OF_SECRETS" in problem.detail) == (503, False)
    assert "OF_SECRETS" in caplog.text
