"""Conversations on the page: from a need to a file without a model and without script; with one."""

import io
import json
import re
import threading
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest

from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.workspace import open_workspace
from tests.support.indexed_home import make_home
from tests.support.scripted_model import act, say, scripted_model
from tests.support.seek_lake import CHANGE, FOUND, STEPS, deploy, model_at
from tests.support.served_home import FILE, guarded_app
from tests.support.served_home import LAKE as GUARDED
from tests.support.served_port import serving
from tests.support.web_site import local_site, new_page, violations

pytestmark = pytest.mark.integration

NEED = "What impact will tariffs have on our purchases?"
RAIN = {
    "sources": [{"name": "rain", "table_ids": ["lake/climate/rain"]}],
    "tables": [
        {
            "name": "wet",
            "columns": [
                {"name": "station", "origins": [{"source": "rain", "columns": ["station"]}]},
                {"name": "mm", "type": "number"},
            ],
            "steps": [
                {
                    "operator": "sql",
                    "reads": ["rain"],
                    "makes": "wet",
                    "code": "SELECT station, sum(CAST(rain_mm AS DOUBLE)) AS mm FROM rain GROUP BY 1",  # noqa: E501
                }
            ],
        }
    ],
    "queries": [{"name": "wettest", "sql": "SELECT station, mm FROM wet ORDER BY 2 DESC"}],
}
ORIGIN = {"column": "price", "origins": [{"source": "purchases", "columns": ["price"]}]}
MARKUP = "<img src=x onerror=alert(1)>\"'{{ 7 * 7 }}"


def save(page, text: str) -> None:
    editor = page.get_by_label("The state as JSON")
    if not editor.is_visible():
        page.get_by_text("Edit the state").click()
    editor.fill(text)
    page.get_by_role("button", name="Save the state").click()


