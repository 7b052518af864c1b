"""Markup in whatever people and tables say is shown as text, in each place of each page."""

import csv
import io
import json
from functools import cache
from urllib.parse import quote

import httpx
import pytest
from lxml import html

from pneuma_assets.workspace import open_workspace
from tests.support.indexed_home import make_home
from tests.support.waiting import LONGEST
from tests.support.web_site import local_site, new_page

pytestmark = pytest.mark.integration

PAYLOADS = (
    "<b id=pwned>b",
    "<img src=x onerror=pwned()>",
    '"><svg onload=pwned()>',
    "' onfocus=pwned() autofocus '",
    "<!--<script>pwned()<!script>",
    "{{ 7 * 191007 }}<i class=pwned>",
)
"""Without a slash, so that files can be called so."""
HOST = "odd"
TABLE = f"lake/{HOST}/table"


def folder_of(payload: str) -> str:
    """What a folder is called; with '=' it would be a partition."""
    return payload.replace("=", ":")


def lake() -> dict[str, str]:
    """A table whose columns and cells are payloads, and tables and folders that are so called."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(["payload", *PAYLOADS])
    lines.writerows([[one, *PAYLOADS] for one in PAYLOADS])
    files = {f"lake/{HOST}/table.csv": text.getvalue(), f"lake/{HOST}/table.md": " ".join(PAYLOADS)}
    for number, one in enumerate(PAYLOADS):
        files[f"lake/{HOST}/{one}.csv"] = f"payload,number\nhello,{number}\n"
        files[f"lake/{folder_of(one)}/inside{number}.csv"] = "payload,word\nhello,x\n"
    return files


@pytest.fixture(scope="module")
def hostile(words, tmp_path_factory):
    file = make_home(tmp_path_factory.mktemp("hostile"), lake())
    with open_workspace(config=file) as workspace:
        for number, one in enumerate(PAYLOADS):
            workspace.describe(TABLE, one, f"described {one}", author=f"author {one}")
            workspace.add_context(TABLE, f"named {one}", f"written {one}")
            literal = one.replace("'", "''")
            workspace.confirm_answer(f"question {one}", [TABLE], sql=f"SELECT '{literal}'")
            workspace.judge_join(
                TABLE,
                [one],
                f"lake/{folder_of(one)}/inside{number}",
                ["word"],
                holds=True,
                author=one,
            )
    with local_site(file) as address:
        yield address


PLACES = {
    "name of a table": lambda one: f"/tables/{quote(f'lake/{HOST}/{one}')}",
    "folder in a facet": lambda _: "/",
    "column and its description": lambda _: f"/tables/{TABLE}",
    "cell": lambda _: f"/tables/{TABLE}",
    "document": lambda _: f"/tables/{TABLE}?q=written",
    "question": lambda one: f"/?q={quote(one + ' hello')}",
    "question on the page of a table": lambda one: f"/tables/{TABLE}?q={quote(one + ' hello')}",
    "confirmed answer": lambda one: f"/?q={quote('question ' + one)}",
    "suggestion": lambda one: f"/suggestions?q={quote(one[:12])}",
    "columns as results": lambda one: f"/?tab=columns&q={quote('payload ' + one)}",
    "sets of tables": lambda one: f"/?tab=groups&q={quote('payload ' + one)}",
    "named rows": lambda one: f"/answer?q={quote('payload hello ' + one)}",
    "folder that is filtered by": lambda one: f"/?schema={quote(folder_of(one))}",
    "message after a form": lambda one: f"/?done={quote(one)}",
    "error": lambda one: f"/tables/{quote('lake/no ' + one)}",
}
QUIET = {"message after a form", "suggestion", "columns as results", "sets of tables", "named rows"}
"""Where a payload need not be shown; where it is, as text."""


@cache
def page_at(address: str) -> httpx.Response:
    return httpx.get(address, headers={"Accept": "text/html"}, timeout=LONGEST)


@pytest.mark.parametrize(
    ("place", "payload"),
    [
        pytest.param(place, one, marks=[pytest.mark.slow] if place == "named rows" and n else [])
        for n, one in enumerate(PAYLOADS)
        for place in PLACES
    ],
)
def test_markup_is_text(hostile, place, payload):
    answer = page_at(hostile + PLACES[place](payload))
    assert answer.status_code in (200, 404), answer.text[:500]
    page = html.fromstring(answer.text or "<p></p>")
    made = page.xpath(
        "//*[@id='pwned' or @class='pwned' or @onload or @onerror or @onfocus or @autofocus]"
        " | //img[@src='x'] | //b | //i | //script[not(@src)] | //*[@style] | //comment()"
    )
    assert made == []
    assert "1337049" not in answer.text
    shown = " ".join([page.text_content(), *page.xpath("//@value | //@title | //@aria-label")])
    wanted = folder_of(payload) if "folder" in place else payload
    assert place in QUIET or wanted in shown


@pytest.mark.slow
def test_a_browser_runs_none_of_it(browser, hostile):
    with new_page(browser, hostile) as page:
        page.expected_faults = ["status of 404"]
        for payload in PAYLOADS:
            for place in ("cell", "document", "question", "error", "sets of tables"):
                page.goto(PLACES[place](payload))
            page.goto("/")
            page.locator("#q").press_sequentially(payload[:8], delay=0)
            page.wait_for_timeout(350)
            page.wait_for_function("() => !document.body.classList.contains('busy')")
            assert page.locator("#pwned, .pwned, img[src=x]").count() == 0


def test_a_theme_is_one_of_two(hostile):
    cookies = {"theme": json.dumps('"><b id=pwned>')}
    page = html.fromstring(httpx.get(hostile, cookies=cookies).text)
    assert page.attrib.keys() == ["lang"]


def test_a_form_leads_to_no_other_site(hostile):
    given = {"table_id": TABLE, "name": "n", "text": "t", "action": "add", "back": "//evil.example"}
    answer = httpx.post(f"{hostile}/edit/document", data=given)
    assert answer.headers["location"] == "/?done=document-added#documents"
