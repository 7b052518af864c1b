"""When pages and routes ask the judge, and that it reads what who asks may see."""

import pytest

from tests.support.fake_model import grading, shown_tables
from tests.support.indexed_home import make_home
from tests.support.recording_endpoint import prompt_of, recording_endpoint
from tests.support.served_home import FILE, LAKE
from tests.support.served_rights import USERS, everything, users_of

MODEL = """
judge: {{model: {{model: m, endpoint_url: "{url}", send_values: true}}}}
"""
RIVERS = "open/nature/rivers"


@pytest.fixture(scope="module")
def served(tmp_path_factory, small_encoder, read_here):
    best = grading(lambda one: 3 if one["id"] == RIVERS else 0)
    with recording_endpoint(best) as endpoint:
        file = FILE + MODEL.format(url=endpoint.url)
        with users_of(make_home(tmp_path_factory.mktemp("judged"), LAKE, file)) as users:
            yield users, endpoint


@pytest.mark.parametrize(
    ("path", "requests"),
    [
        ("/results?q=rivers&words=1", 0),
        ("/results?q=rivers&typed=1", 0),
        ("/results?q=rivers&typed=1&tab=columns", 0),
        ("/suggestions?q=rivers", 0),
        ("/api/v1/suggestions?q=rivers", 0),
        ("/api/v1/search?q=rivers&words_only=true", 0),
        (f"/tables/{RIVERS}?q=rivers", 0),
        ("/results?q=rivers&asked=1", 1),
        ("/?q=rivers", 1),
        ("/api/v1/search?q=rivers", 1),
    ],
)
def test_who_types_asks_no_judge_and_who_has_asked_does_once(served, path, requests):
    users, endpoint = served
    before = len(endpoint.requests)
    assert users["olga"].get(path).status_code == 200
    assert len(endpoint.requests) == before + requests


@pytest.mark.parametrize("name", USERS)
def test_it_reads_only_what_who_asks_may_see(served, name):
    users, endpoint = served
    before = len(endpoint.requests)
    everything(users[name], "payslip xylophone rivers")
    read = [one for body in endpoint.requests[before:] for one in shown_tables(prompt_of(body))]
    assert {one["id"] for one in read} == USERS[name][2]


def test_its_grades_and_reasons_are_told(served):
    users, _ = served
    hits = users["olga"].get("/api/v1/search?q=penguins on islands").json()["hits"]
    parts = [(one["card"]["table_id"], one["result"]["parts"]) for one in hits]
    assert parts[0][0] == RIVERS
    assert [(one["judge"], one["reason"]) for _, one in parts] == [(1.0, "so"), *[(0.0, "so")] * 3]