def begin(page, need: str) -> str:
    page.goto("/seek")
    page.get_by_label("What do you need?").fill(need)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/seek/*")
    return page.url


def test_a_need_becomes_a_file_without_a_model_and_without_script(browser, site):
    with new_page(browser, site, java_script_enabled=False) as page:
        page.expected_faults = ["status of 422", "status of 404"]
        here = begin(page, "rain measured at each station, with its country")
        assert "A first T is proposed" in page.locator("#talk").inner_text()
        assert page.locator("#state").get_by_text("This is a plan.").is_visible()
        assert page.get_by_role("link", name="lake/climate/rain").first.is_visible()
        save(page, '{"tables": [{"name": "a b"}], "mine": 1}')
        findings = page.get_by_role("alert").inner_text()
        assert "tables.0.name" in findings
        assert "mine" in findings
        assert page.get_by_label("The state as JSON").input_value().endswith('"mine": 1}')
        save(page, json.dumps(RAIN))
        assert "+table wet" in page.locator(".changes").last.text_content()
        page.get_by_role("button", name="Confirm the plan and make it").click()
        assert page.get_by_role("group", name="First rows of wet").get_by_text("Kiel").is_visible()
        assert page.get_by_role("img", name="Bars of mm by station").is_visible()
        page.get_by_label("SQL of wettest").fill("SELECT nothing FROM wet")
        page.get_by_role("button", name="Run this").click()
        assert "no column 'nothing'" in page.locator(".findings .error").inner_text()
        page.get_by_label("SQL of wettest").fill("SELECT max(mm) AS most FROM wet")
        page.get_by_role("button", name="Run this").click()
        assert page.get_by_role("group", name="Result of wettest").locator("td").count() == 1
        with page.expect_download() as taken:
            page.get_by_role("link", name="CSV of wettest").click()
        assert Path(taken.value.path()).read_text().splitlines()[0] == "most"
        page.get_by_role("button", name="Accept").click()
        assert page.locator("#done").is_visible()
        assert page.locator(".badge", has_text="accepted").is_visible()
        text = page.request.get(f"{here}/tables/wet").text()
        assert text.splitlines()[0] == "station,mm"
        packed = page.request.get(f"{here}/tables/wet?format=parquet").body()
        assert pq.read_table(io.BytesIO(packed)).num_rows == len(text.splitlines()) - 1 == 6
        assert "Makes wet." in page.request.get(f"{here}/script").text()
        assert (
            json.loads(page.request.get(f"{here}/state").text())["queries"][0]["name"] == "wettest"
        )
        page.get_by_role("button", name="Undo").click()
        assert "Back to version" in page.locator("#talk").inner_text()
        page.get_by_text("Rename or delete").click()
        page.get_by_label("Title").fill("Wet harbours")
        page.get_by_role("button", name="Rename").click()
        assert page.locator("h1").inner_text() == "Wet harbours"
        page.get_by_text("Rename or delete").click()
        page.get_by_role("button", name="Delete it").click()
        assert "is deleted" in page.locator("#done").inner_text()
        assert "Wet harbours" not in page.locator("main").inner_text()
        assert page.goto(here).status == 404


def test_from_a_file_that_is_too_large_one_goes_back_to_what_one_wrote(page, tmp_path):
    page.expected_faults = ["status of 413"]
    file = tmp_path / "large.csv"
    file.write_bytes(b"a\n" * 500_001)
    page.goto("/seek")
    page.get_by_role("button", name="Start with an empty state").click()
    page.wait_for_url("**/seek/*")
    here = page.url
    page.get_by_label("What do you need?").fill("rain of all stations")
    page.get_by_text("Add a file of your own").click()
    page.get_by_label("CSV, JSON Lines or Parquet").set_input_files(file)
    page.get_by_role("button", name="Add", exact=True).click()
    assert page.locator("h1").inner_text() == "This is too large"
    page.get_by_role("link", name="Go back").click()
    page.wait_for_url(here)
    assert page.get_by_label("What do you need?").input_value() == "rain of all stations"


def test_what_no_table_answers_goes_on_in_a_conversation(page):
    page.goto("/answer?q=zloty of xylophones")
    page.get_by_role("button", name="Work it out in a conversation").click()
    page.wait_for_url("**/seek/*")
    assert page.locator("h1").inner_text() == "zloty of xylophones"


@pytest.mark.slow
def test_what_was_changed_meanwhile_is_told_and_nothing_is_lost(page):
    page.expected_faults = ["status of 409"]
    here = begin(page, "rain of stations")
    page.get_by_text("Edit the state").click()
    with new_page(page.context.browser, here.partition("/seek")[0]) as other:
        other.goto(here)
        save(other, json.dumps(RAIN))
    mine = json.dumps({"questions": ["Which year?"]})
    save(page, mine)
    assert "+table wet" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("The state as JSON").input_value() == mine
    page.get_by_role("button", name="Save the state").click()
    assert page.get_by_role("heading", name="Open questions").is_visible()


def test_markup_is_shown_as_what_it_is(page):
    begin(page, MARKUP)
    assert page.locator("h1").inner_text() == MARKUP
    page.get_by_text("Add a file of your own").click()
    rows = f'name,n\n"{MARKUP.replace(chr(34), chr(34) * 2)}",1\n'
    page.locator("#file").set_input_files(
        {"name": "own.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.get_by_role("button", name="Add", exact=True).click()
    assert "your file" in page.locator("#state").inner_text()
    column = {"name": "name", "description": MARKUP}
    step = {
        "operator": "sql",
        "reads": ["file_own"],
        "makes": "t",
        "code": "FROM file_own SELECT name",
    }
    state = {
        "sources": [{"name": "file_own", "file": "own.csv"}],
        "tables": [{"name": "t", "description": MARKUP, "columns": [column], "steps": [step]}],
        "queries": [{"name": "q", "sql": f'SELECT name AS "a<b>" FROM t -- {MARKUP}'}],
        "assumptions": [{"text": MARKUP}],
        "questions": [MARKUP],
    }
    save(page, json.dumps(state))
    page.get_by_role("button", name="Confirm the plan and make it").click()
    page.get_by_role("group", name="Result of q").wait_for()
    page.get_by_role("button", name=re.compile("^Confirm ?:")).click()
    assert page.locator("#state").inner_text().count(MARKUP) >= 6
    assert page.locator("main img").count() == 0
    assert violations(page) == []


@pytest.fixture(scope="module")
def talking(words, tmp_path_factory):
    """The address of a site whose conversations a script conducts, the script, and its brake."""
    brake = threading.Event()
    brake.set()
    with scripted_model() as (endpoint, script):
        file = deploy(tmp_path_factory.mktemp("talking"), seek=model_at(endpoint.url))
        with local_site(file) as address:
            yield address, script, brake
        brake.set()


def braked(brake, line):
    """A line that the model says once the brake is off."""

    def when_off(_):
        brake.wait(30)
        return line

    return when_off


def test_the_tariff_conversation(browser, talking):
    address, script, _ = talking
    script.lines[:] = [
        *(FOUND, CHANGE, say("Shall I make it?", questions=["By the previous tariff?"])),
        *(act("materialize"), {**STEPS, "origins": [ORIGIN]}, act("run")),
        say("It costs 4.88 more.", next_steps=["By country"]),
        say("By country, then."),
    ]  # fmt: skip
    with new_page(browser, address, viewport={"width": 1280, "height": 900}) as page:
        begin(page, NEED)
        page.locator("#talk").get_by_text("By the previous tariff?").wait_for()
        assert "+table costs" in page.locator(".changes").inner_text()
        assert "search: purchases of items" in page.locator("#talk").inner_text()
        assert violations(page) == []
        page.get_by_role("button", name="Confirm the plan and make it").click()
        page.locator("#talk").get_by_text("It costs 4.88 more.").wait_for()
        assert page.get_by_role("group", name="Result of more").get_by_text("4.88").is_visible()
        assert page.get_by_role("group", name="First rows of costs").locator("tr").count() == 9
        assert page.get_by_role("link", name="purchases", exact=True).first.is_visible()
        assert page.get_by_text("This is a plan.").count() == 0
        assert "8 rows before, 8 after" in page.locator(".findings").inner_text()
        assert violations(page) == []
        page.get_by_role("button", name="By country").click()
        page.locator("#talk").get_by_text("By country, then.").wait_for()
        assert "7 requests" not in page.locator("#talk").inner_text()
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 360, "height": 800})
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.slow
def test_an_open_turn_is_followed_and_stopped(browser, talking):
    address, script, brake = talking
    brake.clear()
    script.lines[:] = [FOUND, braked(brake, CHANGE), say("Never said.")]
    with new_page(browser, address) as page:
        begin(page, NEED)
        assert "Working on the next step" in page.locator("#talk").inner_text()
        assert violations(page) == []
        page.get_by_text("Edit the state").click()
        page.get_by_label("The state as JSON").fill("mine")
        page.get_by_text("2 actions: search: purchases of items").wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped.", exact=True).wait_for()
        brake.set()
        page.reload()
        assert "Never said" not in page.locator("#talk").inner_text()


@pytest.mark.slow
def test_what_happens_is_shown_while_a_turn_goes_on(browser, talking):
    address, script, brake = talking
    brake.clear()
    script.lines[:] = [FOUND, braked(brake, CHANGE), say("Here is a plan.")]
    with new_page(browser, address) as page:
        begin(page, NEED)
        page.get_by_text("Edit the state").click()
        page.get_by_label("The state as JSON").fill("mine")
        brake.set()
        page.locator("#talk").get_by_text("Here is a plan.").wait_for()
        assert page.get_by_label("The state as JSON").input_value() == "mine"
        page.reload()
        assert page.get_by_role("button", name="Confirm the plan").is_visible()


@pytest.fixture(scope="module")
def persons(words, tmp_path_factory):
    """Clients of two people of one site, who ask as browsers do."""
    file = make_home(tmp_path_factory.mktemp("persons"), GUARDED, FILE)
    with open_workspace(config=file) as workspace:
        keys = [create_key(workspace.store, one, ())[1] for one in ("rita", "eddy")]
    with serving(guarded_app(file)) as address:
        yield (
            [
                httpx.Client(
                    base_url=address,
                    headers={"Authorization": f"Bearer {key}", "Accept": "text/html"},
                    timeout=60,
                )
                for key in keys
            ],
            keys,
        )


def test_anothers_conversation_is_not_there(persons):
    (rita, eddy), _ = persons
    here = rita.post("/seek", data={"need": "river length"}).headers["location"]
    assert "river length" in rita.get("/seek").text
    assert "river length" not in eddy.get("/seek").text.partition("Yours")[2]
    absent = here[:-4] + "0000"
    for method, path, data in (
        ("get", "", None),
        ("get", "/state", None),
        ("get", "/tables/rivers", None),
        ("get", "/results/most", None),
        ("post", "/say", {"text": "hello"}),
        ("post", "/state", {"state": "{}", "version": "0"}),
        ("post", "/acts/undo", {}),
        ("post", "/run", {}),
        ("post", "/delete", {}),
    ):
        given = {} if data is None else {"data": data}
        other = getattr(eddy, method)(here + path, **given)
        none = getattr(eddy, method)(absent + path, **given)
        assert other.status_code == none.status_code == 404, path
        assert other.text.replace(here[6:], "X") == none.text.replace(absent[6:], "X")
    assert rita.get(here).status_code == 200


def test_a_file_needs_the_token_of_the_page(persons):
    (rita, _), (key, _) = persons
    here = rita.post("/seek", data={}).headers["location"]
    with httpx.Client(base_url=rita.base_url, headers={"Accept": "text/html"}) as person:
        person.post("/login", data={"key": key})
        token = person.get(here).text.partition('name="csrf_token" value="')[2].partition('"')[0]
        file = {"file": ("own.csv", b"a,b\n1,2\n", "text/csv")}
        assert person.post(f"{here}/file", files=file).status_code == 403
        wrong = {"csrf_token": token[:-1] + "x"}
        assert person.post(f"{here}/file", files=file, data=wrong).status_code == 403
        own = {"csrf_token": token}
        assert person.post(f"{here}/file", files=file, data=own).status_code == 303
        assert "own.csv" in person.get(here).text
