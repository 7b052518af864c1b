"""Runs and questions whose encoder is behind an endpoint, which is away at times."""

import json

import pytest

from tests.support.doors import run, succeeds
from tests.support.endpoint_modes import like, refusal
from tests.support.recording_endpoint import serving

pytestmark = pytest.mark.integration

QUESTION = "publications of journals"


class Server:
    """Answers as `mode` says, which a test changes."""

    def __init__(self) -> None:
        self.mode = "plain"

    def __call__(self, body):
        return like(self.mode, "")(body)


@pytest.fixture
def lake(tmp_path, monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._TRIES", 1)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "journals.csv").write_text("journal,publications,ssn\nNature,8,s3cr3t\n")
    (tmp_path / "data" / "towns.csv").write_text("town,people\nLima,10\n")
    return tmp_path


def write(lake, url, **encoder):
    model = {"model": "m", "endpoint_url": url, "send_values": True}
    source = {"type": "folder", "name": "lake", "path": "data"}
    settings = {
        "sources": [source | {"privacy": {"hidden_columns": ["ssn"]}}],
        "encoder": {"model": model, "dimensions": 8} | encoder,
        "judge": {"model": model, "reranker": True},
    }
    (lake / "pneuma.yaml").write_text(json.dumps(settings))
    return "--config", str(lake / "pneuma.yaml")


def inputs(endpoint):
    return [text for body in endpoint.requests for text in body.get("input", ())]


def found(asked):
    return [one["table_id"] for one in asked]


def test_tables_wait_for_an_endpoint_that_is_away_and_words_answer(lake):
    server = Server()
    with serving(server) as endpoint:
        config = write(lake, endpoint.url)
        assert json.loads(succeeds(*config, "index", "--json"))["indexed"] == 2
        first = inputs(endpoint)
        assert len(first) == len({*first})
        assert found(json.loads(succeeds(*config, "search", QUESTION, "--json")))[0] == (
            "lake/journals"
        )
        assert b"ssn" not in endpoint.said
        assert b"s3cr3t" not in endpoint.said

        server.mode = "away"
        (lake / "data" / "rivers.csv").write_text("river,length\nNile,6650\n")
        (lake / "data" / "towns.csv").unlink()
        done = json.loads(succeeds(*config, "index", "--json"))
        assert (done["indexed"], done["removed"], done["elsewhere"]) == (0, 1, 0)
        [problem] = done["problems"]
        assert (problem["table"], problem["stage"]) == ("lake/rivers", "embedding")
        assert "does not answer" in problem["cause"]
        told = run(*config, "search", QUESTION)
        assert told.exit_code == 0
        assert "lake/journals" in told.output
        assert "answered without the encoder m: tables are found by words alone" in told.output
        assert "answered without the judge m" in told.output

        server.mode = "plain"
        before = len(inputs(endpoint))
        done = json.loads(succeeds(*config, "index", "--json"))
        assert (done["indexed"], done["problems"]) == (1, [])
        assert not {*first} & {*inputs(endpoint)[before:]}, "what was embedded is not sent again"
        asked = json.loads(succeeds(*config, "search", "length of a river", "--json"))
        assert found(asked)[0] == "lake/rivers"
        assert "by the reranker's score" in asked[0]["parts"]["reason"]


def test_other_dimensions_are_another_encoder(lake):
    with serving(like("plain", "")) as endpoint:
        succeeds(*write(lake, endpoint.url), "index")
        config = write(lake, endpoint.url, dimensions=4)
        asked = json.loads(succeeds(*config, "search", QUESTION, "--json"))
        assert found(asked)[0] == "lake/journals"
        assert endpoint.requests[-2]["dimensions"] == 8, "the old one asks until the new is there"
        assert json.loads(succeeds(*config, "index", "--json"))["indexed"] == 2
        assert endpoint.requests[-1]["dimensions"] == 4


def test_a_run_that_can_embed_nothing_fails(lake):
    with serving(like("empty", "")) as endpoint:
        done = run(*write(lake, endpoint.url), "index")
    assert done.exit_code == 1
    assert "sent 0 vectors for" in done.output


def test_a_text_that_is_refused_keeps_its_table_alone_waiting(lake):
    def reply(body):
        refused = any("people" in one for one in body.get("input", ()))
        return refusal("the text was filtered") if refused else like("plain", "")(body)

    with serving(reply) as endpoint:
        done = run(*write(lake, endpoint.url), "index", "--json")
    told = json.loads(done.stdout)
    assert (told["indexed"], [one["table"] for one in told["problems"]]) == (1, ["lake/towns"])
    assert "filtered" in told["problems"][0]["cause"]
